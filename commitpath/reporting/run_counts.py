"""Count commands, KiB by label and flushes per transaction of a run; list the changes between two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from commitpath.database.select import Run
from commitpath.results.marks import transactions

# Groups of quantities, each with its unit, in the order in which they are shown.
COMMANDS, BYTES, FLUSHES, CPU = "commands", "KiB", "flushes for", "CPU"
# A quantity differs where it changes by this part of its group's sum, or more.
CHANGED = 0.01


@dataclass(frozen=True)
class Change:
    """A quantity of a transaction, in two runs."""

    group: str
    name: str
    a: float
    b: float


def per_transaction(run: Run) -> dict[str, dict[str, float]]:
    """Return group → name → quantity per transaction, without the groups that the run did not record.

    Commands and bytes are all of the run, with what the close and the drain write.
    """
    summary, number = run.summary, transactions(run)
    groups: dict[str, dict[str, float]] = {}
    block = summary.get("block") or {}
    if number and block.get("writes") is not None and block.get("fua") is not None:
        counts = {
            "write": block["writes"] - block["fua"],
            "write FUA": block["fua"],
            "flush": block["flushes"],
        }
        groups[COMMANDS] = {name: count / number for name, count in counts.items()}
    if number and (ledger := summary.get("ledger")):
        groups[BYTES] = {label: size / number / 1024 for label, size in ledger["bytes"].items()}
        groups[FLUSHES] = dict(ledger["flushes_per_transaction"].get("all", {}))
    if (share := (summary.get("cpu_share") or {}).get("all")) is not None:
        groups[CPU] = {"% of the time": 100 * share}
    return groups


def medians(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Return the medians over several runs of a cell, of the groups that all of them recorded."""
    each = [per_transaction(run) for run in runs]
    return {
        group: {name: median([groups[group][name] for groups in each]) for name in each[0][group]}
        for group in each[0]
        if all(groups.get(group, {}).keys() == each[0][group].keys() for groups in each)
    }


def changes(a: Mapping[str, Mapping[str, float]], b: Mapping[str, Mapping[str, float]]) -> list[Change]:
    """Return what differs between two cells, in the order of the groups; the largest of a group first."""
    differing = []
    for group in (group for group in a if group in b):
        names = dict.fromkeys([*a[group], *b[group]])
        rows = [Change(group, name, a[group].get(name, 0), b[group].get(name, 0)) for name in names]
        least = CHANGED * max(sum(row.a for row in rows), sum(row.b for row in rows))
        changed = [row for row in rows if abs(row.b - row.a) >= least > 0]
        differing += sorted(changed, key=lambda row: -abs(row.b - row.a))
    return differing


def name(change: Change) -> str:
    """Return what a change is of, with its unit: `filesystem journal, KiB`."""
    words = {
        COMMANDS: change.name,
        BYTES: f"{change.name}, KiB",
        FLUSHES: f"flushes for {change.name}",
        CPU: f"the CPU's share, {change.name}",
    }
    return words[change.group]


def text(change: Change) -> str:
    """Return a change in words, such as `filesystem journal 23.50 → 19.40 KiB`."""
    a, b = (f"{value:.2f}" if value < 100 else f"{value:.1f}" for value in (change.a, change.b))
    what, _, unit = name(change).partition(", ")
    return f"{what} {a} → {b} {unit}".rstrip()
