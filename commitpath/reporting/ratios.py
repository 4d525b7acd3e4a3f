"""The figure of a comparison of many cells: B's rate over A's, a dot for each cell."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.ticker import FixedLocator, NullLocator

from analysis.figures import style
from commitpath.reporting import statistics
from commitpath.reporting.matched import Matched

# rows that a reader can take in
MOST_ROWS = 60
DOT = "#4477AA"
_ROW, _EDGES = 0.17, 1.2  # inches of a row; of titles and axes
# what the axis always has to its sides: a change of 5 %
_LEAST = 1.05
_STEPS = (1.02, 1.05, 1.1, 1.25, 1.5, 2, 4, 10, 100, 1000)


def tps(runs: Sequence[Any]) -> float:
    """The median rate of a cell's runs."""
    return statistics.median([float(run.summary["tps"]["all"]) for run in runs])


def short(label: str) -> str:
    """A cell's label with the names of its numbers alone."""
    parts = [(part, part.partition("=")[2]) for part in label.split(" ")]
    return " ".join(part if not value or value[0].isdigit() else value for part, value in parts)


def rows(matched: Sequence[Matched], most: int = MOST_ROWS) -> dict[str, list[Matched]]:
    """The cells by as many of the first axes that they differ in as give no more rows than that."""
    found: dict[str, list[Matched]] = {"all": list(matched)}
    for count in range(1, 1 + max(len(cell.label.split(" ")) for cell in matched)):
        made: dict[str, list[Matched]] = {}
        for cell in matched:
            made.setdefault(" ".join(cell.label.split(" ")[:count]), []).append(cell)
        if len(made) > most:
            break
        found = made
    return found


def figure(options: Mapping[str, str], matched: Sequence[Matched], path: Path) -> None:
    """Draw a row for each group of cells, a dot for each cell at TPS of B over TPS of A."""
    groups = rows(matched)
    made = style.figure(_EDGES + _ROW * len(groups), 9)
    axes = made.subplots()
    style.grid(axes, "x")
    ratios = [[tps(cell.b) / tps(cell.a) for cell in cells] for cells in groups.values()]
    for place, (values, cells) in enumerate(zip(ratios, groups.values(), strict=True)):
        axes.plot(values, [place] * len(values), "o", color=DOT, markersize=4, alpha=0.6, markeredgewidth=0)
        a, b = (
            statistics.median([tps(side) for side in sides])
            for sides in ([cell.a for cell in cells], [cell.b for cell in cells])
        )
        told = f"{len(cells)}: {a:,.1f} → {b:,.1f}"
        axes.text(1.01, place, told, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    farthest = max(abs(math.log(value)) for values in ratios for value in values)
    reach = math.exp(max(farthest * 1.08, math.log(_LEAST)))
    axes.set_xscale("log")
    axes.set_xlim(1 / reach, reach)
    sides = [step for step in _STEPS if step <= reach][-3:]
    ticks = sorted([1.0, *sides, *(1 / step for step in sides)])
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{tick:.3g}" for tick in ticks])
    axes.axvline(1, color=style.INK, linewidth=0.8)
    axes.set_yticks(range(len(groups)), [style.clean(short(name)) for name in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)
    asked = {side: textwrap.shorten(style.clean(options[side]), 50) for side in "AB"}
    axes.set_xlabel(f"transactions per second, B over A; A: {asked['A']}, B: {asked['B']}")
    axes.set_title("cells: median TPS of A → of B", loc="right", fontweight="normal")
    style.save(made, path)
