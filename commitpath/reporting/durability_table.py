"""Markdown tables of `make durability`: a row for each cell, or settings by filesystem for many cells."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.terminal import seconds
from commitpath.cells.axes import axes
from commitpath.database import select
from commitpath.reporting.durability_rows import MEASURED, Found, Row, table

# The settings of a row in a table of many cells, and the setting that each table has one value of.
ROWS, TABLE = ("journal_mode", "synchronous"), "device"
# More cells than this are not listed one by one.
LARGE = 40
KEY = (
    "Transactions per second, then the most that a cut took: acknowledged transactions (time of the run), "
    "or ✗ and the cuts that left no usable database. Bold: less was there than the settings promise. "
    f"{select.NONE}: not measured."
)


def lines(found: Found) -> list[str]:
    """Return the measured cells as Markdown."""
    # an engine that lacks one of ROWS has an empty value
    if len(found.rows) > LARGE and all(row.settings.get(axis) for row in found.rows for axis in ROWS):
        return by_filesystem(found)
    rows = [[*row.settings.values(), *row.columns()] for row in found.rows]
    for row, values in zip(found.rows, rows, strict=True):
        values[len(found.varied)] += row.mark and f" {row.mark}"
    return table([*found.varied, *MEASURED], rows)


def by_filesystem(found: Found) -> list[str]:
    """Return a table for each device: ROWS downwards, the other settings across."""
    rest = [axis for axis in found.varied if axis not in (*ROWS, TABLE)]
    cells = {(joined(row, [TABLE]), joined(row, ROWS), joined(row, rest)): row for row in found.rows}
    devices, down, across = (list(dict.fromkeys(key[at] for key in cells)) for at in range(3))
    order = [axes()[name].choices() for name in ROWS]
    down.sort(key=lambda name: [of.index(value) for of, value in zip(order, name.split("/"), strict=True)])
    text = [KEY]
    for device in devices:
        rows = [[name, *(entry(cells.get((device, name, other))) for other in across)] for name in down]
        text += ["", *([f"`{TABLE}={device}`", ""] if device else [])]
        text += table(["/".join(ROWS), *across], rows)
    return text


def entry(row: Row | None) -> str:
    """Return the text of a cell, in the form of KEY."""
    if row is None:
        return select.NONE
    trials = row.trials
    spans = trials.usable and trials.worst and trials.worst_ms is not None
    text = f"{row.tps:.1f}; {trials.short()}{f' ({seconds(trials.worst_ms or 0)})' if spans else ''}"
    text += row.mark and f" {row.mark}"
    return f"**{text}**" if trials.broken else text


def joined(row: Row, names: Sequence[str]) -> str:
    """Return some of a row's settings as one name."""
    return ("/" if names == ROWS else " ").join(filter(None, (row.settings.get(name) for name in names)))
