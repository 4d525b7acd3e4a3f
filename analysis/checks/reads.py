"""Check the parts of read commands: their sum, their labels, and their places on the filesystem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from analysis.adapters.layout import DATA
from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger
from analysis.ledger.pieces import OF_ROLE
from analysis.schemas.ledger import LABELS
from base.arrays import ints
from model import filesystems

UNATTRIBUTED_LIMIT = 0.001


def attributed(made: Ledger) -> list[str]:
    """Reject a run in which more than 0.1 % of the bytes read have no label."""
    total = int(made.reads["bytes"].sum())
    lost = int(made.reads.filter(pl.col("label") == "unattributed")["bytes"].sum())
    return [f"{lost} of {total} bytes read are unattributed"] if lost > UNATTRIBUTED_LIMIT * total else []


def bytes_add_up(made: Ledger) -> list[str]:
    """Compare each read command's bytes with the sum of its parts, where pages of reads were recorded."""
    if not made.has_reads:
        return []
    parts = made.reads.group_by("command").agg(parts=pl.col("bytes").sum())
    commands = made.ledger.filter(pl.col("kind") == "read").select("command", "bytes")
    both = commands.join(parts, on="command", how="full", coalesce=True)
    wrong = both.filter(pl.col("bytes").ne_missing(pl.col("parts")))
    return first(wrong, "read commands are not the sum of their parts", "command", "bytes", "parts")


def places(made: Ledger) -> list[str]:
    """Compare the label of each part with the region of the filesystem that it was read from.

    Sectors that may have belonged to another region earlier in the run are left out.
    """
    layout, reads = made.given.layout, made.reads
    sector, label = ints(reads["sector"]), ints(reads["label"].to_physical())
    region = layout.label(sector)
    own = [name for name in filesystems.by_name(layout.filesystem).inodes.values() if name]
    in_data = np.isin(label, [LABELS.index(name) for name in (*OF_ROLE.values(), *own)])
    wrong = np.where(region == DATA, ~in_data, label != region) & (label != LABELS.index("unattributed"))
    wrong &= ~layout.may_change(sector)
    found = reads.filter(pl.Series(wrong))
    return first(found, "parts of reads labelled against their place", "sector", "label")


CHECKS: tuple[Callable[[Ledger], list[str]], ...] = (attributed, bytes_add_up, places)
