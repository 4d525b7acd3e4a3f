"""Draw stacked horizontal bars and their legend: a bar for each operation, a piece for each kind."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from analysis.figures import style

# By the place of a kind among the colours, so that pieces are distinct in grey.
_HATCHES = (None, "////", "....", "\\\\\\\\", "xxxx", "||||", "----")
_HATCH_COLOR = (1, 1, 1, 0.35)


def _look(colors: dict[str, str], kind: str) -> dict[str, Any]:
    hatch = _HATCHES[list(colors).index(kind) % len(_HATCHES)]
    return {"facecolor": colors[kind], "hatch": hatch, "edgecolor": _HATCH_COLOR, "linewidth": 0}


def _number(value: float, digits: int, thousands: str) -> str:
    # a sum of floats is whole but for its last bits
    whole = abs(value - round(value)) < 1e-9
    return f"{value:{thousands}.{0 if whole else digits}f}"


def stacked(
    axes: Axes,
    table: pl.DataFrame,
    ops: list[str],
    value: str,
    colors: dict[str, str],
    digits: int = 1,
    least: float = 0.055,
) -> None:
    """Draw column `value` of `table` (op, kind, value), with the total at the end of each bar.

    least: shortest piece that shows its number, as a share of the longest bar.
    """
    style.grid(axes, "x")
    left = dict.fromkeys(ops, 0.0)
    rows = {(row["op"], row["kind"]): row[value] for row in table.iter_rows(named=True)}
    total = max((sum(rows.get((op, k), 0) for k in colors) for op in ops), default=0) or 1
    for kind, color in colors.items():
        for place, op in enumerate(ops):
            amount = rows.get((op, kind), 0)
            if not amount:
                continue
            axes.barh(place, amount, left=left[op], height=0.62, **_look(colors, kind))
            if amount > total * least:
                text = _number(amount, digits, "")
                style.centered(
                    axes, left[op] + amount / 2, place, text, color=style.ink_on(color), fontsize=8
                )
            left[op] += amount
    for place, op in enumerate(ops):
        text = _number(left[op], digits, ",")
        look: dict[str, Any] = {"va": "center", "fontweight": "bold", "fontsize": 9}
        axes.annotate(text, (left[op], place), (4, 0), textcoords="offset points", **look)
    axes.set_yticks(range(len(ops)), [style.clean(op) for op in ops])
    axes.set_ylim(len(ops) - 0.45, -0.55)
    axes.set_xlim(0, total * 1.12)
    axes.tick_params(axis="y", length=0)


def legend(axes: Axes, table: pl.DataFrame, colors: dict[str, str], columns: int = 7) -> None:
    """Draw a legend above the bars, with the kinds in `table`."""
    present = set(table["kind"].to_list())
    handles = [Patch(label=kind, **_look(colors, kind)) for kind in colors if kind in present]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0), "borderaxespad": 0.3}
    axes.legend(handles=handles, ncols=columns, columnspacing=1.4, **place)
