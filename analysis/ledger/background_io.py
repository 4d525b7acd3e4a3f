"""Find the reason for bios that no transaction caused: write-back, garbage collection, close, journal, …

- `close`, `drain`: the driver's thread, or a commit, checkpoint or flush it waited for, in the phase that
  closes the database or in the syncfs after it. That syncfs waits for all commits, checkpoints and rounds
  of the flusher, so these are `drain`, too.
- `between transactions`: the same at any other time.
- `garbage collection`: a page that the filesystem's collector marked (by piece, see shares.py), or its
  thread, by name.
- `write back`: a round of the flusher (`writeback` records), or a filesystem thread that writes metadata
  home, by name.
- `journal`: a journal thread, or a thread in a checkpoint or a flush, that nobody waited for.
- `engine job`: a background thread of the engine, by name (a compaction, for example), or a journal commit
  that only such a thread waited for.
- `another partition`: an empty bio that stands for a flush request of another partition of the disk
  (adapters/partition.py).
- `unknown`: anything else.
"""

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
    """Records of threads' activities, looked up by thread and time."""

    def __init__(self, rows: np.ndarray) -> None:
        self._last = LastBefore(ints(rows["tid"]), ints(rows["begin_ns"]))
        self._ends = np.r_[ints(rows["end_ns"]), -1]

    def containing(self, time: Ints, tid: Ints) -> Ints:
        """Return the job of each thread that contains a time, or -1."""
        last = self._last.event(tid, time)
        return np.where(time <= self._ends.take(last), last, -1)


class BackgroundReasons:
    """The reasons for bios that no transaction caused."""

    def __init__(self, few: Few, phases: pl.DataFrame, threads: Mapping[str, str]) -> None:
        """threads: prefix of a thread's name → reason, for the filesystem's and the engine's threads."""
        self._begins, self._ends = ints(phases["begin_ns"]), ints(phases["end_ns"])
        of_phase = [_OF_PHASE.get(phase, BETWEEN) for phase in phases["phase"].to_list()]
        self._of_phase = ints([*of_phase, BETWEEN])  # the last entry: outside all phases
        self._rounds = Jobs(few["writeback"])
        self._threads = {
            tid: NO_TRANSACTION.index(reason)
            for tid, name in thread_names(few["comm"]).items()
            for start, reason in threads.items()
            if name.startswith(start)
        }

    @property
    def engine_tids(self) -> Ints:
        """The engine's background threads."""
        return ints([thread for thread, reason in self._threads.items() if reason == ENGINE_JOB])

    def reasons(self, time: Ints, tid: Ints, by_driver: Bools, in_job: Bools) -> Ints:
        """Return the index in NO_TRANSACTION of each bio.

        time, tid: when and by which thread it was queued. by_driver: the driver submitted it or waited
        for it. in_job: a journal thread, or a thread in a checkpoint or a flush, submitted it.
        """
        phase = self._of_phase.take(inside(time, self._begins, self._ends))
        in_round = self._rounds.containing(time, tid) >= 0
        of_thread = np.full(time.size, UNKNOWN, np.int64)
        for thread, reason in self._threads.items():
            of_thread[tid == thread] = reason
        drained = (phase == DRAIN) & (in_job | in_round)
        has_job = of_thread != UNKNOWN
        return np.select(
            [has_job, by_driver | drained, in_round, in_job],
            [of_thread, phase, np.full_like(phase, WRITE_BACK), np.full_like(phase, JOURNAL)],
            UNKNOWN,
        )


def thread_names(comm: np.ndarray) -> dict[int, str]:
    """Return the last name of each thread."""
    raw = np.stack([comm["a"], comm["b"]], axis=1)
    texts = [row.tobytes().split(b"\0")[0].decode(errors="replace") for row in raw]
    return dict(zip(comm["n"].tolist(), texts, strict=True))
