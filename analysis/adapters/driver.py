"""raw/driver/: what the workload driver wrote down itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import engines, events
from analysis.adapters import rendered
from analysis.adapters.rendered import Rendered
from analysis.engines import Engine
from analysis.files import SHOWN, columns, read_csv, read_json
from analysis.ledger.schema import FILE, FILES
from base.errors import BadInput

_TRANSACTIONS: dict[str, type[pl.DataType]] = {
    "transaction": pl.Int64,
    "phase": pl.String,
    "op": pl.String,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "changes": pl.Int64,
}
_PHASES: dict[str, type[pl.DataType]] = {
    "phase": pl.String,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "transactions": pl.Int64,
}
# What the driver's thread used of the CPU in a phase: time, and how often it left it to wait or was put
# off it. A driver of before it was recorded has none of these columns.
USAGE: dict[str, type[pl.DataType]] = {"cpu_ns": pl.Int64, "waited": pl.Int64, "preempted": pl.Int64}
_STAT_FIELDS = (
    *("read_ios", "read_merges", "read_sectors", "read_ticks"),
    *("write_ios", "write_merges", "write_sectors", "write_ticks"),
    *("in_flight", "io_ticks", "time_in_queue"),
    *("discard_ios", "discard_merges", "discard_sectors", "discard_ticks"),
    *("flush_ios", "flush_ticks"),
)
_STAT: dict[str, type[pl.DataType]] = {
    "label": pl.String,
    **dict.fromkeys(["time_ns", "inflight_reads", "inflight_writes", *_STAT_FIELDS], pl.Int64),
}
_VFS: dict[str, type[pl.DataType]] = {
    **{"call": pl.Int64, "op": pl.Categorical, "file": pl.Categorical},
    **{"begin_ns": pl.Int64, "end_ns": pl.Int64},
    **{"inode": pl.Int64, "offset": pl.Int64, "bytes": pl.Int64},
}
# The page of the database in a WAL's frame, and how a call ended, 0: well. A driver of before they were
# recorded has no such columns.
_PAGE: dict[str, type[pl.DataType]] = {"page": pl.Int64}
_RESULT: dict[str, type[pl.DataType]] = {"result": pl.Int64}
_CONFIG_OBJECTS = ("driver", "requested", "effective", "file_sizes", "clock")
_CONFIG_VALUES = ("sql_bytes", "rows_before", "rows_after", "status")
_NOT_WORKLOAD = ("warm", "close", "drain")


@dataclass(frozen=True)
class Driver:
    """The files of raw/driver/, checked for shape and order of time, not for truth."""

    config: dict[str, Any]  # with sql_sha256 and rendered_bytes, of rendered.gz
    transactions: pl.DataFrame  # _TRANSACTIONS
    phases: pl.DataFrame  # _PHASES, and USAGE if it was recorded
    device_stat: pl.DataFrame  # _STAT
    vfs: pl.DataFrame | None  # _VFS, _PAGE and _RESULT if they were recorded; in runs that are traced
    rendered: Rendered | None  # what the engine was given; None of a driver that kept its hash alone

    @property
    def engine(self) -> Engine:
        """The engine that ran."""
        return engines.of(engines.name_in(self.config))

    @property
    def workload_phases(self) -> pl.DataFrame:
        """The phases that run transactions, in order."""
        return self.phases.filter(~pl.col("phase").is_in(_NOT_WORKLOAD))

    @property
    def planned(self) -> dict[str, Any]:
        """Transactions of each workload phase; a driver that does not say so had n in each."""
        n = self.config["driver"].get("n")
        found: dict[str, Any] = self.config.get(
            "transactions", dict.fromkeys(self.workload_phases["phase"], n)
        )
        return found

    @property
    def window(self) -> tuple[int, int]:
        """(begin_ns, end_ns) between the two idle readings of the device's counters."""
        times = dict(self.device_stat.select("label", "time_ns").iter_rows())
        return times["begin"], times["end"]

    @property
    def timed(self) -> tuple[int, int] | None:
        """(begin_ns, end_ns) of the timed region; None if the `close` phase is missing."""
        close = self.phases.filter(pl.col("phase") == "close")
        if close.is_empty():
            return None
        first = self.workload_phases if not self.workload_phases.is_empty() else close
        return first["begin_ns"][0], close["end_ns"][0]

    def stat_difference(self) -> dict[str, int]:
        """Return what each counter of /sys/block/<dev>/stat grew by within the window."""
        rows = {row["label"]: row for row in self.device_stat.iter_rows(named=True)}
        return {name: rows["end"][name] - rows["begin"][name] for name in _STAT_FIELDS}


def read(folder: Path) -> Driver:
    """Read raw/driver/. Raises BadInput."""
    config = read_json(folder / "config.json")
    engine = engines.name_in(config)
    if engine not in engines.names():
        wrong = f"engine is {engine!r}"
        raise BadInput(folder / "config.json", "", wrong, ", ".join(engines.names()))
    for key in (*_CONFIG_OBJECTS, engine, engines.of(engine).PROPERTIES):
        if not isinstance(config.get(key), dict):
            raise BadInput(folder / "config.json", "", f"no object {key!r}", "see docs/formats.md")
    if not isinstance(config.get("transactions", {}), dict):
        raise BadInput(folder / "config.json", "", "transactions is no object", "see docs/formats.md")
    for key in _CONFIG_VALUES:
        if key not in config:
            raise BadInput(folder / "config.json", "", f"no key {key!r}", "see docs/formats.md")
    if not isinstance(config["sql_bytes"], int) or config["sql_bytes"] < 0:
        wrong = f"sql_bytes is {config['sql_bytes']!r}"
        raise BadInput(folder / "config.json", "", wrong, "a number of bytes")
    if not isinstance(config["driver"].get("database"), str):
        raise BadInput(folder / "config.json", "", "no driver.database", "see docs/formats.md")
    if type(every := config["driver"].get("checkpoint_every", -1)) is not int:
        wrong = f"checkpoint_every is {every!r}"[:SHOWN]
        raise BadInput(folder / "config.json", "", wrong, "a number of transactions")
    if given := _rendered(folder, config):
        config["sql_sha256"] = given.sha256
    # of a driver that kept its hash alone those of the values
    config["rendered_bytes"] = given.bytes if given else config["sql_bytes"]
    transactions = read_csv(folder / "transactions.csv", _TRANSACTIONS)
    phases = _read_grown(folder / "phases.csv", _PHASES, USAGE)
    stat = read_csv(folder / "device_stat.csv", _STAT)
    _in_order(folder / "transactions.csv", transactions)
    _in_order(folder / "phases.csv", phases)
    _numbered(folder / "transactions.csv", transactions)
    for label in ("begin", "end"):
        if stat["label"].to_list().count(label) != 1:
            place = f"after line {stat.height + 1}"
            raise BadInput(folder / "device_stat.csv", place, f"no single {label!r} line", "one")
    vfs = _read_vfs(folder / "vfs.csv") if (folder / "vfs.csv").is_file() else None
    return Driver(config, transactions, phases, stat, vfs, given)


def _rendered(folder: Path, config: dict[str, Any]) -> Rendered | None:
    """What the engine was given; None of a driver that hashed by itself, and left nothing but the hash."""
    path, told = folder / "rendered.gz", config.get("sql_sha256")
    if told is None:
        return rendered.read(path, config["sql_bytes"], engines.of(engines.name_in(config)))
    if path.exists() or not isinstance(told, str) or not re.fullmatch("[0-9a-f]{64}", told):
        wrong = f"sql_sha256 is {told!r}" + (" beside rendered.gz" if path.exists() else "")
        raise BadInput(folder / "config.json", "", wrong, "either rendered.gz, or its SHA-256")
    return None


def _read_grown(
    path: Path,
    schema: dict[str, type[pl.DataType]],
    *added: dict[str, type[pl.DataType]],
    optional: tuple[str, ...] = (),
) -> pl.DataFrame:
    """Read a CSV file that has behind the columns of `schema` those of the first few of `added`: an older
    driver knew no more."""
    names = columns(path)
    for more in added:
        if len(names) > len(schema):
            schema = schema | more
    return read_csv(path, schema, optional)


def no_calls() -> pl.DataFrame:
    """Return the log of an engine that keeps none."""
    return pl.DataFrame(schema=_VFS).with_columns(pl.col("file").cast(FILE))


def _read_vfs(path: Path) -> pl.DataFrame:
    """Return the log of SQLite's calls; `file` is one of schema.FILES."""
    table = _read_grown(path, _VFS, _PAGE, _RESULT, optional=("offset", "bytes", "page"))
    _in_order(path, table)
    wrong = table.with_row_index().filter(~pl.col("file").is_in(FILES))
    if not wrong.is_empty():
        row = wrong.row(0, named=True)
        raise BadInput(path, f"line {row['index'] + 2}", f"file {row['file']!r}", ", ".join(FILES))
    # one piece of memory: arrays of its columns are then no copies
    return table.with_columns(pl.col("file").cast(FILE)).rechunk()


def _in_order(path: Path, table: pl.DataFrame) -> None:
    """Raise BadInput at the first row that ends before it begins or begins before the last."""
    previous = pl.col("end_ns").shift(1, fill_value=0)
    wrong = table.with_row_index().filter(
        (pl.col("begin_ns") > pl.col("end_ns")) | (pl.col("begin_ns") < previous)
    )
    if not wrong.is_empty():
        row = wrong.row(0, named=True)
        text = f"{row['begin_ns']} to {row['end_ns']} is out of order"
        raise BadInput(path, f"line {row['index'] + 2}", text, "times that do not go back")


def _numbered(path: Path, table: pl.DataFrame) -> None:
    """Raise BadInput at the first transaction whose number is not its place."""
    wrong = table.with_row_index().filter(pl.col("index") != pl.col("transaction"))
    if not wrong.is_empty():
        row = wrong.row(0, named=True)
        text = f"transaction {row['transaction']}"
        raise BadInput(path, f"line {row['index'] + 2}", text, f"transaction {row['index']}")


def to_events(driver: Driver) -> pl.DataFrame:
    """Return transactions and phases as events."""
    rows = driver.transactions
    transactions = events.frame(
        {
            "source": "driver",
            "event": "transaction",
            "result": rows["changes"],
            **{name: rows[name] for name in ("begin_ns", "end_ns", "transaction", "phase", "op")},
        },
        rows.height,
    )
    rows = driver.phases
    phases = events.frame(
        {
            "source": "driver",
            "event": "phase",
            **{name: rows[name] for name in ("begin_ns", "end_ns", "phase")},
        },
        rows.height,
    )
    return events.merge([transactions, phases])
