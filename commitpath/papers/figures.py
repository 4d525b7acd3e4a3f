"""Draw a paper's figures from the results database: for each PDF, SVG, PNG, and its numbers."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure, SubFigure

from analysis.figures import style
from commitpath.cells.identities import cell_id
from commitpath.charts import bars, cause_rows, lines, table
from commitpath.charts.model import Drawn
from commitpath.charts.panels import fill, footnotes
from commitpath.papers import factors, numbers, study
from commitpath.papers.asked import Asked, load, planned
from commitpath.results import query
from commitpath.results.query import Results

SUFFIXES = (".svg", ".pdf", ".png")
# How much wider a figure of two boards is than of one.
BESIDE = 1.6
FOLDER = Path(__file__).parents[1]
FORMS = {"bars": bars.render, "lines": lines.render, "table": table.render}
COUNTED = (
    "syncs, flushes, FUA, KiB: per transaction, the filesystem's syncs, the device's flushes and FUA "
    "writes, and what was written; from a watched run of the same settings ({where}). Of all operations "
    "together: with the final checkpoint."
)


def draw(
    asked: Asked,
    database: Path,
    folder: Path,
    before: Path | None = None,
) -> list[Path]:
    """Draw the figures of experiments/papers/<paper>/figures that are asked for into `folder`; the files.

    A lab board's values have the virtual board's beside them. before: a folder of an earlier call; what would
    be drawn alike is copied from it. A cell without a run that counts is drawn as missing or failed. Raises
    BadInputError for a figure's data, DatabaseError for the database.
    """
    chosen, results = load(asked), query.read(database)
    if asked.lab or asked.reduced:
        # the database has what the whole of the grids leaves out, on the virtual board
        left_out = [one for place in (asked, asked.virtual) for one in planned(place, None)[1]]
        results.excluded += [(one.grid, dict(one.settings), one.reason) for one in left_out]
    if asked.where:
        both = [planned(place, None)[0] for place in (asked, asked.virtual)]
        results.asked = {cell_id(run.cell) for runs_of in both for run in runs_of.values()}
    beside = load(asked.virtual) if asked.lab else None
    return [path for data in chosen.figures for path in one(chosen, results, data, folder, before, beside)]


def one(
    chosen: study.Study,
    results: Results,
    data: Path,
    folder: Path,
    before: Path | None = None,
    beside: study.Study | None = None,
) -> list[Path]:
    """Draw one figure, or copy it; return its files. beside: the same study on the virtual board."""
    figure = study.read(data)
    form = factors.make if figure["form"] == "factors" else functools.partial(of_cells, beside=beside)
    told, table_rows, render = form(chosen, results, data, figure)
    head = {
        "paper": chosen.name,
        "figure": data.stem,
        "commands": numbers.commands(chosen, told["grids"]),
        "made_from": made_from(data, told),
    }
    stem = folder / data.stem
    if before and numbers.made_from(before / f"{data.stem}.json") == head["made_from"]:
        olds = [before / (data.stem + suffix) for suffix in (*SUFFIXES, *numbers.SUFFIXES)]
        if all(old.is_file() for old in olds):
            return [Path(shutil.copy2(old, folder)) for old in olds]
    return [*save(render(), stem), *numbers.write(stem, {**head, **told}, table_rows)]


def of_cells(
    chosen: study.Study,
    results: Results,
    data: Path,
    figure: Mapping[str, Any],
    beside: study.Study | None = None,
) -> tuple[dict[str, Any], list[list[Any]], Callable[[], Figure]]:
    """(numbers, table, what draws it) of a figure of bars, lines, or a table."""
    panels = study.panels(chosen, data, figure)
    others = study.panels(beside, data, figure) if beside else [None] * len(panels)
    drawn = [fill(panel, results, other) for panel, other in zip(panels, others, strict=True)]
    whole = {"width": 7, "share_y": False, **figure}
    if any(value.bar.outlined for one in drawn for value in one.values):
        whole["width"] *= BESIDE
    notes = [note for note in (lower(chosen), counted(drawn), *figure.get("notes", [])) if note]
    if lacking := sum(one.lacking for one in drawn):
        of = sum(len(panel.bars) for panel in panels)
        command = numbers.commands(beside, [])[0] if beside else ""
        notes.append(f"{lacking} of {of} values of the virtual board are not here: {command} makes them.")
    told = {**numbers.document(figure, drawn), "notes": footnotes(drawn, notes)}
    return told, numbers.rows(drawn), lambda: FORMS[figure["form"]](whole, drawn, notes)


def lower(chosen: study.Study) -> str:
    """What of a study's numbers is lower than the paper's."""
    told = ", ".join(f"{name.upper()}={number}" for name, number in chosen.most.items())
    return f"Not the paper's numbers: at most {told}." if told else ""


def made_from(data: Path, told: Mapping[str, Any]) -> str:
    """Hash of all that a figure depends on: its numbers, its data file, this code."""
    found = hashlib.sha256(mpl.__version__.encode())
    code = [path for name in ("charts", "papers", "results") for path in (FOLDER / name).glob("*.py")]
    for path in [data, Path(style.__file__), *sorted(code)]:
        found.update(path.read_bytes())
    found.update(json.dumps(told, sort_keys=True).encode())
    return found.hexdigest()


def counted(drawn: list[Drawn]) -> str:
    """What the numbers under the bars are, and of which SQLite release."""
    watched = [value.causes.run.settings for one in drawn for value in one.values if value.causes]
    releases = sorted({str(run["sqlite"]) for run in watched})
    boards = (
        ""
        if len({value.bar.board for one in drawn for value in one.values}) == 1
        else " on the virtual board"
    )
    told = COUNTED.format(where=f"SQLite {' and '.join(releases)}{boards}") if watched else ""
    values = [value for one in drawn for value in one.values]
    unknown = any(not value.causes and ":" not in value.bar.op for value in values)
    return f"{told} {cause_rows.UNKNOWN}: not watched.".strip() if unknown else told


def save(made: Figure, stem: Path) -> list[Path]:
    """Write a figure in each format; its layout is found once.

    The solver of the layout gives other last digits each time, and an SVG's ids are made of them.
    """
    made.draw_without_rendering()
    made.set_layout_engine("none")
    for part in made.findobj(SubFigure):
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(6))
    for axes in made.axes:
        left, bottom, width, height = (round(number, 6) for number in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
    paths = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    for path in paths:
        style.save(made, path)
    return paths
