"""Marks on what is shown: comparisons of unequal things, and runs of which something is to be known."""

from collections import Counter
from collections.abc import Sequence

from analysis import durability
from commitpath.database.select import Run

UNDURABLE, UNCOUNTED, MARKED = "‡", "§", "¶"


def transactions(run: Run) -> int:
    """Transactions of a run's timed region, from its rate and its length."""
    tps, seconds = float(run.summary["tps"]["all"]), float(run.summary["virtual_seconds"])
    return round(tps * seconds)


def marks(a: Run, b: Run) -> dict[str, str]:
    """Mark → what is unequal between the cells of two runs; empty where they may be compared as they are."""
    found = {}
    survives = (durability.in_effect(run.document("manifest")) for run in (a, b))
    if unequal := durability.differences(*survives):
        told = "; ".join(f"after {failure}: A {in_a}, B {in_b}" for failure, in_a, in_b in unequal)
        found[UNDURABLE] = f"unequal durability: {told}"
    if transactions(a) != transactions(b):
        found[UNCOUNTED] = f"unequal transaction counts: A {transactions(a)}, B {transactions(b)}"
    return found


def footnotes(runs: Sequence[Run]) -> list[str]:
    """A line for each mark that runs have which are shown, and how many have it."""
    counted = Counter(mark for run in runs for mark in run.marks)
    return [f"{MARKED} {number} of {len(runs)} runs: {mark}" for mark, number in counted.items()]


def left_out(runs: Sequence[Run]) -> str | None:
    """How many marked runs do not count, and why, in one line; None where there is none."""
    counted = Counter("; ".join(run.marks) for run in runs)
    why = "; ".join(f"{number}: {marks}" for marks, number in counted.items())
    return f"{len(runs)} runs left out, {why}" if runs else None
