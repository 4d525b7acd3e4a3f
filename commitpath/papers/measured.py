"""What the results database has for a cell: its runs, or why there is none."""

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import engines, report, spread, stored
from analysis.engines._counts import CHECKPOINTS
from analysis.ledger.schema import LABELS, WAITS
from base.errors import LabError
from base.paths import RESULTS
from commitpath.database.select import Run
from commitpath.identities import cell_id
from commitpath.papers.readings import WHOLE
from commitpath.reporting.cells import Cells, rate
from commitpath.reporting.marks import transactions
from commitpath.reporting.statistics import median

# Means over the transactions of an operation, from the ledger: counts, KiB by label, ms by cause.
COUNTS = ("syncs", "writes", "flushes", "fua")
TIMES = ("cpu_ns", *WAITS)
# Metrics of time: of the timed region in s; of a transaction in ms, in the mean.
TIMES_OF = ("io_time", "tx_latency")
# A metric of a run whose power is cut: how long the longest recovery took, in s.
RECOVERY = "recovery_seconds"
# What a page is where pages are counted that reached the device: as the filesystems' blocks are.
PAGE = 4096


@dataclass(frozen=True)
class Found:
    """A cell and its runs that count (one; of a board with its own clock all). reason: why none does.

    asked: whether a run of it was asked for.
    """

    cell: Mapping[str, Any]
    runs: Sequence[Run]
    reason: str | None
    asked: bool = True

    def interval(self, metric: str, op: str) -> tuple[float, float] | None:
        """The 95 % interval of the runs' mean; None of fewer than two."""
        return spread.interval([of_run(run, metric, op) for run in self.runs])

    def value(self, metric: str, op: str) -> float | None:
        """The median over the runs; None where there is none. LabError if a run has no such number."""
        return median([of_run(run, metric, op) for run in self.runs]) if self.runs else None


class Database:
    """This lab's runs by cell."""

    def __init__(self, runs: Sequence[Run], lab: str, asked: Set[str] | None = None) -> None:
        """asked: ids of the cells that were asked for; None: all."""
        self.cells = Cells(runs, lab)
        self.asked = asked

    def find(self, cell: Mapping[str, Any]) -> Found:
        """A cell's runs, or the reason why there is none."""
        runs, reason = self.cells.counting(cell)
        if self.asked is not None and not self.cells.of(cell) and cell_id(cell) not in self.asked:
            return Found(cell, runs, "it was not asked for", asked=False)
        return Found(cell, runs, reason)

    def causes(self, cell: Mapping[str, Any]) -> "Causes | None":
        """What a watched run of the same configuration says; None where there is none with its tables."""
        run = self.cells.watched(cell, stored=True)
        return causes(RESULTS / str(run.path), run) if run else None


def of_run(run: Run, metric: str, op: str) -> float:
    """A number of a run, of one operation or all; rates also of weights insert:update:delete.

    tps per second; syncs and bytes_written per transaction; of TIMES_OF s and ms; and of a watched run
    pages of the engine's files that reached the device (`pages`), all others that did (`os_pages`), and its
    `checkpoints`, as the engine counts them, or else how often it synced the database; of one whose power is
    cut RECOVERY.
    """
    summary = run.summary
    value: float | None
    if metric == "tps":
        value, count = rate(run, op), 1
    elif metric in TIMES_OF:
        value, count = time_of(run, metric, op), 1
    elif metric in ("pages", "os_pages", "checkpoints"):
        value, count = written(run, metric) if op == WHOLE else None, 1
    elif metric == RECOVERY:
        value, count = recovery(run) if op == WHOLE else None, 1
    elif metric == "bytes_written" and op == WHOLE:
        value, count = summary["block"]["bytes_written"], transactions(run)
    else:
        value = summary[metric].get(op)
        count = 1
    if value is None:
        raise LabError(f"run {run.facts['cell']}/{run.facts['run']} has no {metric} of {op}")
    return float(value) / count


def time_of(run: Run, metric: str, op: str) -> float | None:
    """A metric of TIMES_OF; of all over the timed region, which ends with the last checkpoint."""
    tps = rate(run, op)
    if metric == "io_time":
        return float(run.summary["virtual_seconds"]) if op == WHOLE else None
    return 1000 / tps if tps else None


def written(run: Run, metric: str) -> float | None:
    """What a watched run wrote; None of one that was not."""
    if not run.summary.get("ledger"):
        return None
    if metric == "checkpoints":
        counted = run.document("manifest")[str(run.cell["engine"])].get("properties", {})
        numbers = [int(number) for name, number in counted.items() if name.startswith(CHECKPOINTS)]
        return sum(numbers) if numbers else syncs_of(RESULTS / str(run.path), "database")
    own = {label for label, _ in engines.of(str(run.cell["engine"])).FILES.values()} - {"other"}
    of_engine = metric == "pages"
    sums = run.summary["ledger"]["bytes"].items()
    return float(sum(size for label, size in sums if (label in own) == of_engine)) / PAGE


def recovery(run: Run) -> float | None:
    """The longest that a database took to open after a cut, in s, from the mount on.

    None of a run without cuts, and where one did not open: that took no time, it did not end.
    """
    crash = run.summary.get("crash")
    if not crash or crash["opened"] < crash["cuts"]:
        return None
    columns = ("mounted_ns", "looked_ns", "opened_ns")
    trials = stored.read(RESULTS / str(run.path)).table("trials", columns)
    took = pl.col("opened_ns") - pl.col("mounted_ns") - pl.col("looked_ns").fill_null(0)
    return float(trials.select(took.max()).item()) / 1e9


@functools.cache
def syncs_of(folder: Path, role: str) -> int:
    """How often a file of a stored run was synced."""
    table = stored.read(folder).table("syncs", ("file",))
    return table.filter(pl.col("file").cast(pl.String) == role).height


def device_ms(run: Run) -> dict[str, float]:
    """Where the device's time went, ms per transaction by cause, the largest first; {} if it counts none."""
    counters = run.document("manifest").get("device", {}).get("time", {})
    count = transactions(run)
    return {cause: 1000 * seconds / count for cause, seconds, _ in report.device_time(counters)}


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


def causes(folder: Path, run: Run) -> Causes:
    """The causes that a watched run's ledger has."""
    return Causes(run, means(folder), of_run(run, "bytes_written", WHOLE))
