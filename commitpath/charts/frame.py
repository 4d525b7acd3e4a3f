"""Shared layout of charts: page, legend, titles with a paper's ratios and ours, panels, axes, footnotes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from analysis.figures import style
from commitpath.charts import look
from commitpath.charts.model import Bar, Drawn, Stated

LINE = 0.125  # inches of a line of small text
NAMES = 0.25  # inches of the names of an x axis


def frame(
    figure: Mapping[str, Any], notes: Sequence[str], handles: list[Any], body: float
) -> tuple[Figure, SubFigure]:
    """Return a page with title, legend and footnotes, and the part between, `body` inches high.

    figure: also series_name, the axis of the legend, if its values do not have it.
    """
    width = figure["width"]
    room = width - 2 * look.MARGIN
    name = figure.get("series_name", "") if handles else ""
    indent = look.extent(name) + 0.1 if name else 0.0
    titles = look.wrapped(figure["title"], room, look.POINTS + 0.5)
    lines = [line for note in notes for line in look.wrapped(note, room)]
    keys = packed(handles, room - indent)
    head = 0.1 + 0.15 * len(titles) + 0.16 * len(keys)
    foot = 0.06 + LINE * len(lines)
    made = look.page(width, head + body + foot)
    parts: Any = made.subfigures(3, 1, height_ratios=[head, body, foot])
    upper, middle, lower = parts
    for part in parts:
        part.patch.set_visible(False)
    left = look.MARGIN / width
    upper.text(left, 1 - 0.06 / head, "\n".join(titles), ha="left", va="top",
               fontsize=look.POINTS + 0.5, fontweight="bold")  # fmt: skip
    under = 1 - (0.09 + 0.15 * len(titles)) / head
    upper.text(left, under, name, ha="left", va="top", fontsize=look.SMALL)
    for row, some in enumerate(keys):
        top = under - 0.16 * row / head
        upper.add_artist(
            upper.legend(
                handles=some,
                loc="upper left",
                bbox_to_anchor=(left + indent / width, top),
                ncols=len(some),
                borderpad=0,
                borderaxespad=0,
                columnspacing=1.2,
                handletextpad=0.4,
                handlelength=1.3,
            )
        )
    for row, line in enumerate(lines):
        lower.text(left, 1 - (0.02 + LINE * row) / foot, line, ha="left", va="top", fontsize=look.SMALL)
    return made, middle


def packed(handles: list[Any], room: float) -> list[list[Any]]:
    """Return handles of a legend in rows of at most `room` inches."""
    rows: list[list[Any]] = []
    used = room
    for handle in handles:
        wide = look.extent(handle.get_label()) + 0.34
        if used + wide > room:
            rows.append([])
            used = 0.0
        rows[-1].append(handle)
        used += wide
    return rows


def title(axes: Axes, drawn: Drawn, room: float, high: int) -> None:
    """Write a panel's title, and under it the paper's ratios with ours.

    room: inches of the panel; high: most lines in a panel of the same row.
    """
    lines = ratios(drawn, room)
    axes.set_title(drawn.panel.title, fontweight="bold", fontsize=look.POINTS, pad=4 + 9 * high)
    for row, line in enumerate(lines):
        axes.annotate(
            line, (0, 1), (0, 3 + 9 * (high - 1 - row)), xycoords="axes fraction",
            textcoords="offset points", ha="left", va="bottom", fontsize=look.SMALL, color=look.PAPER,
            annotation_clip=False, in_layout=False,
        )  # fmt: skip


def ratios(drawn: Drawn, room: float) -> list[str]:
    """Return the paper's ratios with ours, in lines of `room` inches."""
    groups: dict[tuple[str, float], list[Stated]] = {}
    for stated in drawn.stated:
        if stated.ratio is not None and stated.over is not None:
            key = f"{plain(stated.bar, stated.over)} over {plain(stated.over, stated.bar)}"
            groups.setdefault((key, stated.ratio), []).append(stated)
    lines = []
    for (key, ratio), some in groups.items():
        lines += look.wrapped(f"{key}: paper {ratio:g}×, here {ours(some)}", room)
    return lines


def ours(some: list[Stated]) -> str:
    """Return the range of our ratios with marks, by series and reading."""
    several, boards = (
        len({number.bar.series for number in some}) > 1,
        len({number.bar.board for number in some}) > 1,
    )
    groups: dict[str, list[Stated]] = {}
    for number in some:
        if number.ours is not None and number.over is not None:
            words = [
                number.bar.board * boards,
                number.bar.series * several,
                number.over.reading.rpartition(" ")[2],
            ]
            groups.setdefault(" ".join(filter(None, words)), []).append(number)
    parts = []
    for name, alike in groups.items():
        ratios = sorted(number.ours or 0 for number in alike)
        ends = dict.fromkeys(look.digits(end) for end in (ratios[0], ratios[-1]))
        marks = "".join(sorted({mark for number in alike for mark in number.marks}))
        parts.append(f"{' to '.join(ends)}×{marks}" + (f" ({name})" if len(groups) > 1 else ""))
    return ", ".join(parts) or "not known"


def plain(bar: Bar, other: Bar) -> str:
    """Return the labels in which a bar differs from another: its group, its series, or both."""
    parts = [bar.group.replace("\n", " ")] if bar.group != other.group else []
    if bar.series != other.series or not parts:
        parts.append(bar.series.replace("\n", " "))
    return " ".join(part for part in parts if part)


def stated(axes: Axes, drawn: Drawn, x: Mapping[Bar, float]) -> None:
    """Draw the paper's numbers: a diamond where its ratio would put a bar, a line at a value."""
    lines: dict[float, list[float]] = {}
    for number in drawn.stated:
        if number.tps is None:
            continue
        if number.ratio is None:
            lines.setdefault(number.tps, []).append(x[number.bar])
            continue
        filled = "none" if number.over is not None and number.over.hatched else look.PAPER
        axes.plot(x[number.bar], number.tps, "D", markersize=3.6, markerfacecolor=filled,
                  markeredgecolor=look.PAPER, markeredgewidth=0.8, zorder=5, clip_on=False)  # fmt: skip
    for tps, at in lines.items():
        axes.hlines(tps, min(at) - 0.55, max(at) + 0.55, color=look.PAPER, linewidth=1.1, zorder=5)


def legend(drawn: list[Drawn]) -> list[Any]:
    """Return the handles of the paper's numbers in the figure."""
    some = [number for panel in drawn for number in panel.stated]
    red: dict[str, Any] = {
        "linestyle": "none",
        "markersize": 3.6,
        "markeredgewidth": 0.8,
        "color": look.PAPER,
    }
    handles = []
    for hatched in (False, True):
        over = [number.over for number in some if number.over is not None and number.over.hatched == hatched]
        if over:
            label, fill = f"paper's ratio × {over[0].reading or 'ours'}", "none" if hatched else look.PAPER
            handles.append(Line2D([], [], marker="D", markerfacecolor=fill, label=label, **red))
    if any(number.ratio is None for number in some):
        handles.append(Line2D([], [], color=look.PAPER, linewidth=1.1, label="the paper's value"))
    if any(panel.panel.authors for panel in drawn):
        handles.append(
            Line2D([], [], marker="o", markerfacecolor="none", label="a run of the authors", **red)
        )
    return handles


def clean(text: str) -> str:
    """Return a label of several lines without control characters."""
    return "\n".join(style.clean(line) for line in text.split("\n"))


def panels(
    figure: Mapping[str, Any],
    number: int,
    handles: list[Any],
    high: float,
    around: float,
    notes: Sequence[str] = (),
) -> tuple[Figure, list[Axes]]:
    """Return a page and the axes of its panels, `across` in a row. around: inches above and below each."""
    across = figure["across"]
    rows = math.ceil(number / across)
    uneven = rows > 1 and number % across > 0
    made, part = frame(figure, notes, handles, rows * (high + around) + uneven * NAMES)
    axes = list(part.subplots(rows, across, squeeze=False, sharey=True, sharex=True).flat)
    for empty in axes[number:]:
        empty.set_visible(False)
    # also above an empty place
    for lowest in axes[max(number - across, 0) : number]:
        lowest.tick_params(axis="x", labelbottom=True)
    return made, axes


def metric_axis(axis: Any, scale: str, room: float = math.inf) -> None:
    """Give an axis of a metric plain numbers and a scale of matplotlib's: linear (from 0), log or symlog.

    room: inches for the numbers of an x axis.
    """
    getattr(axis.axes, f"set_{axis.axis_name}scale")(scale)
    if scale == "linear":
        # the margin at the other end is then of the range from 0, and a mark there is whole
        x = axis.axis_name == "x"
        axis.axes.update_datalim([(0, 0)], updatex=x, updatey=not x)
        axis.axes.autoscale_view(scalex=x, scaley=not x)
        getattr(axis.axes, f"set_{axis.axis_name}lim")(0)
    else:
        axis.set_minor_locator(NullLocator())
    if scale == "log":
        low, high = axis.get_view_interval()
        needed = 3 * math.log10(high / low) * (look.extent(look.tick(high), look.POINTS) + 0.06)
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if needed < room else (1,)))
    elif scale == "symlog":
        low, high = axis.get_view_interval()
        # between two powers of ten the scale's own ticks are too few to read a value
        if sum(low <= tick <= high for tick in axis.get_majorticklocs()) < 2:
            axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(lambda value, _: look.tick(value))


def x_names(axes: Axes, places: Sequence[float], names: Sequence[str], room: float) -> None:
    """Write the names of places on the x axis, rotated if they would overlap in `room` inches."""
    wide = max((look.extent(line, look.POINTS) for name in names for line in name.split("\n")), default=0)
    turned = wide + 0.06 > room / max(len(names), 1)
    axes.set_xticks(list(places), [clean(name) for name in names], rotation=35 if turned else 0,
                    ha="right" if turned else "center", rotation_mode="anchor")  # fmt: skip


def broken(label: str, room: float) -> str:
    """Return a label, broken after its hyphens if it is wider than `room` inches."""
    return label.replace("-", "-\n") if look.extent(label) * 1.15 > room else label
