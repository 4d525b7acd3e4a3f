"""Why was a bio submitted for no transaction? Each reason is recognised by something positive.

- `close`, `drain`: the driver's thread itself, or a commit, a checkpoint or a flush that it waited
  for, in the phase that closes the database, or in the syncfs after it. In `drain` the driver does
  nothing but that syncfs, which waits for all commits, checkpoints and rounds of the flusher that
  there are: these are `drain`, too;
- `between transactions`: the same anywhere else;
- `garbage collection`: a page that the filesystem's collector marked (by piece: shares.py), or
  its thread, by its name;
- `write back`: a round of the flusher (`writeback` records), or a thread of the filesystem that
  writes metadata home, by its name;
- `journal`: a journal's thread, or one in a checkpoint or a flush, that nobody waited for;
- `engine job`: a thread of the engine's own, by its name: a compaction, say;
- `another partition`: an empty bio that stands for one of another partition of the disk, which only asks
  for a flush (adapters/partition.py);
- `unknown`: none of these.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from analysis.ledger.records import Few
from analysis.schemas.ledger import NO_TRANSACTION
from base.arrays import Bools, Ints, LastBefore, inside, ints

CLOSE, DRAIN, BETWEEN, COLLECTION, WRITE_BACK, JOURNAL, ENGINE_JOB, ELSEWHERE, UNKNOWN = range(
    len(NO_TRANSACTION)
)
_OF_PHASE = {"close": CLOSE, "drain": DRAIN}


class Jobs:
    """Records of what threads did, to be found by thread and time."""

    def __init__(self, rows: np.ndarray) -> None:
        self._last = LastBefore(ints(rows["tid"]), ints(rows["begin_ns"]))
        self._ends = np.r_[ints(rows["end_ns"]), -1]

    def containing(self, time: Ints, tid: Ints) -> Ints:
        """Return the job of each thread that contains a time, or -1."""
        last = self._last.find(tid, time)
        return np.where(time <= self._ends.take(last), last, -1)


class Nobody:
    """Answers for bios that no transaction caused."""

    def __init__(self, few: Few, phases: pl.DataFrame, threads: Mapping[str, str]) -> None:
        """`threads` are the filesystem's and the engine's own: how a name begins → the reason."""
        self._begins, self._ends = ints(phases["begin_ns"]), ints(phases["end_ns"])
        of_phase = [_OF_PHASE.get(phase, BETWEEN) for phase in phases["phase"].to_list()]
        self._of_phase = ints([*of_phase, BETWEEN])  # the last: in no phase
        self._rounds = Jobs(few["writeback"])
        self._threads = {
            tid: NO_TRANSACTION.index(reason)
            for tid, name in thread_names(few["comm"]).items()
            for start, reason in threads.items()
            if name.startswith(start)
        }

    def reasons(self, time: Ints, tid: Ints, by_driver: Bools, in_job: Bools) -> Ints:
        """Return the place in NO_TRANSACTION of each bio.

        time, tid: when it was queued, by whom; by_driver: the driver did it, or waited for it;
        in_job: by a journal's thread, or in a checkpoint or a flush.
        """
        phase = self._of_phase.take(inside(time, self._begins, self._ends))
        in_round = self._rounds.containing(time, tid) >= 0
        of_thread = np.full(time.size, UNKNOWN, np.int64)
        for thread, reason in self._threads.items():
            of_thread[tid == thread] = reason
        drained = (phase == DRAIN) & (in_job | in_round)
        known = of_thread != UNKNOWN
        return np.select(
            [known, by_driver | drained, in_round, in_job],
            [of_thread, phase, np.full_like(phase, WRITE_BACK), np.full_like(phase, JOURNAL)],
            UNKNOWN,
        )


def thread_names(comm: np.ndarray) -> dict[int, str]:
    """Return the name that each thread had last."""
    raw = np.stack([comm["a"], comm["b"]], axis=1)
    texts = [row.tobytes().split(b"\0")[0].decode(errors="replace") for row in raw]
    return dict(zip(comm["n"].tolist(), texts, strict=True))
