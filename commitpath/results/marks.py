"""Marks on what is shown: comparisons of unequal things, and runs of which something is to be known."""

from collections import Counter
from collections.abc import Sequence

from commitpath.database.select import Run
from model import durability

UNDURABLE, UNCOUNTED, MARKED, MADE = "‡", "§", "¶", "†"


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


def made_otherwise(runs: Sequence[Run]) -> dict[str, str]:
    """The mark of runs that not one commitpath and one QEMU made: what differs may be due to that.

    Of a commit with changes (-dirty) nobody knows whether two are one.
    """
    commits = {f"commitpath {run.facts['commit']}" for run in runs}
    emulators = {run.document("host").get("qemu") for run in runs} - {None}
    told = commits if len(commits) > 1 or any(one.endswith("-dirty") for one in commits) else set[str]()
    told |= {str(one) for one in emulators} if len(emulators) > 1 else set()
    return {MADE: f"not made by one and the same: {', '.join(sorted(told))}"} if told else {}


def footnotes(runs: Sequence[Run]) -> list[str]:
    """A line for each mark that runs have which are shown, and how many have it."""
    counted = Counter(mark for run in runs for mark in run.marks)
    return [f"{MARKED} {number} of {len(runs)} runs: {mark}" for mark, number in counted.items()]


def left_out(runs: Sequence[Run]) -> str | None:
    """How many marked runs do not count, and why, in one line; None where there is none."""
    counted = Counter("; ".join(run.marks) for run in runs)
    why = "; ".join(f"{number}: {marks}" for marks, number in counted.items())
    return f"{len(runs)} runs left out, {why}" if runs else None
