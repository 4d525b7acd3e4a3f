"""Draw factor attribution as bars: shares of the variance, effects of levels, the largest interactions."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from commitpath.charts import bars, frame, look
from commitpath.charts.model import Bar, Drawn, Panel, Value
from commitpath.charts.spec import CYCLE
from commitpath.papers.effects import Factor, Fit, Term
from commitpath.results.query import Found, Number
from model.cell import Cell

INTERACTIONS = 3  # drawn, the largest
REST = "three-way\nand higher"


def render(
    figure: Mapping[str, Any],
    factors: Sequence[Factor],
    fits: Mapping[str, Fit | None],
    notes: list[str],
    cell: Cell,
) -> Figure:
    """Draw the fits of the operations that have one; without any, a page with text only. cell: any."""
    fitted = {op: fit for op, fit in fits.items() if fit}
    first = next(iter(fitted.values()), None)
    if first is None:
        return frame.frame(figure, ["missing: too few cells have a run.", *notes], [], 0.3)[0]
    op = next(iter(fitted))
    colors = {op: "plain" if op == "all" else op for op in fitted}
    ranked = sorted(first.terms, key=lambda term: -term.share)
    shares = {
        (term.name.replace(" × ", " ×\n"), op): 100 * (fit.term(*term.factors) or term).share
        for term in ranked
        for op, fit in fitted.items()
    }
    shares |= {(REST, op): 100 * fit.residual for op, fit in fitted.items()}
    effects = {
        (f"{level},\n{factor.name}", op): term.effects[(level,)]
        for factor in factors
        for level in factor.levels
        for op, fit in fitted.items()
        if (term := fit.term(factor.name))
    }
    pairs = [term for term in ranked if len(term.factors) == 2][:INTERACTIONS]
    levels = dict.fromkeys(level for term in pairs for level, _ in term.effects)
    colors |= {
        level: level.upper() if look.is_color(level.upper()) else other
        for level, other in zip(levels, itertools.cycle(CYCLE), strict=False)
    }
    drawn = [
        panel("how much each setting explains", "share of the variance of log TPS, %", shares, colors, cell),
        panel("what each level does, ×", "TPS over the geometric mean", effects, colors, cell),
        *(
            panel(f"{term.name}: {term.share:.1%}", f"TPS of {op}, fitted", rates(first, term), colors, cell)
            for term in pairs
        ),
    ]
    options = {**figure, "plain": True, "rows": [[0], [1], list(range(2, len(drawn)))]}
    return bars.render(options, drawn, notes)


def panel(
    title: str, label: str, numbers: Mapping[tuple[str, str], float], colors: Mapping[str, str], cell: Cell
) -> Drawn:
    """Return a panel of numbers by (group, series)."""
    groups, series = (tuple(dict.fromkeys(key[at] for key in numbers)) for at in (0, 1))
    values = [
        Value(
            Bar(group, name, "", "", "all", cell, colors[name], False, False),
            Found("ok", None),
            Number(number, number, number),
            None,
            None,
            (),
        )
        for (group, name), number in numbers.items()
    ]
    every = tuple(value.bar for value in values)
    made = Panel(title, "", groups, series, every, (groups[0], series[0]), metric=label)
    return Drawn(made, tuple(values), ())


def rates(fit: Fit, term: Term) -> dict[tuple[str, str], float]:
    """Return the rates fitted by main effects and an interaction, by levels (second factor, first)."""
    a, b = (fit.term(name) for name in term.factors)
    assert a is not None and b is not None
    groups = list(b.effects)
    return {
        (second, first): fit.mean * a.effects[(first,)] * b.effects[(second,)] * term.effects[first, second]
        for first, second in sorted(term.effects, key=lambda key: groups.index((key[1],)))
    }
