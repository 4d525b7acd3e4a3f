"""Six recorded cells of SQLite as commands with the host's time between them; their TPS on another device."""

import csv
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import hidden

from analysis.adapters import device_logs
from analysis.observers import blktrace
from commitpath.commands.sensitivity import LOG
from commitpath.fitting.candidate import Candidate
from commitpath.fitting.experiment_lists import MIB, SECOND, Facts, Row, empty_cache
from commitpath.fitting.held_out import forced, sync
from images.flash_model import DRIVER
from model.block_operations import DISCARD, FLUSH, FUA, OP, READ

SAMPLES = hidden.ROOT / "tests/analysis/samples"
# the boards' devices
SIZE = 2048 * MIB
SECTOR = 512


@dataclass(frozen=True)
class Command:
    """A command of a run: r, w, f (FUA), F (FLUSH) or d (discard)."""

    begin: int
    end: int
    op: str
    offset: int
    size: int


@dataclass(frozen=True)
class RecordedCell:
    """The commands of a run's transactions. idle_ns: before each command, and after the last."""

    transactions: int
    commands: tuple[Command, ...]
    idle_ns: tuple[int, ...]

    def tps(self, device: Candidate, facts: Facts) -> float:
        """Return the transactions per second on a device: the host's time, and the device's."""
        facts = replace(facts, size_bytes=SIZE, host_ns=0)
        before = [*empty_cache(facts, SECOND)]
        rows = [*before, *self.rows(facts)]
        device_ns = hidden.time_of(device, facts, rows) - hidden.time_of(device, facts, before)
        return self.transactions * 1e9 / (device_ns + sum(self.idle_ns))

    def rows(self, facts: Facts) -> Iterator[Row]:
        """Yield what the kernel sends to a device with these facts."""
        for command, idle in zip(self.commands, self.idle_ns, strict=False):
            if command.op == "F":
                sent = [*sync(facts)]
            elif command.op == "f":
                sent = [*forced(facts, command.offset, command.size)]
            else:
                known = command.op != "d" or facts.discard
                sent = [Row("", command.op, command.offset, command.size)] if known else []
            yield from (replace(row, idle_ns=0 if number else idle) for number, row in enumerate(sent))


def traced(raw: Path) -> Iterator[Command]:
    """Yield the commands of the kernel's block tracer."""
    columns = ("begin_ns", "end_ns", "rwbs", "sector", "sectors")
    for begin, end, rwbs, sector, sectors in blktrace.read(raw / "blktrace").select(columns).iter_rows():
        letter = rwbs.removeprefix("F")[:1]
        op = {"W": "w", "R": "r", "D": "d"}[letter] if sectors else "F"
        if op == "w" and "F" in rwbs[1:]:
            op = "f"
        yield Command(begin, end, op, sector * SECTOR, sectors * SECTOR)


def logged(raw: Path) -> Iterator[Command]:
    """Yield the commands of a device's log."""
    kinds = {READ: "r", FLUSH: "F", DISCARD: "d"}
    for entry in device_logs.reader_of(DRIVER).read_log(raw / LOG.name).entries:
        operation = int(entry["operation"])
        op = kinds.get(operation & OP, "f" if operation & FUA else "w")
        place, size = int(entry["sector"]) * SECTOR, int(entry["sectors"]) * SECTOR
        yield Command(int(entry["begin_ns"]), int(entry["end_ns"]), op, place, size)


def read(raw: Path) -> RecordedCell:
    """Read a run. Commands that were in flight at once follow one another here."""
    with (raw / "driver/phases.csv").open(encoding="utf-8", newline="") as file:
        phases = [row for row in csv.DictReader(file) if int(row["transactions"])]
    begin, end = int(phases[0]["begin_ns"]), int(phases[-1]["end_ns"])
    all_commands = traced(raw) if (raw / "blktrace").is_dir() else logged(raw)
    commands = sorted((one for one in all_commands if begin <= one.begin < end), key=lambda one: one.begin)
    idle, free = [], begin
    for command in commands:
        idle.append(max(0, command.begin - free))
        free = max(free, command.end)
    return RecordedCell(
        sum(int(row["transactions"]) for row in phases), tuple(commands), (*idle, max(0, end - free))
    )


def cells() -> dict[str, RecordedCell]:
    """Return the recorded cells by name."""
    found = {}
    for archive in sorted(SAMPLES.glob("*.tar.xz")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.unpack_archive(archive, folder)
            found[archive.name.removesuffix(".tar.xz")] = read(Path(folder) / "run/raw")
    return found
