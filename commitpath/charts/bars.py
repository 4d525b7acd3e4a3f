"""Draw a figure of grouped bars, with a paper's numbers as marks, and syncs, flushes and KiB below."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from analysis.figures import style
from commitpath.charts import cause_rows, frame, look
from commitpath.charts.cause_rows import Places, places
from commitpath.charts.model import Drawn, Value, boards, values_of
from commitpath.charts.panel_values import SIGNS

PANEL = 1.45  # inches of the bars
Y_AXIS = 0.55  # inches left of a panel


def render(figure: Mapping[str, Any], drawn: list[Drawn], notes: list[str]) -> Figure:
    """Draw a figure of grouped bars.

    figure: title, width, across (panels in a row) or rows (numbers of panels), plain (without causes), and
    hatches (of series).
    """
    laid = [places(shown) for shown in drawn]
    across = figure.get("across", len(drawn))
    rows = [list(range(at, min(at + across, len(drawn)))) for at in range(0, len(drawn), across)]
    rows = [row for row in figure.get("rows", rows) if row]
    labels = max(label.count("\n") + 1 for shown in drawn for label in shown.panel.groups)
    causes = [] if figure.get("plain") else list(cause_rows.ROWS)
    under = 0.2 + labels * 0.12 + len(causes) * cause_rows.LINE / 72 + (0.35 if figure.get("plain") else 0)
    slots = [placed.width + 0.6 for placed in laid]
    # a sweep's panels stand in columns, also in a last row that is shorter
    columns = [max(slots[at::across]) for at in range(across)] if "rows" not in figure else []
    wide = [columns or [slots[at] for at in row] for row in rows]
    pitch = [
        (figure["width"] - Y_AXIS * len(each)) * 72 * share / sum(each) / slots[at]
        for row, each in zip(rows, wide, strict=True)
        for at, share in zip(row, each, strict=False)
    ]
    rooms = [slot * step / 72 for slot, step in zip(slots, pitch, strict=True)]
    high = [len(frame.ratios(shown, room)) for shown, room in zip(drawn, rooms, strict=True)]
    over = 0.25 + 0.13 * max(high)
    hatches = figure.get("hatches", {})
    made, parts = frame.frame(figure, notes, legend(drawn, hatches), len(rows) * (PANEL + under + over))
    for row, row_axes in zip(rows, grid(parts, wide), strict=True):
        for empty in row_axes[len(row) :]:
            empty.set_visible(False)
        for column, (at, panel_axes) in enumerate(zip(row, row_axes, strict=False)):
            panel(panel_axes, drawn[at], laid[at], pitch[at], column == 0, hatches)
            frame.title(panel_axes, drawn[at], rooms[at], max(high[other] for other in row))
            if figure.get("plain"):
                frame.x_names(panel_axes, list(laid[at].groups.values()), list(laid[at].groups), rooms[at])
                panel_axes.set_xlabel(drawn[at].panel.x, fontsize=look.SMALL, labelpad=2)
                continue
            cause_rows.draw(panel_axes, drawn[at].values, laid[at], 6 + 9.0 * labels, pitch[at], column == 0)
    return made


def grid(part: SubFigure, wide: Sequence[Sequence[float]]) -> list[Sequence[Axes]]:
    """Return the axes of each row of panels; their edges are aligned if all rows have the same widths."""
    if all(each is wide[0] for each in wide):
        return list(part.subplots(len(wide), len(wide[0]), width_ratios=wide[0], squeeze=False))
    rows = part.subfigures(len(wide), 1, squeeze=False)[:, 0]
    return [
        row.subplots(1, len(each), width_ratios=each, squeeze=False)[0]
        for row, each in zip(rows, wide, strict=True)
    ]


def panel(
    axes: Axes, drawn: Drawn, laid: Places, pitch: float, first: bool, hatches: Mapping[str, str]
) -> None:
    """Draw one panel. pitch: points from bar to bar."""
    style.grid(axes, "y")
    upright = any(look.extent(label(value)) * 72 > pitch for value in drawn.values)
    shown = [stated.tps or 0 for stated in drawn.stated]
    shown += [tps for runs in drawn.panel.authors.values() for tps, _ in runs]
    tall = [share(value, upright) for value in drawn.values]
    needed = [value.number.top / (0.98 - part) for value, part in zip(drawn.values, tall, strict=True)]
    top = max([*needed, *(1.05 * tps for tps in shown)]) or 1
    for x, value, part in zip(laid.values, drawn.values, tall, strict=True):
        foot = value.number.top
        for tps in sorted(
            number.tps for number in drawn.stated if number.bar is value.bar and number.ratio and number.tps
        ):
            if foot - 0.03 * top < tps < foot + part * top:
                foot = tps + 0.03 * top
        top = max(top, foot / (0.98 - part))
        bar(axes, x, value, upright, foot, hatches.get(value.bar.series))
    axes.set_ylim(0, top)
    axes.set_xlim(-0.8, laid.width - 0.2)
    authors(axes, drawn, laid)
    frame.stated(axes, drawn, dict(zip([value.bar for value in drawn.values], laid.values, strict=True)))
    axes.set_xticks(list(laid.groups.values()), [frame.clean(group) for group in laid.groups])
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda value, _: look.tick(value))
    if not any([*shown, *needed]):
        axes.set_yticks([])
    if first:
        axes.set_ylabel(drawn.panel.label)


def share(value: Value, upright: bool) -> float:
    """Return the share of a panel's height that a bar's number and the gap under it take."""
    turned = upright or value.number.value is None
    return (look.extent(label(value)) if turned else 0.1) / PANEL + 0.03


def label(value: Value) -> str:
    """Return the text over a bar."""
    number = value.number.value
    return look.digits(number) + "".join(value.marks) if number is not None else SIGNS[value.found.state]


def bar(axes: Axes, x: float, value: Value, upright: bool, foot: float, hatch: str | None) -> None:
    """Draw a bar with its number at `foot`, or the word for a missing value."""
    number, how = value.number, value.bar
    rotation = 90 if upright or number.value is None else 0
    ink = style.INK
    if number.value is None:
        ink = look.FAILED if value.found.state == "failed" else look.ABSENT
    else:
        full = look.color(how.color, how.light)
        ink_of_hatch = look.ink_on(full) if hatch else look.color(how.color) if how.light else "white"
        hatch = hatch or (look.HATCH if how.hatched else None)
        if how.outlined:
            axes.bar(x, number.value, 0.86, facecolor="white", hatch=hatch, edgecolor=full, linewidth=1)
        else:
            axes.bar(x, number.value, 0.92, color=full, hatch=hatch, edgecolor=ink_of_hatch, linewidth=0)
        if number.interval:
            axes.vlines(x, max(number.interval[0], 0), number.interval[1], color=style.INK, linewidth=0.8)
    axes.annotate(
        label(value),
        (x, foot),
        (0.5 if rotation else 0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        rotation=rotation,
        fontsize=look.SMALL,
        color=ink,
        annotation_clip=False,
    )


def authors(axes: Axes, drawn: Drawn, laid: Places) -> None:
    """Draw the runs of the paper's authors left of each group's bars."""
    for group, x in laid.authors.items():
        runs = [tps for tps, _ in drawn.panel.authors[group]]
        axes.plot([x] * len(runs), runs, "o", markersize=3.2, markerfacecolor="none",
                  markeredgecolor=look.PAPER, markeredgewidth=0.7, clip_on=False)  # fmt: skip


def legend(drawn: list[Drawn], hatches: Mapping[str, str]) -> list[Any]:
    """Return the handles of series, boards, builds and readings."""
    bars = [value.bar for value in values_of(drawn)]
    colors = {bar.series: look.color(bar.color) for bar in bars if bar.series}
    order = dict.fromkeys(series for shown in drawn for series in shown.panel.series)
    handles: list[Any] = [
        Patch(facecolor=colors[name], edgecolor=look.ink_on(colors[name]), linewidth=0, label=name,
              hatch=hatches.get(name))
        for name in order
        if name in colors
    ]  # fmt: skip
    for label, hollow in boards(drawn):
        fill = "white" if hollow else look.PLAIN
        handles.append(Patch(facecolor=fill, edgecolor=look.PLAIN, linewidth=1, label=label))
    builds = sorted({bar.build: bar.light for bar in bars}.items(), key=lambda item: item[1])
    if len(builds) > 1:
        handles += [
            Patch(color="#B9BEC3" if light else look.PLAIN, label=f"SQLite {build}")
            for build, light in builds
        ]
    readings = sorted(
        {bar.reading: bar.hatched for bar in bars if bar.reading}.items(), key=lambda item: item[1]
    )
    if len(readings) > 1:
        handles += [
            Patch(facecolor=look.PLAIN, edgecolor="white", linewidth=0, label=reading,
                  hatch=look.HATCH if hatched else None)
            for reading, hatched in readings
        ]  # fmt: skip
    return [*handles, *frame.legend(drawn)]
