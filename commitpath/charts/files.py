"""Check the path in FIGURE (.pdf, .svg, .png, .pgf); write the figure there, and its numbers as CSV."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base import scratch
from base.errors import BadInputError
from commitpath.command_line.stored_run import check_utf8
from commitpath.host import places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".pdf", ".svg", ".png", ".pgf")
# The first lines of the CSVs of make figure and make durability end so.
ENDS = (",cell_ids,run_ids,marks", ",against promise,promised,marks")
MOST = 10_000  # characters of a first line that is looked at


def figure_path(text: str, numbers: bool = True) -> Path:
    """Return the file that FIGURE names; a figure that is there will be replaced. Raises BadInputError.

    numbers: whether they are written, too, as CSV: one that no figure wrote is not replaced.
    """
    if not text:
        raise BadInputError(f"FIGURE: missing; a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    check_utf8("FIGURE", text)
    path = Path(text)
    if path.suffix not in SUFFIXES:
        raise BadInputError(f"FIGURE={text}: unsupported suffix; use {', '.join(SUFFIXES)}")
    if path.suffix == ".pgf" and not shutil.which("pdflatex"):
        raise BadInputError(
            f"FIGURE={text}: needs pdflatex (Debian's texlive-pictures); .pdf and .svg do not"
        )
    if not path.parent.is_dir():
        raise BadInputError(f"FIGURE={text}: there is no folder {path.parent}")
    table = path.with_suffix(".csv")
    for file in (path, *([table] if numbers else [])):
        if file.is_dir():
            raise BadInputError(f"FIGURE={text}: {file} is a folder")
    if numbers and os.path.lexists(table) and not is_of_figure(table):
        raise BadInputError(
            f"FIGURE={text}: its numbers go to {table.name}, which no figure wrote; name another figure"
        )
    places.check_writable(path.parent, "FIGURE names a file elsewhere")
    return path


def is_of_figure(table: Path) -> bool:
    """Return whether a CSV has the first line of one that a figure writes."""
    if not table.is_file():
        return False
    with table.open(encoding="utf-8", errors="replace") as file:
        return file.readline(MOST).rstrip("\n").endswith(ENDS)


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV; a failure leaves no file."""
    with scratch.whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def save(figure: Figure, path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write a figure, and its numbers as CSV under the same name."""
    from analysis.figures import style  # loads matplotlib, which takes a second

    # has a lock: other calls remove a file that waits for a minute, as this CSV may for the drawing
    with scratch.folder(path.parent, ".figure") as part:
        table = path.with_suffix(".csv").name
        write_csv(part / table, rows)
        style.save(figure, part / path.name)
        for name in (path.name, table):
            (part / name).replace(path.parent / name)
