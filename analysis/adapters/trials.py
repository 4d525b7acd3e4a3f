"""Read crash trials (power loss, kill, device fault): board logs, results; count recoveries, bad sectors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.adapters import device_logs, driver
from analysis.adapters.device_logs import Reader
from analysis.run_files.csv_tables import Columns, read_csv
from base.errors import BadInputError, FileError
from model.crash_points.policies import FAULT, FOLDER

TRIALS: Columns = {
    **{"trial": pl.Int64, "plan": pl.String},
    **dict.fromkeys(
        ["mount_error", "opened", "is_read", "is_whole", "signal", "unmount_error", "fsck"], pl.Int64
    ),
    **{"complaints": pl.Int64, "rows": pl.Int64, "hash": pl.String},
    **dict.fromkeys(["reads", "writes", "flushes", "zero", "stale", "looked_ns"], pl.Int64),
    **dict.fromkeys(["begin_ns", "shown_ns", "mounted_ns", "opened_ns", "read_ns", "end_ns"], pl.Int64),
    "said": pl.String,
}
# A board's record of each kill (workloads/trials/kill.c).
KILLS: Columns = {
    **{"trial": pl.Int64, "plan": pl.String},
    **dict.fromkeys(["acknowledged", "begun", "opened", "is_read", "is_whole", "signal"], pl.Int64),
    **{"complaints": pl.Int64, "rows": pl.Int64, "hash": pl.String},
    **dict.fromkeys(["begin_ns", "shown_ns", "opened_ns", "read_ns", "end_ns"], pl.Int64),
    "said": pl.String,
}
# A board's record of a fault of its device (workloads/trials/device_fault.c).
FAULTS: Columns = {
    **{"trial": pl.Int64, "plan": pl.String},
    **dict.fromkeys(["acknowledged", "begun", "failed", "exit_status", "fired", "seen", "sector"], pl.Int64),
    **dict.fromkeys(["mount_error", "opened", "is_read", "is_whole", "signal"], pl.Int64),
    **{"complaints": pl.Int64, "rows": pl.Int64, "hash": pl.String},
    **dict.fromkeys(["begin_ns", "shown_ns", "mounted_ns", "opened_ns", "read_ns", "end_ns"], pl.Int64),
    **{"answer": pl.String, "said": pl.String},
}
# Sectors of the engine's files that were zero or had other data; null if a file could not be read.
SECTORS = ("zero", "stale")
# How the engine recovered the database, and the transactions of its log that it executed again; null if
# the engine does not report them.
RECOVERY: Columns = {"recovery": pl.String, "replayed": pl.Int64}
NO_TRIALS = "the run has no trials; a run with CRASH=power has some"
UNPLACED = (
    "not evaluated: commands came in another order on its board, and no cut leaves the state it was given"
)


@dataclass(frozen=True)
class Board:
    """A board that repeated the run and then did some of the trials."""

    name: str
    driver: driver.Driver
    log: device_logs.DeviceLog
    trials: pl.DataFrame  # TRIALS and RECOVERY


def parse_number(text: str, count: int) -> int:
    """Return the number of one of COUNT trials. Raises BadInputError if it is out of range."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(count)) or int(text) >= count:
        raise BadInputError(f"TRIAL={text}: a trial of that run is a number from 0 to {count - 1}")
    return int(text)


def read(folder: Path, reader: Reader | None) -> list[Board]:
    """Return the boards of the run in `folder`; none without power cuts. Raises FileError."""
    boards = []
    for raw in raw_folders(folder):
        if reader is None:
            raise FileError(raw, "", "trials on a device without a log", "a device with a log")
        table = read_table(raw / "trials.csv", TRIALS)
        log = reader.read_log(raw / "device.bin")
        boards.append(Board(raw.parent.name, driver.read(raw / "driver"), log, table))
    return boards


def read_kills(folder: Path, crash: str) -> pl.DataFrame | None:
    """Return the kills (KILLS) or faults (FAULTS) of the run in `folder`; None without any.

    Raises FileError.
    """
    paths = sorted(folder.glob(f"{FOLDER}/*/raw/trials.csv"))
    columns = FAULTS if crash == FAULT else KILLS
    return pl.concat([read_table(path, columns) for path in paths]) if paths else None


def raw_folders(folder: Path) -> list[Path]:
    """Return raw/ of each board that did trials of the run in `folder`."""
    return sorted(folder.glob(f"{FOLDER}/*/raw"))


def read_table(path: Path, schema: Columns) -> pl.DataFrame:
    """Return a board's trials.csv with the columns of `schema` and RECOVERY. Raises FileError."""
    table = read_csv(path, schema | RECOVERY, optional=("answer", "said", *SECTORS, "looked_ns", *RECOVERY))
    for name in ("plan", "hash"):
        if wrong := [text for text in table[name] if not re.fullmatch("[0-9a-f]{16}", text)]:
            raise FileError(path, "", f"{name} is {wrong[0][:40]!r}", "16 hex digits")
    return table


def count_recoveries(judged: pl.DataFrame) -> dict[str, Any]:
    """Return the number of trials by kind of recovery, and the transactions executed again in all.

    Return {} for an engine that does not report its recovery.
    """
    kinds = judged["recovery"].drop_nulls()
    if kinds.is_empty():
        return {}
    counts = dict(kinds.value_counts().sort("count", "recovery", descending=[True, False]).rows())
    return {"recoveries": counts, "replayed": int(judged["replayed"].sum())}


def count_sectors(counts: pl.Series) -> dict[str, int] | None:
    """Return the number of trials with any such sectors, and the most; None if no board counted them."""
    values = counts.drop_nulls().to_list()
    return {"cuts": sum(value > 0 for value in values), "max": max(values)} if values else None


def shown_sectors(row: Mapping[str, Any]) -> str:
    """Return a trial's counts in words, after a space; empty if there are none."""
    counts = [f"{row[name]} {name}" for name in SECTORS if row.get(name)]
    return f" ({' and '.join(counts)} sectors)" if counts else ""
