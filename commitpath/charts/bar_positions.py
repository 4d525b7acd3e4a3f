"""Lay out the bars of a panel: a bar is 1 wide, with gaps between series and groups."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from commitpath.charts.model import Drawn, Value

SERIES_GAP, GROUP_GAP = 0.35, 1.1


@dataclass(frozen=True)
class Places:
    """x of each value, centre of each group, x of the authors' runs by group, and the panel's width."""

    values: tuple[float, ...]
    groups: dict[str, float]
    authors: dict[str, float]
    width: float


def places(drawn: Drawn) -> Places:
    """Return the places of a panel, from left to right."""
    at: list[float] = []
    groups: dict[str, float] = {}
    authors: dict[str, float] = {}
    x = 0.0
    for group in drawn.panel.groups:
        begin = x
        if group in drawn.panel.authors:
            authors[group] = x
            x += 1
        bars = [value.bar for value in drawn.values if value.bar.group == group]
        for before, bar in zip([None, *bars], bars, strict=False):
            x += SERIES_GAP * bool(before and (before.series, before.reading) != (bar.series, bar.reading))
            at.append(x)
            x += 1
        groups[group] = (begin + x - 1) / 2
        x += GROUP_GAP
    return Places(tuple(at), groups, authors, x - GROUP_GAP)


def pairs(values: tuple[Value, ...]) -> list[list[int]]:
    """Return the indices of adjacent values that differ only in their SQLite release or board."""
    bars = enumerate(value.bar for value in values)
    groups = itertools.groupby(bars, lambda entry: (entry[1].group, entry[1].series, entry[1].reading))
    return [[number for number, _ in alike] for _, alike in groups]
