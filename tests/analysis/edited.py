"""Spoil a run's files: change its JSON, CSV, device log, and what boards reported of crash trials."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from analysis.adapters.device_logs import ENTRY
from analysis.adapters.device_logs.flashsim import HEADER

Rows = list[dict[str, Any]]


def change(path: Path, function: Callable[[dict[str, Any]], object]) -> None:
    """Change the JSON object in a file."""
    value = json.loads(path.read_text())
    function(value)
    path.write_text(json.dumps(value))


def edit(path: Path, **values: Any) -> None:
    """Give names of the JSON object in a file other values."""
    change(path, lambda value: value.update(values))


def unhold(folder: Path) -> Path:
    """Have a run stored without the hashes of its files, where it has a host.json; its folder."""
    host = folder / "host.json"
    if host.is_file():
        change(host, lambda told: told.pop("raw_sha256", None))
    return folder


def table(path: Path, change: Callable[[Rows], object]) -> None:
    """Change the rows of a CSV file; their times and numbers are int."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {key: int(value) for key, value in row.items() if re.fullmatch("0|-?[1-9][0-9]*", value)}
    change(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def replace(path: Path, was: str, by: str, count: int = -1) -> None:
    """Put a text in the place of one that the file must have."""
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, by, count))


def device_log(raw: Path, change: Callable[[np.ndarray], np.ndarray | None], **header: Any) -> None:
    """Change the entries of a device's log in their place, or put others there; and fields of its header."""
    data = (raw / "device.bin").read_bytes()
    head = np.frombuffer(data, HEADER, 1).copy()
    entries = np.frombuffer(data[HEADER.itemsize :], ENTRY).copy()
    changed = change(entries)
    entries = entries if changed is None else changed
    for name, value in (header | {"entries": entries.size}).items():
        head[name] = value
    (raw / "device.bin").write_bytes(head.tobytes() + entries.tobytes())


def trials(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what the boards said of each trial of the run in `folder`."""
    for path in folder.glob("crash/*/raw/trials.csv"):
        table(path, lambda rows: [change(row) for row in rows])


def edit_trial(folder: Path, trial: int, **values: Any) -> None:
    """Give fields of what a board said of a trial another value."""
    trials(folder, lambda row: row.update(values if row["trial"] == trial else {}))


def recoveries(folder: Path, *met: tuple[str, int]) -> None:
    """Have the boards tell of each trial what the engine met, and how many transactions it executed again:
    of trial 0 the first, and of all behind the last the last."""

    def change(row: dict[str, Any]) -> None:
        row["recovery"], row["replayed"] = met[min(row["trial"], len(met) - 1)]

    trials(folder, change)


def lose_a_trial(folder: Path) -> None:
    """The last of board 2 was not run."""
    table(folder / "crash/2/raw/trials.csv", lambda rows: rows.pop())
