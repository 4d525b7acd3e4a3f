"""Draw a paper's figures from stored runs as SVG, PDF and PNG, with JSON and CSV; copy unchanged ones."""

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
from commitpath.charts.model import Drawn, values_of
from commitpath.charts.panel_values import fill, footnotes
from commitpath.papers import authors_runs, factors, figure_data, numbers
from commitpath.papers.paper import Paper
from commitpath.papers.request import Request, planned, samples
from commitpath.results import query
from commitpath.results.query import Results

SUFFIXES = (".svg", ".pdf", ".png")
# Ratio of the width of a figure of two boards to one of one board.
WIDER = 1.6
PACKAGE = Path(__file__).parents[1]
FORMS = {"bars": bars.render, "lines": lines.render, "table": table.render}
COUNTED = (
    "syncs, flushes, FUA, KiB: per transaction, the filesystem's syncs, the device's flushes and FUA "
    "writes, and what was written; from a watched run of the same settings ({where}). All operations "
    "together include the final checkpoint."
)


def draw(request: Request, database: Path, folder: Path, before: Path | None = None) -> list[Path]:
    """Draw the requested figures into `folder`; return the files.

    A lab board's values stand next to the virtual board's. before: folder of an earlier call; figures that
    would be equal are copied from it. A cell without a valid run is drawn as missing or failed. Raises
    BadInputError for a figure's data, DatabaseError for the database.
    """
    chosen, results = request.load(), query.read(database)
    results.samples = samples(request) | (samples(request.virtual) if request.lab else {})
    if request.lab or request.reduced:
        # the database has the exclusions of whole grids on the virtual board
        excluded = [cell for place in (request, request.virtual) for cell in planned(place)[1]]
        results.excluded += [(cell.grid, dict(cell.settings), cell.reason) for cell in excluded]
    if request.where:
        both = [planned(place)[0] for place in (request, request.virtual)]
        results.asked = {cell_id(run.cell) for runs in both for run in runs.values()}
    virtual = request.virtual.load() if request.lab else None
    return [
        path
        for data in chosen.figures
        for path in make_figure(chosen, results, data, folder, before, virtual)
    ]


def make_figure(
    paper: Paper,
    results: Results,
    data: Path,
    folder: Path,
    before: Path | None = None,
    virtual: Paper | None = None,
) -> list[Path]:
    """Draw one figure, or copy it; return its files. virtual: the same paper on the virtual board."""
    figure = figure_data.read(data)
    form = factors.make if figure["form"] == "factors" else functools.partial(of_cells, virtual=virtual)
    content, rows, render = form(paper, results, data, figure)
    head = {
        "paper": paper.name,
        "figure": data.stem,
        "commands": numbers.commands(paper, content["grids"]),
        "made_from": made_from(data, content),
    }
    stem = folder / data.stem
    if before and numbers.made_from(before / f"{data.stem}.json") == head["made_from"]:
        olds = [before / (data.stem + suffix) for suffix in (*SUFFIXES, *numbers.SUFFIXES)]
        if all(old.is_file() for old in olds):
            return [Path(shutil.copy2(old, folder)) for old in olds]
    return [*save(render(), stem), *numbers.write(stem, {**head, **content}, rows)]


def of_cells(
    paper: Paper, results: Results, data: Path, figure: Mapping[str, Any], virtual: Paper | None = None
) -> tuple[dict[str, Any], list[list[Any]], Callable[[], Figure]]:
    """Return (content, table, drawing function) of a figure of bars, lines, or a table."""
    panels = figure_data.panels(paper, data, figure)
    others = figure_data.panels(virtual, data, figure) if virtual else [None] * len(panels)
    drawn = [fill(panel, results, other) for panel, other in zip(panels, others, strict=True)]
    options = {"width": 7, "share_y": False, **figure}
    if any(value.bar.outlined for value in values_of(drawn)):
        options["width"] *= WIDER
    limits = ", ".join(f"{name.upper()}={number}" for name, number in paper.most.items())
    lowered = f"Not the paper's numbers: at most {limits}." if limits else ""
    notes = [note for note in (lowered, counted(drawn), *figure.get("notes", [])) if note]
    if lacking := sum(panel.lacking for panel in drawn):
        of = sum(len(panel.bars) for panel in panels)
        command = numbers.commands(virtual, [])[0] if virtual else ""
        notes.append(f"{lacking} of {of} values of the virtual board are not here: {command} makes them.")
    notes = footnotes(drawn, notes)
    content = {**numbers.document(figure, drawn), "notes": notes}
    if table_of_authors := authors_runs.table(figure, drawn):
        content["predicted"] = table_of_authors
    return content, numbers.rows(drawn), lambda: FORMS[figure["form"]](options, drawn, notes)


def made_from(data: Path, content: Mapping[str, Any]) -> str:
    """Return a hash of everything that a figure depends on: its numbers, its data file, this code."""
    code = [path for name in ("charts", "papers", "results") for path in (PACKAGE / name).glob("*.py")]
    parts = [path.read_bytes() for path in (data, Path(style.__file__), *sorted(code))]
    texts = (mpl.__version__, json.dumps(content, sort_keys=True))
    return hashlib.sha256(b"".join([*parts, *map(str.encode, texts)])).hexdigest()


def counted(drawn: list[Drawn]) -> str:
    """Return a note on the numbers under the bars, with the SQLite releases of the watched runs."""
    values = values_of(drawn)
    watched = [value.causes.run.settings for value in values if value.causes]
    releases = sorted({str(run["sqlite"]) for run in watched})
    board = "" if len({value.bar.board for value in values}) == 1 else " on the virtual board"
    text = COUNTED.format(where=f"SQLite {' and '.join(releases)}{board}") if watched else ""
    unknown = any(not value.causes and ":" not in value.bar.op for value in values)
    return f"{text} {cause_rows.UNKNOWN}: not watched.".strip() if unknown else text


def save(made: Figure, stem: Path) -> list[Path]:
    """Write a figure in each format, with one layout for all.

    The layout solver's last digits vary between calls, and the ids of an SVG depend on them.
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
