"""Attribute each bio to the transactions, file call and sync that made it or waited for its commit or flush.

- The driver's thread: the transaction in progress (`in`).
- A journal thread: the commit that ends next. One transaction that waited for it is `waited`, several are
  `shared`. Without a waiter it is `behind`, and shared by the transactions that may have
  handles in it: those that ran since the previous commit began.
- Another thread within a checkpoint or a flush (filesystem threads do both for others): the transaction
  with the sync that contains it `waited`; otherwise `behind`, as above.
- Any other thread, such as the flusher: `behind`, without a transaction. So is every bio of another
  partition, and what an engine's background thread does, or a commit for its sync alone.

A bio submitted outside the workload's phases has no transaction. background_io.py gives the reason for a
bio without one; shares.py attributes the pages that it carries.
"""

from typing import NamedTuple

import numpy as np

from analysis.adapters import partition
from analysis.adapters.proberecords import taken
from analysis.ledger.background_io import ELSEWHERE, ENGINE_JOB, BackgroundReasons, Jobs
from analysis.ledger.records import Columns, Few
from analysis.ledger.timeline import Timeline
from analysis.schemas.ledger import HOW
from base.arrays import Bools, Ints, inside, ints, pairs, preceding, unique

IN, WAITED, SHARED, BEHIND = range(len(HOW))


class Groups(NamedTuple):
    """Lists of transactions: group g has members[firsts[g] : firsts[g] + counts[g]]."""

    firsts: Ints
    counts: Ints
    members: Ints


class Cause(NamedTuple):
    """One row per bio; -1: none."""

    transaction: Ints
    group: Ints  # the transactions that share it, if several
    nobody: Ints  # index in NO_TRANSACTION (schemas/ledger.py), without a transaction
    how: Ints
    sync: Ints
    vfs_call: Ints
    commit: Ints  # row of the commit records
    checkpoint: Ints  # row of the checkpoint records


class _Served(NamedTuple):
    """The transactions served by jobs of other threads (commits, checkpoints, flushes). One row per job."""

    transaction: Ints
    how: Ints
    sync: Ints
    vfs_call: Ints
    groups: Groups


class Causes:
    """Attributes bios, from what the driver and the other threads were doing."""

    def __init__(self, few: Few, line: Timeline, nobody: BackgroundReasons) -> None:
        self._line, self._nobody = line, nobody
        self._committers = unique(ints(few["commit"]["tid"]))
        self._commit_ends = ints(few["commit"]["end_ns"])
        self._of_engine = _waited_by(few, nobody.engine_tids) & ~_waited_by(few, line.tids)
        self._checkpoints, self._flushes = Jobs(few["checkpoint"]), Jobs(few["flush"])
        self._flush_ends = ints(few["flush"]["end_ns"])
        others = (_contained(few[name], line) for name in ("checkpoint", "flush"))
        self._served = [_commits(few, line), *others]
        self.groups = _concatenate([jobs.groups for jobs in self._served])
        self._offsets = np.cumsum([0, *(jobs.groups.counts.size for jobs in self._served)])

    def flush_returned(self, bio: Columns) -> Ints:
        """Return when the call that ordered a flush and queued each bio returned; NEVER without one."""
        row = self._flushes.containing(bio["begin_ns"], bio["tid"])
        returned: Ints = np.r_[self._flush_ends, np.iinfo(np.int64).max].take(row)
        return returned

    def attribute(self, bio: Columns) -> Cause:
        """Return the cause of each bio."""
        line, time, tid = self._line, bio["begin_ns"], bio["tid"]
        own = np.isin(tid, line.tids)
        is_journal = np.isin(tid, self._committers)
        commit = np.full(bio.size, -1, np.int64)
        rows = np.flatnonzero(is_journal)
        commit[rows] = preceding(self._commit_ends, time.take(rows) - 1)
        commit[commit == self._commit_ends.size] = -1
        checkpoint = self._checkpoints.containing(time, tid)
        transaction, group, nobody, sync, call = (np.full(bio.size, -1, np.int64) for _ in range(5))
        how = np.where(own, IN, BEHIND)
        cause = Cause(transaction, group, nobody, how, sync, call, commit, checkpoint)
        rows = np.flatnonzero(own)
        when, who = time.take(rows), tid.take(rows)
        cause.transaction[rows] = line.transaction(when, who)
        cause.sync[rows] = line.sync(when, who)
        cause.vfs_call[rows] = line.call(when)
        # an engine's thread flushes and checkpoints in syncs of its own
        other = ~own & ~is_journal & ~np.isin(tid, self._nobody.engine_tids)
        flush = np.full(bio.size, -1, np.int64)
        alone = np.flatnonzero(other & (checkpoint < 0))
        flush[alone] = self._flushes.containing(time.take(alone), tid.take(alone))
        jobs = (commit, np.where(other, checkpoint, -1), flush)
        for row, served, offset in zip(jobs, self._served, self._offsets.tolist(), strict=False):
            here = np.flatnonzero(row >= 0)
            job = row.take(here)
            for name in ("transaction", "how", "sync", "vfs_call"):
                getattr(cause, name)[here] = getattr(served, name).take(job)
            cause.group[here] = np.where(served.groups.counts.take(job) > 1, job + offset, -1)
        for_engine = np.flatnonzero(np.r_[self._of_engine, False].take(commit))
        for name in ("transaction", "group"):
            getattr(cause, name)[for_engine] = -1
        idle = inside(time, *line.working) < 0
        cause.transaction[idle] = -1
        cause.group[idle] = -1
        rows = np.flatnonzero((cause.transaction < 0) & (cause.group < 0))
        in_job = is_journal.take(rows) | (checkpoint.take(rows) >= 0) | (flush.take(rows) >= 0)
        cause.nobody[rows] = self._nobody.reasons(
            time.take(rows), tid.take(rows), cause.how.take(rows) != BEHIND, in_job
        )
        cause.nobody[for_engine] = ENGINE_JOB
        elsewhere = np.flatnonzero(bio["a"] == partition.FOREIGN_SECTOR)
        for name in Cause._fields:
            getattr(cause, name)[elsewhere] = {"nobody": ELSEWHERE, "how": BEHIND}.get(name, -1)
        return cause


def _waited_by(few: Few, tids: Ints) -> Bools:
    """Return which commits one of some threads waited for."""
    waits = few["commit_wait"]
    return np.isin(few["commit"]["a"], waits["a"][np.isin(waits["tid"], tids)])


def _commits(few: Few, line: Timeline) -> _Served:
    commits, waits = few["commit"], few["commit_wait"]
    waits = taken(waits, np.isin(waits["tid"], line.tids))
    order = np.argsort(commits["a"], kind="stable")
    place = np.searchsorted(commits["a"][order], waits["a"])
    exists = place < commits.size
    waits, commit = taken(waits, exists), order[place[exists]]
    real = (commits["a"][commit] == waits["a"]) & (waits["begin_ns"] < commits["end_ns"][commit])
    begin, who, commit = ints(waits["begin_ns"][real]), ints(waits["tid"][real]), commit[real]
    return _serve(commits, commit, begin, who, line)


def _contained(jobs: np.ndarray, line: Timeline) -> _Served:
    """Return what each job within a sync of the driver served.

    A sync waits for every job that it contains, so several threads may wait for one job. A job that a
    thread runs within its own sync serves that sync.
    """
    begin, end, tid = (ints(jobs[name]) for name in ("begin_ns", "end_ns", "tid"))
    ends = np.r_[line.syncs[1], -1]
    if line.lanes is None:
        sync = inside(begin, *line.syncs)
        waited = np.flatnonzero((sync >= 0) & (end <= ends[sync]))
        return _serve(jobs, waited, begin[waited], line.sync_tids.take(sync[waited]), line)
    waiters = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for thread in line.tids.tolist():
        sync = line.lanes[1].rows_at(begin, np.full(begin.size, thread))
        is_for = (tid == thread) | ~np.isin(tid, line.tids)
        waited = np.flatnonzero((sync >= 0) & (end <= ends[sync]) & is_for)
        waiters.append((waited, np.full(waited.size, thread)))
    waited, who = (np.concatenate(parts) for parts in zip(*waiters, strict=True))
    return _serve(jobs, waited, begin[waited], who, line)


def _serve(jobs: np.ndarray, job: Ints, begin: Ints, who: Ints, line: Timeline) -> _Served:
    """Return what each of `jobs` served; the driver's thread who[i] waited for job[i] from begin[i] on.

    Example: jobs 0 and 1 begin at 10 and 30. Transactions 0, 1 and 2 last from 0 to 12, 15 to 20, 25 to 50.
    Transaction 0 waits for job 0 from 8 on, which is `waited`. Nobody waits for job 1, which is `behind` and
    shared by all three: they ran since job 0 began. Then the groups' members are 0, and 0, 1, 2.
    """
    number = jobs.size
    transaction = line.transaction(begin, who)
    had = transaction >= 0
    served, waiter = pairs(job[had], transaction[had])
    waiting = np.bincount(served, minlength=number)
    earliest = _last_place(job[::-1], number)
    first, thread = np.r_[-1, begin[::-1]][earliest], np.r_[-1, who[::-1]][earliest]
    waited = np.bincount(job, minlength=number) > 0
    # nobody waited: attributed to the transactions that ran since the previous job began
    job_begin = ints(jobs["begin_ns"])
    begins, ends = line.transactions
    low = preceding(ends, np.r_[0, job_begin[:-1]])
    high = preceding(begins, job_begin - 1)
    ran = np.where(waited, 0, np.maximum(high - low, 0))
    counts = waiting + ran
    firsts = np.cumsum(counts) - counts
    row = np.repeat(np.arange(number), ran)
    since = np.arange(row.size) - np.repeat(np.cumsum(ran) - ran - low, ran)
    owner, member = np.r_[served, row], np.r_[waiter, since]
    members = member[np.argsort(owner, kind="stable")]
    alone = np.r_[members, -1][np.minimum(firsts, members.size)]
    return _Served(
        transaction=np.where(counts == 1, alone, -1),
        how=np.where(~waited, BEHIND, np.where(waiting > 1, SHARED, WAITED)),
        sync=np.where(waited, line.sync(first, thread), -1),
        vfs_call=np.where(waited, line.call(first), -1),
        groups=Groups(firsts, counts, members),
    )


def _last_place(job: Ints, number: int) -> Ints:
    """Return 1 + the last index of each job in `job`, 0 if it is absent."""
    place = np.zeros(number, np.int64)
    place[job] = np.arange(1, job.size + 1)
    return place


def _concatenate(parts: list[Groups]) -> Groups:
    sizes = np.cumsum([0, *(part.members.size for part in parts)])
    return Groups(
        np.concatenate([part.firsts + size for part, size in zip(parts, sizes, strict=False)]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.members for part in parts]),
    )
