"""What the stored tables of a watched run say of a transaction: means by operation, and the device's time."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.report import html_page
from analysis.run_files import stored
from analysis.schemas.ledger import LABELS, WAITS
from base.paths import RESULTS
from commitpath.database.select import Run
from commitpath.results.marks import transactions
from commitpath.results.metrics import WHOLE, number
from commitpath.results.query import Results
from model.cell import Cell

# Means over the transactions of an operation, from the ledger: counts, KiB by label, ms by cause.
COUNTS = ("syncs", "writes", "flushes", "fua")
TIMES = ("cpu_ns", *WAITS)


def device_ms(run: Run) -> dict[str, float]:
    """Where the device's time went, ms per transaction by cause, the largest first; {} if it counts none."""
    counters = run.document("manifest").get("device", {}).get("time", {})
    count = transactions(run)
    return {cause: 1000 * seconds / count for cause, seconds, _ in html_page.device_time(counters)}


@dataclass(frozen=True)
class Causes:
    """What a transaction did, in the mean, by operation and `all` (keys of COUNTS, TIMES, LABELS, bytes).

    window_bytes: all that reached the device in the window, per transaction, also what none waited for.
    """

    run: Run
    ops: Mapping[str, Mapping[str, float]]
    window_bytes: float


@functools.cache
def means(folder: Path) -> dict[str, dict[str, float]]:
    """Means of a stored run's costs by operation and in all: counts, bytes, ns."""
    names = (*COUNTS, "bytes", *LABELS, *TIMES)
    table = stored.read(folder).table("costs", ("op", *names))
    table = table.with_columns(pl.col("op").cast(pl.String), pl.col(names).cast(pl.Float64))
    groups = {str(op): rows for (op,), rows in table.group_by("op", maintain_order=True)}
    return {
        op: rows.select(pl.col(names).mean()).row(0, named=True)
        for op, rows in (groups | {WHOLE: table}).items()
    }


def causes(results: Results, cell: Cell) -> Causes | None:
    """What a watched run of the same configuration says; None where there is none with its tables."""
    if (run := results.watched(cell, stored=True)) is None:
        return None
    return Causes(run, means(RESULTS / str(run.path)), number(run, "bytes_written", WHOLE))
