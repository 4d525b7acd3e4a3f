"""Is each checkpoint's record true, by the pack that it writes and by what is written once before it?

Of a filesystem that writes a pack of blocks in each checkpoint, one of them with FUA (`fua` of
analysis/filesystems/). What has none is not asked.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.checks.calls import first
from analysis.filesystems import find
from analysis.ledger.arrays import expand, ints
from analysis.ledger.build import Ledger

# The last block of the pack is what a checkpoint waits for: it ends 25 to 33 µs later on clean runs, and
# 156 µs where it frees segments.
_AT_ONCE_NS = 300_000
_BLOCK = 8  # sectors


def whole(made: Ledger) -> list[str]:
    """Each command of a pack was issued and done within a checkpoint, which ends with the last one."""
    labels = [name for name, once in find(made.given.layout.filesystem).fua.items() if once]
    if not labels:
        return []
    packs = made.pieces.filter(pl.col("label").cast(pl.String).is_in(labels))["command"].implode()
    of = made.checkpoints.select("checkpoint", checkpoint_end="end_ns")
    table = made.ledger.filter(pl.col("command").is_in(packs)).join(of, on="checkpoint", how="left")
    outside = table.filter(
        pl.col("checkpoint_end").is_null() | (pl.col("complete_ns") > pl.col("checkpoint_end"))
    )
    last = table.group_by("checkpoint", "checkpoint_end").agg(pl.col("complete_ns").max()).sort("checkpoint")
    after = pl.col("checkpoint_end") - pl.col("complete_ns")
    late = last.filter((after > _AT_ONCE_NS * made.given.slower) & made.given.counted)
    return [
        *first(outside, "commands of a checkpoint's pack outside it", "command", "issue_ns"),
        *first(late, "checkpoints go on after their pack", "checkpoint", "checkpoint_end"),
    ]


def once(made: Ledger) -> list[str]:
    """Of the blocks that the filesystem does not write twice between two checkpoints none is there twice."""
    label = find(made.given.layout.filesystem).once
    if label is None:
        return []
    issued = made.ledger.select("command", "issue_ns")
    rows = made.pieces.filter(pl.col("label") == label).join(issued, on="command")
    row, block = expand(ints(rows["sector"]) // _BLOCK, ints(rows["bytes"]) // 512 // _BLOCK)
    time, ends = ints(rows["issue_ns"])[row], np.sort(ints(made.checkpoints["end_ns"]))
    blocks = pl.DataFrame({"block": block, "after": np.searchsorted(ends, time), "issue_ns": time})
    again = blocks.sort("issue_ns").filter(~pl.struct("block", "after").is_first_distinct())
    return first(again, f"blocks with {label} written twice between two checkpoints", "block", "issue_ns")
