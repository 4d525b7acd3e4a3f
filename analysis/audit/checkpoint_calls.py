"""Check the file calls between transactions: only checkpoints that the driver requested.

With checkpoint_every=N the driver requests one after each Nth transaction (run_phase of workloads/run.c). It
calls files between transactions for no other reason.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.ledger.timeline import edges
from base.arrays import Ints, at, inside, ints, preceding
from model.engines import Engine


class _Checkpoints(NamedTuple):
    """The checkpoints that the driver requests: the transaction before each, and its latest end."""

    number: Ints
    end: Ints  # ns


def _interval(ran: Driver) -> int:
    """Return the number of transactions per requested checkpoint; 0: checkpoints do nothing."""
    every = int(ran.config["driver"].get("checkpoint_every", -1))
    return every if every > 0 and ran.engine.maintenance(ran.config["effective"]) else 0


def letters(engine: Engine) -> pl.Expr:
    """Return the expression for the letter of each call of vfs.csv (Engine.CALLS)."""
    named = pl.concat_str(pl.col("file").cast(pl.String), pl.lit("."), pl.col("op").cast(pl.String))
    return named.replace_strict(engine.CALLS, default="?", return_dtype=pl.String)


def _requested(ran: Driver) -> _Checkpoints:
    """Return the checkpoints that the driver requests."""
    interval, phases = _interval(ran), edges(ran.workload_phases)
    begins, _ = edges(ran.transactions)
    if not interval or not begins.size:
        return _Checkpoints(np.empty(0, np.int64), np.empty(0, np.int64))
    phase = inside(begins, *phases)
    last = np.r_[phase[1:] != phase[:-1], True]
    end = np.where(last, at(phases[1], phase), np.r_[begins[1:], -1])
    number = np.arange(interval - 1, begins.size, interval)
    return _Checkpoints(number, end[number])


def between(ran: Driver, table: pl.DataFrame) -> list[str]:
    """Return the faults of calls between transactions, and requested checkpoints that did not happen.

    table: the calls of the workload's phases, with the `transaction` of each, -1: none.
    """
    engine, checkpoints, time = ran.engine, _requested(ran), ints(table["begin_ns"])
    before = preceding(edges(ran.transactions)[0], time) - 1
    # the first checkpoint that does not end before the call
    place = preceding(checkpoints.end, time)
    after, end = (np.r_[column, -1].take(place) for column in checkpoints)
    table = table.with_columns(
        place=place, in_checkpoint=(after == before) & (time < end), letter=letters(engine)
    )
    outside = table.filter(pl.col("transaction") < 0)
    faults = count_calls(outside.filter(~pl.col("in_checkpoint")), "in no transaction")
    allowed = engine.maintenance(ran.config["effective"])
    if not checkpoints.number.size or allowed is None:
        return faults
    ordered = ~pl.col("file").cast(pl.String).is_in(engine.UNORDERED)
    for index, text in _texts(outside.filter(ordered & pl.col("in_checkpoint"))):
        if not allowed.fullmatch(text):
            number = checkpoints.number[index]
            return [*faults, f"calls after transaction {number} are not a checkpoint's: {text[:60]}"]
    for index, text in _texts(table.filter(ordered & (pl.col("place") < checkpoints.number.size))):
        if engine.UNFINISHED.search(text):
            return [*faults, f"no checkpoint follows transaction {checkpoints.number[index]}"]
    return faults


def _texts(table: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Yield (index of a checkpoint, letters of the calls since the one before), per database."""
    keys = ["place", *(name for name in ("database",) if name in table.columns)]
    texts = table.group_by(keys, maintain_order=True).agg(pl.col("letter").str.join())
    yield from texts.select("place", "letter").iter_rows()


def count_calls(rows: pl.DataFrame, fault: str) -> list[str]:
    """Return a reason with the number of calls and the first one; none for an empty table."""
    if rows.is_empty():
        return []
    return [
        f"{rows.height} calls {fault}: first call {rows['call'][0]}, {rows['op'][0]} of {rows['file'][0]}"
    ]
