"""Dataclasses of a chart: a Panel of Bars, the Value of each with its runs, and a paper's Stated numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commitpath.results.metrics import METRICS
from commitpath.results.query import Causes, Found, Number
from model.cell import Cell

VIRTUAL = "virtual"  # a board, as playbooks/inventory calls it


@dataclass(frozen=True, eq=False)
class Bar:
    """One value of a figure: its place, and its cell.

    build: the SQLite release. reading: the meaning that an ambiguous word of the paper is given, or empty.
    """

    group: str
    series: str
    build: str
    reading: str
    op: str
    cell: Cell
    color: str
    light: bool
    hatched: bool
    outlined: bool = False  # of the virtual board, next to a lab board's
    samples: tuple[Cell, ...] = ()  # the same cell with other seeds and boards; their runs count, too

    @property
    def board(self) -> str:
        """Return the board of its cell."""
        return str(self.cell.board)

    @property
    def place(self) -> tuple[str, str]:
        """Return its place in the panel, apart from its build and reading."""
        return self.group, self.series

    @property
    def look(self) -> tuple[str, str, str]:
        """Return what distinguishes it from other bars at its place."""
        return self.build, self.reading, self.board


@dataclass(frozen=True)
class Panel:
    """A panel of a figure: bars in the order of drawing, numbers of the paper, the authors' runs."""

    title: str
    x: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    bars: tuple[Bar, ...]
    base: tuple[str, str]  # group and series that the others are compared with
    stated: tuple[Mapping[str, Any], ...] = ()
    authors: Mapping[str, tuple[tuple[float, int], ...]] = field(default_factory=dict)
    metric: str = "tps"

    @property
    def label(self) -> str:
        """Return the label of its numbers, with the unit."""
        return METRICS[self.metric].label if self.metric in METRICS else self.metric


@dataclass(frozen=True)
class Value:
    """A bar with its runs and number, the counts of a watched run, and marks of differences from the base."""

    bar: Bar
    found: Found
    number: Number
    transactions: int | None
    causes: Causes | None
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """A panel with its values, and numbers of the paper.

    lacking: how many of the virtual board's values, drawn next to a lab board's, are missing.
    """

    panel: Panel
    values: tuple[Value, ...]
    stated: tuple[Stated, ...]
    lacking: int = 0


def values_of(drawn: Sequence[Drawn]) -> list[Value]:
    """Return the values of all panels."""
    return [value for panel in drawn for value in panel.values]


def boards(drawn: Sequence[Drawn]) -> list[tuple[str, bool]]:
    """Return (label, whether it is outlined) of the boards in a figure; none if all is of the virtual one."""
    outlined = {value.bar.board: value.bar.outlined for value in values_of(drawn)}
    return [
        (f"{board} board" if board == VIRTUAL else board, hollow)
        for board, hollow in outlined.items()
        if hollow or board != VIRTUAL
    ]


@dataclass(frozen=True)
class Stated:
    """A number of the paper at a bar: tps, or a ratio over another bar.

    ours: the measured ratio; marks: the differences between the two bars.
    """

    bar: Bar
    tps: float | None
    ratio: float | None
    ours: float | None
    over: Bar | None
    marks: tuple[str, ...]
    source: str
