"""Read covariates.json: a lab board's counters, clocks and temperatures around a run, and their growth."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.run_files.reading import read_document, shown
from base.errors import FileError

# {"unreadable": reason} stands for a value that the board could not read
Value = str | dict[str, str]
Values = Mapping[str, Value]
# a kernel counter of 64 bits; the firmware's bits in hex digits
_NUMBER = re.compile("-?[0-9]{1,18}")
_BITS = re.compile("(0[xX])?[0-9a-fA-F]{1,16}")
FIRMWARE = "throttle/get_throttled"
# prefixes of the names with numeric values
_NUMERIC = ("disk/", "partition/", "temperature/", "throttle/", "pressure/", "mmc/err_stats/")
# commands and sectors by kind, as block/stat counts them
COMMANDS = ("read_ios", "write_ios", "discard_ios")
SECTORS = ("read_sectors", "write_sectors", "discard_sectors")


@dataclass(frozen=True)
class Covariates:
    """Values right before the load (begin), right after it (end), and constant ones (board)."""

    begin: Values
    end: Values
    board: Values

    def number(self, name: str, edge: Values) -> int | None:
        """Return a value as an integer; None if it is missing or not a number."""
        value = edge.get(name)
        return int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None

    def growth(self, name: str) -> int | None:
        """Return the growth of a counter; None if it could not be read."""
        before, after = (self.number(name, edge) for edge in (self.begin, self.end))
        return None if before is None or after is None else after - before

    def growths(self, prefix: str) -> dict[str, int | None]:
        """Return the growth of each counter with the prefix; a counter missing at the begin starts at 0."""
        names = [name for name in self.end if name.startswith(prefix)]
        return {
            name: self.growth(name) if name in self.begin else self.number(name, self.end) for name in names
        }

    def unreadable(self) -> dict[str, str]:
        """Return the names of the values that could not be read, with the reasons."""
        edges = (self.begin, self.end, self.board)
        return {
            name: value["unreadable"]
            for edge in edges
            for name, value in edge.items()
            if isinstance(value, dict)
        }

    def total_growth(self, device: str, fields: tuple[str, ...]) -> int | None:
        """Return the sum of the growths of counters of `disk` or `partition`; None if one is unknown.

        A kernel before 4.18 does not count discards.
        """
        names = [name for field in fields if (name := f"{device}/{field}") in self.end]
        growths = [growth for name in names if (growth := self.growth(name)) is not None]
        return sum(growths) if growths and len(growths) == len(names) else None

    def foreign_growth(self, fields: tuple[str, ...]) -> int | None:
        """Return the activity of others on the disk: the disk's growth minus the partition's."""
        disk, own = self.total_growth("disk", fields), self.total_growth("partition", fields)
        return None if disk is None or own is None else disk - own

    def vanished(self, prefix: str) -> list[str]:
        """Return the names with the prefix that exist only at the begin."""
        return [name for name in self.begin if name.startswith(prefix) and name not in self.end]

    @property
    def seconds(self) -> float | None:
        """Seconds between begin and end."""
        elapsed = self.growth("time_ns")
        return elapsed / 1e9 if elapsed else None

    @property
    def others_wait_seconds(self) -> float | None:
        """Seconds that tasks of other control groups waited for IO, summed over the groups."""
        growths = self.growths("pressure/others/").values()
        readable = [growth for growth in growths if growth is not None]
        return sum(readable) / 1e6 if growths and len(readable) == len(growths) else None

    @property
    def celsius(self) -> float | None:
        """The highest temperature at begin or end."""
        values = [
            self.number(name, edge)
            for edge in (self.begin, self.end)
            for name in edge
            if name.startswith("temperature/")
        ]
        return max((value / 1000 for value in values if value is not None), default=None)


def read(raw: Path) -> Covariates | None:
    """Return the covariates of a run; None if there is no file. Raises FileError."""
    path = raw / "board/covariates.json"
    if not path.exists():
        return None
    document = read_document(path, "covariates")
    begin, end = (_checked(document[edge]) for edge in ("begin", "end"))
    covariates = Covariates(begin, end, document["board"])
    if covariates.seconds is None or covariates.seconds < 0:
        raise FileError(path, "end", "time_ns is not later than at the begin", "a later time_ns")
    return covariates


def _checked(edge: Values) -> Values:
    """Return the values with each non-numeric value of a numeric name marked as unreadable."""

    def checked(name: str, value: Value) -> Value:
        pattern = _BITS if name == FIRMWARE else _NUMBER
        if isinstance(value, dict) or not name.startswith(_NUMERIC) or pattern.fullmatch(value):
            return value
        return {"unreadable": f"{shown(value)} is not a number"}

    return {name: checked(name, value) for name, value in edge.items()}
