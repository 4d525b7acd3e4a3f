"""Colours and fonts of all figures; save a figure as SVG, PNG or PDF, or embed it in a page.

Each label, file role and kind of command has one colour everywhere. The colours are from the sets of Okabe
and Ito and of Paul Tol, which colour-blind readers can distinguish. Text and lines are `currentColor`: an
embedded figure uses the page's text colour, a figure alone follows the reader's light or dark scheme.
"""

import re
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl

mpl.use("svg")
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from base import scratch
from base.errors import LabError
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
# Labels of written bytes, in the order in which figures stack them.
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
# Commands without written bytes.
COMMANDS = {name: BLOCKS[name] for name in ("flush", "read", "discard")}
SQL = "#5B6B7B"
FS = "#A3A9AF"
INK = "#010203"  # becomes currentColor
FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"
WIDTH = 9.6  # inches: 691 CSS pixels at 72 per inch, drawn at the page's width

_ALONE = "<style>:root{color:#1b1f24}@media(prefers-color-scheme:dark){:root{color:#e6e8ea}}</style>"


def figure(height: float, width: float = WIDTH, points: float = 9) -> Figure:
    """Return an empty figure. Sizes are in inches; text has `points`, the smallest half a point less."""
    mpl.rcParams.update(
        {
            "svg.fonttype": "none",
            "pdf.fonttype": 42,  # TrueType, embedded
            "font.family": "DejaVu Sans",  # comes with matplotlib, so texts are measured with it
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
    """Draw faint grid lines across `axis` and make the background transparent."""
    axes.patch.set_visible(False)
    axes.grid(axis=axis, color=INK, alpha=0.14, linewidth=0.6)


# LaTeX that typesets `_` as \_ and the narrow space of thousands as \,, where Matplotlib measures texts.
_PREAMBLE = (
    r"\begingroup\catcode`\_=\active\gdef_{\textunderscore}\endgroup"
    r"\AtBeginDocument{\catcode`\_=\active}"
    r"\DeclareUnicodeCharacter{202F}{\,}"
)


def save(made: Figure, path: Path) -> None:
    """Write the figure as SVG, PNG, PDF or PGF, by the suffix of `path`. The same data gives the same bytes.

    PGF needs pdflatex, from which Matplotlib gets the size of each text. Raises LabError if it gives none.
    """
    kind = path.suffix.removeprefix(".")
    # compute the layout once; savefig would compute it twice
    if engine := made.get_layout_engine():
        engine.execute(made)
        made.set_layout_engine(None)
    with scratch.whole(path) as part:
        if kind == "pgf":
            # in the paper's own fonts
            with mpl.rc_context(
                {"pgf.texsystem": "pdflatex", "pgf.rcfonts": False, "pgf.preamble": _PREAMBLE}
            ):
                try:
                    made.savefig(part, format="pgf")
                except ValueError as error:
                    why = next(
                        (line for line in str(error).split("\n") if line.startswith("!")), "! it failed"
                    )
                    raise LabError(
                        f"{path}: LaTeX cannot typeset a text of the figure ({why[2:]}); use .pdf or .svg"
                    ) from error
            # Matplotlib leaves `_` as it is, which begins a subscript
            text = re.sub(
                r"(?m)^\\pgftext.*$",
                lambda line: line[0].replace("_", r"\_").replace("\u202f", r"\,"),
                part.read_text("utf-8"),
            )
            part.write_text(text, encoding="utf-8")
            return
        if kind != "svg":
            # dark text on nothing cannot be read in a dark viewer; SVG follows its reader's scheme
            made.patch.set_visible(kind == "png")
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


def inline(path: Path, label: str) -> Markup:
    """Return the SVG of a file for embedding in a page: named, without prolog and style, with unique ids."""
    text = path.read_text(encoding="utf-8").replace(_ALONE, "")
    text = text[text.index("<svg") :]
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(id="|href="#|url\(#)', rf"\1{path.stem}-", text)
    return Markup('<svg role="img" aria-label="{}"').format(label) + Markup(text.removeprefix("<svg"))


def clean(text: str) -> str:
    """Return text that is valid in XML: control characters become U+FFFD."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def dotted(axes: Axes, x: float, alpha: float = 0.35, **look: Any) -> None:
    """Draw a dotted vertical line, which separates phases, operations or transactions."""
    axes.axvline(x, color=INK, alpha=alpha, linewidth=0.7, linestyle=(0, (2, 2)), **look)


def centered(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    """Write a text around a point."""
    axes.text(x, y, text, **{"ha": "center", "va": "center", **look})


def luminance(color: str) -> float:
    """Return the relative luminance of #rrggbb, from 0 to 1."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(color: str) -> str:
    """Return the colour of text on #rrggbb: white if its relative luminance is below 0.3, else black."""
    return "white" if luminance(color) < 0.3 else "black"
