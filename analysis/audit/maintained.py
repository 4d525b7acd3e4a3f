"""Is what lies between two transactions a checkpoint that the driver called for?

With checkpoint_every=N it does so after each Nth transaction (run_phase of workloads/run.c), and nothing else
that calls a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.ledger.timeline import edges
from base.arrays import Ints, at, inside, ints, preceding
from model.engines import Engine


class Places(NamedTuple):
    """After which transactions the driver calls for a checkpoint, and until when it has its end, ns."""

    number: Ints
    end: Ints


def every(ran: Driver) -> int:
    """Return after how many transactions each the driver calls for a checkpoint that does anything; 0: none
    does."""
    asked = int(ran.config["driver"].get("checkpoint_every", -1))
    return asked if asked > 0 and ran.engine.maintenance(ran.config["effective"]) else 0


def letters(engine: Engine) -> pl.Expr:
    """Expression: the letter of each call of vfs.csv (Engine.CALLS)."""
    named = pl.concat_str(pl.col("file").cast(pl.String), pl.lit("."), pl.col("op").cast(pl.String))
    return named.replace_strict(engine.CALLS, default="?", return_dtype=pl.String)


def places(ran: Driver) -> Places:
    """Return where the driver calls for checkpoints."""
    wanted, phases = every(ran), edges(ran.workload_phases)
    begins, _ = edges(ran.transactions)
    if not wanted or not begins.size:
        return Places(np.empty(0, np.int64), np.empty(0, np.int64))
    phase = inside(begins, *phases)
    last = np.r_[phase[1:] != phase[:-1], True]
    end = np.where(last, at(phases[1], phase), np.r_[begins[1:], -1])
    number = np.arange(wanted - 1, begins.size, wanted)
    return Places(number, end[number])


def between(ran: Driver, table: pl.DataFrame) -> list[str]:
    """Say which calls of vfs.csv are in no transaction, and in no checkpoint that the driver called for; and
    where there is none, and what was logged is not written home.

    table: the calls of the workload's phases, with the `transaction` of each, -1: none.
    """
    engine, called, time = ran.engine, places(ran), ints(table["begin_ns"])
    before = preceding(edges(ran.transactions)[0], time) - 1
    # the first place whose end is not before the call
    place = preceding(called.end, time)
    behind, end = (np.r_[column, -1].take(place) for column in called)
    table = table.with_columns(place=place, called=(behind == before) & (time < end), letter=letters(engine))
    outside = table.filter(pl.col("transaction") < 0)
    found = told(outside.filter(~pl.col("called")), "in no transaction")
    allowed = engine.maintenance(ran.config["effective"])
    if not called.number.size or allowed is None:
        return found
    ordered = ~pl.col("file").cast(pl.String).is_in(engine.UNORDERED)
    for number, text in _texts(outside.filter(ordered & pl.col("called"))):
        if not allowed.fullmatch(text):
            told_of = f"calls behind transaction {called.number[number]} are no checkpoint's"
            return [*found, f"{told_of}: {text[:60]}"]
    for number, text in _texts(table.filter(ordered & (pl.col("place") < called.number.size))):
        if engine.UNFINISHED.search(text):
            return [*found, f"no checkpoint comes behind transaction {called.number[number]}"]
    return found


def _texts(table: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Yield the letters of the calls up to each place, of a database's files, as far as they are in the
    table."""
    of = ["place", *(name for name in ("database",) if name in table.columns)]
    texts = table.group_by(of, maintain_order=True).agg(pl.col("letter").str.join())
    yield from texts.select("place", "letter").iter_rows()


def told(rows: pl.DataFrame, what: str) -> list[str]:
    """Say how many calls are wrong, and which is the first; nothing if none is."""
    if rows.is_empty():
        return []
    return [f"{rows.height} calls {what}: first call {rows['call'][0]}, {rows['op'][0]} of {rows['file'][0]}"]
