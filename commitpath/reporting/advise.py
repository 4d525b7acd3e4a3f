"""`make advise`: the settings worth choosing for an app, by speed, flash wear and what survives a failure.

What survives a power failure is measured by trials only; another failure also by what the settings promise.
"""

import re
from collections.abc import Sequence

from analysis.report.lifetime import DAY_S, gb_a_day, years
from base.errors import BadInputError
from base.text import printable_lines
from commitpath.command_line.variables import axes_of
from commitpath.reporting.candidates import LOSSES, SURVIVE, Setting, comparable, settings, trials_like
from commitpath.reporting.choice import ANY, POWER, choice, chosen, sweep
from commitpath.reporting.trials import SIZES, limit_ms, unpaced
from commitpath.results import query
from model.engines import survival

_RATE = re.compile("([1-9][0-9]{0,5})/(s|min|h|d)")
# What RATE adds.
LASTS = f"{'GB/day':>8}  {'years':>8}  "
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": DAY_S}


def advise(options: dict[str, str]) -> int:
    """Print the Pareto set of one lab; RUN=yes first runs what the grid `advise` has for the choice."""
    names = axes_of("advise")
    failure, loss = options.get("SURVIVE", ""), options.get("LOSS", "none").casefold()
    if loss not in LOSSES and limit_ms(loss) is None:
        raise BadInputError(f"LOSS={loss}: it is {', '.join(LOSSES)}, or a time such as 1s, 500ms or 2min")
    rate = per_second(options.get("RATE"))
    if failure not in SURVIVE or options.get("RUN", "yes") != "yes" or "FS" not in options:
        missing = " and ".join(name for name in ("FS", "SURVIVE") if name not in options)
        raise BadInputError(
            f"{missing + ': missing; ' if missing else ''}make advise takes FS=<filesystem>, "
            f"SURVIVE={'|'.join(SURVIVE)} (what the data must survive), "
            f"LOSS={'|'.join(LOSSES)}|1s|500ms|2min (committed transactions that may be lost then, or the "
            "time of them at the PACE of the runs), LAB=<label> (another "
            "lab's runs), RATE=20/s (an app's transactions, for the flash's lifetime), RUN=yes (run what is "
            "missing), and axes to choose runs by, such as DEVICE"
        )
    given = {name: text for name, text in options.items() if name in names}
    if given.get("ENGINE", "").casefold() == ANY:
        given["ENGINE"] = ANY
    axes = chosen(given.get("ENGINE") == ANY)
    if "RUN" in options:
        from commitpath.sweep import drive

        drive.sweep(sweep(given, failure))
    stored = query.current()
    runs, own = stored.every, stored.lab
    lab = options.get("LAB", own)
    alike = comparable(given, failure, runs, lab, own, axes)
    measured = settings(alike, trials_like(alike[0], runs, failure, axes), axes)
    if failure == POWER:
        tried = {setting.key for setting in measured if setting.trials}
        # the place of the runs, without their sizes
        place = {name: text for name, text in given.items() if name.lower() not in SIZES}
        place |= {"FS": alike[0].cell.fs, "DEVICE": alike[0].cell.device}
        settings_of_grid = choice(sweep(place, failure), query.Results(runs, lab), tried, axes)
        print(printable_lines(settings_of_grid.lines()))
        settings_of_grid.check()
    kept = [setting for setting in measured if setting.keeps(failure, loss)]
    if not kept:
        raise BadInputError(
            f"SURVIVE={failure} LOSS={loss}: none of the {len(measured)} settings measured keeps that "
            f"promise; {wider(measured, failure, loss)}RUN=yes measures more"
        )
    if rate and any(setting.lifetime is None for setting in kept):
        raise BadInputError(
            f"RATE={options['RATE']}: DEVICE={alike[0].cell.device} has no endurance in its profile, or a "
            "run no count of what its flash programmed"
        )
    lines = report(measured, kept, failure, rate)
    print(printable_lines([*lines, *unpaced(loss, alike)]))
    return 0


def per_second(rate: str | None) -> float | None:
    """Return a RATE as transactions a second; None without one. Raises BadInputError."""
    if rate is None:
        return None
    if (found := _RATE.fullmatch(rate)) is None:
        raise BadInputError(
            f"RATE={rate}: RATE is a number of transactions, such as 20/s, 5/min, 300/h or 1000/d"
        )
    return int(found[1]) / _SECONDS[found[2]]


def wider(measured: Sequence[Setting], failure: str, loss: str) -> str:
    """Return a note on a LOSS that allows more and that some settings keep."""
    untried = sum(setting.trials is None for setting in measured)
    needed = limit_ms(loss) is not None and untried
    time = f"a time needs trials, which {untried} of these lack; " if needed else ""
    for word in LOSSES:
        if number := sum(setting.keeps(failure, word) for setting in measured):
            return f"{time}LOSS={word} allows more, and {number} keep it; "
    return time


def report(
    measured: Sequence[Setting], kept: Sequence[Setting], failure: str, rate: float | None = None
) -> list[str]:
    """Return the Pareto set, the fastest first, each with what it gives up, and the broken promises."""
    best = [setting for setting in kept if not any(setting.beaten_by(other) for other in kept)]
    best.sort(key=lambda setting: -setting.tps)
    width = max(len(setting.text) for setting in best)
    lines = [f"{'':{width}}  {'TPS':>10}  {'KiB/tx':>8}  {LASTS if rate else ''}gives up"]
    least = min(setting.bytes_per_transaction for setting in best)
    for setting in best:
        gives_up = [f"SURVIVE={failure}, measured: {setting.trials.text()}"] if setting.trials else []
        gives_up += [f"after {name}: {what}" for name, what in promised(setting, failure)]
        if setting.tps < best[0].tps:
            gives_up.append(f"{1 - setting.tps / best[0].tps:.0%} of the fastest's speed")
        if setting.bytes_per_transaction > least:
            gives_up.append(f"{setting.bytes_per_transaction / least - 1:.0%} more flash wear than the least")
        kib = setting.bytes_per_transaction / 1024
        lines.append(
            f"{setting.text:{width}}  {setting.tps:10.1f}  {kib:8.1f}  {lasts(setting, rate)}"
            f"{'; '.join(gives_up) or 'nothing'}"
        )
    lines += broken(measured, failure)
    tried = sum(setting.trials is not None for setting in measured)
    how = "by trials" if tried == len(measured) else f"{tried} by trials, the others by what they promise"
    lines.append(
        f"{len(measured)} settings measured, {len(kept)} keep the promise (SURVIVE={failure}, {how}), "
        f"{(beaten := len(kept) - len(best))} of these {'is' if beaten == 1 else 'are'} beaten in both speed "
        "and wear by one above"
    )
    return lines


def lasts(setting: Setting, rate: float | None) -> str:
    """Return the columns of LASTS at a rate of transactions; empty without one."""
    if rate is None or setting.lifetime is None:
        return ""
    written = gb_a_day(setting.bytes_per_transaction, rate)
    return f"{written:8.3f}  {years(setting.lifetime, rate):8.3g}  "


def promised(setting: Setting, failure: str) -> list[tuple[str, str]]:
    """Return (failure in words, what the settings promise) for each failure that may lose something."""
    return [
        (name, f"promised is only: {promise}" if setting.trials and word == failure else promise)
        for (name, promise), word in zip(setting.survives.rows(), SURVIVE, strict=True)
        if promise != survival.ALL
    ]


def broken(measured: Sequence[Setting], failure: str) -> list[str]:
    """Return the promises that trials showed to be broken, of chosen and other settings."""
    return [
        f"AGAINST ITS PROMISE ({getattr(setting.survives, SURVIVE[failure])}): {setting.text}: "
        f"{setting.trials.broken} of {setting.trials.cuts} cuts, the first {setting.trials.first_broken}"
        for setting in measured
        if setting.trials and setting.trials.broken
    ]
