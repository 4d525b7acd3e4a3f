"""Write the answer of `make advise`: a verdict, the Pareto front as a table, the reasons, a command."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from analysis.report.terminal import seconds
from analysis.stats.totals import gb_a_day, years
from base.text import COLUMNS, UNBROKEN, filled
from commitpath.cells import transaction_files
from commitpath.cells.axes import axes
from commitpath.database.select import Run
from commitpath.reporting.candidates import Setting
from commitpath.reporting.choice import CUTS, FAILURES, NAMED, POWER, needs, text, words
from commitpath.reporting.limits import SURVIVE, Limits
from commitpath.reporting.single_changes import buys_most, buys_nothing, pairs
from commitpath.reporting.trials import EMPTIED
from commitpath.results.marks import MARKED, footnotes
from commitpath.results.query import Results
from model.engines import survival

# Dimensions of the Pareto front; the least value is best.
DIMENSIONS: dict[str, Callable[[Setting], float | None]] = {
    "TPS": lambda setting: -setting.tps,
    "p99": lambda setting: setting.slowest_p99,
    "KiB per transaction": lambda setting: setting.bytes_per_transaction,
    # also what the device writes of its own: fewer bytes of the host may wear it more
    "years": lambda setting: -setting.lifetime if setting.lifetime else None,
    "lost in a power cut": lambda setting: setting.lost,
}
# At the end of a line that goes on, for a shell.
CONTINUED = " \\"
NOT_MEASURED = "-"


def front(kept: Sequence[Setting]) -> tuple[list[Setting], list[str]]:
    """Return the Pareto front, the fastest first, and the dimensions: those that all settings have."""
    names = [name for name, read in DIMENSIONS.items() if all(read(setting) is not None for setting in kept)]
    values = [tuple(DIMENSIONS[name](setting) or 0.0 for name in names) for setting in kept]

    def beaten(mine: tuple[float, ...]) -> bool:
        return any(
            theirs != mine and all(b <= a for a, b in zip(mine, theirs, strict=True)) for theirs in values
        )

    best = [setting for setting, mine in zip(kept, values, strict=True) if not beaten(mine)]
    return sorted(best, key=lambda setting: -setting.tps), names


def lines(
    measured: Sequence[Setting],
    kept: Sequence[Setting],
    limits: Limits,
    names: Sequence[str],
    results: Results,
    given: Mapping[str, str],
) -> list[str]:
    """Return the answer, each line at most COLUMNS wide."""
    best, dimensions = front(kept)
    rows = best[: needs()["rows"]]
    more = f", without {len(best) - len(rows)} slower ones" if len(best) > len(rows) else ""
    singles = pairs(measured, limits, names)
    texts = [
        *notes(rows, limits),
        *footnotes([setting.run for setting in measured]),
        f"{len(kept)} of {len(measured)} measured settings are within the limits; above is the Pareto front "
        f"in {', '.join(dimensions)}{more}.",
        *buys_most(singles, results),
        *buys_nothing(singles, limits.failure),
        *broken(measured, limits.failure),
        *too_short(measured, limits),
    ]
    return [
        *filled(verdict(rows[0], limits.failure)),
        "",
        *table(rows, limits),
        "",
        *(line for paragraph in texts for line in filled(paragraph)),
        "Check it:",
        *command(rows[0], limits, given),
    ]


def verdict(best: Setting, failure: str) -> str:
    """Return which setting to use, its speed, and what the failure took of it."""
    promise = getattr(best.survives, SURVIVE[failure])
    if best.trials is None:
        return f"Use {best.text}: {best.tps:.1f} TPS; not tried, its promise is: {promise}."
    weaker = "" if promise == survival.ALL else f" Its promise is only: {promise}."
    every = ", all of the run" if best.trials.emptied else ""
    return (
        f"Use {best.text}: {best.tps:.1f} TPS; {best.trials.cuts} {FAILURES[failure]} took "
        f"{best.trials.worst} transactions at most{every}.{weaker}"
    )


def table(rows: Sequence[Setting], limits: Limits) -> list[str]:
    """Return the table; settings that are too long for a line go on in the next."""
    weaker = weaker_promises(rows)
    heads = ["TPS", "p99 ms", "KiB/tx", *(["GB/day"] if limits.per_second else []), "years", "power cut"]
    lines = [heads]
    for row in rows:
        p99, lasts = row.slowest_p99, lifetime(row, limits)
        numbers = [
            f"{row.tps:.1f}",
            NOT_MEASURED if p99 is None else f"{p99:.2f}",
            f"{row.bytes_per_transaction / 1024:.1f}",
            *([written(row, limits.per_second)] if limits.per_second else []),
            NOT_MEASURED if lasts is None else f"{lasts:.3g}",
            power_cut(row, limits) + weaker.get(row.survives.power, ""),
        ]
        lines.append(numbers)
    least = (0 if name == "power cut" else 6 if name == "years" else 7 for name in heads)
    widths = [max(map(len, column), default=0) for column in zip(*lines, strict=True)]
    widths = [max(pair) for pair in zip(widths, least, strict=True)]
    firsts = ["  ".join(map(str.rjust, line, widths)) + "  " for line in lines]
    made = [f"{firsts[0]}settings"]
    for row, first in zip(rows, firsts[1:], strict=True):
        mark = f" {MARKED}" if row.run.marks else ""
        made += filled(f"{row.text}{mark}", " " * len(first), first=first)
    return made


def written(setting: Setting, per_second: float) -> str:
    """Return the GB that the host writes a day at a rate of transactions."""
    gb = gb_a_day(setting.bytes_per_transaction, per_second)
    # a slow app's are not 0
    return f"{gb:.3f}" if gb >= 0.1 else f"{gb:.3g}"


def lifetime(setting: Setting, limits: Limits) -> float | None:
    """Return the years until the flash is worn out; None if they are unknown."""
    if limits.per_second is None or setting.lifetime is None:
        return None
    return years(setting.lifetime, limits.per_second)


def power_cut(setting: Setting, limits: Limits) -> str:
    """Return what a power cut took at worst: transactions, and their time if LOSE_AT_MOST is one."""
    if setting.cuts is None:
        return NOT_MEASURED
    timed = limits.ms is not None and setting.cuts.usable and setting.cuts.worst_ms
    return f"{setting.cuts.short()}{f', {seconds(setting.cuts.worst_ms)}' if timed else ''}"


def weaker_promises(rows: Sequence[Setting]) -> dict[str, str]:
    """Return what less than everything settings promise after a power cut → its mark in the table."""
    promises = dict.fromkeys(setting.survives.power for setting in rows)
    weaker = [promise for promise in promises if promise != survival.ALL]
    return {promise: "*" * place for place, promise in enumerate(weaker, 1)}


def notes(rows: Sequence[Setting], limits: Limits) -> list[str]:
    """Return what the columns are, and why a value is missing."""
    sizes = sorted({int(setting.run.cell.n) for setting in rows})
    counts = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    made = [f"p99: of the slowest operation, over {counts} transactions."]
    if any(setting.slowest_p99 is None for setting in rows):
        made = [f"p99 {NOT_MEASURED}: the run has no latencies."]
    if limits.per_second is None:
        made.append(f"years {NOT_MEASURED}: RATE=20/s gives the transactions of your app.")
    elif any(setting.lifetime is None for setting in rows):
        made.append(
            f"years {NOT_MEASURED}: DEVICE={rows[0].run.cell.device} has no endurance in its profile, or a "
            "run no count of what its flash programmed."
        )
    elif any(without_garbage(setting.run) for setting in rows):
        made.append("years: of a fresh device without garbage collection; DEVICE_STATE=used adds its copies.")
    slow = [setting.text for setting in rows if limits.per_second and setting.tps < limits.per_second]
    if slow:
        made.append(f"Slower than RATE, {limits.per_second:.6g} TPS: {'; '.join(slow)}.")
    made += [f"{mark} promised only: {promise}." for promise, mark in weaker_promises(rows).items()]
    if any(setting.cuts is None for setting in rows):
        made.append(f"power cut {NOT_MEASURED}: not tried; SURVIVE={POWER} RUN=yes tries it.")
    return made


def without_garbage(run: Run) -> bool:
    """Return whether a run was too short for the garbage collection that its device will need."""
    fresh = run.cell.device_state == axes()["device_state"].spec["default"]
    maps_pages = run.cell.profiles["device"]["geometry"].get("gc_blocks", 0) > 0
    return fresh and maps_pages and not (run.summary.get("flash") or {}).get("gc_bytes")


def broken(measured: Sequence[Setting], failure: str) -> list[str]:
    """Return the promises that trials showed to be broken, of chosen and other settings."""
    return [
        f"AGAINST ITS PROMISE ({getattr(setting.survives, SURVIVE[failure])}): {setting.text}: "
        f"{setting.trials.broken} of {setting.trials.cuts} cuts, the first {setting.trials.first_broken}"
        for setting in measured
        if setting.trials and setting.trials.broken
    ]


def too_short(measured: Sequence[Setting], limits: Limits) -> list[str]:
    """Return the settings that may lose more than LOSE_AT_MOST: their trials do not decide it."""
    if limits.most is None and limits.ms is None:
        return []
    names = [
        setting.text
        for setting in measured
        if setting.trials
        and setting.trials.emptied
        and limits.kept_by(replace(setting.trials, emptied=False), setting.survives)
    ]
    return [f"Left out, as {EMPTIED}: {'; '.join(names)}."] if names else []


def command(best: Setting, limits: Limits, given: Mapping[str, str]) -> list[str]:
    """Return the command that repeats the run of a setting, and expects what was measured.

    Without PROBES=none, so that the run has a ledger.
    """
    cell = best.run.cell
    workload = cell.profiles["workload"]
    fixed = {*workload.get("fixed", {}), *(["n"] if transaction_files.is_of_file(workload) else [])}
    apart = {*fixed, *CUTS, "file", "probes", "observers"}
    named = [name for name in NAMED if name != "engine"]
    variables = words(cell, [name for name in axes() if name not in apart], named)
    # a path, in place of the name of its content
    variables |= {name: given[name] for name in ("FILE", "KERNEL") if name in given}
    expected = [f"tps>={int(best.tps)}"]
    if best.p99_ms and limits.p99_ms:
        expected += [f"p99.{op}<={limits.p99_ms:g}" for op in best.p99_ms]
    if best.trials:
        cuts = cell.cuts if cell.crash == limits.failure else needs()["trials"]["cuts"]
        variables |= {"CRASH": limits.failure, "CUTS": str(cuts)}
        expected.append(f"lost.max<={limits.most if limits.most is not None else best.trials.worst}")
    variables["EXPECT"] = " ".join(expected)
    quoted = {name: shlex.quote(value).replace(" ", UNBROKEN) for name, value in variables.items()}
    first, *others = filled(f"  make experiment {text(quoted)}", "    ", COLUMNS - len(CONTINUED))
    return f"{CONTINUED}\n".join([first, *others]).split("\n")
