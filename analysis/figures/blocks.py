"""Figure of block commands and bytes written per transaction, by kind."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.figures import bars, style
from analysis.stats.report_tables import Tables


def render(tables: Tables, path: Path) -> bool:
    """Draw the block figure to `path`; False if no transaction reached the device."""
    if tables.blocks.is_empty():
        return False
    ops = tables.operations["op"].to_list()
    made = style.figure(1.15 + 0.4 * len(ops))
    left, right = made.subplots(1, 2)
    bars.stacked(left, tables.blocks, ops, "commands_per_transaction", style.BLOCKS)
    left.set_xlabel("block commands per transaction")
    moved = tables.blocks.filter(pl.col("kind").is_in(["write", "write metadata", "write FUA"]))
    moved = moved.with_columns(pl.col("bytes_per_transaction") / 1024)
    bars.stacked(right, moved, ops, "bytes_per_transaction", style.BLOCKS)
    right.set_yticklabels([])
    right.set_xlabel("KiB written per transaction")
    bars.legend(left, tables.blocks, style.BLOCKS)
    style.save(made, path)
    return True


if __name__ == "__main__":
    style.main(render)
