"""What the bytes say of each unit: confirmed, silent or contradicted, and by which rule."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from base.arrays import Ints

SILENT, CONFIRMED, CONTRADICTED = range(3)
_LAST = 3
STATES = ("silent", "confirmed", "contradicted")
# the rule by which a copy in a journal is confirmed that has all bytes of its block
COPY = "copy that a tag of the journal names"


class Said(NamedTuple):
    """One rule's answer for some units."""

    rule: str
    state: int
    units: Ints
    by_place: bool = False  # confirmed, by what metadata say of the place
    unless_confirmed: bool = False  # contradicted, where no other reader knows better


def confirmed(rule: str, units: Ints, by_place: bool = False) -> Said:
    """The bytes of these units say what the ledger says of them, or with `by_place` those of what maps
    them."""
    return Said(rule, CONFIRMED, units, by_place)


def contradicted(rule: str, units: Ints, unless_confirmed: bool = False) -> Said:
    """The bytes of these units say something else than the ledger; with `unless_confirmed` only where they do
    not confirm it otherwise: a file's bytes may be kept within an inode."""
    return Said(rule, CONTRADICTED, units, unless_confirmed=unless_confirmed)


class Verdicts(NamedTuple):
    """Of each unit; `rule` is a place in `rules`, -1 for none."""

    state: NDArray[np.int8]
    rule: Ints
    rules: tuple[str, ...]


def decide(size: int, said: list[Said]) -> Verdicts:
    """Put the answers together, an earlier rule first: what its own bytes confirm, then where they are of
    something else, then what its place confirms; any other contradiction counts before all of these."""
    rules = tuple(dict.fromkeys(one.rule for one in said))
    state, rule = np.zeros(size, np.int8), np.full(size, -1, np.int64)
    for one in sorted(said, key=_turn):
        free = CONTRADICTED if _turn(one) == _LAST else CONFIRMED
        new = one.units[state[one.units] < free]
        state[new], rule[new] = one.state, rules.index(one.rule)
    return Verdicts(state, rule, rules)


def _turn(one: Said) -> int:
    """Return when an answer counts."""
    if one.state == CONFIRMED:
        return 2 if one.by_place else 0
    return 1 if one.unless_confirmed else _LAST
