"""Draw syncs by synced file, and block commands and bytes by kind, per transaction."""

from pathlib import Path

import polars as pl

from analysis.figures import bars, style
from analysis.stats.report_tables import Tables


def syncs(tables: Tables, path: Path) -> bool:
    """Draw syncs by the file that is synced to `path`; False if nothing was synced in a transaction."""
    if tables.sync_counts.is_empty():
        return False
    ops = tables.operations["op"].to_list()
    made = style.figure(0.95 + 0.4 * len(ops))
    axes = made.subplots()
    bars.stacked(axes, tables.sync_counts, ops, "syncs_per_transaction", style.FILES, 2)
    bars.legend(axes, tables.sync_counts, style.FILES)
    axes.set_xlabel("fsync and fdatasync calls per transaction")
    style.save(made, path)
    return True


def blocks(tables: Tables, path: Path) -> bool:
    """Draw block commands and bytes to `path`; False if no transaction reached the device."""
    if tables.blocks.is_empty():
        return False
    ops = tables.operations["op"].to_list()
    made = style.figure(1.15 + 0.4 * len(ops))
    left, right = made.subplots(1, 2)
    bars.stacked(left, tables.blocks, ops, "commands_per_transaction", style.BLOCKS)
    left.set_xlabel("block commands per transaction")
    written = tables.blocks.filter(pl.col("kind").is_in(["write", "write metadata", "write FUA"]))
    written = written.with_columns(pl.col("bytes_per_transaction") / 1024)
    bars.stacked(right, written, ops, "bytes_per_transaction", style.BLOCKS)
    right.set_yticklabels([])
    right.set_xlabel("KiB written per transaction")
    bars.legend(left, tables.blocks, style.BLOCKS)
    style.save(made, path)
    return True
