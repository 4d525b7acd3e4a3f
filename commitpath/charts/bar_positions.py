"""Lay out the bars of a panel: a bar is 1 wide, with gaps between series and groups."""

from __future__ import annotations

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
        before = None
        for value in drawn.values:
            if value.bar.group != group:
                continue
            here = (value.bar.series, value.bar.reading)
            if before not in (None, here):
                x += SERIES_GAP
            before = here
            at.append(x)
            x += 1
        groups[group] = (begin + x - 1) / 2
        x += GROUP_GAP
    return Places(tuple(at), groups, authors, x - GROUP_GAP)


def pairs(values: tuple[Value, ...]) -> list[list[int]]:
    """Return the indices of adjacent values that differ only in their SQLite release."""
    found: list[list[int]] = []
    before = None
    for number, value in enumerate(values):
        here = (value.bar.group, value.bar.series, value.bar.reading)
        if here == before:
            found[-1].append(number)
        else:
            found.append([number])
        before = here
    return found
