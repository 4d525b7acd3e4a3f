"""Attribute the variance of a grid's TPS to its settings: fit, figure, table and sentences."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from base.errors import BadInputError
from commitpath.cells.grid import expand
from commitpath.cells.identities import cell_id
from commitpath.charts.look import digits
from commitpath.charts.model import VIRTUAL
from commitpath.papers import factor_chart
from commitpath.papers.effects import Factor, Fit, Row, Term, TooFewCells, fit
from commitpath.papers.paper import Paper
from commitpath.results.metrics import check_op
from commitpath.results.query import Found, Results
from model.cell import Cell

COLUMNS = ("op", "term", "degrees_of_freedom", "share", "level", "ratio")


def make(
    paper: Paper, results: Results, data: Path, figure: Mapping[str, Any]
) -> tuple[dict[str, Any], list[list[Any]], Callable[[], Figure]]:
    """Return (content, table, drawing function) of a grid's factors. Raises BadInputError."""
    cells = [run.cell for run in expand(figure["grid"], paper.overrides, most=paper.most).runs]
    rows = [row_of(figure["factors"], cell, data) for cell in cells]
    factors = read(figure["factors"], rows, data)
    found = [results.find(cell) for cell in cells]
    lost = {cell_id(cell): str(runs.reason) for cell, runs in zip(cells, found, strict=True) if not runs.runs}
    fits = {op: fitted(factors, rows, found, op) for op in map(check_op, figure["ops"])}
    noisy = cells[0].clock != "virtual"
    words = {op: sentences(made, op, noisy) for op, made in fits.items() if made}
    notes = [" ".join(lines if number == 0 else lines[:1]) for number, lines in enumerate(words.values())]
    if cells[0].board != VIRTUAL:
        notes.append(f"Of the medians of {cells[0].board}, a lab board, alone.")
    if lost:
        notes.append(
            f"{len(lost)} of {len(cells)} cells have no run: {'; '.join(sorted(set(lost.values())))}."
        )
    numbers = {
        "title": figure["title"],
        "grids": [figure["grid"]],
        "cells": [{"cell_id": cell_id(cell), **row} for cell, row in zip(cells, rows, strict=True)],
        "without_run": lost,
        "words": words,
        "fits": {op: made and document(made) for op, made in fits.items()},
    }
    table = [list(COLUMNS), *[line for op, made in fits.items() if made for line in lines(op, made)]]
    return numbers, table, lambda: factor_chart.render({"width": 9, **figure}, factors, fits, notes, cells[0])


def fitted(factors: list[Factor], rows: Sequence[Row], found: list[Found], op: str) -> Fit | None:
    """Return the fit to the cells that have a rate of an operation, or None if they are too few."""
    rates = [runs.number("tps", op).value for runs in found]
    pairs = [(row, rate) for row, rate in zip(rows, rates, strict=True) if rate is not None]
    try:
        return fit(factors, [row for row, _ in pairs], [rate for _, rate in pairs])
    except TooFewCells:
        return None


def read(content: Mapping[str, Any], rows: Sequence[Row], data: Path) -> list[Factor]:
    """Return the factors of a figure's data, with the levels that its cells have."""
    factors = []
    for name, how in content.items():
        levels = tuple(dict.fromkeys(level for row in rows if (level := row[name]) is not None))
        if len(levels) < 2:
            raise BadInputError(f"{data}: factors: {name}: the grid has one level of it, {', '.join(levels)}")
        within = next(iter(how["within"].items())) if "within" in how else None
        factors.append(Factor(name, levels, within))
    return factors


def row_of(content: Mapping[str, Any], cell: Cell, data: Path) -> dict[str, str | None]:
    """Return a cell's level of each factor. Raises BadInputError for a value without a level."""
    row: dict[str, str | None] = {}
    for name, how in content.items():
        for parent in how.get("within", ()):
            if parent not in row:
                raise BadInputError(f"{data}: factors: {name}: within {parent}, which must precede it")
        value = cell.value(how["axis"])
        if any(row[parent] != level for parent, level in how.get("within", {}).items()):
            row[name] = None
        elif "levels" not in how:
            row[name] = str(value)
        elif named := [level for level, values in how["levels"].items() if value in values]:
            row[name] = named[0]
        else:
            raise BadInputError(f"{data}: factors: {name}: {how['axis']}={value} is not one of its levels")
    return row


def document(made: Fit) -> dict[str, Any]:
    """Return a fit as JSON."""
    terms = [
        {
            "term": term.name,
            "degrees_of_freedom": term.freedom,
            "share": term.share,
            "ratios": {" × ".join(key): ratio for key, ratio in term.effects.items()},
        }
        for term in made.terms
    ]
    shares = {"residual": made.residual, "unshared": made.unshared}
    return {"geometric_mean_tps": made.mean, "terms": terms, **shares}


def lines(op: str, made: Fit) -> list[list[Any]]:
    """Return a fit as rows of COLUMNS."""
    rows = [
        [op, term.name, term.freedom, term.share, " × ".join(key), ratio]
        for term in made.terms
        for key, ratio in term.effects.items()
    ]
    return [*rows, [op, "residual", "", made.residual, "", ""]]


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
        f"All two-way interactions together have {pairs:.1%}; the rest, {fit.residual:.1%}, are "
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
