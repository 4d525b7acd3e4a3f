"""Check a lab board for reboots, throttling, clocks, heat, others' I/O; list its covariates for the manifest.

A virtual board has no other users, and its time does not depend on the host.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.adapters.covariates import COMMANDS, FIRMWARE, SECTORS, Covariates
from analysis.run import Run

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
_NOW, _SINCE = 0xF, 0xF << 16


def unchanged(run: Run) -> list[str]:
    """Check for reboots, changed clocks or limits, throttling and card errors."""
    covariates = run.board.covariates
    if covariates is None:
        return [] if run.is_virtual else ["raw/board/covariates.json is missing"]
    return changed(covariates)


def changed(covariates: Covariates) -> list[str]:
    """Return reboots, changed clocks or limits, throttling and card errors, in words."""
    return [*_settings(covariates), *_grown(covariates), *_firmware(covariates), *_counters(covariates)]


def around(run: Run) -> list[str]:
    """Check that covariates were read before the device counters' first reading and after the last."""
    covariates, rows = run.board.covariates, run.driver.device_stat
    if covariates is None or not rows.height:
        return []
    edges = rows.row(0, named=True), rows.row(-1, named=True)
    names = {"time_ns": "time_ns"} | {name: f"partition/{name}" for name in (*COMMANDS, *SECTORS)}
    reasons = []
    for column, name in names.items():
        inner = [edge[column] for edge in edges]
        outer = [covariates.number(name, edge) for edge in (covariates.begin, covariates.end)]
        pairs = [
            (a, b)
            for a, b in zip((outer[0], inner[1]), (inner[0], outer[1]), strict=True)
            if a is not None and b is not None
        ]
        if any(a > b for a, b in pairs):
            reasons.append(
                f"covariates.json: {name} goes from {outer[0]} to {outer[1]}; device_stat.csv, read in "
                f"between, goes from {inner[0]} to {inner[1]}"
            )
    return reasons


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
    before, after = (_bits(edge.get(FIRMWARE)) for edge in (covariates.begin, covariates.end))
    if before is not None and after is not None and ((before | after) & _NOW or after & ~before & _SINCE):
        yield f"its CPU was throttled: {FIRMWARE} changed from {before:#x} to {after:#x}"


def _bits(value: Any) -> int | None:
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


def within(run: Run) -> list[str]:
    """Check that other activity and the board's temperature are within the plan's limits."""
    covariates = run.board.covariates
    if covariates is None:
        return []  # reported by `unchanged`
    limits = run.plan["board"].get("limits") if run.plan else None
    if not isinstance(limits, dict):
        return [] if run.is_virtual else ["the plan has no limits for other activity on the board"]
    return list(limited(covariates, limits))


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


def unknown(run: Run) -> list[str]:
    """Return, in words, which checks had no value to check."""
    covariates = run.board.covariates
    if covariates is None:
        return []
    why, grown = covariates.unreadable(), covariates.growths("")

    def first_error(prefix: str) -> str | None:
        """Return why the first value of a kind could not be read."""
        return next((text for name, text in why.items() if f"{name}/".startswith(prefix)), None)

    unknowns = {
        "whether its CPU was throttled": first_error("throttle/"),
        "whether its frequency limits changed": first_error("cpufreq/"),
        "its temperature": first_error("temperature/"),
        "how long other tasks waited for IO": first_error("pressure/"),
        "whether its card had errors": first_error("mmc/err_stats/"),
    }
    if groups := covariates.vanished("pressure/others/"):
        # when a cgroup is removed, its counters are lost
        unknowns["how long tasks that ended meanwhile waited for IO"] = ", ".join(groups)
    before = _bits(covariates.begin.get(FIRMWARE))
    if before is not None and before & _SINCE and FIRMWARE in grown:
        unknowns["whether its CPU was throttled in the run"] = (
            f"it had been throttled before, {FIRMWARE} is {before:#x}"
        )
    return [f"{what}: {text}" for what, text in unknowns.items() if text]


def manifest(run: Run) -> dict[str, Any] | None:
    """Return all covariates for the manifest; None if none were recorded."""
    covariates = run.board.covariates
    if covariates is None:
        return None
    # flushes are counted for the disk only, without the partition that requested them
    counts = {
        "foreign_commands": covariates.foreign_growth(COMMANDS),
        "foreign_sectors": covariates.foreign_growth(SECTORS),
        "own_commands": covariates.total_growth("partition", COMMANDS),
        "own_sectors": covariates.total_growth("partition", SECTORS),
        "disk_flushes": covariates.total_growth("disk", ("flush_ios",)),
    }
    limits = run.plan["board"].get("limits") if run.plan else None
    named = {
        name: {"begin": covariates.begin.get(name), "end": covariates.end.get(name)}
        for name in {**covariates.begin, **covariates.end}
    }
    return {
        "seconds": covariates.seconds,
        **counts,
        "shares": shares(covariates),
        "limits": limits,
        "edges": named,
        "board": dict(covariates.board),
        "unreadable": covariates.unreadable(),
    }
