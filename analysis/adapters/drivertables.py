"""Read the CSV files of raw/driver/ (transactions, phases, file calls, …), and refuse impossible values."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from analysis.run_files.csv_tables import Columns, columns, read_csv
from analysis.run_files.reading import shown
from analysis.schemas.ledger import FILE, FILES
from base.errors import FileError
from model import operations

# Resolution of vfs.csv, in ns: it is written in ticks of the clock's counter (TICKS_TOLERANCE_NS of
# workloads/ticks.h).
TICKS_NS = 250

TRANSACTIONS: Columns = {
    **{"transaction": pl.Int64, "phase": pl.String, "op": pl.String},
    **{"begin_ns": pl.Int64, "end_ns": pl.Int64, "changes": pl.Int64},
}
# Two writers: each transaction and its writer, the driver (1) or its thread (2); locked_ns: it had the lock.
COMMITS: Columns = dict.fromkeys(["writer", "transaction", "locked_ns", "end_ns"], pl.Int64)
# What the engine returned: rows, and bytes of the values in them. Older runs and commands lack these columns.
RETURNED: Columns = {"rows": pl.Int64, "bytes": pl.Int64}
# For a watched command, an engine's preload (workloads/command/transactions.h) notes: the thread that ended
# the transaction, the pages that the engine wrote, and the database's name.
NOTED: Columns = {
    **TRANSACTIONS,
    **{"tid": pl.Int64, "pages": pl.Int64, "rolled_back": pl.Int64, "file": pl.String},
}
PHASES: Columns = {"phase": pl.String, "begin_ns": pl.Int64, "end_ns": pl.Int64, "transactions": pl.Int64}
# CPU use of the driver's thread in a phase: time, and voluntary and involuntary switches. A command's phases
# lack these columns.
USAGE: Columns = {"cpu_ns": pl.Int64, "waited": pl.Int64, "preempted": pl.Int64}
STAT_FIELDS = (
    *("read_ios", "read_merges", "read_sectors", "read_ticks"),
    *("write_ios", "write_merges", "write_sectors", "write_ticks"),
    *("in_flight", "io_ticks", "time_in_queue"),
    *("discard_ios", "discard_merges", "discard_sectors", "discard_ticks"),
    *("flush_ios", "flush_ticks"),
)
# Fields that a kernel may lack, with the first release that has them (Documentation/block/stat.rst).
LATER = {name: (4, 18) if name.startswith("discard") else (5, 5) for name in STAT_FIELDS[11:]}
# Counters of 64 bits, which never fall. Times are reported in 32 bits of ms (block/genhd.c).
_COUNTERS = tuple(name for name in STAT_FIELDS if name.endswith(("_ios", "_merges", "_sectors")))
STAT: Columns = {
    "label": pl.String,
    **dict.fromkeys(["time_ns", "inflight_reads", "inflight_writes", *STAT_FIELDS], pl.Int64),
}
CALLS: Columns = {
    **{"call": pl.Int64, "op": pl.Categorical, "file": pl.Categorical},
    # page: of the database, in a WAL's frame; result: 0 for success
    **dict.fromkeys(["begin_ns", "end_ns", "inode", "offset", "bytes", "page", "result"], pl.Int64),
}
# Writes of each transaction to persistent memory; `file` is the role of the engine's file there.
PERSISTENT: Columns = {"transaction": pl.Int64, "file": pl.String, "lines": pl.Int64, "bytes": pl.Int64}
# Data of an earlier call: the call that writes it again, the earlier one (null: before the run), bytes.
MOVED: Columns = {"call": pl.Int64, "source": pl.Int64, "bytes": pl.Int64}
# workloads/file_calls.c
OPERATIONS = (
    *("open", "close", "write", "sync", "truncate", "delete", "shm_map"),
    *("keep", "copy", "msync", "clean"),
)
# The number of the file's database, from 1, in a run of several; null: of none.
DATABASE: Columns = {"database": pl.Int64}


def transactions(path: Path) -> pl.DataFrame:
    """Return the transactions in order. Raises FileError."""
    schema = TRANSACTIONS | (RETURNED if "rows" in columns(path) else {})
    # a key-value engine writes without reading, so the number of changed rows is unknown
    table = read_csv(path, schema, optional=("changes",))
    counted = [name for name in ("changes", *RETURNED) if name in schema]
    counts = (_Rule(name, pl.col(name) < 0, "0 or more") for name in counted)
    _refuse(path, table, *_IN_ORDER, _NUMBERED, *counts)
    return table


def commits(path: Path) -> pl.DataFrame:
    """Return the transactions of two writers in the order of their commits. Raises FileError."""
    table = read_csv(path, COMMITS)
    number = pl.int_range(pl.len()).over("writer")
    _refuse(
        path,
        table,
        _Rule("writer", ~pl.col("writer").is_in([1, 2]), "1 or 2"),
        _Rule("transaction", pl.col("transaction") != number, "its place among the writer's"),
        _Rule("end_ns", pl.col("end_ns") < pl.col("locked_ns"), "no less than locked_ns"),
    )
    return table.sort("locked_ns")


def unescape(path: str) -> str:
    """Return a path with the \\xHH escapes of transactions.csv and config.json undone."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), path.encode()).decode(
        errors="replace"
    )


def noted_transactions(path: Path) -> pl.DataFrame:
    """Return a command's transactions in the order of their begins; they may overlap. Raises FileError."""
    # a database in memory, which writes into an attached one, has no path
    table = read_csv(path, NOTED, ("file",))
    table = table.with_columns(pl.col("file").fill_null("").map_elements(unescape, return_dtype=pl.String))
    before = pl.col("begin_ns").shift(1, fill_value=0)
    _refuse(
        path,
        table,
        _NUMBERED,
        *(_Rule(name, pl.col(name) < 0, "0 or more") for name in ("changes", "tid")),
        _Rule("begin_ns", pl.col("begin_ns") < before, "no less than the line before has"),
        _ENDED,
        _Rule("pages", pl.col("pages") < 1, "1 or more"),
        _Rule("rolled_back", ~pl.col("rolled_back").is_in([0, 1]), "0 or 1"),
    )
    return table


def phases(path: Path, schema: Columns) -> pl.DataFrame:
    """Return the phases in order. Raises FileError."""
    table = read_csv(path, schema)
    _refuse(path, table, *_IN_ORDER)
    return table


def device_stat(path: Path) -> pl.DataFrame:
    """Return the readings of the device's counters; null for one that the kernel lacks. Raises FileError."""
    table = read_csv(path, STAT, tuple(LATER))
    for label in ("begin", "end"):
        if table["label"].to_list().count(label) != 1:
            raise FileError(path, f"after line {table.height + 1}", f"no single {label!r} line", "one")
    positive = ("time_ns", "inflight_reads", "inflight_writes", *STAT_FIELDS)
    unlike = {name: pl.col(name).is_null() != pl.col(name).is_null().first() for name in LATER}
    falls = {name: pl.col(name) < pl.col(name).shift(1) for name in ("time_ns", *_COUNTERS)}
    _refuse(
        path,
        table,
        *(_Rule(name, pl.col(name) < 0, "0 or more") for name in positive),
        *(_Rule(name, wrong, "a number in each line or in none") for name, wrong in unlike.items()),
        *(_Rule(name, wrong, "no less than the line before has") for name, wrong in falls.items()),
    )
    return table


def calls(path: Path, databases: int = 1) -> pl.DataFrame:
    """Return the log of an engine's calls; `file` is one of FILES. Raises FileError.

    databases: their number; with several, each call has the number of its database.
    """
    schema = CALLS | DATABASE if databases > 1 else CALLS
    table = read_csv(path, schema, optional=("offset", "bytes", "page", "database"))
    other = ~pl.col("database").is_between(1, databases)
    _refuse(
        path,
        table,
        *_IN_ORDER,
        _Rule("file", ~pl.col("file").is_in(FILES), ", ".join(FILES)),
        _Rule("op", ~pl.col("op").is_in(OPERATIONS), ", ".join(OPERATIONS)),
        *(_Rule(name, pl.col(name) < 0, "0 or more") for name in ("inode", "offset", "bytes")),
        *([_Rule("database", other, f"1 to {databases}, or nothing")] if databases > 1 else []),
        _Rule("bytes", pl.col("bytes") > 2**63 - 1 - pl.col("offset"), "an end of them below 2^63"),
    )
    # in one piece of memory, arrays of its columns are no copies
    return table.with_columns(pl.col("file").cast(FILE)).rechunk()


def moved(path: Path, number: int) -> pl.DataFrame:
    """Return which earlier call's data each call moved; number: of all calls. Raises FileError."""
    table = read_csv(path, MOVED, optional=("source",))
    _refuse(
        path,
        table,
        _Rule("call", ~pl.col("call").is_between(0, number - 1), f"0 to {number - 1}"),
        _Rule("source", ~pl.col("source").is_between(0, pl.col("call") - 1), "an earlier call, or nothing"),
        _Rule("bytes", pl.col("bytes") < 1, "1 or more"),
    )
    return table


def persistent(path: Path) -> pl.DataFrame:
    """Return the lines and bytes that each transaction wrote to persistent memory. Raises FileError."""
    table = read_csv(path, PERSISTENT)
    other = pl.col("file") != pl.col("file").first()
    _refuse(
        path,
        table,
        _NUMBERED,
        _Rule("file", ~pl.col("file").is_in(FILES), ", ".join(FILES)),
        _Rule("file", other, "the one of the first line"),
        *(_Rule(name, pl.col(name) < 0, "0 or more") for name in ("lines", "bytes")),
    )
    return table


def check_op(path: Path, table: pl.DataFrame, planned: Sequence[str]) -> None:
    """Raise FileError at the first transaction of a phase that was not planned, or of an op that is neither a
    kind (operations.py) nor the name of its phase."""
    kinds = list(operations.kinds())
    _refuse(
        path,
        table,
        _Rule("phase", ~pl.col("phase").is_in(planned), ", ".join(planned)),
        _Rule("op", ~pl.col("op").is_in(kinds) & (pl.col("op") != pl.col("phase")), ", ".join(kinds)),
    )


def no_calls() -> pl.DataFrame:
    """Return the log of an engine that keeps none."""
    return pl.DataFrame(schema=CALLS).with_columns(pl.col("file").cast(FILE))


class _Rule(NamedTuple):
    """A limit of a column: the rows that break it, and the allowed values."""

    name: str
    wrong: pl.Expr
    expected: str


_NUMBERED = _Rule("transaction", pl.col("transaction") != pl.int_range(pl.len()), "its place, from 0")
_ENDED = _Rule("end_ns", pl.col("end_ns") < pl.col("begin_ns"), "no less than begin_ns")
_BEFORE = pl.col("end_ns").shift(1, fill_value=0)
_IN_ORDER = (
    _Rule("begin_ns", pl.col("begin_ns") < _BEFORE, "no less than end_ns of the line before"),
    _ENDED,
)


def _refuse(path: Path, table: pl.DataFrame, *rules: _Rule) -> None:
    """Raise FileError at the first row that breaks a rule: the first of the rules that any row breaks."""
    firsts = (rule.wrong.arg_true().first().alias(f"{i}") for i, rule in enumerate(rules))
    for row, rule in zip(table.select(firsts).row(0), rules, strict=True):
        if row is not None:
            value = table[rule.name][row]
            text = shown(value) if isinstance(value, str) else value
            raise FileError(path, f"line {row + 2}", f"{rule.name} is {text}", rule.expected)
