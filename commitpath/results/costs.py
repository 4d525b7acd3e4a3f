"""Mean syncs, writes, bytes by label and times per transaction of a stored run; device time by cause."""

import functools
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from analysis.report import html_page
from analysis.run_files import stored
from analysis.schemas.ledger import LABELS, WAITS
from base.paths import RESULTS
from commitpath.database.select import Run
from commitpath.results.marks import transactions
from commitpath.results.metrics import WHOLE

COUNTS = ("syncs", "writes", "flushes", "fua")
TIMES = ("cpu_ns", *WAITS)


def device_ms(run: Run) -> dict[str, float]:
    """Return the device's ms per transaction by cause, largest first; empty if it does not count time."""
    counters = run.document("manifest").get("device", {}).get("time", {})
    count = transactions(run)
    return {cause: 1000 * seconds / count for cause, seconds, _ in html_page.device_time(counters)}


def of_run(run: Run) -> Mapping[str, Mapping[str, float]]:
    """Return the means of a watched run: operation or `all` → COUNTS, LABELS, TIMES, bytes."""
    return means(RESULTS / str(run.path))


@functools.cache
def means(folder: Path) -> dict[str, dict[str, float]]:
    """Return the means of a stored run, as of_run."""
    names = (*COUNTS, "bytes", *LABELS, *TIMES)
    table = stored.read(folder).table("costs", ("op", *names))
    table = table.with_columns(pl.col("op").cast(pl.String), pl.col(names).cast(pl.Float64))
    groups = {str(op): rows for (op,), rows in table.group_by("op", maintain_order=True)}
    return {
        op: rows.select(pl.col(names).mean()).row(0, named=True)
        for op, rows in (groups | {WHOLE: table}).items()
    }
