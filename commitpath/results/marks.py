"""Footnote marks of tables and figures: unequal durability or counts, caveats of runs; count transactions."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.run_files import stored
from analysis.stats import totals
from base.paths import RESULTS
from commitpath.database.select import Run
from model import durability

UNDURABLE, UNCOUNTED, MARKED, MADE = "‡", "§", "¶", "†"


def transactions(run: Run) -> int:
    """Return the number of transactions of a run's timed region, from its rate and length; 0 if unknown."""
    return totals.transactions(run.summary)


def transactions_by_op(run: Run) -> Mapping[str, int] | None:
    """Return the number of transactions of each operation; None if the files that have it are not here."""
    planned: dict[str, int] = run.document("manifest").get("transactions", {})
    # phases that mix operations have other names
    if run.summary["syncs"].keys() <= planned.keys():
        return planned
    return _counts_of(RESULTS / run.path) if run.path else None


@functools.cache
def _counts_of(folder: Path) -> dict[str, int]:
    """Return the number of transactions of each operation of a stored run."""
    return dict(
        stored.read(folder).table("operations", ("op", "transactions")).select("op", "transactions").rows()
    )


def marks(a: Run, b: Run) -> dict[str, str]:
    """Return mark → the inequality between the cells of two runs; empty if they are comparable."""
    notes = {}
    survives = (durability.in_effect(run.document("manifest")) for run in (a, b))
    if unequal := durability.differences(*survives):
        pairs = "; ".join(f"after {failure}: A {in_a}, B {in_b}" for failure, in_a, in_b in unequal)
        notes[UNDURABLE] = f"unequal durability: {pairs}"
    if transactions(a) != transactions(b):
        notes[UNCOUNTED] = f"unequal transaction counts: A {transactions(a)}, B {transactions(b)}"
    return notes


def made_otherwise(runs: Sequence[Run]) -> dict[str, str]:
    """Return the mark of runs by several commits of commitpath or several QEMUs; empty for one of each.

    Two commits with changes (-dirty) may differ.
    """
    commits = {f"commitpath {run.facts['commit']}" for run in runs}
    emulators = {run.document("host").get("qemu") for run in runs} - {None}
    several = commits if len(commits) > 1 or any(name.endswith("-dirty") for name in commits) else set[str]()
    several |= {str(name) for name in emulators} if len(emulators) > 1 else set()
    return {MADE: f"not made by one and the same: {', '.join(sorted(several))}"} if several else {}


def kernels(runs: Sequence[Run]) -> list[str]:
    """Return a line with the releases of the runs' kernels, if one KERNEL has several; else none."""
    releases: dict[str, set[str]] = {}
    for run in runs:
        releases.setdefault(run.shown("kernel"), set()).add(run.facts["uname"] or "unknown")
    several = {name for names in releases.values() if len(names) > 1 for name in names}
    return [f"not on one and the same kernel: {', '.join(sorted(several))}"] if several else []


def footnotes(runs: Sequence[Run]) -> list[str]:
    """Return a line for each mark of the shown runs, with the number of runs; each run counts once."""
    once = {tuple(run.facts.get(name) for name in ("lab", "cell", "run")): run for run in runs}
    counted = Counter(mark for run in once.values() for mark in run.marks)
    return [f"{MARKED} {number} of {len(once)} runs: {mark}" for mark, number in counted.items()]


def joined(runs: Sequence[Run]) -> str:
    """Return the marks of runs, for a column of a CSV; empty without any."""
    return "; ".join(dict.fromkeys(mark for run in runs for mark in run.marks))


def left_out(runs: Sequence[Run]) -> str | None:
    """Return the number of marked runs that do not count, with reasons; None without any."""
    counted = Counter("; ".join(run.marks) for run in runs)
    reasons = "; ".join(f"{number}: {marks}" for marks, number in counted.items())
    return f"{len(runs)} runs left out, {reasons}" if runs else None
