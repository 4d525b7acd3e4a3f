"""Was a lab board the same before a run and after it, and how much did others do meanwhile?

A virtual board has no other user, and time that the host has no part in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.adapters.covariates import COMMANDS, FIRMWARE, SECTORS, Covariates
from analysis.run import Run

# What is the same before and after; of each, all whose names begin so.
_SAME = {
    "boot_id": "the board was booted anew",
    "clocksource": "its clock changed",
    "mounts": "the filesystem was unmounted, or another was mounted on it",
    "cpufreq/": "the limits of its frequency changed",
}
# Counters that do not grow.
_STILL = {"throttle/": "its CPU was throttled", "mmc/err_stats/": "the card's host counted errors"}
# Of the firmware's bits: the four that say how it is now; the four from 16 on, how it was since the boot.
_NOW, _SINCE = 0xF, 0xF << 16


def same(run: Run) -> list[str]:
    """It was not booted anew, no clock or limit changed, it was not throttled, its card had no errors."""
    found = run.board.covariates
    if found is None:
        return [] if run.is_virtual else ["raw/board/covariates.json is missing"]
    return [*_changed(found), *_grown(found), *_firmware(found), *_counters(found)]


def around(run: Run) -> list[str]:
    """It was read around the load: before the first reading of the device's counters, of the partition, that
    the load itself made, and behind its last one."""
    found, rows = run.board.covariates, run.driver.device_stat
    if found is None or not rows.height:
        return []
    edges = rows.row(0, named=True), rows.row(-1, named=True)
    names = {"time_ns": "time_ns"} | {name: f"partition/{name}" for name in (*COMMANDS, *SECTORS)}
    wrong = []
    for name, of in names.items():
        inner = [edge[name] for edge in edges]
        outer = [found.number(of, edge) for edge in (found.begin, found.end)]
        known = [
            (a, b)
            for a, b in zip((outer[0], inner[1]), (inner[0], outer[1]), strict=True)
            if a is not None and b is not None
        ]
        if any(a > b for a, b in known):
            wrong.append(
                f"covariates.json: {of} was {outer[0]}, and is {outer[1]}; in device_stat.csv it goes from "
                f"{inner[0]} to {inner[1]}"
            )
    return wrong


def _changed(found: Covariates) -> Iterator[str]:
    for prefix, what in _SAME.items():
        names = [name for name in {**found.begin, **found.end} if name.startswith(prefix)]
        for name in names or [prefix]:
            before, after = found.begin.get(name), found.end.get(name)
            if name.endswith("/scaling_cur_freq") or before == after:
                continue
            yield f"{what}: {name} was {before}, and is {after}"
    for name in ("boot_id", "clocksource", "mounts"):
        if not isinstance(found.begin.get(name), str):
            yield f"the board does not say its {name}: {found.begin.get(name)}"


def _grown(found: Covariates) -> Iterator[str]:
    for prefix, what in _STILL.items():
        for name, grew in found.grown(prefix).items():
            if name != FIRMWARE and grew:
                yield f"{what}: {name} grew by {grew}"
        for name in found.gone(prefix):
            # why is said where it could not be read (unknown)
            if prefix.rstrip("/") not in found.end:
                yield f"{what}, or not: {name} is gone"


def _counters(found: Covariates) -> Iterator[str]:
    """No counter of the disk or the partition goes back, and the disk counts what the partition does."""
    for whose in ("disk", "partition"):
        for name in (*COMMANDS, *SECTORS, "flush_ios"):
            if (grew := found.grew(f"{whose}/{name}")) is not None and grew < 0:
                yield f"covariates.json: {whose}/{name} goes back by {-grew}"
    for what, fields in (("commands", COMMANDS), ("sectors", SECTORS)):
        if (foreign := found.foreign(fields)) is not None and foreign < 0:
            yield f"covariates.json: the disk counted {-foreign} {what} fewer than the partition"


def _firmware(found: Covariates) -> Iterator[str]:
    before, after = (_bits(edge.get(FIRMWARE)) for edge in (found.begin, found.end))
    if before is not None and after is not None and ((before | after) & _NOW or after & ~before & _SINCE):
        yield f"its CPU was throttled: {FIRMWARE} was {before:#x}, and is {after:#x}"


def _bits(value: Any) -> int | None:
    try:
        return int(value, 16) if isinstance(value, str) else None
    except ValueError:
        return None


def shares(found: Covariates) -> dict[str, float | None]:
    """Return what has a limit (experiments/limits.yml); None: it could not be read."""
    own = {name: found.of("partition", fields) for name, fields in (("c", COMMANDS), ("s", SECTORS))}
    commands, sectors = found.foreign(COMMANDS), found.foreign(SECTORS)
    waited, seconds = found.others_seconds, found.seconds
    return {
        "foreign_commands": None if commands is None or not own["c"] else commands / own["c"],
        "foreign_sectors": None if sectors is None or not own["s"] else sectors / own["s"],
        "others_pressure": None if waited is None or not seconds else waited / seconds,
        "celsius": found.celsius,
    }


def within(run: Run) -> list[str]:
    """What others did, and the warmth of the board, are within the limits of the plan."""
    found = run.board.covariates
    if found is None:
        return []  # same says so
    limits = run.plan["board"].get("limits") if run.plan else None
    if not isinstance(limits, dict):
        return [] if run.is_virtual else ["the plan has no limits of what may happen beside a run"]
    return list(limited(found, limits))


def limited(found: Covariates, limits: Mapping[str, Any]) -> Iterator[str]:
    """Say what is not within limits."""
    for name, had in shares(found).items():
        limit = limits.get(name)
        if not isinstance(limit, int | float):
            yield f"the plan has no limit of {name}"
        elif had is not None and had > limit:
            yield f"{name} is {had:.4g}, and may be {limit} (experiments/limits.yml)"
        elif had is None and name.startswith("foreign_"):
            yield f"{name} is not known: what the disk and the partition counted could not be read"


def unknown(run: Run) -> list[str]:
    """Return which rejection no value was there for, in words."""
    found = run.board.covariates
    if found is None:
        return []
    why, grown = found.unreadable(), found.grown("")

    def of(prefix: str) -> str | None:
        """Why the first value of a kind could not be read."""
        return next((text for name, text in why.items() if f"{name}/".startswith(prefix)), None)

    said = {
        "whether its CPU was throttled": of("throttle/"),
        "whether the limits of its frequency changed": of("cpufreq/"),
        "how warm it was": of("temperature/"),
        "how long other tasks waited for IO": of("pressure/"),
        "whether its card had errors": of("mmc/err_stats/"),
    }
    if groups := found.gone("pressure/others/"):
        # a group's tasks have ended, and what they waited for is gone with it
        said["how long tasks waited for IO that ended meanwhile"] = ", ".join(groups)
    before = _bits(found.begin.get(FIRMWARE))
    if before is not None and before & _SINCE and FIRMWARE in grown:
        said["whether its CPU was throttled in the run"] = f"it had been before, {FIRMWARE} is {before:#x}"
    return [f"{what}: {text}" for what, text in said.items() if text]


def told(run: Run) -> dict[str, Any] | None:
    """Return all of it for the manifest; None: nobody looked."""
    found = run.board.covariates
    if found is None:
        return None
    # who asked the disk for a flush it does not say; a partition's are not counted
    counts = {
        "foreign_commands": found.foreign(COMMANDS),
        "foreign_sectors": found.foreign(SECTORS),
        "own_commands": found.of("partition", COMMANDS),
        "own_sectors": found.of("partition", SECTORS),
        "disk_flushes": found.of("disk", ("flush_ios",)),
    }
    limits = run.plan["board"].get("limits") if run.plan else None
    named = {name: {"begin": found.begin.get(name), "end": found.end.get(name)} for name in _names(found)}
    return {
        "seconds": found.seconds,
        **counts,
        "shares": shares(found),
        "limits": limits,
        "edges": named,
        "board": dict(found.board),
        "unreadable": found.unreadable(),
    }


def _names(found: Covariates) -> list[str]:
    return list({**found.begin, **found.end})
