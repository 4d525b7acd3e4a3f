"""What a transaction takes and writes beside what cuts took of it: the cells that were tried, each with a
watched run of the same cell that nothing cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from base.errors import BadInputError
from commitpath.cells.axes import axes
from commitpath.database.select import Run
from commitpath.reporting.candidates import CUTS
from commitpath.reporting.durability_rows import MEASURED, Found, Row
from commitpath.results.marks import made_otherwise, transactions
from commitpath.results.query import Results
from model import engines

ENGINE = "engine"
# Settings that stand without their name, in capitals.
WORDS = ("journal_mode", "synchronous")
HEAD = ("KiB a transaction", "ms a transaction", "what a cut took")
# The caption of a figure has no more names than these of cells that are not in it.
NAMED = 6


@dataclass(frozen=True)
class Cost:
    """A cell of a figure: of its watched run, KiB that the device was given and ms, in the mean of all
    transactions. place: what of it is no setting of an engine; name: its engine, with its settings."""

    place: str
    name: str
    kib: float
    ms: float
    row: Row


@dataclass(frozen=True)
class Costs:
    """The cells of a grid. left_out: why → cells, by place and name; notes: what is to be known of all."""

    found: Found
    costs: Sequence[Cost]
    left_out: Mapping[str, Sequence[str]]
    notes: Sequence[str]

    def caption(self, most: int | None = None) -> str:
        """How much of the grid is there, and what is not. most: names at most of what is not."""
        total = len(self.costs) + sum(map(len, self.left_out.values()))
        cuts = sorted({cost.row.trials.cuts for cost in self.costs})
        each = f"{cuts[0]} to {cuts[-1]}" if len(cuts) > 1 else str(cuts[0])
        told = [
            f"{len(self.costs)} of {total} cells of grid {self.found.grid}, each by {each} cuts "
            f"({self.found.failure}) and a watched run without"
        ]
        for why, names in self.left_out.items():
            shown = [*names[:most], *([f"{len(names) - most} more"] if most and len(names) > most else [])]
            told.append(f"left out, as {why}: {', '.join(shown)}")
        return "; ".join([*told, *self.notes])

    def csv(self) -> list[list[str]]:
        """A row for each cell, and the head."""
        head = [*self.found.varied, "KiB", "ms", *MEASURED]
        rows = [
            [*cost.row.settings.values(), f"{cost.kib:.2f}", f"{cost.ms:.3f}", *cost.row.columns()]
            for cost in self.costs
        ]
        return [head, *rows]


def measured(found: Found, results: Results) -> Costs:
    """Those of the cells found of which a watched run says what they write.

    Raises BadInputError where none is one, and where the runs of one place have several kernels.
    """
    every = [row.settings for row in found.rows]
    every += [settings for of in found.unmeasured.values() for settings in of]
    apart = [({axis: no.settings.get(axis, "") for axis in found.varied}, no.reason) for no in found.excluded]
    every += [settings for settings, _ in apart]
    left_out = {why: [title(settings, every) for settings in of] for why, of in found.unmeasured.items()}
    for settings, reason in apart:
        left_out.setdefault(reason, []).append(title(settings, every))
    costs, runs, kernels = list[Cost](), list[Run](), dict[str, set[str]]()
    for row in found.rows:
        watched, why = of_row(row, results)
        if watched is None:
            left_out.setdefault(why, []).append(title(row.settings, every))
            continue
        place, kib = place_of(row.settings), watched.summary["block"]["bytes_written"] / 1024
        ms = 1000 / watched.summary["tps"]["all"]
        costs.append(Cost(place, name_of(row.settings, every), kib / transactions(watched), ms, row))
        runs += [watched, *row.runs]
        kernels.setdefault(place, set()).update(run.facts["uname"] for run in (watched, *row.runs))
    for place, there in kernels.items():
        if len(there) > 1:
            raise BadInputError(
                f"GRID={found.grid}: {place or 'its cells'}: runs of the kernels {', '.join(sorted(there))}, "
                "which are not compared; delete those of all but one, and make sweep again"
            )
    if not costs:
        why, names = next(iter(left_out.items()))
        raise BadInputError(
            f"GRID={found.grid}: none of its cells with cuts is there, watched without cuts, too; "
            f"the first, {names[0]}: {why}; make sweep GRID={found.grid}"
        )
    return Costs(found, costs, left_out, list(made_otherwise(runs).values()))


def of_row(row: Row, results: Results) -> tuple[Run | None, str]:
    """The watched run of a row's cell that nothing cut, or None and why there is none."""
    cell = replace(row.runs[0].cell, **{name: axes()[name].spec["default"] for name in CUTS})
    run = results.watched(cell)
    if run is None:
        return None, "there is no watched run of it with CRASH=none that counts"
    if run.cell.n != cell.n:
        return None, f"its watched run has N={run.cell.n}, and the cuts are of N={cell.n}"
    if run.summary["block"]["bytes_written"] is None:
        return None, "its watched run does not say what it wrote"
    return run, ""


def place_of(settings: Mapping[str, str]) -> str:
    """What of a cell's settings is of no engine: a panel."""
    apart = {*engines.axes(), ENGINE}
    return " ".join(value for axis, value in settings.items() if axis not in apart and value)


def name_of(settings: Mapping[str, str], every: Sequence[Mapping[str, str]]) -> str:
    """A cell by its engine, and its settings in which cells of that engine differ: SQLite WAL/FULL."""
    own = [other for other in every if other.get(ENGINE) == settings.get(ENGINE)]
    varied = [axis for axis in settings if axis in engines.axes() and len({other[axis] for other in own}) > 1]
    words = "/".join(settings[axis].upper() for axis in WORDS if axis in varied)
    others = [f"{axis}={settings[axis]}" for axis in varied if axis not in WORDS and settings[axis]]
    engine = [engines.by_name(settings[ENGINE]).TITLE] if ENGINE in settings else []
    return " ".join([*engine, *([words] if words else []), *others])


def title(settings: Mapping[str, str], every: Sequence[Mapping[str, str]]) -> str:
    """A cell by its place and name."""
    return " ".join(part for part in (place_of(settings), name_of(settings, every)) if part)


def took(cost: Cost) -> str:
    """What cuts took of a cell, in words."""
    of = cost.row.trials
    if of.unusable or of.worst is None:
        told = f"{of.unusable} of {of.cuts} left no usable database"
    elif of.worst:
        work = "" if of.worst_ms is None else f" ({of.worst_ms:.1f} ms)"
        told = f"up to {of.worst} transaction{'s' * (of.worst > 1)}{work}"
    else:
        told = "nothing"
    return f"**{told}**, against the promise" if of.broken else told


def lines(costs: Costs) -> list[str]:
    """The table as a page has it."""
    places = any(cost.place for cost in costs.costs)
    rows = [
        [*([cost.place] if places else []), cost.name, f"{cost.kib:.1f}", f"{cost.ms:.2f}", took(cost)]
        for cost in costs.costs
    ]
    head = [*(["where"] if places else []), "engine and settings", *HEAD]
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
