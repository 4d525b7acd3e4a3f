"""Make the ledger's large tables (commands, pieces, shares, reads), ordered by issue; sum up what was read.

They are made one column at a time, as a whole copy would double the memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.ledger.background_io import thread_names
from analysis.ledger.records import Few
from analysis.ledger.rows import Faults, Rows
from analysis.ledger.small_tables import named, nullable, words
from analysis.schemas import ledger as schema
from analysis.schemas.ledger import READS
from base.arrays import Ints, LastBefore, ascending, at, inside, ints
from model.block_operations import rwbs


class Tables(NamedTuple):
    """schema.LEDGER, PIECES, SHARES, DEFERRED and READS, and the faults."""

    ledger: pl.DataFrame
    pieces: pl.DataFrame
    shares: pl.DataFrame
    deferred: pl.DataFrame
    reads: pl.DataFrame
    faults: Faults


def tables(rows: Rows, few: Few, phases: pl.DataFrame) -> Tables:
    """Return the tables, ordered by issue."""
    issue = rows.take("ledger", "issue_ns")
    order, number = None, None
    if not ascending(issue):
        order = np.argsort(issue, kind="stable")
        number = np.empty_like(order)
        number[order] = np.arange(order.size)
    ledger = _ledger(rows, issue, order, few, phases)
    return Tables(
        ledger,
        _table(rows, "pieces", schema.PIECES, number),
        _table(rows, "shares", schema.SHARES, number),
        _table(rows, "deferred", schema.DEFERRED, number),
        reads_table(_table(rows, "reads", READ_PARTS, number), ledger, few["off_cpu"]),
        rows.faults(number),
    )


def _in(order: Ints | None, values: np.ndarray) -> np.ndarray:
    ordered: np.ndarray = values if order is None else values.take(order)
    return ordered


def _table(rows: Rows, table: str, columns: schema.Schema, number: Ints | None) -> pl.DataFrame:
    """Return a table with the command as its first column; number: the new index of each."""
    command = rows.take(table, "command")
    if number is not None:
        command = number.take(command)
    order = None if number is None else np.argsort(command, kind="stable")

    def column(name: str) -> np.ndarray:
        if name == "command":
            values = command
        elif name == "bytes" and table in ("pieces", "reads"):
            values = ints(rows.take(table, "sectors")) * 512
        else:
            values = rows.take(table, name)
        return _in(order, values)

    return pl.DataFrame([_series(name, column(name), kind) for name, kind in columns.items()])


def _ledger(
    rows: Rows, issue: np.ndarray, order: Ints | None, few: Few, phases: pl.DataFrame
) -> pl.DataFrame:
    def column(name: str) -> np.ndarray:
        return _in(order, rows.take("ledger", name))

    issue, tid = _in(order, issue), column("tid")
    phase = inside(issue, ints(phases["begin_ns"]), ints(phases["end_ns"]))
    made: dict[str, Callable[[], np.ndarray | pl.Series]] = {
        "command": lambda: np.arange(issue.size),
        "rwbs": lambda: named(column("flags"), rwbs),
        "bytes": lambda: ints(column("sectors")) * 512,
        "issue_ns": lambda: issue,
        "tid": lambda: tid,
        "comm": lambda: named(tid, thread_names(few["comm"]).get),
        "op": lambda: rows.ops.gather(nullable(column("op"))),
        "phase": lambda: phases["phase"].cast(pl.Categorical).gather(nullable(phase)),
        "commit": lambda: at(ints(few["commit"]["a"]), ints(column("commit"))),
    }
    series = (
        _series(name, made[name]() if name in made else column(name), kind)
        for name, kind in schema.LEDGER.items()
    )
    return pl.DataFrame(list(series))


def _series(name: str, values: np.ndarray | pl.Series, kind: schema.Kind) -> pl.Series:
    """Return a column of a table: an Enum's words from indices, -1 as null."""
    if isinstance(values, pl.Series):
        return values.cast(kind).alias(name)
    if isinstance(kind, pl.Enum):
        return words(values, kind).alias(name)
    if name in schema.NULLABLE:
        return nullable(values).alias(name)
    return pl.Series(name, values, dtype=kind)


_OF_COMMAND = ("transaction", "no_transaction", "waited")
READ_PARTS = {name: kind for name, kind in READS.items() if name not in _OF_COMMAND}


def reads_table(parts: pl.DataFrame, ledger: pl.DataFrame, off_cpu: np.ndarray) -> pl.DataFrame:
    """Return schema.READS. parts: its columns READ_PARTS; off_cpu: the records of threads off the CPU.

    The page cache reads a requested page and those after it with one bio, which the kernel marks as
    readahead. So the mark does not show whether a thread waits. The scheduler does: a thread that waits for
    a command is off the CPU when it completes.
    """
    commands = ledger.filter(pl.col("kind") == "read")
    tid, complete = ints(commands["tid"].fill_null(-1)), ints(commands["complete_ns"])
    last = LastBefore(ints(off_cpu["tid"]), ints(off_cpu["begin_ns"])).event(tid, complete)
    ends = np.r_[ints(off_cpu["end_ns"]), -1]
    is_recorded = pl.Series(np.isin(tid, off_cpu["tid"]))
    waited = pl.Series(ends.take(last) >= complete).set(~is_recorded, None)
    of_command = commands.select("command", "transaction", "no_transaction").with_columns(waited=waited)
    joined = parts.join(of_command, on="command", how="left", maintain_order="left")
    return joined.select(pl.col(name).cast(kind) for name, kind in READS.items())


def reads_summary(reads: pl.DataFrame, ops: pl.DataFrame) -> dict[str, object] | None:
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
