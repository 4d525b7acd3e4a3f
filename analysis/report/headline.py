"""Find a run's slowest transaction and its WAL checkpoints; write the report's first lines (rate limits)."""

from typing import Any

import polars as pl

from analysis.ledger import wal_checkpoints
from analysis.ledger.timeline import edges
from analysis.run import Run
from analysis.schemas.ledger import TIMES
from analysis.stats import totals
from base.arrays import inside, ints

# Share of the time from which on the CPU model decides a rate.
DECIDES = 0.5


def slowest(run: Run, found: pl.DataFrame | None) -> dict[str, Any] | None:
    """Return the slowest transaction of the watched run: its number, op, and times in us by TIMES.

    checkpoint: whether it ran one of SQLite's WAL, if known; wal_checkpoint: that one. found: of
    `checkpoints`. None without a ledger or a transaction.
    """
    if (made := run.ledger) is None or made.costs.is_empty():
        return None
    row = made.costs.sort("latency_ns", descending=True, maintain_order=True).row(0, named=True)
    times = {name: row[f"{name}_ns"] / 1000 for name in TIMES if row[f"{name}_ns"] is not None}
    own = None if found is None else found.filter(pl.col("transaction") == row["transaction"])
    ran: dict[str, Any] = {} if own is None else {"checkpoint": not own.is_empty()}
    if own is not None and not own.is_empty() and made.given.calls:
        ran["wal_checkpoint"] = own.select("frames", "pages", "trigger").row(0, named=True)
    return {
        "transaction": row["transaction"],
        "op": row["op"],
        "latency_us": row["latency_ns"] / 1000,
        "times_us": times,
        **ran,
    }


def checkpoints(run: Run) -> pl.DataFrame | None:
    """Return the checkpoints of SQLite's WAL (wal_checkpoints.SCHEMA); None in other modes and if unknown.

    Without a log of calls they are the syncs of the database, which nothing else syncs, as far as its
    transactions: with synchronous=off, which syncs nothing, the result is None.
    """
    if (made := run.ledger) is None or not wal_checkpoints.has_log(run.cell):
        return None
    if made.given.calls:
        return wal_checkpoints.find(run.cell, made.vfs, made.given.transactions, made.given.phases)
    syncs = made.syncs.filter(pl.col("file").cast(pl.String) == "database")
    working = made.given.phases.filter(pl.col("transactions") > 0)
    within = inside(ints(syncs["begin_ns"]), *edges(working)) >= 0
    syncs = syncs.filter(pl.Series(within, dtype=pl.Boolean))
    return None if syncs.is_empty() else syncs.with_columns(trigger=pl.lit(None, pl.String))


def counts(run: Run, found: pl.DataFrame | None) -> dict[str, Any]:
    """Return the entries of summary.json on the checkpoints: those before the close, and all by trigger."""
    if found is None:
        return {}
    before = {"checkpoints": found.filter(pl.col("trigger").ne_missing(wal_checkpoints.CLOSE)).height}
    if run.ledger is None or not run.ledger.given.calls or found.is_empty():
        return before
    by = pl.col("trigger").fill_null("unknown")
    sums = found.group_by(by, maintain_order=True).agg(
        count=pl.len(), frames=pl.col("frames").max(), pages=pl.col("pages").sum()
    )
    return {**before, "wal_checkpoints": {row.pop("trigger"): row for row in sums.iter_rows(named=True)}}


def lines(summary: dict[str, Any]) -> list[str]:
    """Return the lines below a terminal's rates, of any length."""
    return [*operations(summary), *of_checkpoints(summary), *of_slowest(summary)]


def limits(summary: dict[str, Any]) -> list[str]:
    """Return the limits of a run's rates: a line where the CPU model decides them, or no checkpoint ran."""
    found = []
    share = (summary["cpu_share"] or {}).get("all")
    if share is not None and share > DECIDES:
        found.append(
            f"the emulated CPU has {share:.0%} of a transaction's time: rates are the CPU model's; "
            "use counts and ratios"
        )
    if summary.get("checkpoints") == 0:
        found.append(
            "no transaction ran a checkpoint: only the one at the close moved pages to the database, and the "
            "rates of operations leave it out"
        )
    return found


def operations(summary: dict[str, Any]) -> list[str]:
    """Return the rate and the bytes of operations where a transaction has several."""
    each = summary.get("operations_per_transaction", {}).get("all", 1.0)
    rate = summary["tps"]["all"]
    if each in (0.0, 1.0) or rate is None:
        return []
    size = totals.per_transaction(summary)["bytes_written"]
    written = "" if size is None else f", {size / 1024 / each:,.2f} KiB written for each"
    return [f"{each:.4g} operations per transaction: {rate * each:,.1f} operations per second{written}"]


def of_checkpoints(summary: dict[str, Any]) -> list[str]:
    """Return the checkpoints of SQLite's WAL, with their frames, by what started them."""
    each = []
    for trigger, row in summary.get("wal_checkpoints", {}).items():
        most = "" if row["count"] == 1 else "at most "
        frames = "" if row["frames"] is None else f"of {most}{row['frames']:,} frames, "
        each.append(f"{row['count']:,} by {trigger} ({frames}{row['pages']:,} pages copied)")
    return [f"WAL checkpoints: {', '.join(each)}"] if each else []


def of_slowest(summary: dict[str, Any]) -> list[str]:
    """Return the slowest transaction with the parts of its time, the longest first."""
    if (slow := summary.get("slowest")) is None:
        return []
    parts = sorted(slow["times_us"].items(), key=lambda part: -part[1])
    times = ", ".join(f"{TIMES[name]} {us / 1000:,.3f}" for name, us in parts if us)
    known = slow.get("wal_checkpoint")
    ran = f", with a {wal_checkpoints.words(known) if known else 'WAL checkpoint'}"
    ran = ran if slow.get("checkpoint") else ""
    shown = f"make tree RUN={summary['run_id']} TRANSACTION={slow['transaction']} shows it"
    return [f"slowest, watched: {slow['op']}, {slow['latency_us'] / 1000:,.3f} ms{ran}: {times} ({shown})"]
