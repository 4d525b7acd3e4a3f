"""raw/board/covariates.json: what a lab board was like before a run and after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.run_files.reading import read_document, shown
from base.errors import BadInput

# {"unreadable": why} of a value that the board could not read
Value = str | dict[str, str]
Values = Mapping[str, Value]
# of 64 bits, as a counter of the kernel's has; the firmware's bits in hex digits
_NUMBER = re.compile("-?[0-9]{1,18}")
_BITS = re.compile("(0[xX])?[0-9a-fA-F]{1,16}")
FIRMWARE = "throttle/get_throttled"
# what is a number at either end
_COUNTED = ("disk/", "partition/", "temperature/", "throttle/", "pressure/", "mmc/err_stats/")
# commands and sectors by kind, as block/stat counts them
COMMANDS = ("read_ios", "write_ios", "discard_ios")
SECTORS = ("read_sectors", "write_sectors", "discard_sectors")


@dataclass(frozen=True)
class Covariates:
    """begin, end: right before the load and right after it; board: what does not change."""

    begin: Values
    end: Values
    board: Values

    def number(self, name: str, edge: Values) -> int | None:
        """Return a value as a number, None if it is none."""
        value = edge.get(name)
        return int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None

    def grew(self, name: str) -> int | None:
        """Return by how much a counter grew, None if it is not known."""
        before, after = (self.number(name, edge) for edge in (self.begin, self.end))
        return None if before is None or after is None else after - before

    def grown(self, prefix: str) -> dict[str, int | None]:
        """Return the same of all counters whose names begin so; one that is new began at 0."""
        names = [name for name in self.end if name.startswith(prefix)]
        return {
            name: self.grew(name) if name in self.begin else self.number(name, self.end) for name in names
        }

    def unreadable(self) -> dict[str, str]:
        """Return what could not be read → why."""
        edges = (self.begin, self.end, self.board)
        return {
            name: value["unreadable"]
            for edge in edges
            for name, value in edge.items()
            if isinstance(value, dict)
        }

    def of(self, whose: str, fields: tuple[str, ...]) -> int | None:
        """Return by how much counters of `disk` or `partition` grew together; None if one is not known.

        A kernel before 4.18 counts no discards.
        """
        grown = [self.grew(f"{whose}/{field}") for field in fields if f"{whose}/{field}" in self.end]
        known = [one for one in grown if one is not None]
        return sum(known) if known and len(known) == len(grown) else None

    def foreign(self, fields: tuple[str, ...]) -> int | None:
        """Return what others did on the disk: the disk's less the partition's."""
        disk, own = self.of("disk", fields), self.of("partition", fields)
        return None if disk is None or own is None else disk - own

    def gone(self, prefix: str) -> list[str]:
        """Return the names that begin so and were there at the begin alone."""
        return [name for name in self.begin if name.startswith(prefix) and name not in self.end]

    @property
    def seconds(self) -> float | None:
        """Seconds between the two ends."""
        elapsed = self.grew("time_ns")
        return elapsed / 1e9 if elapsed else None

    @property
    def others_seconds(self) -> float | None:
        """Seconds that tasks of other control groups waited for IO, added up over the groups."""
        grown = self.grown("pressure/others/")
        known = [one for one in grown.values() if one is not None]
        return sum(known) / 1e6 if grown and len(known) == len(grown) else None

    @property
    def celsius(self) -> float | None:
        """Degrees of the warmest sensor at either end."""
        names = {name for edge in (self.begin, self.end) for name in edge if name.startswith("temperature/")}
        read = [self.number(name, edge) for edge in (self.begin, self.end) for name in names]
        return max((one / 1000 for one in read if one is not None), default=None)


def read(raw: Path) -> Covariates | None:
    """Return what is in the file, None if there is none. Raises BadInput."""
    path = raw / "board/covariates.json"
    if not path.exists():
        return None
    document = read_document(path, "covariates")
    found = Covariates(_counted(document["begin"]), _counted(document["end"]), document["board"])
    if found.seconds is None or found.seconds < 0:
        raise BadInput(path, "end", "it is not behind the begin", "a time_ns in each, of which this is later")
    return found


def _counted(edge: Values) -> Values:
    """Return an edge with each value that is to be a number and is none as one that could not be read."""

    def known(name: str, value: Value) -> Value:
        number = _BITS if name == FIRMWARE else _NUMBER
        if isinstance(value, dict) or not name.startswith(_COUNTED) or number.fullmatch(value):
            return value
        return {"unreadable": f"{shown(value)} is no number"}

    return {name: known(name, value) for name, value in edge.items()}
