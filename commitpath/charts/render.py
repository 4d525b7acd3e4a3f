"""Look up the numbers of a sweep's figure (make figure), and draw bars, lines, a scatter plot or a table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from commitpath.cells.axes import in_order
from commitpath.charts import bars, lines, look, panel_values, scatter, table
from commitpath.charts.model import Drawn, Panel, values_of
from commitpath.charts.spec import OP, Spec
from commitpath.results.metrics import METRICS, WHOLE
from commitpath.results.query import Results

# An axis is logarithmic if its largest number is more than this times the smallest.
LOG = 20
# Panels in a row, by the figure's width.
ACROSS = {3.3: 1, 7.0: 3}


def fill(spec: Spec, made: Sequence[Panel], results: Results) -> tuple[list[Drawn], list[Drawn]]:
    """Return the panels with their numbers, and with those of the x axis if it is a metric."""
    drawn = [panel_values.fill(panel, results, marked=False) for panel in made]
    if spec.x not in METRICS:
        return drawn, []
    return drawn, [panel_values.fill(replace(panel, metric=spec.x), results) for panel in made]


def scale(drawn: Sequence[Drawn]) -> str:
    """Return the scale of the axis of some numbers."""
    values = [value.number.value for value in values_of(drawn) if value.number.value is not None]
    return "log" if values and min(values) > 0 and max(values) > LOG * min(values) else "linear"


def named(axis: str, values: Sequence[str]) -> str:
    """Return the name of an axis that its values need in a figure: a number has it already."""
    return "" if axis in ("", OP) or all("=" in value for value in values) else axis


def titled(spec: Spec, panel: Panel) -> Panel:
    """Return a panel with the axis in its title, and the operation if there is one for all panels."""
    name = named(spec.facet, [panel.title])
    op = spec.op if OP not in spec.dimensions and spec.op != WHOLE else ""
    parts = [f"{name}={panel.title}" if name else panel.title, op]
    return replace(panel, title=", ".join(part for part in parts if part))


def draw(spec: Spec, drawn: list[Drawn], across: list[Drawn], notes: list[str]) -> Figure:
    """Draw in the given form; the default is lines over more than two numbers, else bars."""
    figure: dict[str, Any] = {"title": "", "width": spec.width, "plain": True, "y_scale": scale(drawn)}
    figure["across"] = min(len(drawn), ACROSS[spec.width])
    figure["series_name"] = named(spec.series, drawn[0].panel.series)
    drawn = [replace(shown, panel=titled(spec, shown.panel)) for shown in drawn]
    if across:
        figure |= {
            "x_scale": scale(across),
            "x_label": across[0].panel.label,
            "y_label": drawn[0].panel.label,
        }
        colors = {v.bar.series: look.color(v.bar.color) for v in values_of(drawn)}
        figure["colors"] = {name: colors[name] for name in drawn[0].panel.series}
        return scatter.render(figure, scatter.marks(drawn, across), notes)
    groups = tuple(in_order(spec.x, [group for shown in drawn for group in shown.panel.groups]))
    numeric = len(groups) > 2 and all(group.isdigit() for group in groups)
    form = spec.form or ("lines" if numeric else "bars")
    if form == "table":
        return table.render(figure, drawn, notes)
    if form == "lines":
        # the panels have one x axis, and so the same groups
        same = [replace(shown, panel=replace(shown.panel, groups=groups)) for shown in drawn]
        return lines.render(figure, same, notes)
    colors = {value.bar.series: look.color(value.bar.color) for value in values_of(drawn)}
    order = dict.fromkeys(name for shown in drawn for name in shown.panel.series if name in colors)
    figure["hatches"] = look.hatches({name: colors[name] for name in order})
    return bars.render(figure, drawn, notes)
