"""Combine content readers' findings: which labels the bytes confirm or contradict, and by which rule."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.content.units import Evidence
from analysis.schemas.ledger import LABELS
from base.arrays import Ints

SILENT, CONFIRMED, CONTRADICTED = range(3)
_LAST = 3
STATES = ("silent", "confirmed", "contradicted")
# the rule that confirms a journal copy by all bytes of its block
COPY = "copy that a tag of the journal names"


class Finding(NamedTuple):
    """The result of one rule for some units."""

    rule: str
    state: int
    units: Ints
    by_place: bool = False  # confirmed by the filesystem's mapping of the place
    unless_confirmed: bool = False  # contradicted only where no other reader confirms it


def confirmed(rule: str, units: Ints, by_place: bool = False) -> Finding:
    """Return a finding that the units' bytes match the ledger; `by_place`: by the metadata that map them."""
    return Finding(rule, CONFIRMED, units, by_place)


def contradicted(rule: str, units: Ints, unless_confirmed: bool = False) -> Finding:
    """Return a finding that the units' bytes contradict the ledger.

    unless_confirmed: does not count for units confirmed otherwise: a file's bytes may be stored in its inode.
    """
    return Finding(rule, CONTRADICTED, units, unless_confirmed=unless_confirmed)


class Verdicts(NamedTuple):
    """State and rule of each unit; `rule` is an index in `rules`, -1 for none."""

    state: NDArray[np.int8]
    rule: Ints
    rules: tuple[str, ...]


def decide(size: int, findings: list[Finding]) -> Verdicts:
    """Combine the findings, an earlier rule first.

    In order: confirmed by the unit's own bytes, contradicted `unless_confirmed`, confirmed by place. Any
    other contradiction overrides all of these.
    """
    rules = tuple(dict.fromkeys(finding.rule for finding in findings))
    state, rule = np.zeros(size, np.int8), np.full(size, -1, np.int64)
    for finding in sorted(findings, key=_turn):
        free = CONTRADICTED if _turn(finding) == _LAST else CONFIRMED
        new = finding.units[state[finding.units] < free]
        state[new], rule[new] = finding.state, rules.index(finding.rule)
    return Verdicts(state, rule, rules)


def _turn(finding: Finding) -> int:
    """Return the position of a finding in the order in which they are applied."""
    if finding.state == CONFIRMED:
        return 2 if finding.by_place else 0
    return 1 if finding.unless_confirmed else _LAST


def judge_label(given: Evidence, rule: str, label: str, units: Ints) -> list[Finding]:
    """Confirm the units that have the label, and contradict others.

    Copies in a filesystem's journal are skipped: they are judged by the filesystem's module.
    """
    found = given.units.label[units]
    own, copied = (found == LABELS.index(name) for name in (label, "filesystem journal"))
    return [
        confirmed(rule, units[own]),
        contradicted(f"{rule} under another label", units[~own & ~copied]),
    ]
