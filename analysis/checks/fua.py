"""Is FUA set where the filesystem sets it, and nowhere else?"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from analysis.checks.calls import first
from analysis.filesystems import find
from analysis.ledger.build import Ledger


def where(made: Ledger, options: tuple[str, ...], queue: Mapping[str, str]) -> list[str]:
    """Only what the filesystem writes with FUA has it; one write of each checkpoint, where that is its way.

    options: of /proc/mounts; without barriers nothing has it. queue: of /sys/block/<disk>/queue; on a device
    that does not know FUA the kernel sends a flush behind in its place. A journal's commits are journal.py's.
    """
    known = find(made.given.layout.filesystem)
    unasked = {"nobarrier", "barrier=0"} & {*options} or queue.get("fua") == "0"
    may = {} if unasked else known.fua
    fua = made.ledger.filter(pl.col("rwbs").cast(pl.String).str.contains("WF"))["command"].implode()
    label = pl.col("label").cast(pl.String)
    written = made.pieces.filter(pl.col("command").is_in(fua))
    wrong = written.filter(~label.is_in([*may]) | pl.col("of").is_not_null())
    found = first(wrong, "pieces written with FUA", "sector", "label")
    due = [name for name, once in may.items() if once]
    of_label = made.pieces.filter(label.is_in(due))["command"].implode()
    each = (
        made.ledger.filter(pl.col("command").is_in(of_label) & pl.col("checkpoint").is_not_null())
        .group_by("checkpoint")
        .agg(fua=pl.col("command").is_in(fua).sum())
    )
    wrong = each.filter(pl.col("fua") != 1).sort("checkpoint")
    return found + first(wrong, "checkpoints without one write with FUA", "checkpoint", "fua")
