"""Check the path in FIGURE (.pdf, .svg, .png, .pgf); write the figure there, and its numbers as CSV."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base import scratch
from base.errors import BadInputError
from commitpath.host import places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".pdf", ".svg", ".png", ".pgf")


def figure_path(text: str) -> Path:
    """Return the file that FIGURE names. Raises BadInputError."""
    if not text:
        raise BadInputError(f"FIGURE: missing; a new {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    path = Path(text)
    if path.suffix not in SUFFIXES:
        raise BadInputError(f"FIGURE={text}: unsupported suffix; FIGURE is a file{' or '.join(SUFFIXES)}")
    if path.suffix == ".pgf" and not shutil.which("pdflatex"):
        raise BadInputError(
            f"FIGURE={text}: needs pdflatex (Debian's texlive-pictures); .pdf and .svg do not"
        )
    if not path.parent.is_dir():
        raise BadInputError(f"FIGURE={text}: there is no folder {path.parent}")
    for file in (path, path.with_suffix(".csv")):
        if file.is_dir():
            raise BadInputError(f"FIGURE={text}: {file} is a folder")
    places.check_writable(path.parent, "FIGURE names a file elsewhere")
    return path


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV; a failure leaves no file."""
    with scratch.whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def save(figure: Figure, path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write a figure, and its numbers as CSV under the same name."""
    from analysis.figures import style  # loads matplotlib, which takes a second

    # has a lock: other calls remove a file that waits for a minute, as this CSV may for the drawing
    with scratch.folder(path.parent, ".figure") as part:
        names = (path.with_suffix(".csv").name, path.name)
        write_csv(part / names[0], rows)
        style.save(figure, part / names[1])
        for name in names:
            (part / name).replace(path.parent / name)
