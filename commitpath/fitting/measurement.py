"""Class Measurement: commands sent to a device, with latencies; read and write measurement.json."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from base import scratch
from base.errors import BadInputError
from commitpath.cells import data_files
from commitpath.fitting.experiment_lists import Facts, Row, lists
from commitpath.fitting.held_out import sequences
from images.flash_model import CommandList

VERSION = 1
SECTOR = 512
OPS = ("r", "w", "f", "F", "d")
# of a number in a file, ns or bytes: sums of all stay below 2^63
MOST = 10**14


@dataclass(frozen=True)
class Measurement:
    """Commands in the order in which they were sent."""

    facts: Facts
    experiment: np.ndarray  # name of each command's experiment or sequence
    rows: Sequence[Row]
    gap_ns: np.ndarray  # between the end of the command before and the begin of this one
    latency_ns: np.ndarray  # as the host saw it

    @cached_property
    def commands(self) -> CommandList:
        """Return the commands for the model."""
        return command_list(self.rows, self.gap_ns, self.facts.host_ns)

    @cached_property
    def data_bytes(self) -> np.ndarray:
        """Return what each command reads or writes; none of a FLUSH or a discard."""
        return np.array([row.size if row.op in "rwf" else 0 for row in self.rows])

    @cached_property
    def cells(self) -> np.ndarray:
        """Return the name of each command's cell, with its experiment; empty without one."""
        names = [f"{where}: {row.cell}" if row.cell else ""
                 for where, row in zip(self.experiment, self.rows, strict=True)]  # fmt: skip
        return np.array(names)

    def among(self, *experiments: str) -> np.ndarray:
        """Return which commands are of these experiments."""
        return np.isin(self.experiment, experiments)

    def up_to(self, experiment: str) -> "Measurement":
        """Return the commands up to the end of an experiment."""
        last = np.flatnonzero(self.experiment == experiment)[-1]
        return self.chosen(np.arange(len(self.rows)) <= last)

    def chosen(self, which: np.ndarray) -> "Measurement":
        """Return some of the commands."""
        numbers = np.flatnonzero(which)
        return replace(
            self,
            experiment=self.experiment[numbers],
            rows=[self.rows[int(number)] for number in numbers],
            gap_ns=self.gap_ns[numbers],
            latency_ns=self.latency_ns[numbers],
        )


def command_list(rows: Sequence[Row], gap_ns: np.ndarray, host_ns: int) -> CommandList:
    """Return commands for the model, with the host's time in each."""
    return CommandList(
        np.array([row.op for row in rows], "S1"),
        np.array([row.offset // SECTOR for row in rows], np.uint64),
        np.array([row.size // SECTOR for row in rows], np.uint64),
        np.asarray(gap_ns, np.uint64),
        np.full(len(rows), host_ns, np.uint64),
    )


def planned(facts: Facts) -> tuple[list[str], list[Row]]:
    """Return the experiment of each command of a measurement, and the commands."""
    made = {**lists(facts), **sequences(facts)}
    return [name for name, rows in made.items() for _ in rows], [
        row for rows in made.values() for row in rows
    ]


def recorded(facts: Facts, begin_ns: Sequence[int], latency_ns: Sequence[int]) -> Measurement:
    """Return the measurement of the planned commands. begin_ns: when each was sent."""
    names, rows = planned(facts)
    begin, latency = np.array(begin_ns, np.int64), np.array(latency_ns, np.int64)
    if begin.size != len(rows) or latency.size != len(rows):
        raise BadInputError(f"the measurement has {begin.size} commands, not the {len(rows)} that were sent")
    gap = np.diff(begin, prepend=begin[0]) - np.concatenate([[0], latency[:-1]])
    return Measurement(facts, np.array(names), rows, np.maximum(gap, 0), latency)


def save(path: Path, measurement: Measurement) -> None:
    """Write a measurement as JSON (docs/reference/formats.md)."""
    commands = [
        [str(name), row.cell, row.op, row.offset, row.size, row.mean, int(gap), int(latency)]
        for name, row, gap, latency in zip(
            measurement.experiment, measurement.rows, measurement.gap_ns, measurement.latency_ns, strict=True
        )
    ]
    document = {"version": VERSION, "facts": asdict(measurement.facts), "commands": commands}
    scratch.write(path, json.dumps(document).replace("], [", "],\n[") + "\n")


def load(path: Path) -> Measurement:
    """Read a measurement; BadInputError names the fault."""
    # a FIFO would block, a device may be endless
    if path.exists() and not path.is_file():
        raise BadInputError(f"FILE={path}: not a file")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"FILE={path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"FILE={path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadInputError(f"FILE={path}: not a measurement of make profile")
    commands = document.pop("commands", None)
    data_files.check_kind(path, document, "device_measurement")
    if not isinstance(commands, list) or not commands:
        raise BadInputError(f"FILE={path}: commands: a list with a row for each command is needed")
    for number, command in enumerate(commands):
        if not isinstance(command, list) or not is_row(command):
            raise BadInputError(
                f"FILE={path}: commands.{number}: {command!r:.80} is not [experiment, cell, op, offset, "
                "bytes, mean, gap_ns, latency_ns], with op r, w, f, F or d"
            )
    facts = Facts(**document["facts"])
    names, cells, ops, offsets, sizes, means, gaps, latencies = zip(*commands, strict=True)
    rows = [
        Row(cell, op, offset, size, 0, mean)
        for cell, op, offset, size, mean in zip(cells, ops, offsets, sizes, means, strict=True)
    ]
    late = next((n for n, row in enumerate(rows) if row.offset + row.size > facts.size_bytes), None)
    if late is not None:
        raise BadInputError(f"FILE={path}: commands.{late}: beyond the device's {facts.size_bytes} bytes")
    given = Counter((name, row.cell, row.op, row.size) for name, row in zip(names, rows, strict=True))
    due = Counter((name, row.cell, row.op, row.size) for name, row in zip(*planned(facts), strict=True))
    if wrong := next((kind for kind in {**due, **given} if given[kind] != due[kind]), None):
        name, cell, op, size = wrong
        kind = f"the experiment {name!r}, {cell!r} with op {op} and {size} bytes"
        raise BadInputError(f"FILE={path}: commands: {given[wrong]} of {due[wrong]} of {kind}")
    return Measurement(facts, np.array(names), rows, np.array(gaps), np.array(latencies))


def is_row(command: Sequence[Any]) -> bool:
    """Return whether this is a row of `commands` of a measurement."""
    if len(command) != 8:
        return False
    name, cell, op, *numbers = command
    offset, size, mean, gap, latency = numbers
    return (
        isinstance(name, str)
        and isinstance(cell, str)
        and op in OPS
        and isinstance(mean, bool)
        and all(type(n) is int and 0 <= n <= MOST for n in (offset, size, gap, latency))
        and latency > 0
    )
