"""Draw syncs, block commands and bytes by kind: per transaction, and over the time of a run."""

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.patches import Patch

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


_BINS = (24, 160)  # minimum and maximum
_COMMANDS = 40  # about so many commands per bin


def traffic(tables: Tables, path: Path) -> bool:
    """Draw the traffic figure to `path`; False if there are no commands or no phases with a duration."""
    phases = tables.phases.filter(pl.col("phase") != "warm")
    if tables.commands.is_empty() or phases.is_empty():
        return False
    begin, end = phases["begin_ns"][0], phases["end_ns"][-1]
    if end <= begin:
        return False
    bins = int(np.clip(tables.commands.height // _COMMANDS, *_BINS))
    edges = np.linspace(begin, end, bins + 1)
    seconds = (edges - begin) / 1e9
    made = style.figure(4.6)
    rows = made.subplots(3, 1, sharex=True)
    width = (edges[1] - edges[0]) / 1e9
    writes = {kind: style.BLOCKS[kind] for kind in ("write", "write metadata", "write FUA")}
    for axes, title, kinds, by_bytes in (
        (rows[0], "writes/s", writes, False),
        (rows[1], "MiB/s written", writes, True),
        (rows[2], "flushes/s", {"flush": style.BLOCKS["flush"]}, False),
    ):
        style.grid(axes, "y")
        base = np.zeros(bins)
        for kind, color in kinds.items():
            commands = tables.commands.filter(pl.col("kind") == kind)
            weights = commands["sectors"].to_numpy() * (512 / 2**20) if by_bytes else None
            counted = np.histogram(commands["begin_ns"].to_numpy(), edges, weights=weights)[0] / width
            if counted.any():
                axes.stairs(base + counted, seconds, baseline=base, fill=True, color=color, linewidth=0)
            base = base + counted
        axes.set_ylabel(title)
        axes.set_ylim(0, max(base.max() * 1.08, 1e-9))
        axes.set_xlim(0, seconds[-1])
    _phases(rows, phases, begin, seconds[-1])
    present = set(tables.commands["kind"].to_list())
    shown = [kind for kind in (*writes, "flush") if kind in present]
    handles = [Patch(color=style.BLOCKS[kind], label=kind) for kind in shown]
    made.legend(handles=handles, loc="outside upper left", ncols=4)
    rows[-1].set_xlabel("seconds since the first phase")
    made.align_ylabels(rows)
    style.save(made, path)
    return True


def _phases(rows: np.ndarray, phases: pl.DataFrame, begin: int, total: float) -> None:
    """Mark the begin of each phase, and write its name if there is room."""
    for row in phases.iter_rows(named=True):
        start, stop = (row["begin_ns"] - begin) / 1e9, (row["end_ns"] - begin) / 1e9
        for axes in rows:
            style.dotted(axes, start, alpha=0.45)
        if stop - start > total * 0.012 * len(row["phase"]):
            look = {"va": "bottom", "transform": rows[0].get_xaxis_transform(), "fontsize": 8.5}
            style.centered(rows[0], (start + stop) / 2, 1.02, style.clean(row["phase"]), **look)
