"""A run's folder: where its files are, and all of its raw input once read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from analysis import events
from analysis.adapters import blktrace, board, driver, probes
from analysis.errors import BadInput
from analysis.files import read_json, read_text


@dataclass
class Run:
    """All input of one run, parsed. Only the driver's files must be there."""

    folder: Path
    cell: dict[str, Any]
    cell_id: str
    driver: driver.Driver
    board: board.Board
    events: pl.DataFrame  # events.SCHEMA
    probe_losses: list[str] = field(default_factory=list)
    probe_errors: list[str] | None = None  # lines of probes.err; None: no such file
    blktrace_counts: tuple[int, int] | None = None  # (events, dropped) of blktrace.out
    blktrace_size_events: int = 0
    traced: list[str] = field(default_factory=list)  # the devices blktrace watched, major:minor
    missing: list[str] = field(default_factory=list)  # raw files that are not there
    host: dict[str, Any] = field(default_factory=dict)  # host.json, {} if there is none
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The readable name of the cell: the folder the run is in."""
        return self.folder.resolve().parent.name

    @property
    def probes(self) -> list[str]:
        """The probes that the cell asks for; empty with `none`."""
        asked = [name.strip() for name in str(self.cell.get("probes", "all")).split(",")]
        return [name for name in asked if name not in ("", "none")]

    @property
    def run_id(self) -> str:
        """The run's own folder within the cell's."""
        return self.folder.resolve().name

    @property
    def database(self) -> str:
        """Base name of the database file."""
        return PurePosixPath(self.driver.config["driver"]["database"]).name

    @property
    def ops(self) -> list[str]:
        """The SQL operations of the run, in order of their first transaction."""
        return self.driver.transactions["op"].unique(maintain_order=True).to_list()


def cell_id(cell: dict[str, Any]) -> str:
    """Return the first 10 hex digits of the SHA-256 of the cell as sorted JSON without space."""
    text = json.dumps(cell, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _read_cell(path: Path) -> dict[str, Any]:
    """Return a cell; its schema was checked when it was made, here only that it is one."""
    cell = read_json(path)
    profiles = cell.get("profiles")
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        raise BadInput(path, "", "no object 'profiles' of objects", "see docs/formats.md")
    return cell


def read(folder: Path) -> Run:
    """Read cell.json and raw/ of the run in `folder`. Raises BadInput."""
    raw = folder / "raw"
    if not raw.is_dir():
        raise BadInput(folder, "", "no folder raw/", "a run's folder")
    cell = _read_cell(folder / "cell.json")
    ran = driver.read(raw / "driver")
    on = board.read(raw, ran.config["driver"]["database"])
    run = Run(folder, cell, cell_id(cell), ran, on, pl.DataFrame(schema=events.SCHEMA))
    parts = [driver.to_events(ran)]
    if (raw / "probes.txt").is_file():
        found, run.probe_losses = probes.read(raw / "probes.txt")
        parts.append(found)
    else:
        run.missing.append("raw/probes.txt")
    if (raw / "probes.err").is_file():
        run.probe_errors = read_text(raw / "probes.err", whole_lines=False).splitlines()
    else:
        run.missing.append("raw/probes.err")
    trace = raw / "blktrace"
    if any(trace.glob("*.blktrace.*")):
        found, run.traced = blktrace.read(trace)
        parts.append(found)
        run.blktrace_size_events = blktrace.events_by_size(trace)
    else:
        run.missing.append("raw/blktrace/<dev>.blktrace.<cpu>")
    if (trace / "blktrace.out").is_file():
        run.blktrace_counts = blktrace.read_summary(trace / "blktrace.out")
    else:
        run.missing.append("raw/blktrace/blktrace.out")
    if (folder / "host.json").is_file():
        run.host = read_json(folder / "host.json")
    if not run.probes:
        run.missing.clear()  # nothing was to be watched
    run.events = events.merge(parts)
    for path in sorted(path for path in raw.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        run.hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return run
