"""Build the table of read commands: for which transaction each part was read, and whether that waited for it.

The page cache reads a requested page and those after it with one bio, which the kernel marks as readahead.
So the mark does not tell whether a thread waits. The scheduler does: a thread that waits for a command is off
the CPU when it completes.
"""

import numpy as np
import polars as pl

from analysis.schemas.ledger import READS
from base.arrays import LastBefore, ints

_OF_COMMAND = ("transaction", "no_transaction", "waited")
PARTS = {name: kind for name, kind in READS.items() if name not in _OF_COMMAND}


def table(parts: pl.DataFrame, ledger: pl.DataFrame, off_cpu: np.ndarray) -> pl.DataFrame:
    """Return schema.READS. parts: its columns PARTS; off_cpu: the records of threads off the CPU."""
    commands = ledger.filter(pl.col("kind") == "read")
    tid, complete = ints(commands["tid"].fill_null(-1)), ints(commands["complete_ns"])
    last = LastBefore(ints(off_cpu["tid"]), ints(off_cpu["begin_ns"])).event(tid, complete)
    ends = np.r_[ints(off_cpu["end_ns"]), -1]
    is_recorded = pl.Series(np.isin(tid, off_cpu["tid"]))
    waited = pl.Series(ends.take(last) >= complete).set(~is_recorded, None)
    of_command = commands.select("command", "transaction", "no_transaction").with_columns(waited=waited)
    joined = parts.join(of_command, on="command", how="left", maintain_order="left")
    return joined.select(pl.col(name).cast(kind) for name, kind in READS.items())


def summary(reads: pl.DataFrame, ops: pl.DataFrame) -> dict[str, object] | None:
    """Return the bytes read by label and by file, and for whom; None if nothing was read.

    `hits` is the share of transactions that read nothing from the device.
    ops: transaction, op.
    """
    if reads.is_empty():
        return None

    def sums(rows: pl.DataFrame, name: str) -> dict[str, int]:
        named = rows.filter(pl.col(name).is_not_null()).with_columns(pl.col(name).cast(pl.String))
        return dict(named.group_by(name).agg(pl.col("bytes").sum()).sort(name).iter_rows())

    means = (
        ops.select("transaction", "op")
        .join(reads.group_by("transaction").agg(pl.col("bytes").sum()), on="transaction", how="left")
        .group_by("op", maintain_order=True)
        .agg(pl.col("bytes").fill_null(0).mean(), hits=(pl.col("bytes").fill_null(0) == 0).mean())
    )
    return {
        "bytes": int(reads["bytes"].sum()),
        "labels": sums(reads, "label"),
        "files": sums(reads, "file"),
        "per_transaction": {str(op): mean for op, mean, _ in means.iter_rows()},
        "hits": {str(op): hits for op, _, hits in means.iter_rows()},
        "no_transaction": sums(reads, "no_transaction"),
        "ahead_bytes": int(reads.filter(~pl.col("waited"))["bytes"].sum()),
    }
