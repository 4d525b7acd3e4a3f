"""A lab board's covariates around a run (counters, clocks, heat): their growth, changes and limits."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from base.strict_json import UnfitError

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
# characters of a value in a message
SHOWN = 80
# Covariates that must not change, by the prefix of their names.
_SAME = {
    "boot_id": "the board was rebooted",
    "clocksource": "its clock source changed",
    "mounts": "the filesystem was unmounted, or another was mounted on it",
    "cpufreq/": "its frequency limits changed",
}
# Counters that must not grow.
_STILL = {"throttle/": "its CPU was throttled", "mmc/err_stats/": "the card's host counted errors"}
# Bits of the firmware's throttle state: 0 to 3 are the state now, 16 to 19 the state since boot.
NOW, SINCE = 0xF, 0xF << 16


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


def parse(document: Mapping[str, Values]) -> Covariates:
    """Return the covariates of covariates.json.

    Raises UnfitError if it has another form, or if its end is not later than its begin.
    """
    parts = ("begin", "end", "board")
    if not isinstance(document, dict) or not all(_of_texts(document.get(part)) for part in parts):
        raise UnfitError(f"not an object with {', '.join(parts)}, each an object of texts")
    begin, end = (_checked(document[edge]) for edge in ("begin", "end"))
    covariates = Covariates(begin, end, document["board"])
    if covariates.seconds is None or covariates.seconds < 0:
        raise UnfitError("time_ns is not later than at the begin")
    return covariates


def _of_texts(part: Any) -> bool:
    """Return whether a part has a text, or why it could not be read, for each name."""
    return isinstance(part, dict) and all(isinstance(value, str | dict) for value in part.values())


def _checked(edge: Values) -> Values:
    """Return the values with each non-numeric value of a numeric name marked as unreadable."""

    def checked(name: str, value: Value) -> Value:
        pattern = _BITS if name == FIRMWARE else _NUMBER
        if isinstance(value, dict) or not name.startswith(_NUMERIC) or pattern.fullmatch(value):
            return value
        return {"unreadable": f"{value[:SHOWN]!r} is not a number"}

    return {name: checked(name, value) for name, value in edge.items()}


def changed(covariates: Covariates) -> list[str]:
    """Return reboots, changed clocks or limits, throttling and card errors, in words."""
    return [*_settings(covariates), *_grown(covariates), *_firmware(covariates), *_counters(covariates)]


def _settings(covariates: Covariates) -> Iterator[str]:
    for prefix, what in _SAME.items():
        names = [name for name in {**covariates.begin, **covariates.end} if name.startswith(prefix)]
        for name in names or [prefix]:
            before, after = covariates.begin.get(name), covariates.end.get(name)
            if name.endswith("/scaling_cur_freq") or before == after:
                continue
            yield f"{what}: {name} changed from {before} to {after}"
    for name in ("boot_id", "clocksource", "mounts"):
        if not isinstance(covariates.begin.get(name), str):
            yield f"the board does not report its {name}: {covariates.begin.get(name)}"


def _grown(covariates: Covariates) -> Iterator[str]:
    for prefix, what in _STILL.items():
        for name, grew in covariates.growths(prefix).items():
            if name != FIRMWARE and grew:
                yield f"{what}: {name} grew by {grew}"
        for name in covariates.vanished(prefix):
            # a counter that could not be read is reported by `unknown`
            if prefix.rstrip("/") not in covariates.end:
                yield f"{what}, or not: {name} disappeared"


def _counters(covariates: Covariates) -> Iterator[str]:
    """Yield counters that decreased, and those where the disk counted less than the partition."""
    for device in ("disk", "partition"):
        for name in (*COMMANDS, *SECTORS, "flush_ios"):
            if (grew := covariates.growth(f"{device}/{name}")) is not None and grew < 0:
                yield f"covariates.json: {device}/{name} decreased by {-grew}"
    for what, fields in (("commands", COMMANDS), ("sectors", SECTORS)):
        if (foreign := covariates.foreign_growth(fields)) is not None and foreign < 0:
            yield f"covariates.json: the disk counted {-foreign} {what} fewer than the partition"


def _firmware(covariates: Covariates) -> Iterator[str]:
    before, after = (bits(edge.get(FIRMWARE)) for edge in (covariates.begin, covariates.end))
    if before is not None and after is not None and ((before | after) & NOW or after & ~before & SINCE):
        yield f"its CPU was throttled: {FIRMWARE} changed from {before:#x} to {after:#x}"


def bits(value: Any) -> int | None:
    """Return the bits that the firmware reports in hex digits; None if it does not."""
    try:
        return int(value, 16) if isinstance(value, str) else None
    except ValueError:
        return None


def shares(covariates: Covariates) -> dict[str, float | None]:
    """Return the values that have limits (experiments/limits.yml); None if a value could not be read."""
    own_commands, own_sectors = (
        covariates.total_growth("partition", fields) for fields in (COMMANDS, SECTORS)
    )
    commands, sectors = covariates.foreign_growth(COMMANDS), covariates.foreign_growth(SECTORS)
    waited, seconds = covariates.others_wait_seconds, covariates.seconds
    return {
        "foreign_commands": None if commands is None or not own_commands else commands / own_commands,
        "foreign_sectors": None if sectors is None or not own_sectors else sectors / own_sectors,
        "others_pressure": None if waited is None or not seconds else waited / seconds,
        "celsius": covariates.celsius,
    }


def limited(covariates: Covariates, limits: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each value that exceeds its limit."""
    for name, had in shares(covariates).items():
        limit = limits.get(name)
        if not isinstance(limit, int | float):
            yield f"the plan has no limit for {name}"
        elif had is not None and had > limit:
            yield f"{name} is {had:.4g}, limit {limit} (experiments/limits.yml)"
        elif had is None and name.startswith("foreign_"):
            yield f"{name} is unknown: the counters of the disk and the partition could not be read"
