"""Split a cost per transaction (bytes, syncs, time) by cause; for EXPECT, find what differs most in two runs.

Bytes and write commands are split by label, syncs and flushes by the synced file, time by what it waited for.
A watched command (`make watch`) has causes, too, but for time.
"""

from dataclasses import dataclass

import polars as pl

from analysis import diff
from analysis.diff import comparison_text
from analysis.run_files.stored import Stored
from analysis.schemas import events
from base import identity
from base.errors import FileError

TIME, BYTES, SYNCS, FLUSHES, FUA, WRITES = "time", "bytes", "syncs", "flushes", "fua", "writes"
TIME_WORDS = {name: comparison_text.TITLES[name].strip() for name in diff.TIMES}
# Part of the timed region: the close, and the cost of watching that the baseline run does not have.
OUTSIDE = "outside transactions"
# A cause of flushes.
NO_SYNC = "no sync"
_WRITES = ("write", "write FUA", "write metadata")
KINDS = {FLUSHES: ("flush",), FUA: ("write FUA",), WRITES: _WRITES, BYTES: _WRITES}


@dataclass(frozen=True)
class Cause:
    """A part of a cost, per transaction, in two runs: bytes, ns, or a number of calls or commands."""

    name: str
    a: float
    b: float


def largest(runs: tuple[Stored, Stored], quantity: str, op: str | None = None) -> Cause | None:
    """Return the cause that differs most between two runs; None if none differs.

    op: an operation, or None for all transactions and what the close and the drain write. Raises FileError
    for runs that `make diff` refuses.
    """
    for name in ("load", "clock"):
        values = [getattr(run.cell, name) for run in runs]
        if values[0] != values[1]:
            wrong = f"not comparable with {runs[0].folder}: {name} {values[0]} and {values[1]}"
            raise FileError(runs[1].folder, "", wrong, f"the same {name}")
    if runs[0].cell.load == identity.DRIVER:
        diff.comparable(runs)
    a, b = (parts(run, quantity, op) for run in runs)
    causes = [Cause(name, a.get(name, 0.0), b.get(name, 0.0)) for name in dict.fromkeys([*a, *b])]
    return max(
        (cause for cause in causes if cause.a != cause.b),
        key=lambda cause: abs(cause.b - cause.a),
        default=None,
    )


def parts(run: Stored, quantity: str, op: str | None = None) -> dict[str, float]:
    """Return cause → its part of a quantity, per transaction. Raises FileError if it is not recorded."""
    names = tuple(TIME_WORDS) if quantity == TIME else ()
    costs = run.table("costs", ("transaction", "op", *names)).with_columns(pl.col("op").cast(pl.String))
    chosen = costs if op is None else costs.filter(pl.col("op") == op)
    if chosen.is_empty():
        ops = ", ".join(costs["op"].unique(maintain_order=True)) or "a run with transactions"
        raise FileError(run.folder, "", f"no {op or 'transaction'} in it", ops)
    if quantity == TIME:
        return _times(run, chosen, op)
    rows = _syncs(run) if quantity == SYNCS else _commands(run, quantity)
    if op is not None or quantity == SYNCS:
        rows = rows.join(chosen, on="transaction", how="semi")
    sums = rows.group_by("name").agg(pl.col("amount").sum()).sort("name")
    return {name: amount / chosen.height for name, amount in sums.iter_rows()}


def _times(run: Stored, costs: pl.DataFrame, op: str | None) -> dict[str, float]:
    if any(costs[name].null_count() for name in TIME_WORDS):
        raise FileError(run.folder, "", "its times are not split by cause", "a cell's run with all probes")
    times = {word: float(costs[name].sum()) / costs.height for name, word in TIME_WORDS.items()}
    if op is None:
        whole = 1e9 * float(run.summary["virtual_seconds"]) / costs.height
        times[OUTSIDE] = whole - sum(times.values())
    return times


def _syncs(run: Stored) -> pl.DataFrame:
    """Return name (the role of the synced file), sync, transaction, amount 1."""
    table = run.table("syncs", ("sync", "file", "transaction"))
    return table.select("sync", "transaction", name=pl.col("file").cast(pl.String), amount=pl.lit(1.0))


def _commands(run: Stored, quantity: str) -> pl.DataFrame:
    """Return name, transaction, amount: the commands of a kind, or their bytes, in parts of one name each.

    A command that several transactions share has a row for each.
    """
    columns = ("command", "transaction", "sync")
    table = run.table("ledger", (*columns, "rwbs", "bytes")).with_columns(pl.col("rwbs").cast(pl.String))
    commands = table.filter(events.block_kind(sectors="bytes").is_in(KINDS[quantity])).select(columns)
    shares = run.table("shares", ("command", "transaction", "share"))
    alone = commands.join(shares, on="command", how="anti").with_columns(share=pl.lit(1.0))
    several = commands.drop("transaction").join(shares, on="command")
    each = pl.concat([rows.select(*columns, "share") for rows in (alone, several)])
    if quantity == FLUSHES:
        names = _syncs(run).select("sync", "name")
        rows = each.join(names, on="sync", how="left").with_columns(pl.col("name").fill_null(NO_SYNC))
        return rows.select("name", "transaction", amount="share")
    size = pl.col("bytes") if quantity == BYTES else pl.col("bytes") / pl.col("bytes").sum().over("command")
    pieces = run.table("pieces", ("command", "label", "bytes"))
    labels = pieces.select("command", name=pl.col("label").cast(pl.String), size=size)
    rows = each.join(labels, on="command")
    return rows.select("name", "transaction", amount=pl.col("share") * pl.col("size"))
