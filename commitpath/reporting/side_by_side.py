"""`make compare PAGE=…`: write HTML of matched cells: figure of TPS, B/A, bytes, commands; changed counts."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from analysis.figures import bars, style
from analysis.report import html_page
from base import scratch
from base.paths import RESULTS
from base.text import printable
from commitpath.charts import scatter
from commitpath.charts.scatter import Mark
from commitpath.reporting import run_counts
from commitpath.reporting.differences import Row, answers, by_sample, numbers_of, rows_of
from commitpath.reporting.matched import Matched
from commitpath.results.metrics import WHOLE

# Dark and light, so distinct in grey.
SIDES = {"A": "#2B5C8A", "B": "#E8A33D"}
# Drawn in place of a bar without a watched run.
UNKNOWN = "not watched"
# Key, title, colors, digits, and the least part of a panel at which a piece has room for its number.
PANELS: tuple[tuple[str, str, dict[str, str], int, float], ...] = (
    ("rate", "transactions per second", SIDES, 1, 1.0),
    (run_counts.BYTES, "KiB written per transaction", style.LABELS, 1, 0.07),
    (run_counts.COMMANDS, "commands per transaction", style.BLOCKS, 2, 0.12),
)
# Most rows that a figure has: of cells, else of groups of cells with a mark for each cell.
MOST_ROWS = 60
_BAR, _EDGES = 0.24, 1.6  # inches of a bar; of titles, legend and axes


def tps(runs: Sequence[Any]) -> float:
    """Return the median rate of a cell's runs."""
    return median([float(run.summary["tps"]["all"]) for run in runs])


def short(label: str) -> str:
    """Return a cell's label without the names of settings, unless the value is a number."""
    parts = [(part, part.partition("=")[2]) for part in label.split(" ")]
    return " ".join(part if not value or value[0].isdigit() else value for part, value in parts)


def groups(matched: Sequence[Matched], most: int = MOST_ROWS) -> dict[str, list[Matched]]:
    """Group cells by as many of the first axes in which they differ as give at most so many groups."""
    found: dict[str, list[Matched]] = {"all": list(matched)}
    for count in range(1, 1 + max(len(cell.label.split(" ")) for cell in matched)):
        made: dict[str, list[Matched]] = {}
        for cell in matched:
            made.setdefault(" ".join(cell.label.split(" ")[:count]), []).append(cell)
        if len(made) > most:
            break
        found = made
    return found


def changes(
    options: Mapping[str, str], matched: Sequence[Matched], ratios: Sequence[float | None], path: Path
) -> None:
    """Draw a row for each group of cells, with a mark for each cell at the change of its rate.

    ratios: B/A of each cell's rate.
    """
    names, marks = list[str](), list[Mark]()
    of_cell = {id(cell): ratio for cell, ratio in zip(matched, ratios, strict=True)}
    for place, (name, cells) in enumerate(groups(matched).items()):
        a, b = (median([tps(getattr(cell, side)) for cell in cells]) for side in "ab")
        names.append(f"{style.clean(short(name))}  {len(cells)}: {a:,.1f} → {b:,.1f}")
        found = [ratio for cell in cells if (ratio := of_cell[id(cell)]) is not None]
        marks += [Mark(100 * (ratio - 1), place, "") for ratio in found]
    sides = ", ".join(f"{side}: {textwrap.shorten(style.clean(options[side]), 50)}" for side in "AB")
    content = {
        "title": "rows: number of cells: median TPS of A → of B",
        **{"width": 7, "across": 1, "colors": {"": SIDES["A"]}, "y_names": names},
        **{"x_label": f"change of transactions per second, %; {sides}", "y_label": "", "x_scale": "symlog"},
    }
    style.save(scatter.render(content, [("", marks)]), path)


def figure(options: Mapping[str, str], matched: Sequence[Matched], rows: Sequence[Row], path: Path) -> None:
    """Draw two bars for each cell, A's and B's, in three panels, and B/A in one.

    rows: of each cell's rate.
    """
    names = [f"{short(cell.label)}  {side}" for cell in matched for side in SIDES]
    values = [
        {"rate": {side: tps(runs)}, **run_counts.medians(runs)}
        for cell in matched
        for side, runs in zip("AB", (cell.a, cell.b), strict=True)
    ]
    made = style.figure(_EDGES + _BAR * len(names), 13)
    rates, compared, *others = made.subplots(1, 1 + len(PANELS), width_ratios=(3, 2, 4, 3))
    ratio_panel(compared, matched, rows)
    for axes, (key, title, colors, digits, least) in zip((rates, *others), PANELS, strict=True):
        panel(axes, names, [value.get(key) for value in values], colors, digits, least)
        axes.set_xlabel(title)
    for axes in (compared, *others):
        axes.set_yticklabels([])
    for place, (cell, row) in enumerate(zip(matched, rows, strict=True)):
        # of the pairs, as in the panel of ratios
        ratio = f" (×{row.difference.ratio:.3f})" if row.difference.ratio is not None else ""
        rates.texts[2 * place].set_text(f"{tps(cell.a):,.1f}")
        rates.texts[2 * place + 1].set_text(f"{tps(cell.b):,.1f}{ratio}")
    rates.set_xlim(0, 1.25 * rates.get_xlim()[1])
    labels = {side: textwrap.shorten(style.clean(f"{side}: {options[side]}"), 44) for side in SIDES}
    handles = [Patch(color=color, label=labels[side]) for side, color in SIDES.items()]
    rates.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.3)
    style.save(made, path)


def ratios(cell: Matched) -> list[float]:
    """Return B/A of each sample that both sides have; none on a real clock, where runs are not paired."""
    a, b = (
        by_sample(cell, runs, [float(run.summary["tps"]["all"]) for run in runs]) for runs in (cell.a, cell.b)
    )
    return [b[sample] / a[sample] for sample in a if sample in b] if cell.repeatable else []


def ratio_panel(axes: Axes, matched: Sequence[Matched], rows: Sequence[Row]) -> None:
    """Draw the ratio of each cell between its two bars, with its interval, its pairs and the margin."""
    style.grid(axes, "x")
    axes.axvline(1, color=style.INK, linewidth=0.8)
    for place, (cell, row) in enumerate(zip(matched, rows, strict=True)):
        y, found = 2 * place + 0.5, row.difference
        least = 1 / (1 + found.margin)
        axes.barh(y, 1 + found.margin - least, left=least, height=1.6, color=style.INK, alpha=0.1)
        pairs = ratios(cell)
        axes.plot(pairs, [y + 0.4] * len(pairs), "o", color=style.INK, mfc="none", markersize=3.5, mew=0.7)
        if found.ratio is not None:
            axes.plot(found.ratio, y, "D", color=style.INK, markersize=4)
        if found.interval:
            ends = (found.interval.low, found.interval.high)
            axes.plot(ends, (y, y), "|-", color=style.INK, linewidth=1.4, markersize=7)
    axes.set_yticks([])
    axes.set_ylim(2 * len(matched) - 0.45, -0.55)
    axes.set_xlabel("B/A: ◆ with interval,\n○ pairs, grey: the margin")


def panel(
    axes: Axes,
    names: list[str],
    values: Sequence[Mapping[str, float] | None],
    colors: dict[str, str],
    digits: int,
    least: float,
) -> None:
    """Draw one panel; a cell without values has a word in place of its bar."""
    rows = [
        {"op": name, "kind": kind, "value": amount}
        for name, value in zip(names, values, strict=True)
        for kind, amount in (value or {}).items()
    ]
    table = pl.DataFrame(rows, schema={"op": pl.String, "kind": pl.String, "value": pl.Float64})
    bars.stacked(axes, table, names, "value", colors, digits, least)
    # the last texts are those at the ends of the bars
    for text, value in zip(axes.texts[-len(names) :], values, strict=True):
        if value is None:
            text.set_text(UNKNOWN)
            text.set_fontweight("normal")
    for place in range(1, len(names) - 1, 2):
        axes.axhline(place + 0.5, color=style.INK, alpha=0.2, linewidth=0.6)
    if len(colors) > len(SIDES):
        bars.legend(axes, table.filter(pl.col("value") > 0), colors, columns=2)


def cells(matched: Sequence[Matched], rows: Sequence[Row], folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the page. rows: of each cell's rate; folder: the page's, which links to the runs."""
    sides = [(run_counts.medians(cell.a), run_counts.medians(cell.b)) for cell in matched]
    return [
        {
            "label": cell.label,
            "tps": (tps(cell.a), tps(cell.b)),
            "runs": [
                [os.path.relpath(RESULTS / run.path, folder) for run in runs if run.path]
                for runs in (cell.a, cell.b)
            ],
            "row": row,
            "numbers": numbers_of(row),
            "changes": [(run_counts.name(change), change.a, change.b) for change in run_counts.changes(a, b)],
            "known": run_counts.BYTES in a and run_counts.BYTES in b,
            "marks": cell.marks(),
        }
        for cell, (a, b), row in zip(matched, sides, rows, strict=True)
    ]


def kernels(matched: Sequence[Matched]) -> list[str]:
    """Return the releases of the kernels of A, and of B."""
    sides = [cell.a for cell in matched], [cell.b for cell in matched]
    return [", ".join(sorted({run.facts["uname"] for runs in side for run in runs})) for side in sides]


def write(
    options: Mapping[str, str], matched: Sequence[Matched], margin: float, page: Path, *figures: Path
) -> None:
    """Write the page and the files of its figure, in the format of their suffix; the page shows the first.

    margin: what counts as equal.
    """
    environment = html_page.environment(Path(__file__).parent)
    ordered = sorted(matched, key=lambda cell: cell.label)
    rows = [row for cell in ordered for row in rows_of(cell, "tps", margin) if row.metric == WHOLE]
    try:
        for path in figures:
            if len(ordered) <= MOST_ROWS:
                figure(options, ordered, rows, path)
            else:
                changes(options, ordered, [row.difference.ratio for row in rows], path)
        text = environment.get_template("compare.html.j2").render(
            notes=sorted({f"{mark} {text}" for cell in ordered for mark, text in cell.marks().items()}),
            sides=[printable(options[side]) for side in "AB"],
            kernels=kernels(ordered),
            cells=cells(ordered, rows, page.resolve().parent),
            overall=answers(rows) if len(rows) > 1 else [],
            margin=100 * margin,
            figure=html_page.data_uri(figures[0]),
            changed=run_counts.CHANGED,
        )
        scratch.write(page, text)
    except BaseException:
        # none of them was there before (compare.new_page)
        for path in figures:
            path.unlink(missing_ok=True)
        raise
