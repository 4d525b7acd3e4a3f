"""Draw the figures of `make durability`: TPS over lost commits, or latency over bytes written."""

import itertools

from matplotlib.figure import Figure

from analysis.figures import style
from commitpath.cells.axes import shown
from commitpath.charts import look, scatter
from commitpath.charts.scatter import Mark
from commitpath.reporting.durability_bytes import NAMED, Costs
from commitpath.reporting.durability_rows import ENGINE, Found

# Settings with a color and marker, a filling, and a column of panels. An engine without a journal mode has
# its own color and marker.
SERIES, FILL, COLUMN = "journal_mode", "synchronous", "device"
# As matplotlib's fillstyle, fuller if safer, up to full; extra has the half that normal leaves.
FILLS = {"off": "none", "normal": "bottom", "full": "full", "extra": "top"}
# Most panels of bytes in a row.
ACROSS = 3


def lost_commits(found: Found) -> Figure:
    """Draw a mark for each measured cell; without a usable database it is at the right edge."""
    partly = frozenset[str]().union(*(row.lacking for row in found.rows))
    rest = [axis for axis in found.varied if axis not in {SERIES, FILL, COLUMN, ENGINE, *partly}]
    places, marks = list[tuple[str, str]](), list[Mark]()
    for row, footnote in zip(found.rows, scatter.unlike([row.mark for row in found.rows]), strict=True):
        others = " ".join(shown(name, row.settings[name]) for name in rest if row.settings[name])
        places.append((others, row.settings.get(COLUMN, "")))
        mark = Mark(
            float(row.trials.worst or 0) if row.trials.usable else None,
            row.tps,
            row.settings.get(SERIES) or row.settings.get(ENGINE, ""),
            fill=row.settings.get(FILL, "") and f"{FILL} {row.settings[FILL]}",
            text=footnote,
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
        "allow. At the right edge: a cut left no usable database."
    )
    colors = look.hues(list(dict.fromkeys(mark.series for mark in marks)))
    fills = {f"{FILL} {value}": how for value, how in FILLS.items()}
    figure = {
        "title": "",
        "width": 7,
        "across": len(columns),
        "colors": colors,
        "fills": fills,
        "front": True,
    }
    figure |= {"x_label": "commits lost", "y_label": "transactions/s", "x_scale": "symlog", "y_scale": "log"}
    return scatter.render(figure, panels, [note])


def bytes_written(costs: Costs) -> Figure:
    """Draw a mark for each cell that was also watched without cuts."""
    places, names = (
        list(dict.fromkeys(getattr(cost, key) for cost in costs.costs)) for key in ("place", "name")
    )
    footnotes = scatter.unlike([cost.mark for cost in costs.costs])
    panels = [
        (
            place,
            [
                Mark(
                    cost.kib,
                    cost.ms,
                    style.clean(cost.name),
                    text=cost.row.trials.short() + footnote,
                    outlined=bool(cost.row.trials.broken),
                )
                for cost, footnote in zip(costs.costs, footnotes, strict=True)
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
        "colors": look.hues(list(map(style.clean, names))),
        "x_label": "KiB written to the device, per transaction",
        "y_label": "mean latency of a transaction (ms)",
        "x_scale": "log",
        "y_scale": "log",
    }
    return scatter.render(figure, panels, [note])
