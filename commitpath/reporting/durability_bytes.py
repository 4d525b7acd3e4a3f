"""`make durability OVER=bytes`: KiB and ms per transaction from watched runs of cells with crash trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from base.errors import BadInputError
from base.text import filled, rows_by_place
from commitpath.cells.axes import axes
from commitpath.database.select import Run
from commitpath.reporting.choice import CUTS
from commitpath.reporting.durability_rows import KEY, MEASURED, Found, Row, cuts, name_of, place_of, took
from commitpath.results import metrics
from commitpath.results.marks import MARKED, footnotes, joined, made_otherwise, transactions
from commitpath.results.query import Results

# Most names of left-out cells for one reason in the caption of a figure.
NAMED = 6


@dataclass(frozen=True)
class Cost:
    """A cell of a figure, with KiB written to the device and ms of a mean transaction of its watched run.

    place: its settings that belong to no engine; name: its engine and the others.
    """

    place: str
    name: str
    kib: float
    ms: float
    row: Row
    watched: Run

    @property
    def mark(self) -> str:
        """The mark of runs with caveats, or empty."""
        return MARKED if self.watched.marks or self.row.mark else ""


@dataclass(frozen=True)
class Costs:
    """The cells of a grid. left_out: reason → names of cells; notes: of all runs."""

    found: Found
    costs: Sequence[Cost]
    left_out: Mapping[str, Sequence[str]]
    notes: Sequence[str]

    def caption(self, most: int | None = None) -> str:
        """Return how much of the grid is shown, and the cells left out: at most so many names a reason."""
        total = len(self.costs) + sum(map(len, self.left_out.values()))
        parts = [
            f"{len(self.costs)} of {total} cells of grid {self.found.grid}, each by "
            f"{cuts([cost.row for cost in self.costs])} cuts ({self.found.failure}) and a watched run without"
        ]
        for why, names in self.left_out.items():
            more = [f"{len(names) - most} more"] if most and len(names) > most else []
            parts.append(f"left out, as {why}: {', '.join([*names[:most], *more])}")
        return "; ".join([*parts, *self.notes])

    def csv(self) -> list[list[str]]:
        """Return the head, and a row for each cell."""
        rows = [
            [
                *cost.row.settings.values(),
                *(f"{cost.kib:.2f}", f"{cost.ms:.3f}"),
                *cost.row.columns(),
                joined([cost.watched, *cost.row.runs]),
            ]
            for cost in self.costs
        ]
        return [[*self.found.varied, "KiB", "ms", *MEASURED, "marks"], *rows]


def measured(found: Found, results: Results) -> Costs:
    """Return the cells that have a watched run without cuts.

    Raises BadInputError without any, and if the runs of one place have several kernels.
    """
    unmeasured = [(settings, why) for why, cells in found.unmeasured.items() for settings in cells]
    unmeasured += [
        ({axis: cell.settings.get(axis, "") for axis in found.varied}, cell.reason) for cell in found.excluded
    ]
    every = [*(row.settings for row in found.rows), *(settings for settings, _ in unmeasured)]
    costs, runs, kernels = list[Cost](), list[Run](), dict[str, set[str]]()
    for row in found.rows:
        watched, why = watched_run(row, results)
        if watched is None:
            unmeasured.append((row.settings, why))
            continue
        place, kib = place_of(row.settings), watched.summary["block"]["bytes_written"] / 1024
        ms = metrics.number(watched, "tx_latency", "all")
        name = name_of(row.settings, every)
        costs.append(Cost(place, name, kib / transactions(watched), ms, row, watched))
        runs += [watched, *row.runs]
        kernels.setdefault(place, set()).update(run.facts["uname"] for run in (watched, *row.runs))
    left_out: dict[str, list[str]] = {}
    for settings, why in unmeasured:
        name = " ".join(filter(None, (place_of(settings), name_of(settings, every))))
        left_out.setdefault(why, []).append(name)
    for place, releases in kernels.items():
        if len(releases) > 1:
            labs = {run.facts["lab"] for run in runs}
            own = f", or LAB={results.lab} for this lab's alone" if labs > {results.lab} else ""
            raise BadInputError(
                f"GRID={found.grid}: {place or 'its cells'}: runs of the kernels "
                f"{', '.join(sorted(releases))}, which are not compared; delete those of all but one, and "
                f"make sweep again{own}"
            )
    if not costs:
        why, names = next(iter(left_out.items()))
        raise BadInputError(
            f"GRID={found.grid}: none of its cells with cuts is there, watched without cuts, too; "
            f"the first, {names[0]}: {why}; make sweep GRID={found.grid}, if that has such cells"
        )
    return Costs(found, costs, left_out, [*made_otherwise(runs).values(), *footnotes(runs)])


def watched_run(row: Row, results: Results) -> tuple[Run | None, str]:
    """Return (the watched run of a row's cell without cuts, or None; the reason)."""
    cell = replace(row.runs[0].cell, **{name: axes()[name].spec["default"] for name in CUTS})
    run = results.watched(cell)
    if run is None:
        return None, "it has no watched run with CRASH=none that counts"
    if run.cell.n != cell.n:
        return None, f"its watched run has N={run.cell.n}, and the cuts are of N={cell.n}"
    if run.summary["block"]["bytes_written"] is None:
        return None, "its watched run does not say what it wrote"
    return run, ""


def lines(costs: Costs) -> list[str]:
    """Return the cells as a table of text."""
    rows = [
        (cost.place, (f"{cost.kib:.1f}", f"{cost.ms:.2f}", took(cost.row.trials)), f"{cost.name} {cost.mark}")
        for cost in costs.costs
    ]
    return [*rows_by_place(("KiB/tx", "ms/tx", "most lost"), "settings", rows), *filled(KEY)]
