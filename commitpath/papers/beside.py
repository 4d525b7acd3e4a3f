"""A lab board's values and the virtual board's of the same cells, beside each other on the page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers.asked import Asked, drawn, planned
from commitpath.papers.texts import number
from commitpath.results.query import Results

Content = Mapping[str, Any]


def not_there(virtual: Asked, results: Results) -> dict[str, Any] | None:
    """How many of the virtual board's cells, drawn beside a lab board's, have no run, and what makes them."""
    asked = {run.key.rpartition("-")[0] for run in planned(virtual, None)[0].values()}
    cells = {cell_id(cell): cell for cell in drawn(virtual)}
    cells = {name: cell for name, cell in cells.items() if name in asked}
    lacking = [cell for cell in cells.values() if not results.find(cell).runs]
    if not lacking:
        return None
    return {"lacking": len(lacking), "of": len(cells), "command": virtual.command}


def told(content: Content) -> str:
    """Which command makes what is not there of the virtual board's, to stand beside a lab board's."""
    gap = content["beside"]
    of = "none" if gap["lacking"] == gap["of"] else f"{gap['of'] - gap['lacking']} of {gap['of']}"
    return f"{of} of the virtual board's cells are there to stand beside these: {gap['command']} makes them"


def rows(path: Path) -> list[dict[str, Any]]:
    """A lab board's values with the virtual board's, from a figure's numbers; none of no lab board."""
    panels = json.loads(path.read_text(encoding="utf-8")).get("panels", [])
    found = []
    for panel in panels:
        there = {place(bar): bar for bar in panel["bars"] if bar["board"] == VIRTUAL}
        for bar in (bar for bar in panel["bars"] if bar["board"] != VIRTUAL):
            virtual = there.get(place(bar), {}).get("tps")
            ratio = bar["tps"] / virtual if virtual and bar["tps"] else None
            found.append({**bar, "panel": panel["title"], "virtual": virtual, "ratio": ratio})
    return found


def place(bar: Content) -> tuple[str, ...]:
    """What a bar is, but for its board."""
    return tuple(str(bar[name]) for name in ("group", "series", "sqlite", "reading", "op"))


def interval(value: Content) -> str:
    """` (23.1 to 24.9)`: the interval of a value, where it has one."""
    return f" ({number(value['interval'][0])} to {number(value['interval'][1])})" if value["interval"] else ""
