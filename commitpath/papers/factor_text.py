"""Describe a fit in sentences: the factor that matters most, and the factors that it depends on."""

from __future__ import annotations

from commitpath.charts.look import digits
from commitpath.papers.effects import Fit, Term

WORTH = 0.01  # share of the variance below which an interaction is not mentioned


def sentences(fit: Fit, op: str, noisy: bool = False) -> list[str]:
    """Return sentences on the rate of an operation (or all). noisy: the runs were in real time."""
    of = "all operations" if op == "all" else f"{op}s"
    mains = sorted([term for term in fit.terms if len(term.factors) == 1], key=lambda term: -term.share)
    first = mains[0]
    best, worst = extremes(first)
    lines = [
        f"For {of}, {first.name} matters most: {first.share:.0%} of the variance of log TPS; {best} is "
        f"{digits(fit.ratio(first.name, best, worst, {}))}× {worst} in the geometric mean."
    ]
    lines += [conditional(fit, first)] if conditional(fit, first) else []
    rest = [f"{term.name} {term.share:.1%} ({spread(fit, term)})" for term in mains[1:]]
    lines.append(f"Then {'; '.join(rest)}.")
    pairs = sum(term.share for term in fit.terms if len(term.factors) == 2)
    lines.append(
        f"All two-way interactions together have {pairs:.1%}; what is left, {fit.residual:.1%}, are "
        + (
            "interactions of three and more settings, and noise."
            if noisy
            else "interactions of three and more settings, not noise: a run in virtual time has none."
        )
    )
    if abs(fit.unshared) > 0.0005:
        lines.append(
            f"Cells are missing, so terms overlap and {abs(fit.unshared):.1%} of the variance is counted "
            f"{'twice' if fit.unshared < 0 else 'for none'}."
        )
    return lines


def conditional(fit: Fit, term: Term) -> str:
    """Return the factors that a factor's effect depends on, with its ratio at each of their levels."""
    (name,), (best, worst) = term.factors, extremes(term)
    others = [other for other in fit.terms if len(other.factors) == 2 and name in other.factors]
    parts = []
    for other in sorted(others, key=lambda term: -term.share):
        if other.share < WORTH:
            continue
        (partner,) = set(other.factors) - {name}
        at = 1 - other.factors.index(name)
        levels = dict.fromkeys(key[at] for key in other.effects)
        ratios = ", ".join(
            f"{digits(fit.ratio(name, best, worst, {partner: level}))}× at {level}" for level in levels
        )
        parts.append(f"{partner} ({best} over {worst} {ratios}; {other.share:.1%} of the variance)")
    return f"It is conditional on {'; and on '.join(parts)}." if parts else ""


def spread(fit: Fit, term: Term) -> str:
    """Return the best level of a factor over its worst: `wal 3.2× delete`."""
    best, worst = extremes(term)
    return f"{best} {digits(fit.ratio(term.factors[0], best, worst, {}))}× {worst}"


def extremes(term: Term) -> tuple[str, str]:
    """Return the levels with the largest and the smallest effect."""
    ranked = sorted(term.effects, key=lambda key: term.effects[key])
    return ranked[-1][0], ranked[0][0]
