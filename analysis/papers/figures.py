"""Draw a paper's figures from the results database: for each PDF, SVG, PNG, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure, SubFigure

from analysis.figures import style
from analysis.papers import bars, factors, lines, numbers, runs, strip, study, table
from analysis.papers.drawn import Drawn, fill

SUFFIXES = (".svg", ".pdf", ".png")
FORMS = {"bars": bars.render, "lines": lines.render, "table": table.render}
COUNTED = (
    "syncs, flush+FUA, KiB: per transaction, the filesystem's syncs, the flushes and FUA writes of the "
    "device, and what was written; from a watched run of the same settings ({releases}). Of all operations "
    "together: with the final checkpoint."
)


def draw(paper: str, database: Path, folder: Path, overrides: Mapping[str, str] | None = None) -> list[Path]:
    """Draw every figure of experiments/papers/<paper>/figures into `folder`; return the files.

    overrides: make variables in place of the paper's constants. A cell without a run that counts is
    drawn as missing or failed. Raises BadInputError for a figure's data, DatabaseError for the database.
    """
    chosen, results = study.load(paper, overrides), runs.read(database)
    return [path for data in chosen.figures for path in one(chosen, results, data, folder)]


def one(chosen: study.Study, results: runs.Results, data: Path, folder: Path) -> list[Path]:
    """Draw one figure; return its files."""
    figure = study.read(data)
    if figure["form"] == "factors":
        made, told, table_rows = factors.make(chosen, results, data, figure)
    else:
        drawn = [fill(panel, results) for panel in study.panels(chosen, data, figure)]
        figure = {"width": 7, "share_y": False, **figure}
        notes = [counted(drawn), *figure.get("notes", [])]
        made = FORMS[figure["form"]](figure, drawn, [note for note in notes if note])
        told, table_rows = numbers.document(figure, drawn), numbers.rows(drawn)
    files = save(made, folder / data.stem)
    head = {
        "paper": chosen.name,
        "figure": data.stem,
        "commands": numbers.commands(chosen.name, told["grids"]),
    }
    files += numbers.write(folder / data.stem, {**head, **told}, table_rows)
    return files


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
