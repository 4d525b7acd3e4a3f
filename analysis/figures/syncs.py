"""Figure of syncs per transaction, by the file that is synced."""

from __future__ import annotations

from pathlib import Path

from analysis.figures import bars, style
from analysis.stats.report_tables import Tables


def render(tables: Tables, path: Path) -> bool:
    """Draw the sync figure to `path`; False if nothing was synced in a transaction."""
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


if __name__ == "__main__":
    style.main(render)
