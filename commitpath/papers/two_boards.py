"""Compare a figure's values on a lab board with the virtual board's; count cells that lack a run there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers.request import Request, cells_of, planned
from commitpath.papers.texts import number
from commitpath.results.query import Results

Content = Mapping[str, Any]


def missing(virtual: Request, results: Results) -> dict[str, Any] | None:
    """Return how many drawn cells lack a run on the virtual board, and the command that makes them."""
    ids = {run.key.rpartition("-")[0] for run in planned(virtual)[0].values()}
    cells = {cell_id(cell): cell for cell in cells_of(virtual)}
    cells = {name: cell for name, cell in cells.items() if name in ids}
    lacking = [cell for cell in cells.values() if not results.find(cell).runs]
    if not lacking:
        return None
    return {"lacking": len(lacking), "of": len(cells), "command": virtual.command}


def missing_text(content: Content) -> str:
    """Return how many values of the virtual board are stored, and the command that makes the others."""
    gap = content["beside"]
    of = "none" if gap["lacking"] == gap["of"] else f"{gap['of'] - gap['lacking']} of {gap['of']}"
    return f"{of} of the virtual board's cells are stored for comparison: {gap['command']} makes them"


def rows(path: Path) -> list[dict[str, Any]]:
    """Return a lab board's values with the virtual board's, from a figure's JSON."""
    panels = json.loads(path.read_text(encoding="utf-8")).get("panels", [])
    values = []
    for panel in panels:
        there = {place(bar): bar for bar in panel["bars"] if bar["board"] == VIRTUAL}
        for bar in (bar for bar in panel["bars"] if bar["board"] != VIRTUAL):
            virtual = there.get(place(bar), {}).get("tps")
            ratio = bar["tps"] / virtual if virtual and bar["tps"] else None
            values.append({**bar, "panel": panel["title"], "virtual": virtual, "ratio": ratio})
    return values


def place(bar: Content) -> tuple[str, ...]:
    """Return what identifies a bar, except its board."""
    return tuple(str(bar[name]) for name in ("group", "series", "sqlite", "reading", "op"))


def interval(value: Content) -> str:
    """Return a value's interval as ` (23.1 to 24.9)`; empty without one."""
    return f" ({number(value['interval'][0])} to {number(value['interval'][1])})" if value["interval"] else ""
