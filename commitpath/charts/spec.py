"""Turn the spec of a sweep's figure, {grid, x, metric, series, facet}, into panels of that grid's cells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from base.errors import BadInputError
from base.text import did_you_mean
from commitpath.cells.axes import axes, own_name
from commitpath.charts import look
from commitpath.charts.model import Bar, Panel
from commitpath.results import metrics, query
from commitpath.sweep.grid import Expanded
from model import workloads
from model.cell import Cell

# A dimension that is no axis of a cell: the operation.
OP = "op"
# Colours of series that have none elsewhere: Okabe and Ito's, dark enough on white.
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FORMS = ("bars", "lines", "scatter", "table")


@dataclass(frozen=True)
class Spec:
    """What a figure shows. x: an axis of the grid, `op`, or with form scatter a metric.

    series, facet: an axis or `op`, or empty; op: whose number it is, or empty; where: a selector of cells.
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
        """What tells a point from the others."""
        own = [name for name in (self.x, self.series, self.facet) if name]
        return [name for name in own if name not in metrics.METRICS]


def ops_of(cell: Cell) -> tuple[str, ...]:
    """Return the operations of a cell's workload; none of SQL texts, which have their own."""
    return workloads.phases(cell.profiles["workload"])


def completed(spec: Spec, cells: Sequence[Cell]) -> Spec:
    """The spec with own names of axes, and what its metric asks for. Raises BadInputError."""
    metrics.check(spec.metric)
    names = {name: own_name(getattr(spec, name).lower()) for name in ("x", "series", "facet")}
    facet, form = names["facet"], spec.form
    dimensions = {OP} & {*names.values()}
    if names["x"] in metrics.METRICS:
        form = form or "scatter"
        if form != "scatter":
            raise BadInputError(f"X={spec.x}: a metric is an X of FORM=scatter, not of FORM={form}")
    elif form == "scatter":
        known = ", ".join(metrics.METRICS)
        raise BadInputError(f"X={spec.x}: with FORM=scatter X is a metric too: {known}")
    of_one = [name for name in (spec.metric, names["x"]) if name in metrics.METRICS]
    if not spec.op and not dimensions and not all(metrics.METRICS[name].whole for name in of_one):
        if facet:
            allowed = ", ".join(dict.fromkeys(op for cell in cells for op in ops_of(cell)))
            raise BadInputError(f"METRIC={spec.metric}: it is of one operation; give OP={allowed}")
        facet = OP
    kinds = {op for cell in cells for op in ops_of(cell)}
    if not kinds and OP in (names["x"], names["series"], facet):
        raise BadInputError("the operations of SQL texts are known from their runs only; give OP")
    if kinds and spec.op and spec.op not in kinds | {metrics.WHOLE}:
        raise BadInputError(f"OP={spec.op}: the grid's operations are {', '.join(sorted(kinds))} and all")
    return Spec(
        spec.grid, names["x"], spec.metric, names["series"], facet, spec.op, spec.where, form, spec.width
    )


def panels(spec: Spec, grid: Expanded) -> tuple[Spec, list[Panel]]:
    """(the spec, completed; its panels). Raises BadInputError for a spec that the grid cannot answer."""
    cells = query.fitting([run.cell for run in grid.runs], spec.where)
    if not cells:
        raise BadInputError(f"WHERE={spec.where}: no cell of grid {spec.grid} is like that")
    spec = completed(spec, cells)
    varied = [
        name for name in axes() if name != "seed" and len({str(cell.value(name)) for cell in cells}) > 1
    ]
    for variable in ("x", "series", "facet"):
        name = getattr(spec, variable)
        if name and name not in (*varied, OP) and name not in metrics.METRICS:
            allowed = [*varied, OP, *(metrics.METRICS if variable == "x" and not varied else ())]
            near = did_you_mean(name, allowed)
            raise BadInputError(
                f"{variable.upper()}={name}: {near}grid {Path(spec.grid).stem} does not vary it; it varies "
                f"{', '.join(allowed)}"
            )
    points = points_of(spec, cells, varied)
    order = {name: values_of(name, [at[name] for at, _ in points]) for name in [*spec.dimensions, "point"]}
    colors = colors_of(order.get(spec.series, [""]))
    made = []
    for facet in order.get(spec.facet, [""]):
        here = [(at, same) for at, same in points if at.get(spec.facet, "") == facet]
        by_place = {(at[x_name(spec)], at.get(spec.series, "")): (at, same) for at, same in here}
        groups = [value for value in order[x_name(spec)] if any(value == key[0] for key in by_place)]
        series = [value for value in order.get(spec.series, [""]) if any(value == key[1] for key in by_place)]
        bars = [
            Bar(group, shown(spec.series, line), "", "", at[OP], same[0], colors[line], False, False,
                seeds=tuple(same[1:]))
            for group, line in itertools.product(groups, series)
            if (found := by_place.get((group, line)))
            for at, same in [found]
        ]  # fmt: skip
        lines = tuple(shown(spec.series, line) for line in series)
        title = shown(spec.facet, facet)
        made.append(
            Panel(title, x_label(spec), tuple(groups), lines, tuple(bars), (groups[0], lines[0]),
                  metric=spec.metric)
        )  # fmt: skip
    return spec, made


def x_name(spec: Spec) -> str:
    """The dimension along which a panel's points stand; of a scatter each is a group of its own."""
    return "point" if spec.form == "scatter" else spec.x


def points_of(
    spec: Spec, cells: Sequence[Cell], varied: Sequence[str]
) -> list[tuple[dict[str, str], list[Cell]]]:
    """(place, the seeds of its cell) of each point. BadInputError where two cells are at one place."""
    found: dict[tuple[str, ...], tuple[dict[str, str], dict[str, Cell], str]] = {}
    rest = [name for name in varied if name not in spec.dimensions]
    for cell in cells:
        own = " ".join(f"{name}={cell.value(name)}" for name in rest)
        for op in ops_of(cell) if OP in spec.dimensions else [spec.op or metrics.WHOLE]:
            at = {name: str(cell.value(name)) for name in spec.dimensions if name != OP} | {
                OP: op,
                "point": "",
            }
            if spec.form == "scatter":
                at["point"] = f"{own} {op}"
            place = tuple(at.values())
            _, seeds, other = found.setdefault(place, (at, {}, own))
            if own != other:
                raise BadInputError(
                    f"GRID={spec.grid}: several of its cells are at one place, {other} and {own}; name "
                    f"{' and '.join(rest)} in SERIES or FACET, or choose one value with WHERE='{other}'"
                )
            seeds.setdefault(str(cell.seed), cell)
    return [(at, list(seeds.values())) for at, seeds, _ in found.values()]


def values_of(name: str, values: Sequence[str]) -> list[str]:
    """The values of a dimension in the order of its axis: of numbers by size."""
    unique = list(dict.fromkeys(values))
    if all(value.lstrip("-").isdigit() for value in unique):
        return sorted(unique, key=int)
    choices = axes()[name].choices() if name in axes() else []
    return sorted(unique, key=choices.index) if {*unique} <= {*choices} else unique


def colors_of(series: Sequence[str]) -> dict[str, str]:
    """A colour for each series: its own where each has one, else one of CYCLE in turn."""
    named = {
        value: next((one for one in (value, value.upper()) if look.is_color(one)), "") for value in series
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
    return {value: CYCLE[at % len(CYCLE)] for at, value in enumerate(series)}


def shown(name: str, value: str) -> str:
    """A value as a legend or title has it: a number with its axis."""
    return f"{name}={value}" if value.lstrip("-").isdigit() else value


def x_label(spec: Spec) -> str:
    """The label of the x axis, with the unit."""
    if spec.x in metrics.METRICS:
        return metrics.METRICS[spec.x].label
    if spec.x == OP:
        return "operation"
    unit = axes()[spec.x].spec.get("x-unit")
    return f"{spec.x} ({unit})" if unit else spec.x
