"""`make advise`: for an app developer, the settings worth choosing among, from the database.

What survives a failure of the power is what trials showed, and no promise. Of another failure it is what
they showed where there are any, else what the settings promise.
"""

from collections.abc import Sequence

from base.errors import BadInputError
from base.text import printable_lines
from commitpath.command_line.variables import axes_of
from commitpath.database.select import Run
from commitpath.reporting.candidates import LOSSES, SURVIVE, Setting, comparable, settings, trials_like
from commitpath.reporting.choice import POWER, choice, sweep
from commitpath.reporting.trials import SIZES, limit_ms, unpaced
from commitpath.results import query
from model.engines import survival


def advise(options: dict[str, str]) -> int:
    """Print the Pareto set of one lab; RUN=yes first runs what the grid `advise` has for the choice."""
    names = axes_of("advise")
    failure, loss = options.get("SURVIVE", ""), options.get("LOSS", "none")
    if loss not in LOSSES and limit_ms(loss) is None:
        raise BadInputError(f"LOSS={loss}: it is {', '.join(LOSSES)}, or a time such as 1s, 500ms or 2min")
    if failure not in SURVIVE or options.get("RUN", "yes") != "yes" or "FS" not in options:
        missing = " and ".join(name for name in ("FS", "SURVIVE") if name not in options)
        raise BadInputError(
            f"{missing + ': missing; ' if missing else ''}make advise takes FS=<filesystem>, "
            f"SURVIVE={'|'.join(SURVIVE)} (what the data must survive), "
            f"LOSS={'|'.join(LOSSES)}|1s|500ms|2min (committed transactions that may be lost then, or the "
            "time of them at the PACE of the runs), LAB=<label> (another "
            "lab's runs), RUN=yes (run what is missing), and axes to choose runs by, such as DEVICE"
        )
    given = {name: text for name, text in options.items() if name in names}
    if "RUN" in options:
        run_missing(given, failure)
    stored = query.current()
    runs, own = stored.every, stored.lab
    lab = options.get("LAB", own)
    chosen = comparable(given, failure, runs, lab, own)
    measured = settings(chosen, trials_like(chosen[0], runs, failure))
    if failure == POWER:
        tried = {one.key for one in measured if one.trials}
        of_it = choice(sweep(places(given, chosen[0]), failure), query.Results(runs, lab), tried)
        print(printable_lines(of_it.told()))
        of_it.check()
    kept = [one for one in measured if one.keeps(failure, loss)]
    if not kept:
        raise BadInputError(
            f"SURVIVE={failure} LOSS={loss}: none of the {len(measured)} settings measured keeps that "
            f"promise; {wider(measured, failure, loss)}RUN=yes measures more"
        )
    print(printable_lines([*report(measured, kept, failure), *unpaced(loss, chosen)]))
    return 0


def wider(measured: Sequence[Setting], failure: str, loss: str) -> str:
    """Return what of LOSS allows more, and is kept by a setting; nothing where none is."""
    untried = sum(one.trials is None for one in measured)
    time = (
        f"a time needs trials, which {untried} of them have not; "
        if limit_ms(loss) is not None and untried
        else ""
    )
    for word in LOSSES:
        if number := sum(one.keeps(failure, word) for one in measured):
            return f"{time}LOSS={word} allows more, and {number} keep it; "
    return time


def run_missing(given: dict[str, str], failure: str) -> None:
    """Sweep the grid for this device and filesystem."""
    from commitpath.sweep import drive

    drive.sweep(sweep(given, failure))


def places(given: dict[str, str], run: Run) -> dict[str, str]:
    """The given axes but for sizes, and the place of a run: where its settings would be tried."""
    given = {name: text for name, text in given.items() if name.lower() not in SIZES}
    return {**given, "FS": run.cell.fs, "DEVICE": run.cell.device}


def report(measured: Sequence[Setting], kept: Sequence[Setting], failure: str) -> list[str]:
    """The Pareto set among those kept, the fastest first, and what each gives up; then what was promised
    and did not hold."""
    best = [one for one in kept if not any(one.beaten_by(other) for other in kept)]
    best.sort(key=lambda one: -one.tps)
    width = max(len(one.text) for one in best)
    lines = [f"{'':{width}}  {'TPS':>10}  {'KiB/tx':>8}  gives up"]
    least = min(one.bytes_per_transaction for one in best)
    for one in best:
        gives_up = [f"SURVIVE={failure}, measured: {one.trials.text()}"] if one.trials else []
        gives_up += [f"after {name}: {what}" for name, what in promised(one, failure)]
        if one.tps < best[0].tps:
            gives_up.append(f"{1 - one.tps / best[0].tps:.0%} of the fastest's speed")
        if one.bytes_per_transaction > least:
            gives_up.append(f"{one.bytes_per_transaction / least - 1:.0%} more flash wear than the least")
        kib = one.bytes_per_transaction / 1024
        lines.append(f"{one.text:{width}}  {one.tps:10.1f}  {kib:8.1f}  {'; '.join(gives_up) or 'nothing'}")
    lines += broken(measured, failure)
    tried = sum(one.trials is not None for one in measured)
    how = "by trials" if tried == len(measured) else f"{tried} by trials, the others by what they promise"
    lines.append(
        f"{len(measured)} settings measured, {len(kept)} keep the promise (SURVIVE={failure}, {how}), "
        f"{(beaten := len(kept) - len(best))} of these {'is' if beaten == 1 else 'are'} beaten in both speed "
        "and wear by one above"
    )
    return lines


def promised(setting: Setting, failure: str) -> list[tuple[str, str]]:
    """(failure in words, what the settings promise), where that is not all; beside trials, as promised."""
    return [
        (name, f"promised is only: {what}" if setting.trials and of_it == failure else what)
        for (name, what), of_it in zip(setting.survives.rows(), SURVIVE, strict=True)
        if what != survival.ALL
    ]


def broken(measured: Sequence[Setting], failure: str) -> list[str]:
    """What trials showed against what settings promise, whether they are chosen or not."""
    return [
        f"AGAINST ITS PROMISE ({getattr(one.survives, SURVIVE[failure])}): {one.text}: "
        f"{one.trials.broken} of {one.trials.cuts} cuts, the first {one.trials.first_broken}"
        for one in measured
        if one.trials and one.trials.broken
    ]
