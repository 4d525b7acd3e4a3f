"""Place the bars of a panel, and write their syncs, flushes, FUA and KiB per transaction below.

A bar is 1 wide, with gaps between series and groups.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.axes import Axes

from commitpath.charts import look
from commitpath.charts.model import Drawn, Value
from commitpath.results.query import Causes

SERIES_GAP, GROUP_GAP = 0.35, 1.1


@dataclass(frozen=True)
class Places:
    """x of each value, centre of each group, x of the authors' runs by group, and the panel's width."""

    values: tuple[float, ...]
    groups: dict[str, float]
    authors: dict[str, float]
    width: float


def places(drawn: Drawn) -> Places:
    """Return the places of a panel, from left to right."""
    at: list[float] = []
    groups: dict[str, float] = {}
    authors: dict[str, float] = {}
    x = 0.0
    for group in drawn.panel.groups:
        begin = x
        if group in drawn.panel.authors:
            authors[group] = x
            x += 1
        bars = [value.bar for value in drawn.values if value.bar.group == group]
        for before, bar in zip([None, *bars], bars, strict=False):
            x += SERIES_GAP * bool(before and (before.series, before.reading) != (bar.series, bar.reading))
            at.append(x)
            x += 1
        groups[group] = (begin + x - 1) / 2
        x += GROUP_GAP
    return Places(tuple(at), groups, authors, x - GROUP_GAP)


def pairs(values: tuple[Value, ...]) -> list[list[int]]:
    """Return the indices of adjacent values that differ only in their SQLite release or board."""
    bars = enumerate(value.bar for value in values)
    groups = itertools.groupby(bars, lambda entry: (entry[1].group, entry[1].series, entry[1].reading))
    return [[number for number, _ in alike] for _, alike in groups]


ROWS: dict[str, Callable[[Causes], float]] = {
    "syncs": lambda causes: causes.counts["syncs"],
    # separate: a device may charge for only one of them
    "flushes": lambda causes: causes.counts["flushes"],
    "FUA": lambda causes: causes.counts["fua"],
    "KiB": lambda causes: causes.counts["bytes_written"] / 1024,
}
LINE = 9.0  # points from row to row
UNKNOWN = "–"


def draw(
    axes: Axes, values: tuple[Value, ...], places: Places, top: float, pitch: float, first: bool
) -> None:
    """Write the rows from `top` points under the axis. pitch: from bar to bar; first: name the rows."""
    for row, (name, number) in enumerate(ROWS.items()):
        down = -(top + LINE * row)
        if first:
            write(axes, 0, "axes fraction", down, name, "right", -3)
        for pair in pairs(values):
            for centre, text in texts(values, places, pair, number, pitch):
                write(axes, centre, "data", down, text, "center", 0)


def texts(
    values: tuple[Value, ...],
    places: Places,
    pair: list[int],
    number: Callable[[Causes], float],
    pitch: float,
) -> list[tuple[float, str]]:
    """Return (x, text) of a row under bars of one configuration; one text if they agree."""
    if ":" in values[pair[0]].bar.op:  # a mix is computed from the operations, it was not run
        return []
    counts = {at: look.few(number(why)) for at in pair if (why := values[at].causes)}
    middle = sum(places.values[at] for at in pair) / len(pair)
    fits = all(look.extent(text) * 72 < pitch for text in counts.values())
    if len(set(counts.values())) > 1 and fits:
        return [(places.values[at], text) for at, text in counts.items()]
    return [(middle, next(iter(counts.values()), UNKNOWN))]


def write(axes: Axes, x: float, along: str, down: float, text: str, align: str, right: float) -> None:
    """Write a text under the axis, `down` and `right` points from x; along: data or axes fraction."""
    transform = axes.get_xaxis_transform() if along == "data" else axes.transAxes
    axes.annotate(
        text,
        (x, 0),
        (right, down),
        xycoords=transform,
        textcoords="offset points",
        ha=align,
        va="top",
        fontsize=look.SMALL,
        annotation_clip=False,
    )
