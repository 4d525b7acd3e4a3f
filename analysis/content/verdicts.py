"""What the bytes say of each unit: confirmed, silent or contradicted, and by which rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.ledger.arrays import Ints

SILENT, CONFIRMED, CONTRADICTED = range(3)
STATES = ("silent", "confirmed", "contradicted")


class Said(NamedTuple):
    """One rule's answer for some units."""

    rule: str
    state: int
    units: Ints
    by_place: bool = False  # it is the bytes of metadata that say so, of the place


def confirmed(rule: str, units: Ints, by_place: bool = False) -> Said:
    """The bytes of these units say what the ledger says of them, or with `by_place` those of what maps
    them."""
    return Said(rule, CONFIRMED, units, by_place)


def contradicted(rule: str, units: Ints) -> Said:
    """The bytes of these units say something else than the ledger."""
    return Said(rule, CONTRADICTED, units)


class Verdicts(NamedTuple):
    """Of each unit; `rule` is a place in `rules`, -1 for none."""

    state: NDArray[np.int8]
    rule: Ints
    rules: tuple[str, ...]


def decide(size: int, said: list[Said]) -> Verdicts:
    """Put the answers together: a contradiction counts before a confirmation, an earlier rule first."""
    rules = tuple(dict.fromkeys(one.rule for one in said))
    state, rule = np.zeros(size, np.int8), np.full(size, -1, np.int64)
    for wanted in (CONFIRMED, CONTRADICTED):
        for one in said:
            if one.state == wanted:
                new = one.units[state[one.units] < wanted]
                state[new], rule[new] = wanted, rules.index(one.rule)
    return Verdicts(state, rule, rules)
