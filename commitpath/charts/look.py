"""Style of the figures: colors, page size and fonts, text width and wrapping, numbers as text."""

import functools
import itertools
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from analysis.figures import style
from base.errors import BadInputError
from base.text import decimals
from model import filesystems, operations

POINTS = 7.0
SMALL = 6.5  # points, the smallest text
MARGIN = 0.12  # inches that constrained layout and ticks leave at the sides of a text over the whole width
# By name, for `color` of a figure's data. The colors of operations are in workloads/operations.yml, those of
# filesystems in model/filesystems/.
COLORS = {
    "plain": style.SQL,
    "DELETE": style.FILES["journal"],
    "TRUNCATE": style.LABELS["filesystem journal"],
    "PERSIST": style.LABELS["inode/node"],
    "MEMORY": style.BLOCKS["discard"],
    "OFF": "#8C8C8C",
    "WAL": style.FILES["wal"],
    "NORMAL": "#4477AA",
    "FULL": "#B0376E",
    "EXTRA": "#E8C500",
    "mix": "#CC79A7",
}
# For many series, which differ in grey by their markers: Okabe and Ito's, and Paul Tol's.
HUES = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933"),
    *("#332288", "#44AA99", "#AA4499", "#117733", "#8C8C8C", "#DDCC77", "#CC6677", "#661100"),
)
PAPER = "#E0002D"  # numbers of the paper
FAILED = "#E0002D"
ABSENT = "#6B6B6B"  # missing, or left out by a grid
PLAIN = "#59626C"  # in a legend: of any series
HATCH = "/////"
# For bars about as dark as others.
HATCHES = ("", HATCH, "....", "\\\\\\\\\\", "xxxx", "-----", "|||||")
# Least difference of CIE L* between distinguishable greys, and L* above which a hatch is dark.
APART, BRIGHT = 15, 65


def colors() -> dict[str, str]:
    """Return all colors by name."""
    return COLORS | operations.colors() | filesystems.colors()


def color(name: str, light: bool = False) -> str:
    """Return a color by its name or as #RRGGBB, or mixed with white. Raises BadInputError."""
    if name.startswith("#"):
        return name
    if not is_color(name):
        raise BadInputError(f"color: {name!r} is none of {', '.join(colors())}")
    full = colors()[name]
    parts = [int(full[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * 0.55):02X}" for part in parts) if light else full


def is_color(name: str) -> bool:
    """Return whether a name has a color."""
    return name in colors()


def sequence(number: int) -> list[str]:
    """Return so many colors from dark to light, for values that are numbers."""
    scale = mpl.colormaps["viridis"]
    return [to_hex(scale(0.9 * at / max(number - 1, 1))) for at in range(number)]


def hues(series: Sequence[str]) -> dict[str, str]:
    """Return a color for each series: the one with its name in capitals, else one that no other has."""
    named = {name: COLORS[name.upper()] for name in series if name.upper() in COLORS}
    others = [name for name in series if name not in named]
    free = [hue for hue in HUES if hue not in named.values()]
    return named | dict(zip(others, itertools.cycle(free), strict=False))


def lightness(color: str) -> float:
    """Return CIE L* of #RRGGBB: 0 is black, 100 white."""
    luminance = style.luminance(color)
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def ink_on(color: str) -> str:
    """Return the color of a hatch on a color."""
    return style.INK if lightness(color) > BRIGHT else "white"


def hatches(colors: Mapping[str, str]) -> dict[str, str]:
    """Return a hatch for each series, none for one that differs in grey from all before it."""
    made: dict[str, str] = {}
    for name, color in colors.items():
        alike = {made[other] for other in made if abs(lightness(colors[other]) - lightness(color)) < APART}
        made[name] = next((hatch for hatch in HATCHES if hatch not in alike), HATCH)
    return made


def tick(value: float) -> str:
    """Return a number of an axis as text."""
    return thousands(value) if value >= 1000 else f"{value:g}"


def page(width: float, height: float) -> Figure:
    """Return an empty figure; inches."""
    made = style.figure(height, width, POINTS)
    mpl.rcParams.update({"hatch.linewidth": 0.6, "axes.titleweight": "normal", "legend.fontsize": SMALL})
    return made


@functools.cache
def extent(text: str, points: float = SMALL) -> float:
    """Return the width of a line of text in inches."""
    font = get_font(findfont("DejaVu Sans"))
    font.set_size(100 * points, 72)  # so large that no hint to pixels counts
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64 / 72 / 100


def wrapped(text: str, width: float, points: float = SMALL) -> list[str]:
    """Return text in lines of at most `width` inches, broken at blanks."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and extent(longer, points) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def thousands(value: float) -> str:
    """Return a whole number with separated thousands."""
    return f"{value:,.0f}".replace(",", "\u202f")


def digits(value: float) -> str:
    """Return a number with three digits, two below 1, without an exponent; a whole one as it is."""
    if value >= 99.95 or value == int(value):
        return thousands(value)
    return f"{value:.{decimals(value, 3) if value >= 1 else max(2, decimals(value, 2))}f}"


def few(value: float) -> str:
    """Return a count with one to three digits, as short as possible: 0, 0.004, 0.02, 3.98, 12, 240."""
    if value == 0:
        return "0"
    if value < 0.01:
        return f"{value:.{decimals(value, 1)}f}"
    text = f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
