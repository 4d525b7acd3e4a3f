"""Draw the figures of `make durability`: TPS over lost commits, or latency over bytes written."""

from __future__ import annotations

import itertools

from matplotlib.figure import Figure

from analysis.figures import style
from base.identity import FIRST_ENGINE
from commitpath.charts import look, scatter
from commitpath.charts.scatter import Mark
from commitpath.charts.spec import CYCLE
from commitpath.reporting.durability_bytes import NAMED, Costs
from commitpath.reporting.durability_rows import Found, Row
from model import engines

# Settings with a color, a marker, and a column of panels. An engine without a journal mode has its own color.
COLOR, SHAPE, COLUMN, ENGINE = "journal_mode", "synchronous", "device", "engine"
# Most panels of bytes in a row.
ACROSS = 3


def lost_commits(found: Found) -> Figure:
    """Draw a mark for each measured cell; without a usable database it is hollow at the right edge."""
    partly = frozenset[str]().union(*(row.lacking for row in found.rows))
    rest = [axis for axis in found.varied if axis not in {COLOR, SHAPE, COLUMN, ENGINE, *partly}]
    places, marks = list[tuple[str, str]](), list[Mark]()
    for row in found.rows:
        others = " ".join(row.settings[name] for name in rest if row.settings[name])
        places.append((others, row.settings.get(COLUMN, "")))
        mark = Mark(
            float(row.trials.worst or 0) if row.trials.usable else None,
            row.tps,
            row.settings.get(COLOR) or row.settings.get(ENGINE, ""),
            shape=f"{SHAPE} {row.settings[SHAPE]}" if row.settings.get(SHAPE) else "",
            text=row.mark,
            outlined=bool(row.trials.broken),
        )
        marks.append(mark)
    names, columns = (list(dict.fromkeys(place[at] for place in places)) for at in (0, 1))
    panels = [
        (
            "  ".join(filter(None, panel)),
            [mark for mark, place in zip(marks, places, strict=True) if place == panel],
        )
        for panel in itertools.product(names, columns)
    ]
    note = (
        f"{style.clean(found.caption())}. Commits lost: acknowledged transactions lost in the worst cut. "
        "Line: no cell of the panel is faster and loses less. Red edge: more was lost than the settings "
        "allow. Hollow at the right edge: a cut left no usable database."
    )
    colors = {mark.series: color(row) for mark, row in zip(marks, found.rows, strict=True)}
    figure = {"title": "", "width": 7, "across": len(columns), "colors": colors, "front": True}
    figure |= {"x_label": "commits lost", "y_label": "transactions/s", "x_scale": "symlog", "y_scale": "log"}
    return scatter.render(figure, panels, [note])


def bytes_written(costs: Costs) -> Figure:
    """Draw a mark for each cell that was also watched without cuts."""
    places, names = (
        list(dict.fromkeys(getattr(cost, key) for cost in costs.costs)) for key in ("place", "name")
    )
    panels = [
        (
            place,
            [
                Mark(
                    cost.kib,
                    cost.ms,
                    style.clean(cost.name),
                    text=cost.row.trials.short() + cost.mark,
                    outlined=bool(cost.row.trials.broken),
                )
                for cost in costs.costs
                if cost.place == place
            ],
        )
        for place in places
    ]
    note = (
        f"{style.clean(costs.caption(NAMED))}. KiB: all that the device was given, close and drain "
        "included, over the transactions. Latency: the mean, without the watching. Left and below is better. "
        "Number: the most commits that a cut took, or ✗ and the cuts that left no usable database. Red edge: "
        "more was lost than the settings allow."
    )
    figure = {
        "title": "",
        "width": 7,
        "across": min(len(places), ACROSS),
        "colors": dict(zip(map(style.clean, names), itertools.cycle(CYCLE), strict=False)),
        "x_label": "KiB written to the device, per transaction",
        "y_label": "mean latency of a transaction (ms)",
        "x_scale": "log",
        "y_scale": "log",
    }
    return scatter.render(figure, panels, [note])


def color(row: Row) -> str:
    """Return the color of a journal mode, or of the first file that only a row's engine has."""
    if mode := row.settings.get(COLOR):
        return look.color(mode.upper())
    files = engines.by_name(row.settings[ENGINE]).FILES if ENGINE in row.settings else {}
    colors = [ink for role, (_, ink) in files.items() if role not in engines.by_name(FIRST_ENGINE).FILES]
    return colors[0] if colors else style.SQL
