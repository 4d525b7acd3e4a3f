"""Sum up each transaction's bytes by label, flushes, syncs (also those due by file calls), CPU time, waits.

The latency is the CPU time of its thread (`cpu_ns`) plus its off-CPU time. Each off-CPU nanosecond has
the first reason that holds:
- a flush command is in flight
- waiting for the journal: a commit, a checkpoint or the pages that map a file's data; without a journal,
  writes of the filesystem's blocks
- waiting for data: file_write_and_wait_range, or file data being read or written
- anything else
"""

import numpy as np
import polars as pl

from analysis.adapters.proberecords import taken
from analysis.ledger.chunks import Settled
from analysis.ledger.records import Few
from analysis.schemas.ledger import COSTS, KINDS, LABELS, WAITS
from base.arrays import Intervals, Ints, expand, ints, length_within, union
from model import block_operations, engines

# waits for these kinds count as data
_DATA = [KINDS.index(kind) for kind in (*engines.labels(), "directory", "other", "read")]
# waits for these kinds count as the journal where there is none
_IN_PLACE = [KINDS.index(kind) for kind in ("inode/node", "bitmap/SIT/NAT/superblock")]
_UNATTRIBUTED = LABELS.index("unattributed")
_COUNTS = ("flushes", "fua", "writes")


class Totals:
    """Sums of the bytes by label and of the commands of each transaction."""

    def __init__(self, transactions: int) -> None:
        self._sums = np.zeros((len(LABELS) + len(_COUNTS), transactions))
        self._for_others, self._deferred = np.zeros(transactions), np.zeros(transactions)

    def add(self, chunk: Settled) -> None:
        """Add the commands of a chunk by their shares, and the deferred bytes."""
        late = chunk.deferred
        made = late.made_by >= 0
        np.add.at(self._for_others, late.made_by.compress(made), late.bytes.compress(made))
        np.add.at(self._deferred, late.transaction, late.bytes)
        of, parts, flags = chunk.shares, chunk.pieces, chunk.block["b"]
        has = of.transaction >= 0
        if not has.any():
            return
        low, high = int(of.transaction[has].min()), int(of.transaction.max()) + 1
        # shares of one command are adjacent
        counts = np.bincount(of.command, minlength=flags.size)
        first = np.cumsum(counts) - counts
        row, share = expand(first.take(parts.command), counts.take(parts.command))
        weight = of.share.take(share) * (parts.sectors * 512).take(row)
        self._count(parts.label.take(row), of.transaction.take(share), weight, low, high)
        bare = chunk.bare()
        rows = np.flatnonzero((bare > 0).take(of.command))
        weight = of.share[rows] * (bare[of.command[rows]] * 512)
        self._count(np.full(rows.size, _UNATTRIBUTED), of.transaction[rows], weight, low, high)
        write = (flags & block_operations.OP) == block_operations.WRITE
        kinds = (
            (flags & block_operations.OP) == block_operations.FLUSH,
            write & (flags & block_operations.FUA > 0),
            write,
        )
        for place, kind in enumerate(kinds, len(LABELS)):
            rows = np.flatnonzero(kind.take(of.command))
            self._count(np.full(rows.size, place), of.transaction.take(rows), of.share.take(rows), low, high)

    def _count(self, kind: Ints, transaction: Ints, weight: np.ndarray, low: int, high: int) -> None:
        has = transaction >= 0
        width = high - low
        place = kind.compress(has) * width + transaction.compress(has) - low
        sums = np.bincount(place, weight.compress(has), self._sums.shape[0] * width)
        self._sums[:, low:high] += sums.reshape(-1, width)

    def columns(self) -> dict[str, np.ndarray]:
        """Return the sums by column name."""
        named = dict(zip((*LABELS, *_COUNTS), self._sums, strict=True))
        late = {"for_others": self._for_others, "deferred": self._deferred}
        return {"bytes": self._sums[: len(LABELS)].sum(axis=0), **late, **named}


def costs(
    transactions: pl.DataFrame,
    totals: Totals,
    witnessed: Ints,
    syncs: pl.DataFrame,
    split: dict[str, Ints] | None,
) -> pl.DataFrame:
    """Return the table with the columns COSTS.

    witnessed: syncs that the engine's calls made, by transaction. split: None if unknown.
    """
    done = ints(syncs.filter(pl.col("transaction").is_not_null())["transaction"])
    latency = ints(transactions["end_ns"] - transactions["begin_ns"])
    columns = {
        **{name: transactions[name] for name in ("transaction", "phase", "op")},
        "latency_ns": latency,
        "syncs": np.bincount(done, minlength=latency.size),
        "vfs_syncs": witnessed,
        **totals.columns(),
        **(
            dict.fromkeys(("cpu_ns", *WAITS), pl.Series([None] * latency.size, dtype=pl.Int64))
            if split is None
            else {"cpu_ns": latency - sum(split.values()), **split}
        ),
    }
    return pl.DataFrame({name: columns[name] for name in COSTS}, schema=COSTS)


def time_split(
    few: Few,
    tids: Ints,
    transactions: pl.DataFrame,
    in_place: bool,
    kind: Ints,
    issue: Ints,
    complete: Ints,
) -> dict[str, Ints]:
    """Return the off-CPU time of each transaction by reason (WAITS).

    in_place: Layout.in_place. `kind` (index in KINDS), `issue` and `complete`: of the block
    commands.
    """
    begins, ends = ints(transactions["begin_ns"]), ints(transactions["end_ns"])

    def intervals(name: str, own: bool) -> Intervals:
        rows = taken(few[name], np.isin(few[name]["tid"], tids)) if own else few[name]
        return Intervals(ints(rows["begin_ns"]), ints(rows["end_ns"]))

    def commands(kinds: list[int]) -> Intervals:
        rows = np.isin(np.arange(len(KINDS)), kinds).take(kind)
        return Intervals(issue.compress(rows), complete.compress(rows))

    reasons = (
        [commands([KINDS.index("flush")])],
        [
            *(intervals("commit_wait", True), intervals("checkpoint", False), intervals("node_wait", True)),
            commands(_IN_PLACE if in_place else []),
        ],
        [commands(_DATA), intervals("data_wait", True)],
    )
    away = union([intervals("off_cpu", True)])
    left = length_within(away, begins, ends)
    # each reason counts only the time that earlier ones left
    covered, lengths, before = Intervals(left[:0], left[:0]), [], np.zeros_like(left)
    for reason in reasons:
        covered = union([covered, *reason])
        # length of an intersection = sum of the lengths - length of the union
        either = length_within(union([away, covered]), begins, ends)
        upto = left + length_within(covered, begins, ends) - either
        lengths.append(upto - before)
        before = upto
    flush, journal, data = lengths
    return dict(zip(WAITS, (data, journal, flush, left - before), strict=True))


def witnessed_syncs(vfs: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of vfs that make filesystem syncs: call, syncs, transaction.

    xSync is one fsync or fdatasync (unixSync in SQLite's os_unix.c). The first one after a journal or WAL
    was created (UNIXFILE_DIRSYNC) also syncs its directory; so does an xDelete with the flag for it
    (unixDelete). `bytes` of open and delete in vfs.csv records the flag. `offset` of a sync is the number of
    syncs of the folder that it made, too.
    """
    due = (pl.col("op") == "open") & (pl.col("bytes") > 0)
    is_sync = pl.col("op") == "sync"
    calls = vfs.filter(is_sync | due | ((pl.col("op") == "delete") & (pl.col("bytes") > 0)))
    folders = pl.when(is_sync).then("offset").fill_null(0)
    after_open = due.shift(1, fill_value=False).over("file", "inode")
    return (
        calls.with_columns(syncs=1 + (is_sync & after_open).cast(pl.Int64) + folders)
        .filter(pl.col("op") != "open")
        .select("call", "syncs", "transaction")
    )


def by_transaction(witness: pl.DataFrame, number: int) -> Ints:
    """Sum `syncs` by transaction."""
    rows = witness.filter(pl.col("transaction").is_not_null())
    return ints(np.bincount(ints(rows["transaction"]), ints(rows["syncs"]), number))
