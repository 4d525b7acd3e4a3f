"""The table of speed beside what cuts took: a row a cell, or for a large grid tables of settings by
filesystems, one a device."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.terminal import seconds
from commitpath.cells.axes import axes
from commitpath.database import select
from commitpath.reporting.durability_rows import MEASURED, Found, Row

# What stands on top of each other in a table of many cells, and what each of these has a table of.
ROWS, TABLE = ("journal_mode", "synchronous"), "device"
# More cells than a reader looks through line by line.
LARGE = 40
KEY = (
    "Transactions per second, then the most that a cut took: acknowledged transactions (time of the run), "
    "or ✗ and the cuts that left no usable database. Bold: less was there than the settings promise. "
    f"{select.NONE}: not measured."
)


def lines(found: Found) -> list[str]:
    """The table as a page has it."""
    # a setting that an engine has not is empty
    if len(found.rows) > LARGE and all(row.settings.get(axis) for row in found.rows for axis in ROWS):
        return by_filesystem(found)
    head = [*found.varied, *MEASURED]
    return _table(head, [[*row.settings.values(), *row.columns()] for row in found.rows])


def by_filesystem(found: Found) -> list[str]:
    """A table for each device: settings downwards, what else varies across."""
    rest = [axis for axis in found.varied if axis not in (*ROWS, TABLE)]
    cells = {(_of(row, [TABLE]), _of(row, ROWS), _of(row, rest)): row for row in found.rows}
    tables, down, across = (list(dict.fromkeys(key[at] for key in cells)) for at in range(3))
    order = [axes()[name].choices() for name in ROWS]
    down.sort(key=lambda name: [of.index(value) for of, value in zip(order, name.split("/"), strict=True)])
    made = [KEY]
    for table in tables:
        told = [[name, *(entry(cells.get((table, name, other))) for other in across)] for name in down]
        made += ["", *([f"`{TABLE}={table}`", ""] if table else [])]
        made += _table(["/".join(ROWS), *across], told)
    return made


def entry(row: Row | None) -> str:
    """What a cell came to, as KEY says."""
    if row is None:
        return select.NONE
    took = row.trials
    lost = f"✗ {took.unusable}" if took.unusable or took.worst is None else str(took.worst)
    if not took.unusable and took.worst and took.worst_ms is not None:
        lost += f" ({seconds(took.worst_ms)})"
    told = f"{row.tps:.1f}; {lost}"
    return f"**{told}**" if took.broken else told


def _of(row: Row, names: Sequence[str]) -> str:
    """Some of a row's settings, as one name."""
    told = [row.settings[name] for name in names if row.settings.get(name)]
    return ("/" if names == ROWS else " ").join(told)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
