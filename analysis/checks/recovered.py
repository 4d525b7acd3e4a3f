"""Can what a board said of a trial be so: how long the recovery took, what of it the looking at the files,
what its device did for it, and whether fsck looked?"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from analysis import devices
from analysis.crash.trials import BYTES, FSCK_EVERY
from analysis.run import Run

# None of these is below 0, where it is there.
_COUNTS = ("complaints", "rows", "reads", "writes", "flushes", *BYTES)


def told(run: Run, table: pl.DataFrame) -> Iterator[str]:
    """Say what of a board's trials, in their order, cannot be so."""
    device = devices.of(run.cell)
    least = device.each_takes(run.board.device) if device else 0
    for place, row in enumerate(table.iter_rows(named=True)):
        who, looked = f"trial {row['trial']}", row["looked_ns"] or 0
        below = [name for name in _COUNTS if (row[name] or 0) < 0]
        if below:
            yield f"{who}: {below[0]} is {row[below[0]]}"
        if (row["fsck"] >= 0) != (place % FSCK_EVERY == 0):
            yield f"{who}: fsck {'looked' if row['fsck'] >= 0 else 'did not look'}, at each {FSCK_EVERY}th"
        until = row["opened_ns"] if row["opened"] == 1 else row["read_ns"]
        if looked > until - row["mounted_ns"]:
            yield f"{who}: of {until - row['mounted_ns']} ns from its mount on {looked} were of looking"
        commands, took = row["reads"] + row["writes"], until - row["shown_ns"] - looked
        if commands * least > took:
            yield (
                f"{who} took {took} ns to its open database, and {commands} reads and writes take "
                f"{commands * least}"
            )
