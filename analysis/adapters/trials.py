"""What the boards said of a run's trials: raw/trials.csv of each (workloads/trials/trials.c)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.adapters import devicelog, driver
from analysis.adapters.device_logs import Reader
from analysis.run_files.reading import read_csv
from base.errors import BadInput, BadInputError
from model.crash_points.policies import FOLDER

TRIALS: dict[str, type[pl.DataType]] = {
    **{"trial": pl.Int64, "plan": pl.String},
    **dict.fromkeys(
        ["mount_error", "opened", "is_read", "is_whole", "signal", "unmount_error", "fsck"], pl.Int64
    ),
    **{"complaints": pl.Int64, "rows": pl.Int64, "hash": pl.String},
    **dict.fromkeys(["reads", "writes", "flushes"], pl.Int64),
    **dict.fromkeys(["zero", "stale", "looked_ns"], pl.Int64),
    **dict.fromkeys(
        ["begin_ns", "shown_ns", "mounted_ns", "opened_ns", "read_ns", "end_ns"],
        pl.Int64,
    ),
    "said": pl.String,
}
# What a board says of each kill (workloads/trials/kill.c).
KILLS: dict[str, type[pl.DataType]] = {
    **{"trial": pl.Int64, "plan": pl.String},
    **dict.fromkeys(["acknowledged", "begun", "opened", "is_read", "is_whole", "signal"], pl.Int64),
    **{"complaints": pl.Int64, "rows": pl.Int64, "hash": pl.String},
    **dict.fromkeys(["begin_ns", "shown_ns", "opened_ns", "read_ns", "end_ns"], pl.Int64),
    "said": pl.String,
}
# What of these is not known where a file could not be read: sectors of files (crash/sectors.py), and how long
# looking at them took.
BYTES = ("zero", "stale", "looked_ns")
# How the engine recovered the database, where it tells, and how many transactions of its log it executed
# again.
RECOVERY: dict[str, type[pl.DataType]] = {"recovery": pl.String, "replayed": pl.Int64}
# Why a run has none to look at.
NONE = "a run without trials; one of CRASH=power has some"
# Why there is nothing to look at of a trial that was tried.
UNPLACED = (
    "by its board's log no cut leaves what that was shown, as commands came in another order: it is left out"
)


@dataclass(frozen=True)
class Board:
    """One board that did the run again and then some of the trials."""

    name: str
    driver: driver.Driver
    log: devicelog.DeviceLog
    trials: pl.DataFrame  # TRIALS and RECOVERY


def number(asked: str, count: int) -> int:
    """Return the number of one of COUNT trials. Raises BadInputError where it is none."""
    if not (asked.isascii() and asked.isdigit()) or len(asked) > len(str(count)) or int(asked) >= count:
        raise BadInputError(f"TRIAL={asked}: a trial of that run is a number from 0 to {count - 1}")
    return int(asked)


def read(folder: Path, reader: Reader | None) -> list[Board]:
    """Return the boards of the run in `folder`; none where no power was cut. Raises BadInput."""
    return [_read(place, reader) for place in places(folder)]


def read_kills(folder: Path) -> pl.DataFrame | None:
    """Return what the boards of the run in `folder` said of kills, KILLS; None where there were none. Raises
    BadInput."""
    places = sorted(folder.glob(f"{FOLDER}/*/raw/trials.csv"))
    found = [table(place, KILLS) for place in places]
    return pl.concat(found) if found else None


def places(folder: Path) -> list[Path]:
    """Return the raw/ of each board of trials of the run in `folder`."""
    return sorted(folder.glob(f"{FOLDER}/*/raw"))


def _read(raw: Path, reader: Reader | None) -> Board:
    if reader is None:
        raise BadInput(raw, "", "trials on a device that keeps no log", "one that does")
    found = table(raw / "trials.csv", TRIALS)
    return Board(raw.parent.name, driver.read(raw / "driver"), reader.read_log(raw / "device.bin"), found)


def table(path: Path, schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return what a board said of its trials, `schema` and RECOVERY. Raises BadInput."""
    found = read_csv(path, schema | RECOVERY, optional=("said", *BYTES, *RECOVERY))
    _check_hashes(path, found)
    return found


def _check_hashes(path: Path, found: pl.DataFrame) -> None:
    """Raise BadInput where a board said something else in a hash's place."""
    for name in ("plan", "hash"):
        if wrong := [one for one in found[name] if not _is_hash(one)]:
            raise BadInput(path, "", f"{name} is {wrong[0][:40]!r}", "16 hex digits")


def recoveries(judged: pl.DataFrame) -> dict[str, Any]:
    """Return how often the engine met what in its recovery, and how many transactions it executed again in
    all; nothing of one that does not tell."""
    met = judged["recovery"].drop_nulls()
    if met.is_empty():
        return {}
    counts = dict(met.value_counts().sort("count", "recovery", descending=[True, False]).rows())
    return {"recoveries": counts, "replayed": int(judged["replayed"].sum())}


def _is_hash(text: str) -> bool:
    return len(text) == 16 and set(text) <= set("0123456789abcdef")
