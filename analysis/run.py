"""A run's folder: where its files are, and all of its raw input once read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from analysis import consistent, documents, events, stored_files
from analysis.adapters import blktrace, board, devicelog, driver, probes
from analysis.adapters.driver import Driver
from analysis.documents import UnfitError
from analysis.files import read_json
from analysis.ledger import build, records
from base.errors import BadInput

# Without one of these, bytes or waits would have no cause. `filesystem` is probes/<type>.bpf.c.
LEDGER_PROBES = frozenset(("bio", "block", "filesystem", "flush", "wait"))


@dataclass(frozen=True)
class Twin:
    """The untraced twin of a traced run: what it was, and its times."""

    driver: Driver
    board: board.Board
    log: devicelog.DeviceLog | None = None


@dataclass
class Run:
    """All input of one run, parsed. Only the driver's files must be there."""

    folder: Path
    cell: dict[str, Any]
    cell_id: str
    driver: Driver
    board: board.Board
    events: pl.DataFrame  # events.SCHEMA
    probe_losses: probes.Losses | None = None  # None: no probes.bin
    blktrace_counts: tuple[int, int] | None = None  # (events, dropped) of blktrace.out
    blktrace_size_events: int = 0
    trace: blktrace.Totals | None = None  # of the window; None: no blktrace files
    log: devicelog.DeviceLog | None = None  # None: the device keeps none
    ledger: build.Ledger | None = None  # of a run that all of LEDGER_PROBES watched
    missing: list[str] = field(default_factory=list)  # raw files that are not there
    host: dict[str, Any] = field(default_factory=dict)  # host.json, {} if there is none
    twin: Twin | None = None  # the same cell, unwatched; None if none was run
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The readable name of the cell."""
        return cell_name(self.cell)

    @property
    def probes(self) -> list[str]:
        """The probes that the cell asks for; empty with `none`."""
        return consistent.probes(self.cell)

    @property
    def devices(self) -> list[str]:
        """The devices under the filesystem, major:minor: those that blktrace watched, or that has a log."""
        if self.trace:
            return self.trace.devices
        return [self.log.device] if self.log else []

    @property
    def timing(self) -> Driver:
        """Whose times are reported: the untraced twin's, without one the run's own."""
        return self.twin.driver if self.twin else self.driver

    @property
    def timing_source(self) -> str:
        """`twin`, `run` (it was not watched itself) or `traced` (times include the watching)."""
        if self.twin:
            return "twin"
        return "traced" if self.probes else "run"

    @property
    def has_ledger(self) -> bool:
        """Whether all that the ledger is made from was to be recorded."""
        asked, known = set(self.probes), self.board.filesystem
        if known is not None and asked >= known.earlier_probes:
            asked.add("filesystem")
        return "all" in asked or asked >= LEDGER_PROBES

    @property
    def run_id(self) -> str | None:
        """Which run it is, as host.json says; None without one."""
        return self.host.get("run_id")

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
    # as commitpath/cell.py has it
    named = {key: value for key, value in cell.items() if (key, value) != ("engine", "sqlite")}
    text = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def cell_name(cell: dict[str, Any]) -> str:
    """Return the name of the cell's folder; what the cell does not say is `-`."""
    engine = "mode" if cell.get("engine", "sqlite") == "sqlite" else "engine"
    names = (str(cell.get(axis, "-")) for axis in ("fs", engine, "sync", "workload", "device"))
    return "-".join([*names, cell_id(cell)])


def _read_cell(path: Path) -> dict[str, Any]:
    """Return a cell; its schema was checked when it was made, here only that it is one."""
    cell = read_json(path)
    profiles = cell.get("profiles")
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        raise BadInput(path, "", "no object 'profiles' of objects", "see docs/formats.md")
    return cell


def _read_host(path: Path) -> dict[str, Any]:
    """Return host.json, {} if it is not there. Raises BadInput if it is anything else."""
    if not path.exists():
        return {}
    host = read_json(path)
    try:
        documents.check("host", host)
    except UnfitError as error:
        raise BadInput(path, "", str(error), "see docs/formats.md") from None
    return host


def read(folder: Path) -> Run:
    """Read cell.json, host.json and raw/ of the run in `folder`. Raises BadInput."""
    raw = folder / "raw"
    if not raw.is_dir():
        raise BadInput(folder, "", "no folder raw/", "a run's folder")
    cell = _read_cell(folder / "cell.json")
    host, hashes = _read_host(folder / "host.json"), stored_files.hashes(folder)
    if "raw_sha256" in host:
        stored_files.compare(folder, hashes, host["raw_sha256"])
    ran = driver.read(raw / "driver")
    on = board.read(raw, ran.config["driver"]["database"])
    run = Run(folder, cell, cell_id(cell), ran, on, pl.DataFrame(schema=events.SCHEMA))
    run.log = _device_log(raw)
    run.events = events.merge([driver.to_events(ran), *_observed(run, raw)])
    if (folder / "twin").is_dir():
        run.twin = read_twin(folder / "twin/raw", ran.config["driver"]["database"])
    run.host, run.hashes = host, hashes
    if run.has_ledger and ran.vfs is None and ran.engine.LOGS_CALLS:
        run.missing.append("raw/driver/vfs.csv")
    if not run.probes:
        run.missing.clear()  # nothing was to be watched
    run.ledger = _ledger(run)
    return run


def _observed(run: Run, raw: Path) -> list[pl.DataFrame]:
    """Return the events of the probes; set what the run says of them, and what blktrace saw."""
    parts, known = [], run.board.filesystem
    if (raw / "probes.bin").is_file():
        found, run.probe_losses = probes.read(raw / "probes.bin", known.checkpoint_reasons if known else ())
        parts.append(found)
    else:
        run.missing.append("raw/probes.bin")
    trace = raw / "blktrace"
    if run.log is not None and "blktrace" not in run.probes:
        return parts
    if any(trace.glob("*.blktrace.*")):
        run.trace = blktrace.count(trace, *run.driver.window)
        run.blktrace_size_events = blktrace.events_by_size(trace)
    else:
        run.missing.append("raw/blktrace/<dev>.blktrace.<cpu>")
    if (trace / "blktrace.out").is_file():
        run.blktrace_counts = blktrace.read_summary(trace / "blktrace.out")
    else:
        run.missing.append("raw/blktrace/blktrace.out")
    return parts


def read_twin(raw: Path, database: str) -> Twin:
    """Read the raw/ of an untraced twin. Raises BadInput."""
    if not raw.is_dir():
        raise BadInput(raw.parent, "", "no folder raw/", "an untraced twin's")
    return Twin(driver.read(raw / "driver"), board.read(raw, database), _device_log(raw))


def _device_log(raw: Path) -> devicelog.DeviceLog | None:
    """Return what the device wrote down, None where it has no log."""
    path = raw / "device.bin"
    return devicelog.read(path) if path.is_file() else None


def _ledger(run: Run) -> build.Ledger | None:
    """Return the ledger, None where not all that it is made from was recorded."""
    ran, layout = run.driver, run.board.layout
    recorded = run.has_ledger and run.probe_losses is not None and len(run.devices) == 1
    vfs = ran.vfs if ran.engine.LOGS_CALLS else driver.no_calls()
    if not recorded or layout is None or vfs is None:
        return None
    major, minor = map(int, run.devices[0].split(":"))
    return build.build(
        build.Input(
            records=records.read(run.folder / "raw" / "probes.bin"),
            dev=major << 20 | minor,
            layout=layout,
            vfs=vfs,
            transactions=ran.transactions,
            phases=ran.phases,
            window=ran.window,
            database=run.database,
            calls=ran.engine.LOGS_CALLS,
        )
    )
