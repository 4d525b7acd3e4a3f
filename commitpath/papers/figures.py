"""Draw a paper's figures from the results database: for each PDF, SVG, PNG, and its numbers."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure, SubFigure

from analysis.figures import style
from commitpath.papers import bars, factors, lines, numbers, runs, strip, study, table
from commitpath.papers.drawn import Drawn, fill, footnotes

SUFFIXES = (".svg", ".pdf", ".png")
FORMS = {"bars": bars.render, "lines": lines.render, "table": table.render}
COUNTED = (
    "syncs, flushes, FUA, KiB: per transaction, the filesystem's syncs, the device's flushes and FUA "
    "writes, and what was written; from a watched run of the same settings ({releases}). Of all operations "
    "together: with the final checkpoint."
)


def draw(
    paper: str,
    database: Path,
    folder: Path,
    overrides: Mapping[str, str] | None = None,
    before: Path | None = None,
) -> list[Path]:
    """Draw every figure of experiments/papers/<paper>/figures into `folder`; return the files.

    overrides: make variables in place of the paper's constants. before: a folder of an earlier call;
    what would be drawn alike is copied from it. A cell without a run that counts is drawn as missing
    or failed. Raises BadInputError for a figure's data, DatabaseError for the database.
    """
    chosen, results = study.load(paper, overrides), runs.read(database)
    return [path for data in chosen.figures for path in one(chosen, results, data, folder, before)]


def one(
    chosen: study.Study, results: runs.Results, data: Path, folder: Path, before: Path | None = None
) -> list[Path]:
    """Draw one figure, or copy it; return its files."""
    figure = study.read(data)
    form = factors.make if figure["form"] == "factors" else of_cells
    told, table_rows, render = form(chosen, results, data, figure)
    head = {
        "paper": chosen.name,
        "figure": data.stem,
        "commands": numbers.commands(chosen.name, told["grids"], chosen.overrides),
        "made_from": made_from(data, told),
    }
    stem = folder / data.stem
    if before and numbers.made_from(before / f"{data.stem}.json") == head["made_from"]:
        olds = [before / (data.stem + suffix) for suffix in (*SUFFIXES, *numbers.SUFFIXES)]
        if all(old.is_file() for old in olds):
            return [Path(shutil.copy2(old, folder)) for old in olds]
    return [*save(render(), stem), *numbers.write(stem, {**head, **told}, table_rows)]


def of_cells(
    chosen: study.Study, results: runs.Results, data: Path, figure: Mapping[str, Any]
) -> tuple[dict[str, Any], list[list[Any]], Callable[[], Figure]]:
    """(numbers, table, what draws it) of a figure of bars, lines, or a table."""
    drawn = [fill(panel, results) for panel in study.panels(chosen, data, figure)]
    whole = {"width": 7, "share_y": False, **figure}
    notes = [note for note in (counted(drawn), *figure.get("notes", [])) if note]
    told = {**numbers.document(figure, drawn), "notes": footnotes(drawn, notes)}
    return told, numbers.rows(drawn), lambda: FORMS[figure["form"]](whole, drawn, notes)


def made_from(data: Path, told: Mapping[str, Any]) -> str:
    """Hash of all that a figure depends on: its numbers, its data file, this code."""
    found = hashlib.sha256(mpl.__version__.encode())
    for path in [data, Path(style.__file__), *sorted(Path(__file__).parent.glob("*.py"))]:
        found.update(path.read_bytes())
    found.update(json.dumps(told, sort_keys=True).encode())
    return found.hexdigest()


def counted(drawn: list[Drawn]) -> str:
    """What the numbers under the bars are, and of which SQLite release."""
    releases = sorted(
        {str(value.causes.run.settings["sqlite"]) for one in drawn for value in one.values if value.causes}
    )
    told = COUNTED.format(releases="SQLite " + " and ".join(releases)) if releases else ""
    values = [value for one in drawn for value in one.values]
    unknown = any(not value.causes and ":" not in value.bar.op for value in values)
    return f"{told} {strip.UNKNOWN}: not watched.".strip() if unknown else told


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
