"""Find written blocks with bytes of SQLite's files that are labelled as something else."""

import numpy as np

from analysis.content import btree, rollback, wal
from analysis.content.pages import KnownPages
from analysis.content.units import Evidence
from analysis.content.verdicts import Finding, contradicted
from analysis.schemas.ledger import LABELS
from base.arrays import Ints


def read(given: Evidence, known: KnownPages, salts: np.ndarray, certain: Ints) -> list[Finding]:
    """Contradict units, except `certain` ones, with bytes of a SQLite file under another label.

    Skipped: a filesystem's journal, which has copies of any page, and temporary files, which are databases of
    their own or VACUUM's copy of one.
    """
    units = given.units
    may_hold_any = [LABELS.index(name) for name in ("filesystem journal", "temporary file")]
    selected = np.flatnonzero((units.row >= 0) & ~np.isin(units.label, may_hold_any))
    selected = selected[~np.isin(selected, certain)]
    pages = given.blocks.take(units.row[selected])
    words = pages.view(np.uint64)
    here, elsewhere = known.same(words, np.maximum(units.offset[selected], 0))
    begins = pages[:, :8].copy().view(">u8").astype(np.uint64)
    of_wal = (begins[:, 0] >> np.uint64(32)) == wal.MAGIC
    if salts.size:
        of_wal |= np.isin(words, salts.byteswap()).any(axis=1)
    matching = {
        "database page": here | elsewhere | btree.titled(pages),
        "WAL": of_wal,
        "rollback journal": begins[:, 0] == rollback.MAGIC,
    }
    return [
        contradicted(
            f"bytes of a {label} under another label",
            selected[matches & (units.label[selected] != LABELS.index(label))],
            unless_confirmed=True,
        )
        for label, matches in matching.items()
    ]
