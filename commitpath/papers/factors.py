"""Attribute the variance of a grid's TPS to its settings: as a figure, a table and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from base.errors import BadInputError
from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.papers import factor_chart, factor_text
from commitpath.papers.effects import Factor, Fit, Row, TooFewCells, fit
from commitpath.papers.paper import Paper
from commitpath.results.metrics import check_op
from commitpath.results.query import Number, Results
from commitpath.sweep.grid import expand
from model.cell import Cell

COLUMNS = ("op", "term", "degrees_of_freedom", "share", "level", "ratio")


def make(
    paper: Paper, results: Results, data: Path, figure: Mapping[str, Any]
) -> tuple[dict[str, Any], list[list[Any]], Callable[[], Figure]]:
    """Return (content, table, drawing function) of a grid's factors. Raises BadInputError."""
    cells = [run.cell for run in expand(figure["grid"], paper.overrides, most=paper.most).runs]
    factors = read(figure["factors"], cells, data)
    rows = [row_of(figure["factors"], cell, data) for cell in cells]
    found = [results.find(cell) for cell in cells]
    lost = {cell_id(cell): str(one.reason) for cell, one in zip(cells, found, strict=True) if not one.runs}
    fits = {
        op: fitted(factors, rows, [one.number("tps", op) for one in found])
        for op in map(check_op, figure["ops"])
    }
    noisy = cells[0].clock != "virtual"
    words = {op: factor_text.sentences(made, op, noisy) for op, made in fits.items() if made}
    first = next(iter(words), None)
    notes = [" ".join(words[first] if op == first else words[op][:1]) for op in words]
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


def fitted(factors: list[Factor], rows: Sequence[Row], numbers: list[Number]) -> Fit | None:
    """Return the fit to the cells that have a value, or None if they are too few."""
    pairs = [(row, one.value) for row, one in zip(rows, numbers, strict=True) if one.value is not None]
    try:
        return fit(factors, [row for row, _ in pairs], [value for _, value in pairs])
    except TooFewCells:
        return None


def read(content: Mapping[str, Any], cells: list[Cell], data: Path) -> list[Factor]:
    """Return the factors of a figure's data, with the levels that its cells have."""
    rows = [row_of(content, cell, data) for cell in cells]
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
        if "within" in how:
            parent, level = next(iter(how["within"].items()))
            if parent not in row:
                raise BadInputError(f"{data}: factors: {name}: within {parent}, which must precede it")
            if row[parent] != level:
                row[name] = None
                continue
        value = cell.value(how["axis"])
        named = [level for level, values in how.get("levels", {}).items() if value in values]
        if "levels" in how and not named:
            raise BadInputError(f"{data}: factors: {name}: {how['axis']}={value} is not one of its levels")
        row[name] = named[0] if named else str(value)
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
    return {
        "geometric_mean_tps": made.mean,
        "terms": terms,
        "residual": made.residual,
        "unshared": made.unshared,
    }


def lines(op: str, made: Fit) -> list[list[Any]]:
    """Return a fit as rows of COLUMNS."""
    rows = [
        [op, term.name, term.freedom, term.share, " × ".join(key), ratio]
        for term in made.terms
        for key, ratio in term.effects.items()
    ]
    return [*rows, [op, "residual", "", made.residual, "", ""]]
