"""Draw a figure that is a table, groups by series: our numbers, or a paper's and ours with counts."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from analysis.figures import style
from commitpath.charts import cause_rows, frame, look
from commitpath.charts.model import VIRTUAL, Drawn, Value
from commitpath.charts.panel_values import SIGNS

LINE = 0.145  # inches


def render(figure: Mapping[str, Any], drawn: list[Drawn], notes: list[str]) -> Figure:
    """Draw a table: groups are blocks of rows, series its columns."""
    plain = bool(figure.get("plain"))
    series = drawn[0].panel.series
    blocks = []
    for shown in drawn:
        titled = plain and bool(shown.panel.title)
        if titled:  # a line of its own: it may be as wide as several columns
            blocks.append((shown.panel.title, "bold", [("", [""] * len(series), style.INK)]))
        weight = "normal" if titled else "bold"
        blocks += [(group, weight, lines(shown, group)) for group in shown.panel.groups]
    names = (0.2 if plain else 0.36) * figure["width"]
    step = (figure["width"] - names - look.MARGIN) / len(series)
    heads = [frame.broken(label, step) if plain else label for label in series]
    head = max(label.count("\n") + 1 for label in heads) + plain
    height = LINE * (head + sum(len(rows) + 0.5 for *_, rows in blocks)) + 0.2
    made, part = frame.frame(figure, notes, [], height)
    axes = part.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, figure["width"])
    axes.set_ylim(height, 0)
    columns = [names + step * (at + 1) for at in range(len(series))]
    small: dict[str, Any] = {"fontsize": look.SMALL, "va": "baseline"}
    for x, label in zip(columns, heads, strict=True):
        axes.text(x, 0.1 + LINE * (head - 0.3), label, ha="right", fontweight="bold", **small)
    if plain:
        axes.text(look.MARGIN, 0.1, f"{drawn[0].panel.label} by {drawn[0].panel.x}", **small)
    y = 0.1 + LINE * head
    for group, weight, rows in blocks:
        axes.axhline(y, color=style.INK, linewidth=0.5, xmin=0.02, xmax=0.98)
        axes.text(look.MARGIN, y + LINE, group.strip(), fontweight=weight, **small)
        for name, texts, color in rows:
            y += LINE
            axes.text(0.16 * figure["width"], y, name, color=color, **small)
            for x, text in zip(columns, texts, strict=True):
                axes.text(x, y, text, ha="right", color=color, **small)
        y += LINE * 0.5
    return made


def lines(drawn: Drawn, group: str) -> list[tuple[str, list[str], str]]:
    """Return (name, text for each series, color) of a block's rows."""
    values = [value for value in drawn.values if value.bar.group == group]
    if not values[0].bar.build:
        of = {value.bar.series: value for value in values}
        return [("", [number(of.get(name)) for name in drawn.panel.series], style.INK)]
    paper = {
        number.bar.series: number.tps
        for number in drawn.stated
        if number.bar.group == group and number.tps is not None
    }
    series = drawn.panel.series
    rows = [("the paper", [look.few(paper[name]) if name in paper else "" for name in series], look.PAPER)]
    several = any(value.bar.board != VIRTUAL for value in values)
    for build, board in dict.fromkeys((value.bar.build, value.bar.board) for value in values):
        of = {
            value.bar.series: value
            for value in values
            if (value.bar.build, value.bar.board) == (build, board)
        }
        name = f"SQLite {build}, {board}" if several else f"SQLite {build}"
        rows.append((name, [number(of.get(name)) for name in series], style.INK))
    causes = {value.bar.series: value.causes for value in reversed(values) if value.causes}
    for name, count in cause_rows.ROWS.items():
        texts = [look.few(count(causes[name])) if name in causes else cause_rows.UNKNOWN for name in series]
        rows.append((f"{name} per transaction", texts, look.PLAIN))
    return rows


def number(value: Value | None) -> str:
    """Return our number with its marks, or the word for its absence."""
    if value is None:
        return ""
    tps, interval = value.number.value, value.number.interval
    if tps is None:
        return SIGNS[value.found.state]
    half = f" ±{look.few((interval[1] - interval[0]) / 2)}" if interval else ""
    return look.digits(tps) + half + "".join(value.marks)
