"""Find a run's slowest transaction, count WAL checkpoints; write the report's first lines (rate limits)."""

from typing import Any

import polars as pl

from analysis.ledger.build import Ledger
from analysis.ledger.timeline import edges
from analysis.schemas.ledger import TIMES
from analysis.stats import totals
from base.arrays import inside, ints, preceding

# Share of the time from which on the CPU model decides a rate.
DECIDES = 0.5


def slowest(made: Ledger | None, journal_mode: str | None) -> dict[str, Any] | None:
    """Return the slowest transaction of the watched run: its number, op, and times in us by TIMES.

    checkpoint: whether it ran one of SQLite's WAL, if known. None without a ledger or a transaction.
    """
    if made is None or made.costs.is_empty():
        return None
    row = made.costs.sort("latency_ns", descending=True, maintain_order=True).row(0, named=True)
    times = {name: row[f"{name}_ns"] / 1000 for name in TIMES if row[f"{name}_ns"] is not None}
    found = _checkpoints(made) if journal_mode == "wal" else None
    ran = {} if found is None else {"checkpoint": row["transaction"] in found["transaction"].to_list()}
    return {
        "transaction": row["transaction"],
        "op": row["op"],
        "latency_us": row["latency_ns"] / 1000,
        "times_us": times,
        **ran,
    }


def checkpoints(made: Ledger | None, journal_mode: str | None) -> int | None:
    """Count the checkpoints of SQLite's WAL before the close; None in other modes and if unknown."""
    found = _checkpoints(made) if made and journal_mode == "wal" else None
    return None if found is None else found.height


def _checkpoints(made: Ledger) -> pl.DataFrame | None:
    """Return the checkpoints of a WAL in the phases of transactions, each with its transaction.

    Null: between transactions, as the driver requests some. Nothing else writes the database. Without a log
    of calls, nothing else syncs it; if nothing does, the result is None, as synchronous=off syncs nothing.
    """
    working = made.given.phases.filter(pl.col("transactions") > 0)
    calls = made.vfs.filter(pl.col("op") == "write") if made.given.calls else made.syncs
    calls = calls.filter(pl.col("file").cast(pl.String) == "database")
    begin = ints(calls["begin_ns"])
    # a checkpoint has many writes
    calls = calls.with_columns(after=preceding(ints(made.given.transactions["begin_ns"]), begin))
    calls = calls.filter(pl.Series(inside(begin, *edges(working)) >= 0, dtype=pl.Boolean))
    if made.given.calls:
        return calls.unique(["database", "transaction", "after"])
    return None if calls.is_empty() else calls


def lines(summary: dict[str, Any]) -> list[str]:
    """Return the lines below a terminal's rates, of any length."""
    return [*operations(summary), *of_slowest(summary)]


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


def of_slowest(summary: dict[str, Any]) -> list[str]:
    """Return the slowest transaction with the parts of its time, the longest first."""
    if (slow := summary.get("slowest")) is None:
        return []
    parts = sorted(slow["times_us"].items(), key=lambda part: -part[1])
    times = ", ".join(f"{TIMES[name]} {us / 1000:,.3f}" for name, us in parts if us)
    ran = ", of a checkpoint" if slow.get("checkpoint") else ""
    shown = f"make tree RUN={summary['run_id']} TRANSACTION={slow['transaction']} shows it"
    return [f"slowest, watched: {slow['op']}, {slow['latency_us'] / 1000:,.3f} ms{ran}: {times} ({shown})"]
