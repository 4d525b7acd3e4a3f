"""Runs by cell: which of them count for a cell, why none does, and which watched run says why."""

from collections.abc import Mapping, Sequence
from typing import Any

from base.identity import contents
from commitpath.axes import axes
from commitpath.database.select import Run
from commitpath.identities import cell_id
from commitpath.reporting.measurements import samples


class Cells:
    """One lab's runs by cell."""

    def __init__(self, runs: Sequence[Run], lab: str) -> None:
        self.runs: dict[str, list[Run]] = {}
        # marked runs of cells that were asked for: they do not count
        self.left_out: dict[str, Run] = {}
        self._watched: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            if run.facts["lab"] != lab:
                continue
            self.runs.setdefault(run.cell_id, []).append(run)
            if run.facts["status"] == "ok" and not run.marks and run.summary.get("ledger"):
                self._watched.setdefault(unwatched(run.cell), []).append(run)

    def of(self, cell: Mapping[str, Any]) -> list[Run]:
        """Every run of a cell, whatever became of it."""
        return self.runs.get(cell_id(cell), [])

    def counting(self, cell: Mapping[str, Any]) -> tuple[list[Run], str | None]:
        """The runs of a cell that count (`samples`), or none and the reason."""
        runs = self.of(cell)
        good = [run for run in runs if run.facts["status"] == "ok"]
        marked = [run for run in good if run.marks]
        self.left_out |= {f"{run.facts['cell']}/{run.facts['run']}": run for run in marked}
        if fine := [run for run in good if not run.marks]:
            return samples(fine), None
        if marked:
            return [], f"left out: {'; '.join(marked[-1].marks)}"
        if runs:
            return [], f"{runs[-1].facts['status']}: {'; '.join(runs[-1].reasons)}"
        return [], "it was not run"

    def watched(self, cell: Mapping[str, Any], stored: bool = False) -> Run | None:
        """A watched run of the same configuration, None where there is none.

        Equal in all but probes and n; of those with the n nearest to the cell's the newest.
        stored: only of those whose files are here.
        """
        runs = [run for run in self._watched.get(unwatched(cell), []) if run.path or not stored]
        return min(reversed(runs), key=lambda run: abs(int(run.settings["n"]) - int(cell["n"])), default=None)


def unwatched(cell: Mapping[str, Any]) -> tuple[str, ...]:
    """The configuration of a cell: all but its probes and its number of transactions."""
    names = {*axes(), *cell} - {"probes", "n", "profiles"}
    return (*(f"{name}={cell.get(name)}" for name in sorted(names)), *contents(cell).values())


def rate(run: Run, op: str) -> float | None:
    """tps of an operation, of all, or of a mix of operations with weights insert:update:delete.

    None where the run has no such operation.
    """
    tps = run.summary["tps"]
    if ":" not in op:
        return None if tps.get(op) is None else float(tps[op])
    weights = dict(zip(("insert", "update", "delete"), map(int, op.split(":")), strict=True))
    return sum(weights.values()) / sum(weight / float(tps[name]) for name, weight in weights.items())
