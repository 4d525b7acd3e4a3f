"""What did each transaction cost: bytes by label, flushes, syncs, and where its time went?

The time split: a transaction's latency is what its thread ran (`cpu_ns`) and what it was off the
CPU for, each nanosecond of that for the first of these reasons that holds: a flush command is
in flight; the filesystem's journal is being waited for (a commit, a checkpoint, pages that say
where a file's data is, or without a journal a write of the filesystem's blocks); data is being
waited for (file_write_and_wait_range, or a read or a write of file data in flight); anything else.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters.proberecords import taken
from analysis.ledger.chunks import Settled
from analysis.ledger.records import Few
from analysis.schemas.ledger import COSTS, KINDS, LABELS, WAITS
from base.arrays import Intervals, Ints, expand, ints, length_within, union
from model import block_operations, engines

# what is waited for as data
_DATA = [KINDS.index(kind) for kind in (*engines.labels(), "directory", "other", "read")]
# what is waited for in the place of a journal where there is none
_IN_PLACE = [KINDS.index(kind) for kind in ("inode/node", "bitmap/SIT/NAT/superblock")]
_UNATTRIBUTED = LABELS.index("unattributed")
_COUNTS = ("flushes", "fua", "writes")


class Totals:
    """Adds up the bytes by label and the commands of each transaction."""

    def __init__(self, transactions: int) -> None:
        self._sums = np.zeros((len(LABELS) + len(_COUNTS), transactions))
        self._for_others, self._deferred = np.zeros(transactions), np.zeros(transactions)

    def add(self, chunk: Settled) -> None:
        """Add the commands of a chunk by their shares, and what of them is others' content."""
        late = chunk.deferred
        made = late.made_by >= 0
        np.add.at(self._for_others, late.made_by.compress(made), late.bytes.compress(made))
        np.add.at(self._deferred, late.transaction, late.bytes)
        of, found, flags = chunk.shares, chunk.pieces, chunk.block["b"]
        has = of.transaction >= 0
        if not has.any():
            return
        low, high = int(of.transaction[has].min()), int(of.transaction.max()) + 1
        # the shares of a command are next to each other
        counts = np.bincount(of.command, minlength=flags.size)
        first = np.cumsum(counts) - counts
        row, share = expand(first.take(found.command), counts.take(found.command))
        weight = of.share.take(share) * (found.sectors * 512).take(row)
        self._count(found.label.take(row), of.transaction.take(share), weight, low, high)
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
        """Return the sums by the names of their columns."""
        found = dict(zip((*LABELS, *_COUNTS), self._sums, strict=True))
        late = {"for_others": self._for_others, "deferred": self._deferred}
        return {"bytes": self._sums[: len(LABELS)].sum(axis=0), **late, **found}


def costs(
    transactions: pl.DataFrame,
    totals: Totals,
    witnessed: Ints,
    syncs: pl.DataFrame,
    split: dict[str, Ints] | None,
) -> pl.DataFrame:
    """Return schema.COSTS. `witnessed` has the syncs that SQLite's calls made, by transaction. split: None
    where it is not known."""
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
    """Return how long each transaction was off the CPU, by reason (schema.WAITS).

    in_place: of the layout. `kind` (place in schema.KINDS), `issue` and `complete` are those of the block
    commands.
    """
    begins, ends = ints(transactions["begin_ns"]), ints(transactions["end_ns"])

    def of(name: str, own: bool) -> Intervals:
        rows = taken(few[name], np.isin(few[name]["tid"], tids)) if own else few[name]
        return Intervals(ints(rows["begin_ns"]), ints(rows["end_ns"]))

    def commands(kinds: list[int]) -> Intervals:
        rows = np.isin(np.arange(len(KINDS)), kinds).take(kind)
        return Intervals(issue.compress(rows), complete.compress(rows))

    reasons = (
        [commands([KINDS.index("flush")])],
        [
            *(of("commit_wait", True), of("checkpoint", False), of("node_wait", True)),
            commands(_IN_PLACE if in_place else []),
        ],
        [commands(_DATA), of("data_wait", True)],
    )
    away = union([of("off_cpu", True)])
    left = length_within(away, begins, ends)
    # each reason takes what those before it did not
    covered, found, before = Intervals(left[:0], left[:0]), [], np.zeros_like(left)
    for reason in reasons:
        covered = union([covered, *reason])
        # what is in both is in one, or in the other, and not only in either
        either = length_within(union([away, covered]), begins, ends)
        upto = left + length_within(covered, begins, ends) - either
        found.append(upto - before)
        before = upto
    flush, journal, data = found
    return dict(zip(WAITS, (data, journal, flush, left - before), strict=True))


def witnessed_syncs(vfs: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of vfs that make filesystem syncs: call, syncs, transaction.

    xSync is one fsync or fdatasync (SQLite's os_unix.c, unixSync); the first after a journal or
    WAL was opened to be created (UNIXFILE_DIRSYNC) syncs its directory too; so does an xDelete
    that is told to (unixDelete). vfs.csv says in `bytes` of open and delete whether it is so.
    """
    due = (pl.col("op") == "open") & (pl.col("bytes") > 0)
    is_sync = pl.col("op") == "sync"
    calls = vfs.filter(is_sync | due | ((pl.col("op") == "delete") & (pl.col("bytes") > 0)))
    after_open = due.shift(1, fill_value=False).over("file", "inode")
    return (
        calls.with_columns(syncs=pl.when(is_sync & after_open).then(2).otherwise(1))
        .filter(pl.col("op") != "open")
        .select("call", "syncs", "transaction")
    )


def by_transaction(witness: pl.DataFrame, number: int) -> Ints:
    """Add up `syncs` by transaction."""
    rows = witness.filter(pl.col("transaction").is_not_null())
    return ints(np.bincount(ints(rows["transaction"]), ints(rows["syncs"]), number))
