"""Does a run's ledger tell of what the device got, by blktrace and the device's own counters?"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters import blktrace
from analysis.checks import counts, ledger
from analysis.checks.calls import first
from analysis.ledger.build import Ledger
from analysis.run import Run


def holds(run: Run) -> list[str]:
    """The ledger of a run, if there is one, is whole, and tells of what the device got."""
    made = run.ledger
    if made is None:
        return []
    written = {"ledger": int(made.pieces["bytes"].sum())}
    written |= {who: row["bytes_written"] for who, row in counts.told(run).items()}
    table = ", ".join(f"{who} {size}" for who, size in written.items())
    found = [f"ledger: bytes written: {table}"] if len(set(written.values())) > 1 else []
    return [*ledger.reasons(made), *found, *_same_commands(run, made), *_same_bios(run, made)]


def _same_commands(run: Run, made: Ledger) -> list[str]:
    """The commands are those that blktrace saw."""
    own = made.ledger.select(pl.col("sector").fill_null(0), pl.col("bytes") // 512)
    seen = counts.window_blocks(run, "blktrace").select("sector", bytes="sectors")
    if own.height != seen.height:
        return [f"ledger: {own.height} commands, blktrace saw {seen.height}"]
    own, seen = (table.sort("sector", "bytes") for table in (own, seen))
    differs = pl.any_horizontal(own["sector"] != seen["sector"], own["bytes"] != seen["bytes"])
    wrong = own.filter(differs)
    return [f"ledger: {text}" for text in first(wrong, "commands that blktrace did not see", "sector")]


def _same_bios(run: Run, made: Ledger) -> list[str]:
    """Each thread queued the writes that blktrace saw it queue, in that order."""
    begin, end = made.given.window
    own = made.given.records.bios(made.given.dev)
    # an operation that takes data to the device has an odd number (linux/blk_types.h)
    own = own[(own["begin_ns"] >= begin) & (own["begin_ns"] < end) & (own["b"] & 1 > 0)]
    seen = blktrace.queued(run.folder / "raw/blktrace", begin, end)
    if own.size != seen.size:
        return [f"ledger: {own.size} bios, blktrace saw {seen.size}"]
    own = own[np.lexsort((own["d"], own["tid"]))]
    same = (own["tid"] == seen["pid"]) & (own["n"] == seen["bytes"] >> 9)
    same &= (own["a"] == seen["sector"]) | (own["n"] == 0)  # an empty one has no place
    wrong = np.flatnonzero(~same)
    if not wrong.size:
        return []
    bio = own[wrong[0]]
    first = f"first serial {bio['d']}, sector {bio['a']}"
    return [f"ledger: {wrong.size} bios that blktrace saw otherwise: {first}"]
