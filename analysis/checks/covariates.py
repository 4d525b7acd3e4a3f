"""Check a lab board for reboots, throttling, clocks, heat, others' I/O; list its covariates for the manifest.

A virtual board has no other users, and its time does not depend on the host.
"""

from typing import Any

from analysis.run import Run
from model.covariates import COMMANDS, FIRMWARE, SECTORS, SINCE, bits, changed, limited, shares


def unchanged(run: Run) -> list[str]:
    """Check for reboots, changed clocks or limits, throttling and card errors."""
    covariates = run.board.covariates
    if covariates is None:
        return [] if run.is_virtual else ["raw/board/covariates.json is missing"]
    return changed(covariates)


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


def within(run: Run) -> list[str]:
    """Check that other activity and the board's temperature are within the plan's limits."""
    covariates = run.board.covariates
    if covariates is None:
        return []  # reported by `unchanged`
    limits = run.plan["board"].get("limits") if run.plan else None
    if not isinstance(limits, dict):
        return [] if run.is_virtual else ["the plan has no limits for other activity on the board"]
    return list(limited(covariates, limits))


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
    before = bits(covariates.begin.get(FIRMWARE))
    if before is not None and before & SINCE and FIRMWARE in grown:
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
