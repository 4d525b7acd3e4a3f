"""For `make advise`: compare settings that differ in one axis: which gains most and why, which nothing."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from commitpath.reporting import run_counts
from commitpath.reporting.candidates import Setting
from commitpath.reporting.choice import FAILURES, needs, text, words
from commitpath.reporting.limits import Limits
from commitpath.reporting.trials import Trials
from commitpath.results.query import Results

# Most quantities of a ledger that are shown of each kind.
MOST_SHOWN = 2


@dataclass(frozen=True)
class Pair:
    """Two settings that differ in one axis, named as `value` and `other`; context: the rest."""

    fast: Setting
    slow: Setting
    value: str
    other: str
    context: str

    @property
    def ratio(self) -> float:
        """TPS of the faster one by those of the slower."""
        return self.fast.tps / self.slow.tps

    @property
    def trials(self) -> tuple[Trials, Trials] | None:
        """The trials of both; None unless both have some and all databases were usable."""
        both = (self.fast.trials, self.slow.trials)
        if both[0] is None or both[1] is None or not (both[0].usable and both[1].usable):
            return None
        return both[0], both[1]


def pairs(measured: Sequence[Setting], limits: Limits, names: Sequence[str]) -> list[Pair]:
    """Return the pairs with the faster setting within the limits."""
    made = []
    for pair in itertools.combinations(measured, 2):
        slow, fast = sorted(pair, key=lambda setting: setting.tps)
        # values that an engine does not use are at their defaults
        a, b = ({name: str(setting.run.cell.value(name)) for name in names} for setting in (fast, slow))
        differing = [name for name in names if a[name] != b[name]]
        if len(differing) == 1 and slow.tps and fast.fits(limits):
            fast_words, slow_words = (words(s.run.cell, differing, differing) for s in (fast, slow))
            rest = [name for name in names if name not in differing]
            made.append(
                Pair(fast, slow, text(fast_words), text(slow_words), text(words(fast.run.cell, rest)))
            )
    return made


def buys_most(every: Sequence[Pair], results: Results) -> list[str]:
    """Return which setting buys the most speed, and what changed at the device; empty without pairs."""
    best = max(every, key=lambda pair: pair.ratio, default=None)
    if best is None or best.ratio <= 1 + needs()["equal"]:
        return []
    line = f"Buys most: {best.value} is {best.ratio:.2f} times as fast as {best.other}{within([best])}."
    return [line, because(best, results)]


def because(pair: Pair, results: Results) -> str:
    """Return the numbers of the ledger that changed from the slower to the faster setting."""
    ledgers = []
    for setting in (pair.slow, pair.fast):
        run = setting.run if setting.run.summary.get("ledger") else results.watched(setting.run.cell)
        if run is None:
            return f"Because: - ({setting.text} was not watched; the command below, with its settings, does)"
        ledgers.append(run_counts.per_transaction(run))
    shown = []
    changes = [
        replace(change, name=f"{change.name} commands") if change.group == run_counts.COMMANDS else change
        for change in run_counts.changes(*ledgers)
    ]
    for group in (run_counts.COMMANDS, run_counts.BYTES, run_counts.FLUSHES):
        shown += [run_counts.text(change) for change in changes if change.group == group][:MOST_SHOWN]
    return f"Because, for each transaction: {', '.join(shown) or 'no count changed by 1 %'}."


def buys_nothing(every: Sequence[Pair], failure: str) -> list[str]:
    """Return the settings that bought no speed, and those with a stronger promise that kept no more."""
    equal = needs()["equal"]
    lines = []
    for value, other in dict.fromkeys((pair.value, pair.other) for pair in every):
        alike = [pair for pair in every if (pair.value, pair.other) == (value, other)]
        same = [pair for pair in alike if pair.ratio <= 1 + equal]
        if same:
            lines.append(f"Bought no speed: {value} and {other}: TPS equal to {equal:.0%}{within(same)}.")
        safe = [
            (pair, pair.trials)
            for pair in alike
            if pair.trials
            and pair.trials[0].worst == pair.trials[1].worst
            and pair.fast.survives != pair.slow.survives
        ]
        if safe:
            number = sum(trials.cuts for _, both in safe for trials in both)
            worst = "; ".join(f"{both[0].worst}{within([pair])}" for pair, both in safe)
            lines.append(
                f"Bought no durability: {other} lost as much as {value} in {number} {FAILURES[failure]}: "
                f"at most {worst}."
            )
    return lines


def within(several: Sequence[Pair]) -> str:
    """Return the settings that pairs have in common, in parentheses."""
    contexts = [pair.context for pair in several if pair.context]
    return f" ({'; '.join(contexts)})" if contexts else ""
