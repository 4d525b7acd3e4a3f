"""Expand a claim into readings, one for each meaning of its ambiguous words, with pairs of cells."""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from base.identity import FIRST_ENGINE
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import at_most, checked, matches
from commitpath.results.metrics import WHOLE, check_op
from model import engines
from model.cell import Cell


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its cells, and which of them counts.

    takes: (cell, op), with op as in commitpath.results.metrics.
    """

    takes: tuple[tuple[Cell, str], ...]
    pick: str = "only"  # or best, worst


@dataclass(frozen=True)
class Pair:
    """One comparison of a claim: a value of left over one of right."""

    label: str
    left: Side
    right: Side


@dataclass(frozen=True)
class Reading:
    """One way to read a claim. words: each ambiguous word of the paper, with its meaning here."""

    name: str
    words: Mapping[str, str]
    build: str
    holds: str  # all: every pair has to hold; largest: the one with the largest ratio
    pairs: tuple[Pair, ...]
    unmeasured: str | None = None  # why the requested runs cannot judge it


@dataclass(frozen=True)
class Change:
    """Settings that replace those of a paper's cells. where: axis → values of the cells that it changes."""

    settings: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, list[str]] = field(default_factory=dict)

    def made(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return a cell's settings after the change."""
        # `where` may name defaults, too
        whole = {name: str(axis.spec["default"]) for name, axis in axes().items()} | dict(settings)
        return {**settings, **(self.settings if matches(self.where, whole) else {})}


UNCHANGED = Change()


def entries(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the readings of a claim in claims.yml with `left` and `right`, and those of their `also`."""
    for entry in content.get("readings", []):
        both = {
            side: {axis: values[at] for axis, values in entry["compare"].items()}
            for at, side in enumerate(("left", "right"))
            if "compare" in entry
        }
        yield {**entry, **both}
        for label, settings in entry.get("also", {}).items():
            each = {**entry.get("each", {}), **settings}
            yield {**entry, **both, "name": f"the same, {label}", "each": each}


def wordings(entry: Mapping[str, Any], words: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield each combination of meanings of the ambiguous words in a reading; the headline's first."""
    used = [word for word in words if mentions(entry, word)]
    for values in itertools.product(*(words[word] for word in used)):
        yield dict(zip(used, values, strict=True))


def mentions(content: Any, word: str) -> bool:
    """Return whether a word is a value anywhere in YAML content; keys do not count."""
    if isinstance(content, dict):
        return any(mentions(value, word) for value in content.values())
    return any(mentions(value, word) for value in content) if isinstance(content, list) else content == word


def reading(
    entry: Mapping[str, Any],
    words: Mapping[str, str],
    build: str,
    constants: Mapping[str, Any],
    most: Mapping[str, int],
    change: Change = UNCHANGED,
) -> Reading:
    """Return a reading in one build, with every pair that its lists make. most: as in at_most.

    change: of the cells of both sides.
    """
    limits = (words, most, change)
    cases = entry.get("each", {})
    pairs = []
    for case in cases if isinstance(cases, list) else [cases]:
        for each in products(case):
            base = {**constants, "sqlite": build, **each}
            for left in sides(entry["left"], base, *limits):
                for right in sides(entry["right"], base, *limits):
                    varied = {**each, **left[0], **right[0]}
                    shown = [words.get(str(varied[name]), str(varied[name])) for name in varied]
                    pairs.append(Pair(" ".join(shown), left[1], right[1]))
    return Reading(entry["name"], words, build, entry.get("holds", "all"), tuple(pairs))


def products(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield settings with one value for each name, for each combination of their lists."""
    lists = [value if isinstance(value, list) else [value] for value in settings.values()]
    for values in itertools.product(*lists):
        yield dict(zip(settings, values, strict=True))


def sides(
    given: Mapping[str, Any],
    base: Mapping[str, Any],
    words: Mapping[str, str],
    most: Mapping[str, int],
    change: Change,
) -> Iterator[tuple[dict[str, Any], Side]]:
    """Yield (values taken from lists, side) for each combination; best_of and worst_of yield one side."""
    for kind in ("best_of", "worst_of"):
        if kind in given:
            takes = [
                take({**base, **values}, words, most, change)
                for entry in given[kind]
                for values in products(entry)
            ]
            yield {}, Side(tuple(takes), kind.removesuffix("_of"))
            return
    for values in products(given):
        lists = {name: value for name, value in values.items() if isinstance(given[name], list)}
        yield lists, Side((take({**base, **values}, words, most, change),))


def take(
    settings: Mapping[str, Any], words: Mapping[str, str], most: Mapping[str, int], change: Change
) -> tuple[Cell, str]:
    """Return (cell, op) of settings in which words may stand for values."""
    values = of_engine({name: words.get(str(value), value) for name, value in settings.items()})
    op = check_op(str(values.pop("op", WHOLE)))
    return cell_with(tuple(sorted(change.made(at_most(checked(values), most)).items()))), op


def of_engine(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the paper's SQLite release if their engine has none."""
    lacks = "sqlite" in engines.unused_axes(str(settings.get("engine", FIRST_ENGINE)))
    return {name: value for name, value in settings.items() if name != "sqlite" or not lacks}


# Many pairs share a cell, and making a cell takes milliseconds.
@functools.cache
def cell_with(settings: tuple[tuple[str, str], ...]) -> Cell:
    """Return the cell of checked settings."""
    return make_cell({name.upper(): text for name, text in settings})
