"""Marks on a comparison of unequal things: less durable, or another number of transactions."""

from analysis import durability
from commitpath.database.select import Run

UNDURABLE, UNCOUNTED = "‡", "§"


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
