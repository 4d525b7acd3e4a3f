"""Turn blocks recognised as a file's into findings: their label is confirmed, or contradicted."""

from analysis.content.units import Evidence
from analysis.content.verdicts import Finding, confirmed, contradicted
from analysis.schemas.ledger import LABELS
from base.arrays import Ints


def judge(given: Evidence, rule: str, label: str, units: Ints) -> list[Finding]:
    """Confirm the units that have the label, and contradict others.

    Copies in a filesystem's journal are skipped: they are judged by the filesystem's module.
    """
    found = given.units.label[units]
    own, copied = (found == LABELS.index(name) for name in (label, "filesystem journal"))
    return [
        confirmed(rule, units[own]),
        contradicted(f"{rule} under another label", units[~own & ~copied]),
    ]
