"""The look of all figures: one colour for one kind of thing, everywhere.

Colours are of Okabe and Ito's and Paul Tol's sets, told apart by colour-blind readers.
Text and lines are `currentColor`: a figure in a page takes the page's ink, and alone it
follows the reader's light or dark scheme.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import matplotlib as mpl
import polars as pl

mpl.use("svg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.stats import report_tables
from base import scratch
from model import engines

FILES = {
    **{role: color for role, (_, color) in engines.files().items()},
    "directory": "#009E73",
    "other": "#8C8C8C",
}
BLOCKS = {
    "write": "#56B4E9",
    "write metadata": "#7B6FD0",
    "write FUA": "#B0376E",
    "flush": "#E8C500",
    "read": "#7A9A3B",
    "discard": "#A07855",
    "other": "#8C8C8C",
}
FAILED = "#D62728"  # a command that the device answered with an error
# What the bytes of a write are, in the order in which figures stack them.
LABELS = {
    **engines.labels(),
    "filesystem journal": "#7B6FD0",
    "inode/node": "#56B4E9",
    "bitmap/SIT/NAT/superblock": "#B0376E",
    "directory": "#009E73",
    "checkpoint pack": "#CC79A7",
    "other": "#8C8C8C",
    "unattributed": "#E0002D",
}
# Commands that carry no such bytes.
COMMANDS = {name: BLOCKS[name] for name in ("flush", "read", "discard")}
SQL = "#5B6B7B"
FS = "#A3A9AF"
INK = "#010203"  # becomes currentColor
FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"
WIDTH = 9.6  # inches: 691 CSS pixels at 72 a piece, drawn at the page's width

_ALONE = "<style>:root{color:#1b1f24}@media(prefers-color-scheme:dark){:root{color:#e6e8ea}}</style>"


def figure(height: float, width: float = WIDTH, points: float = 9) -> Figure:
    """Return an empty figure, sizes in inches; its text has `points`, its smallest half a point less."""
    mpl.rcParams.update(
        {
            "svg.fonttype": "none",
            "pdf.fonttype": 42,  # TrueType, embedded
            "font.family": "DejaVu Sans",  # measured with it: it comes with matplotlib
            "font.size": points,
            "axes.titlesize": points + 0.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.labelsize": points,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.7,
            "axes.axisbelow": True,
            "xtick.labelsize": points - 0.5,
            "ytick.labelsize": points - 0.5,
            "legend.fontsize": points - 0.5,
            "legend.frameon": False,
            "legend.handlelength": 1.2,
            "text.color": INK,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    )
    made = Figure(figsize=(width, height), layout="constrained")
    made.patch.set_visible(False)
    return made


def grid(axes: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Draw faint grid lines across `axis` and make the ground transparent."""
    axes.patch.set_visible(False)
    axes.grid(axis=axis, color=INK, alpha=0.14, linewidth=0.6)


def save(made: Figure, path: Path) -> None:
    """Write the figure, by the suffix of `path` as SVG, PNG or PDF: the same bytes for the same data."""
    kind = path.suffix.removeprefix(".")
    # the layout once, where savefig makes it for a drawing without output and for the output
    if engine := made.get_layout_engine():
        engine.execute(made)
        made.set_layout_engine(None)
    with scratch.whole(path) as part:
        if kind != "svg":
            dated = {"pdf": {"CreationDate": None, "Producer": None, "Creator": None}}
            metadata = dated.get(kind, {"Software": None})
            made.savefig(part, format=kind, dpi=200, facecolor="white", metadata=metadata)
            return
        with mpl.rc_context({"svg.hashsalt": path.stem}):
            made.savefig(part, format="svg", metadata={"Date": None, "Creator": None})
        text = part.read_text(encoding="utf-8").replace(INK, "currentColor")
        text = text.replace("'DejaVu Sans'", FONTS)
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        at = text.index(">", text.index("<svg")) + 1
        part.write_text(text[:at] + _ALONE + text[at:], encoding="utf-8")


def inline(path: Path) -> str:
    """Return the SVG of a file as it goes into a page: no prolog, no style of its own, and
    ids that no other figure has."""
    text = path.read_text(encoding="utf-8").replace(_ALONE, "")
    text = text[text.index("<svg") :]
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r'(id="|href="#|url\(#)', rf"\1{path.stem}-", text)


def clean(text: str) -> str:
    """Return text that XML allows: other control characters become U+FFFD."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def main(render: Callable[[report_tables.Tables, Path], bool]) -> None:
    """Run a figure's script alone: RUN_DIR OUT.svg, from the tables of an analysed run."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m analysis.figures.NAME RUN_DIR OUT.svg")
    folder = Path(sys.argv[1]) / "tables"
    loaded = {name: pl.read_parquet(folder / f"{name}.parquet") for name in report_tables.names()}
    if not render(report_tables.Tables(**loaded), Path(sys.argv[2])):
        sys.exit("nothing to draw: the run has no such events")
