"""Read a run's folder, raw/ and documents, into class Recorded; the first stage of analysis/stages.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from analysis import observers
from analysis.adapters import board, device_logs, driver, known_sequence, partition, trials
from analysis.adapters.board import Board as OwnBoard
from analysis.adapters.device_logs import Reader
from analysis.adapters.driver import Driver
from analysis.adapters.known_sequence import KnownSequence
from analysis.adapters.trials import Board
from analysis.run_files import databases, stored, stored_files
from analysis.run_files.reading import read_document
from analysis.schemas import events
from base import identity, raw_files
from base.errors import FileError
from model import devices
from model.cell import Cell
from model.crash_points import policies
from model.requested import expected
from model.requested.expected import Expected

# Without one of these, bytes or waits would have no cause. `filesystem` is probes/<type>.bpf.c.
LEDGER_PROBES = frozenset(("bio", "block", "filesystem", "flush", "wait"))


@dataclass(frozen=True)
class Twin:
    """The baseline run of a watched run: the same cell, not watched."""

    driver: Driver
    board: board.Board
    log: device_logs.DeviceLog | None = None


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The parsed files of one run. Only the driver's are required."""

    folder: Path
    cell: Cell
    cell_id: str
    name: str  # of the cell's folder
    host: Mapping[str, Any]  # host.json, {} if it is missing
    hashes: Mapping[str, str]  # of the raw files
    plan: Mapping[str, Any] | None  # raw/plan.json; None: it is missing
    planned_as: str = "run"  # the run in the plan; checks also apply to the baseline run and to trial boards
    driver: Driver
    board: board.Board
    log: device_logs.DeviceLog | None  # None: the device keeps none
    seen: Mapping[str, observers.Seen]  # by observer
    events: pl.DataFrame  # events.SCHEMA
    missing: Sequence[str]  # raw files that are not there
    twin: Twin | None  # None if none was run
    # the results of trials that did the run again (crash/kills.py); None without any
    kills: pl.DataFrame | None
    trials: Sequence[Board]  # that repeated the run for its crash trials
    trial_boards: Mapping[str, OwnBoard]  # boards of trials or kills, by name
    known: KnownSequence | None  # raw/known: the self-test of a partition's probes

    @property
    def probes(self) -> list[str]:
        """The probes that the cell requests; empty with `none`."""
        return expected.probes(self.cell)

    @property
    def devices(self) -> list[str]:
        """The devices under the filesystem (major:minor), from another recorder or the device log."""
        for witness in self.witnesses.values():
            return witness.devices
        return [self.log.device] if self.log else []

    @property
    def is_virtual(self) -> bool:
        """Whether the run is one of a virtual board, by its cell's board or its clock."""
        return expected.VIRTUAL in (self.cell.board, self.cell.clock, self.board.run.get("clock"))

    @property
    def counted(self) -> bool:
        """Whether times depend only on the instructions of the run.

        That is false in real time, and with a user's observer, which may run for any time. The reported times
        of such a run are its baseline's, and the difference is the cost of observation.
        """
        scripted = bool(self.probes) and "observers" in self.cell.profiles
        return self.board.run.get("clock") == "virtual" and not scripted

    @property
    def partition(self) -> partition.Partition | None:
        """The partition under test; None for a whole device. Raises FileError."""
        return partition.read_partition(self.board.device)

    @property
    def witnesses(self) -> dict[str, observers.Witness]:
        """The recorders of block commands other than probes and device, by observer."""
        return {name: seen.witness for name, seen in self.seen.items() if seen.witness}

    @property
    def contents(self) -> dict[str, observers.Content]:
        """The recorders of written content, by observer."""
        return {name: seen.content for name, seen in self.seen.items() if seen.content}

    @property
    def timing(self) -> Driver:
        """The driver's record for reported times: the baseline's, else the run's."""
        return self.twin.driver if self.twin else self.driver

    @property
    def timed_log(self) -> device_logs.DeviceLog | None:
        """The device log of the run with the reported times; None without a log."""
        return self.twin.log if self.twin else self.log

    @property
    def timing_source(self) -> str:
        """`twin`, `run` (it was not watched itself) or `traced` (times include the watching)."""
        if self.twin:
            return "twin"
        return "traced" if self.probes else "run"

    @property
    def expected(self) -> list[Expected]:
        """The settings that the cell requests, and those that only its plan requests."""
        requested = expected.settings(self.cell)
        planned = [Expected(**setting) for setting in self.plan["expected"]] if self.plan else []
        return requested + [setting for setting in planned if setting not in requested]

    @property
    def has_ledger(self) -> bool:
        """Whether the cell requests all probes that the ledger requires."""
        return _suffice(self.probes)

    @property
    def run_id(self) -> str | None:
        """The run's id in host.json; None without that file."""
        return self.host.get("run_id")

    @property
    def databases(self) -> tuple[str, ...]:
        """Base names of the databases' files; unknown for a command."""
        return databases.names(self.driver.config)


def _read_plan(path: Path, cell: dict[str, Any]) -> dict[str, Any] | None:
    """Return the plan, or None if it is missing. Raises FileError if it belongs to another cell."""
    if not path.exists():
        return None
    plan = read_document(path, "plan")
    if plan["cell"] != cell:
        raise FileError(path, "cell", "it is of another cell than cell.json", "the cell that was planned")
    return plan


def read(folder: Path) -> Recorded:
    """Read cell.json, host.json and raw/ of the run in `folder`. Raises FileError."""
    raw = folder / "raw"
    if not raw.is_dir():
        raise FileError(folder, "", "no folder raw/", "a run's folder")
    of_command = (folder / "watch.json").is_file()
    document = folder / ("watch.json" if of_command else "cell.json")
    stored_cell = stored.cell_document(document)
    host = read_document(path, "host") if (path := folder / "host.json").exists() else {}
    hashes = raw_files.hashes(folder)
    if "raw_sha256" in host:
        stored_files.compare(folder, hashes, host["raw_sha256"])
    ran = _read_load(raw / "driver", of_command)
    own_board = board.read(raw, _mounted(ran))
    cell = stored.parse_cell(document, stored_cell)
    reader = _reader(document, cell)
    log = _device_log(reader, raw)
    seen = _seen(raw, ran, own_board)
    events_of_observers = [each.events for each in seen.values() if each.events is not None]
    run_events = events.merge([driver.to_events(ran), *events_of_observers])
    twin = read_twin(folder / "twin/raw", reader, of_command) if (folder / "twin").is_dir() else None
    plan = _read_plan(raw / "plan.json", stored_cell)
    killed = cell.crash in policies.RERUN
    return Recorded(
        folder=folder,
        cell=cell,
        cell_id=identity.cell_id(stored_cell),
        name=identity.cell_name(stored_cell),
        host=host,
        hashes=hashes,
        plan=plan,
        driver=ran,
        board=own_board,
        log=log,
        seen=seen,
        events=run_events,
        missing=[*_missing(cell, ran, seen), *(["raw/plan.json"] if plan is None else [])],
        twin=twin,
        kills=trials.read_kills(folder, cell.crash) if killed else None,
        trials=[] if killed else trials.read(folder, reader),
        trial_boards={
            place.parent.name: board.read(place, _mounted(ran)) for place in trials.raw_folders(folder)
        },
        known=known_sequence.read(raw / "known") if (raw / "known").is_dir() else None,
    )


def _seen(raw: Path, ran: Driver, own_board: OwnBoard) -> dict[str, observers.Seen]:
    """Read the files of each observer that run.json names. Raises FileError."""
    names = observers.check_names(own_board.run.get("observers", []))
    reasons = kind.checkpoint_reasons if (kind := own_board.filesystem) else ()
    given = observers.Given(raw, ran.window, reasons, partition.read_partition(own_board.device))
    return {name: observers.load(name).read(given) for name in names}


def _missing(cell: Cell, ran: Driver, seen: Mapping[str, observers.Seen]) -> list[str]:
    """Return the missing files of observers; none if the cell requests no probes."""
    probes = expected.probes(cell)
    if not probes:
        return []
    missing = [path for each in seen.values() for path in each.missing]
    calls_missing = ran.vfs is None and ran.engine.logs_calls(ran.config)
    return missing + (["raw/driver/vfs.csv"] if calls_missing and _suffice(probes) else [])


def _suffice(probes: list[str]) -> bool:
    """Return whether the ledger can be built from the records of these probes."""
    return "all" in probes or set(probes) >= LEDGER_PROBES


def _read_load(folder: Path, of_command: bool) -> Driver:
    """Read raw/driver/ of either load. Raises FileError."""
    return driver.read_command(folder) if of_command else driver.read(folder)


def _mounted(ran: Driver) -> str:
    """Return a path on the mount under test: the database, or a file in a command's folder."""
    if "command" in ran.config:
        return str(PurePosixPath(ran.config["command"]["folder"], "file"))
    return str(ran.config["driver"]["database"])


def read_twin(raw: Path, reader: Reader | None, of_command: bool = False) -> Twin:
    """Read the raw/ of a baseline run. Raises FileError."""
    if not raw.is_dir():
        raise FileError(raw.parent, "", "no folder raw/", "a baseline run's")
    ran = _read_load(raw / "driver", of_command)
    return Twin(ran, board.read(raw, _mounted(ran)), _device_log(reader, raw))


def _reader(path: Path, cell: Cell) -> Reader | None:
    """Return the reader of the device's log, or None without a log. Raises FileError."""
    try:
        return device_logs.find_reader(cell)
    except devices.UnknownDriverError as error:
        raise FileError(path, "profiles.device.driver", error.wrong, error.expected) from None


def _device_log(reader: Reader | None, raw: Path) -> device_logs.DeviceLog | None:
    """Return the device log, or None if there is none."""
    path = raw / "device.bin"
    if reader is None or not path.is_file():
        return None
    return reader.read_log(path)
