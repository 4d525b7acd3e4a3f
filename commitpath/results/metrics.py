"""Metrics of a run (TPS, latency, syncs, bytes, lost commits): how each is read, its label, its limits.

`op` is an operation, `all`, or the weights of a mix: one for each operation of the run's workload, in the
order of workloads/operations.yml, such as `10:1:1` for inserts, updates and deletes.
"""

import functools
import math
import re
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.checks.ledger_consistency import UNATTRIBUTED_LIMIT
from analysis.run_files import stored
from analysis.schemas.ledger import FILES
from base.errors import BadInputError, LabError
from base.paths import RESULTS
from base.text import choices, did_you_mean
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.results.marks import transactions, transactions_by_op
from model import engines, operations
from model.engines._log_counters import CHECKPOINTS

# All transactions of a run, over its timed region.
WHOLE = "all"
# Over the cuts that left a usable database, in summary.json.
LOSSES = ("crash.lost_acknowledged", "crash.lost_ms")
# Bytes of a page in counts of written pages: a block of the filesystems.
PAGE = 4096


@dataclass(frozen=True)
class Metric:
    """label: of an axis, with the unit; read: returns the number of a run and an operation, or None.

    timed: whether unwatched runs have it; whole: whether it exists for all transactions, too; each: whether
    for an operation; cuts: whether only runs with cuts have it; statistics: what may stand in place of an
    operation; quantity: what `analysis.diff.cost_by_cause` splits by cause, or empty; least, most: the range
    of its values in runs that are not rejected; needs: an axis and the value of runs that have it, or empty.
    """

    label: str
    read: Callable[[Run, str], float | None]
    timed: bool = False
    whole: bool = True
    each: bool = True
    cuts: bool = False
    statistics: tuple[str, ...] = ()
    quantity: str = ""
    least: float = 0
    most: float = math.inf
    needs: tuple[str, str] | tuple[()] = ()


def value(run: Run, metric: str, op: str) -> float | None:
    """Return a metric of a run; None if the run has no such number."""
    read = METRICS[metric].read(run, op)
    return None if read is None else float(read)


def number(run: Run, metric: str, op: str) -> float:
    """Return a metric of a run. Raises LabError if the run has no such number."""
    if (read := value(run, metric, op)) is None:
        why = f": {cuts}" if (cuts := unusable(run, metric)) else ""
        files = "" if why or run.path else ", and its files are not here"
        raise LabError(f"run {run.facts['cell']}/{run.facts['run']} has no {metric} of {op}{why or files}")
    return read


def unusable(run: Run, metric: str) -> str | None:
    """Return how many cuts left no usable database, so that a run has no losses; None if none did.

    metric: a name, or a path in summary.json; None for one of other numbers.
    """
    of_losses = metric == "lost" or any(
        f"{path}.".startswith(f"{metric}.") or f"{metric}.".startswith(f"{path}.") for path in LOSSES
    )
    crash = run.summary.get("crash") if of_losses else None
    count = select.unusable(crash) if crash else 0
    return f"{count} of {crash['cuts']} cuts left no usable database" if crash and count else None


def check(name: str) -> str:
    """Return the name of a metric, checked. Raises BadInputError."""
    if name not in METRICS:
        near = did_you_mean(name, METRICS)
        raise BadInputError(f"METRIC={name}: {near}METRIC is {choices(METRICS, 'make help figure')}")
    return name


def check_op(op: str) -> str:
    """Return an operation, `all`, or weights of a mix. Raises BadInputError for any other text."""
    if op != WHOLE and op not in operations.kinds() and not re.fullmatch("[0-9]{1,4}(:[0-9]{1,4})+", op):
        allowed = ", ".join([WHOLE, *operations.kinds()])
        raise BadInputError(f"op: {op!r} is unknown; there are {allowed}, and weights such as '10:1:1'")
    if ":" in op and not any(map(int, op.split(":"))):
        raise BadInputError(f"op: {op!r}: all weights are 0")
    return op


def rate(run: Run, op: str) -> float | None:
    """Return transactions per second, of a mix too."""
    return _of_rates(run, run.summary["tps"], op)


def _of_rates(run: Run, rates: Mapping[str, float | None], op: str) -> float | None:
    """Return the rate of an operation, or of a mix of operations that have their own phases."""
    if ":" not in op:
        return None if (own := rates.get(op)) is None else float(own)
    weights = [int(weight) for weight in op.split(":")]
    each = [float(rates[kind] or 0) for kind in operations.kinds() if kind in rates]
    # an operation without a rate took no time; those of a mixed phase have parts of one rate
    if len(weights) != len(each) or not all(each) or run.summary.get("mixed"):
        return None
    return sum(weights) / sum(weight / own for weight, own in zip(weights, each, strict=True))


def operations_rate(run: Run, op: str) -> float | None:
    """Return operations per second: a batch has as many as its rows. None if the run did not count them."""
    each, tps = run.summary.get("operations_per_transaction"), rate(run, op)
    if not each or tps is None:
        return None
    if ":" not in op:
        return None if each.get(op) is None else tps * float(each[op])
    weights = [int(weight) for weight in op.split(":")]
    counts = [float(each[kind]) for kind in operations.kinds() if kind in run.summary["tps"]]
    mean = sum(weight * count for weight, count in zip(weights, counts, strict=True)) / sum(weights)
    return tps * mean


def mean_latency(run: Run, op: str) -> float | None:
    """Return ms per transaction; for all over the timed region, which ends with the last checkpoint.

    With PACE the time between transactions, and the close, are left out. None for an operation of a mixed
    phase without PACE: its rate is over the time of the others, too.
    """
    paced = run.summary.get("pace")
    if not paced and op in run.summary.get("mixed", ()):
        return None
    tps = _of_rates(run, paced["busy_tps"] if paced else run.summary["tps"], op)
    return 1000 / tps if tps else None


def latency(quantile: str) -> Callable[[Run, str], float | None]:
    """Return the reader of a quantile of an operation's latency, in ms."""

    def read(run: Run, op: str) -> float | None:
        us: float | None = run.summary.get("latency_us", {}).get(op, {}).get(quantile)
        return None if us is None else us / 1000

    return read


def sync_time(statistic: str) -> Callable[[Run, str], float | None]:
    """Return the reader of a statistic of the latency of a file's syncs, in ms; `all`: of all files."""

    def read(run: Run, file: str) -> float | None:
        us: float | None = run.summary.get("sync_us", {}).get(file, {}).get(statistic)
        return None if us is None else us / 1000

    return read


def counted(name: str, of_block: str | None = None, unit: int = 1) -> Callable[[Run, str], float | None]:
    """Return the reader of a count per transaction.

    For all it is the window's, with the final checkpoint. of_block: its name there.
    """

    def read(run: Run, op: str) -> float | None:
        if op == WHOLE:
            value, count = run.summary["block"].get(of_block or name), transactions(run)
        else:
            value, count = run.summary["per_transaction"].get(op, {}).get(name), 1
        return None if value is None or not count else value / unit / count

    return read


def syncs(run: Run, op: str) -> float | None:
    """Return syncs per transaction; for all, the mean over the transactions."""
    by_op = run.summary["syncs"]
    if op != WHOLE:
        value: float | None = by_op.get(op)
        return value
    if not by_op or None in by_op.values():
        return None
    counts = transactions_by_op(run)
    return None if counts is None else statistics.fmean(by_op.values(), [counts[op] for op in by_op])


def memory(member: str) -> Callable[[Run], float | None]:
    """Return the reader of a part of the driver's memory, in MiB; None if the kernel did not have it."""

    def read(run: Run) -> float | None:
        size = (run.summary.get("memory") or {}).get(member)
        return None if size is None else size / 2**20

    return read


def of_whole(label: str, read: Callable[[Run], float | None], **more: Any) -> Metric:
    """Return a metric that exists for all transactions only."""
    return Metric(label, lambda run, op: read(run) if op == WHOLE else None, each=False, **more)


def unattributed(run: Run) -> float | None:
    """Return the share of the bytes written that have no label; None for an unwatched run."""
    ledger = run.summary["ledger"]
    return float(ledger["unattributed_share"]) if ledger else None


def wal_kib(run: Run) -> float | None:
    """Return the size of SQLite's WAL before the databases are closed; None for a run without one."""
    engine = run.document("manifest").get(str(run.cell.engine), {})
    size = engine.get("file_sizes_before_close", {}).get("wal")
    return None if size is None or run.settings.get("journal_mode") != "wal" else size / 1024


def of_writers(total: Callable[[dict[str, dict[str, int]]], float]) -> Callable[[Run], float | None]:
    """Return the reader of a number of two writers of a database; None for a run with one."""

    def read(run: Run) -> float | None:
        writers = run.document("manifest").get(str(run.cell.engine), {}).get("writers")
        return None if writers is None else total(writers)

    return read


def lost(run: Run, statistic: str) -> float | None:
    """Return the largest number of acknowledged transactions that a cut took, or the mean over the cuts.

    None if a cut left no usable database: what it took has no number.
    """
    if unusable(run, "lost"):
        return None
    acknowledged: dict[str, float] = (run.summary.get("crash") or {}).get("lost_acknowledged") or {}
    return acknowledged.get("max" if statistic == WHOLE else statistic)


def written(run: Run, metric: str) -> float | None:
    """Return a count of a watched run's writes; None for an unwatched one, or without files that have it."""
    if not run.summary.get("ledger"):
        return None
    if metric == "checkpoints":
        properties = run.document("manifest")[str(run.cell.engine)].get("properties", {})
        numbers = [int(count) for name, count in properties.items() if name.startswith(CHECKPOINTS)]
        if not numbers and run.path and _syncs_at_checkpoints(run):
            numbers = [syncs_of(RESULTS / run.path, "database")]
        return sum(numbers) if numbers else None
    of_engine = {label for label, _ in engines.by_name(str(run.cell.engine)).FILES.values()} - {"other"}
    sums = run.summary["ledger"]["bytes"].items()
    return float(sum(size for label, size in sums if (label in of_engine) == (metric == "pages"))) / PAGE


def _syncs_at_checkpoints(run: Run) -> bool:
    """Return whether a run's engine syncs its database at checkpoints, and only then."""
    engine, cell = str(run.cell.engine), run.cell
    in_wal = "journal_mode" in engines.unused_axes(engine) or cell.journal_mode == "wal"
    return "database" in engines.by_name(engine).FILES and in_wal and cell.synchronous != "off"


@functools.cache
def syncs_of(folder: Path, role: str) -> int:
    """Return the number of syncs of a stored run's files of a role, in its window."""
    return stored.read(folder).syncs().filter(pl.col("file").cast(pl.String) == role).height


def recovery(run: Run) -> float | None:
    """Return the longest time in s from the mount to the opened database after a cut.

    The filesystem's recovery is not in it; crash.recovery_ms of summary.json has both. None without cuts, if
    a database did not open, and if the run's files are not here.
    """
    crash = run.summary.get("crash")
    if not run.path or not crash or crash["opened"] < crash["cuts"]:
        return None
    columns = ("mounted_ns", "looked_ns", "opened_ns")
    trials = stored.read(RESULTS / run.path).table("trials", columns)
    time = pl.col("opened_ns") - pl.col("mounted_ns") - pl.col("looked_ns").fill_null(0)
    return float(trials.select(time.max()).item()) / 1e9


_WRITERS = ("writers", "2")

METRICS: dict[str, Metric] = {
    "tps": Metric("transactions per second", rate, timed=True, quantity="time"),
    "ops": Metric("operations per second", operations_rate, timed=True, quantity="time"),
    "tx_latency": Metric("mean latency (ms)", mean_latency, timed=True, quantity="time"),
    **{
        name: Metric(f"{words} latency (ms)", latency(name), timed=True, whole=False, quantity="time")
        for name, words in {"p50": "median", "p95": "p95", "p99": "p99", "max": "longest"}.items()
    },
    "io_time": of_whole(
        "timed region (s)", lambda run: float(run.summary["virtual_seconds"]), timed=True, quantity="time"
    ),
    "kib": Metric("KiB written per transaction", counted("bytes_written", unit=1024), quantity="bytes"),
    "bytes_written": Metric("bytes written per transaction", counted("bytes_written"), quantity="bytes"),
    "syncs": Metric("syncs per transaction", syncs, quantity="syncs"),
    **{
        f"sync_{name}": Metric(f"{words} time of a sync (ms)", sync_time(name), each=False, statistics=FILES)
        for name, words in {"p50": "median", "p99": "p99", "max": "longest"}.items()
    },
    "flushes": Metric("flushes per transaction", counted("flushes"), quantity="flushes"),
    "fua": Metric("FUA writes per transaction", counted("fua"), quantity="fua"),
    "block_writes": Metric(
        "write commands per transaction", counted("block_writes", "writes"), quantity="writes"
    ),
    "write_amplification": of_whole(
        "bytes written per byte of the operations' data",
        lambda run: run.summary["write_amplification"],
        quantity="bytes",
    ),
    "pages": of_whole("4 KiB pages of the engine's files written", lambda run: written(run, "pages")),
    "os_pages": of_whole("other 4 KiB pages written", lambda run: written(run, "os_pages")),
    "checkpoints": of_whole("checkpoints", lambda run: written(run, "checkpoints")),
    "unattributed": of_whole(
        "share of the bytes written without a label", unattributed, most=UNATTRIBUTED_LIMIT
    ),
    "wal_kib": of_whole(
        "KiB of the WAL before the close", wal_kib, timed=True, needs=("journal_mode", "wal")
    ),
    "busy": of_whole(
        "SQLITE_BUSY, of both writers",
        of_writers(lambda of: of["first"]["busy"] + of["second"]["busy"]),
        timed=True,
        needs=_WRITERS,
    ),
    "longest_wait": of_whole(
        "longest wait for the lock, of both writers (ms)",
        of_writers(lambda of: max(one["longest_wait_ns"] for one in of.values()) / 1e6),
        timed=True,
        quantity="time",
        needs=_WRITERS,
    ),
    "second_tps": of_whole(
        "transactions per second of the second writer",
        of_writers(lambda of: 1e9 * of["second"]["transactions"] / max(of["second"]["ns"], 1)),
        timed=True,
        quantity="time",
        needs=_WRITERS,
    ),
    "rss": of_whole("resident memory (MiB)", memory("resident"), timed=True),
    "rss_anonymous": of_whole("resident anonymous memory (MiB)", memory("anonymous"), timed=True),
    "rss_mapped": of_whole("resident mapped files (MiB)", memory("mapped"), timed=True),
    "rss_peak": of_whole("peak of the resident memory (MiB)", memory("peak"), timed=True),
    "lost": Metric("transactions lost, at most", lost, each=False, cuts=True, statistics=("max", "mean")),
    "recovery_seconds": of_whole("longest recovery after the mount (s)", recovery, timed=True, cuts=True),
}
