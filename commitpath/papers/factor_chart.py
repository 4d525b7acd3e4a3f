"""Draw factor attribution: shares of the variance, effects of levels, the largest interactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.figures import style
from commitpath.charts import frame, look, sweep_axes
from commitpath.papers.effects import Factor, Fit, Term
from model import operations

MARKERS = "so^DvPX<>"  # of all, then of each kind of operation
LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1.5, 1.2)), (0, (5, 1, 1, 1)))
INTERACTIONS = 3  # drawn, the largest


def color(op: str) -> str:
    """Return the color of an operation, or of all of them."""
    return style.SQL if op == "all" else operations.color(op)


def marker(op: str) -> str:
    """Return the marker of an operation, or of all of them."""
    return MARKERS[(["all", *operations.kinds()]).index(op) % len(MARKERS)]


def render(
    figure: Mapping[str, Any], factors: list[Factor], fits: Mapping[str, Fit | None], notes: list[str]
) -> Figure:
    """Draw the fits of the operations that have one; without any, a page with text only."""
    fitted = {op: fit for op, fit in fits.items() if fit}
    handles: list[Any] = [Patch(color=color(op), label=op) for op in fitted]
    first = next(iter(fitted.values()), None)
    if first is None:
        return frame.frame(figure, [], ["missing: too few cells have a run.", *notes], [], 0.3)[0]
    ranked = sorted(first.terms, key=lambda term: -term.share)
    levels = sum(len(factor.levels) + 0.8 for factor in factors)
    upper_height = 0.6 + max(0.2 * (len(ranked) + 1), 0.14 * levels)
    made, part = frame.frame(figure, [], notes, handles, upper_height + 1.75)
    parts: Any = part.subfigures(2, 1, height_ratios=[upper_height, 1.75])
    upper, lower = parts
    left, right = upper.subplots(1, 2, width_ratios=(3, 2.4))
    shares(left, ranked, fitted)
    effects(right, factors, fitted)
    pairs = [term for term in ranked if len(term.factors) == 2][:INTERACTIONS]
    panels = lower.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    op = next(iter(fitted))
    for axes, term in zip(panels, pairs, strict=True):
        interaction(axes, first, term, axes is panels[0], op)
    return made


def shares(axes: Axes, ranked: list[Term], fits: Mapping[str, Fit]) -> None:
    """Draw each term's share of the variance, with a bar for each operation."""
    style.grid(axes, "x")
    thick = 0.8 / len(fits)
    for row, (op, fit) in enumerate(fits.items()):
        values = [(fit.term(*term.factors) or term).share for term in ranked] + [fit.residual]
        places = [at - 0.4 + thick * (row + 0.5) for at in range(len(values))]
        axes.barh(places, [100 * value for value in values], thick, color=color(op), linewidth=0)
    names = [f"{term.name}" for term in ranked]
    axes.set_yticks(range(len(names) + 1), [*names, "three-way and higher"])
    axes.set_ylim(len(names) + 0.6, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of the variance of log TPS, %")
    axes.set_title("how much each setting explains", fontweight="bold", fontsize=look.POINTS)


def effects(axes: Axes, factors: list[Factor], fits: Mapping[str, Fit]) -> None:
    """Draw the ratio of each level to the geometric mean of its factor's levels."""
    style.grid(axes, "x")
    axes.axvline(1, color=style.INK, linewidth=0.7)
    place, places, names = 0.0, [], []
    for factor in factors:
        place += 0.8
        inside = f", in {factor.within[1]}" if factor.within else ""
        places.append(place)
        names.append(f"{factor.name}{inside}")
        for level in factor.levels:
            place += 1
            places.append(place)
            names.append(f"{level}  ")
            for number, (op, fit) in enumerate(fits.items()):
                term = fit.term(factor.name)
                assert term is not None
                y = place + 0.22 * (number - (len(fits) - 1) / 2)
                axes.plot(term.effects[(level,)], y, marker(op), color=color(op), markersize=3.2)
        place += 0.2
    sweep_axes.log_axis(axes.xaxis)
    axes.set_yticks(places, names)
    for text, name in zip(axes.get_yticklabels(), names, strict=True):
        text.set_fontweight("normal" if name.endswith("  ") else "bold")
    axes.set_ylim(place + 0.8, 0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("TPS over the geometric mean (log)")
    axes.set_title("what each level does, ×", fontweight="bold", fontsize=look.POINTS)


def interaction(axes: Axes, fit: Fit, term: Term, first: bool, op: str) -> None:
    """Draw the rate fitted by main effects and this interaction, with a line for each level of one factor."""
    style.grid(axes, "y")
    a, b = term.factors
    on_a, on_b = (list(dict.fromkeys(key[at] for key in term.effects)) for at in (0, 1))
    mains = [fit.term(name) for name in (a, b)]
    for number, level in enumerate(on_a):
        tps = [
            fit.mean * mains[0].effects[(level,)] * mains[1].effects[(other,)] * term.effects[(level, other)]  # type: ignore[union-attr]
            for other in on_b
        ]
        line = Line2D(range(len(on_b)), tps, color=style.SQL, linestyle=LINES[number % len(LINES)],
                      marker="oxs^"[number % 4], markersize=3.5, linewidth=1.1, label=level)  # fmt: skip
        axes.add_line(line)
    sweep_axes.log_axis(axes.yaxis)
    axes.autoscale_view()
    axes.set_xticks(range(len(on_b)), on_b)
    axes.set_xlim(-0.35, len(on_b) - 0.65)
    axes.set_xlabel(b)
    if first:
        axes.set_ylabel(f"TPS of {op}, fitted (log)")
    axes.legend(title=a, title_fontsize=look.SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5), borderpad=0)
    axes.set_title(f"{term.name}: {term.share:.1%}", fontweight="bold", fontsize=look.POINTS)
