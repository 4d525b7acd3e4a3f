"""Turn the spec of a sweep's figure, {grid, x, metric, series, facet}, into panels of that grid's cells."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.text import choices, did_you_mean
from commitpath.cells.axes import axes, in_order, own_name, shown
from commitpath.cells.grid import Expanded
from commitpath.charts import look
from commitpath.charts.model import Bar, Panel
from commitpath.results import metrics, query
from model import workloads
from model.cell import SAMPLED, Cell

# The operation: a dimension that is not an axis of a cell.
OP = "op"
# Colors of series without their own: Okabe and Ito's, dark enough on white.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FORMS = ("bars", "lines", "scatter", "table")


@dataclass(frozen=True)
class Spec:
    """What a figure shows. x: an axis of the grid, `op`, or with form scatter a metric.

    series, facet: an axis or `op`, or empty; op: the operation of the numbers, or empty; where: a selector of
    cells.
    """

    grid: str
    x: str
    metric: str = "tps"
    series: str = ""
    facet: str = ""
    op: str = ""
    where: str = ""
    form: str = ""
    width: float = 3.3

    @property
    def dimensions(self) -> list[str]:
        """Return the axes, or `op`, that distinguish its points."""
        return [name for name in (self.x, self.series, self.facet) if name and name not in metrics.METRICS]


def ops_of(cell: Cell) -> tuple[str, ...]:
    """Return the operations of a cell's workload; none of SQL texts."""
    return workloads.ops(cell.profiles["workload"])


def completed(spec: Spec, cells: Sequence[Cell]) -> Spec:
    """Return the spec with full names of axes, and what its metric needs. Raises BadInputError."""
    metrics.check(spec.metric)
    given: dict[str, Any] = {name: own_name(getattr(spec, name).lower()) for name in ("x", "series", "facet")}
    made = replace(spec, **given)
    over_metric = made.x in metrics.METRICS
    if over_metric and spec.form not in ("", "scatter"):
        raise BadInputError(f"X={spec.x}: a metric is an X of FORM=scatter, not of FORM={spec.form}")
    if spec.form == "scatter" and not over_metric:
        known = choices(metrics.METRICS, "make help figure")
        raise BadInputError(f"X={spec.x}: with FORM=scatter X is a metric too: {known}")
    kinds = list(dict.fromkeys(op for cell in cells for op in ops_of(cell)))
    of_one_op = not all(
        metrics.METRICS[name].whole for name in (spec.metric, made.x) if name in metrics.METRICS
    )
    if of_one_op and not spec.op and OP not in made.dimensions:
        if made.facet:
            raise BadInputError(f"METRIC={spec.metric}: it is of one operation; give OP={', '.join(kinds)}")
        made = replace(made, facet=OP)
    if not kinds and OP in made.dimensions:
        raise BadInputError("the operations of SQL texts are known from their runs only; give OP")
    if kinds and spec.op and spec.op not in (*kinds, metrics.WHOLE, *metrics.METRICS[spec.metric].statistics):
        operations = ", ".join(sorted(kinds))
        raise BadInputError(f"OP={spec.op}: the grid's operations are {operations} and all")
    return replace(made, form="scatter" if over_metric else spec.form)


def panels(spec: Spec, grid: Expanded) -> tuple[Spec, list[Panel]]:
    """Return (the completed spec, its panels). Raises BadInputError for a spec that does not fit the grid."""
    cells = query.fitting([run.cell for run in grid.runs], spec.where)
    if not cells:
        raise BadInputError(f"WHERE={spec.where}: no cell of grid {spec.grid} is like that")
    spec = completed(spec, cells)
    varied = [
        name for name in axes() if name not in SAMPLED and len({str(cell.value(name)) for cell in cells}) > 1
    ]
    for variable in ("x", "series", "facet"):
        name = getattr(spec, variable)
        others = list(metrics.METRICS) if variable == "x" else [""]
        if name not in (*varied, OP, *others):
            allowed = [*varied, OP]
            near = f"={name}: {did_you_mean(name, [*allowed, *others])}" if name else ": missing; "
            also = "; X is one of these, or a METRIC" if variable == "x" else ""
            raise BadInputError(
                f"{variable.upper()}{near}grid {Path(spec.grid).stem} varies {', '.join(allowed)}{also}"
            )
    points = points_of(spec, cells, varied)
    x = "point" if spec.form == "scatter" else spec.x  # each point of a scatter is a group of its own
    order = {name: in_order(name, [at[name] for at, _ in points]) for name in [*spec.dimensions, x]}
    every = order.get(spec.series, [""])
    colors = colors_of(every, spec.series)
    # in each panel, so that a legend has their order and a table a column for each
    lines = tuple(shown(spec.series, line) for line in every)
    made = []
    for facet in order.get(spec.facet, [""]):
        places = {
            (at[x], at.get(spec.series, "")): (at[OP], samples)
            for at, samples in points
            if at.get(spec.facet, "") == facet
        }
        groups = [value for value in order[x] if any(value == group for group, _ in places)]
        bars = [
            Bar(
                group,
                shown(spec.series, line),
                "",
                "",
                op,
                first,
                colors[line],
                False,
                False,
                samples=tuple(others),
            )
            for group, line in itertools.product(groups, every)
            if (group, line) in places
            for op, (first, *others) in [places[group, line]]
        ]
        base = (groups[0], lines[0])
        title = shown(spec.facet, facet)
        made.append(Panel(title, x_label(spec), tuple(groups), lines, tuple(bars), base, metric=spec.metric))
    return spec, made


def points_of(
    spec: Spec, cells: Sequence[Cell], varied: Sequence[str]
) -> list[tuple[dict[str, str], list[Cell]]]:
    """Return (place, its cell's samples) of each point. Raises BadInputError for two cells at a place."""
    points: dict[tuple[str, ...], tuple[dict[str, str], dict[str, Cell], str]] = {}
    rest = [name for name in varied if name not in spec.dimensions]
    for cell in cells:
        others = " ".join(f"{name}={cell.value(name)}" for name in rest)
        for op in ops_of(cell) if OP in spec.dimensions else [spec.op or metrics.WHOLE]:
            place = {name: str(cell.value(name)) for name in spec.dimensions if name != OP}
            place |= {OP: op, "point": f"{others} {op}" if spec.form == "scatter" else ""}
            _, samples, first = points.setdefault(tuple(place.values()), (place, {}, others))
            if others != first:
                raise several_at_a_place(spec, next(iter(samples.values())), cells, rest)
            samples.setdefault(f"{cell.seed} {cell.board_number}", cell)
    return [(place, list(samples.values())) for place, samples, _ in points.values()]


def several_at_a_place(spec: Spec, cell: Cell, cells: Sequence[Cell], rest: Sequence[str]) -> BadInputError:
    """Return the error for cells that differ in axes (rest) which the figure does not show.

    It names the values of a cell, without those that follow from others: an engine has no axis of another.
    """
    terms: dict[str, str] = {}
    for name in sorted(rest, key=lambda name: name != "engine"):
        alike = [other for other in cells if other.value(name) == cell.value(name)]
        if len(alike) < len(cells):
            terms[name], cells = f"{name}={cell.value(name)}", alike
    free = [name.upper() for name in ("series", "facet") if not getattr(spec, name)]
    named = f"name {' and '.join(terms)} in {' or '.join(free)}, or " if len(terms) <= len(free) else ""
    where = " ".join([spec.where, *(terms[name] for name in rest if name in terms)]).strip()
    return BadInputError(
        f"GRID={spec.grid}: several of its cells are at one place; {named}add WHERE='{where}' "
        "(one value of each)"
    )


def colors_of(series: Sequence[str], axis: str = "") -> dict[str, str]:
    """Return a color for each series: its own if each has a different one, else one of CYCLE.

    axis: of the series; `delete` is an operation and a journal mode.
    """
    named = {
        value: next(
            (name for name in ((value,) if axis == OP else (value.upper(), value)) if look.is_color(name)), ""
        )
        for value in series
    }
    if all(named.values()) and len({*named.values()}) == len(named):
        return named
    if series == [""]:
        return {"": look.color("insert")}
    if all(value.isdigit() for value in series):
        return dict(zip(series, look.sequence(len(series)), strict=True))
    if len(series) > len(CYCLE):
        raise BadInputError(
            f"SERIES has {len(series)} values, and {len(CYCLE)} can be told apart; choose some with WHERE"
        )
    return dict(zip(series, CYCLE, strict=False))


def x_label(spec: Spec) -> str:
    """Return the label of the x axis, with the unit."""
    if spec.x in metrics.METRICS:
        return metrics.METRICS[spec.x].label
    if spec.x == OP:
        return "operation"
    unit = axes()[spec.x].spec.get("x-unit")
    return f"{spec.x} ({unit})" if unit else spec.x
