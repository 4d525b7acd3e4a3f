"""Check the engine's file calls: in order within a transaction or checkpoint, none outside, on its database.

This finds a wrong boundary between transactions, which splits the calls of one. It also finds a file with a
wrong role, which gets calls that the role never gets. Between transactions the driver calls files only for
checkpoints, with checkpoint_every=N after each Nth transaction (run_phase of workloads/run.c).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.adapters.drivertables import TICKS_NS
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import Ints, at, inside, ints, preceding
from model import operations, userfile
from model.engines import Engine
from model.statements import sqlfile


def calls(run: Run) -> list[str]:
    """Check that each call of a workload phase is in order, in one transaction or requested checkpoint."""
    ran = run.driver
    if ran.vfs is None or ran.engine.order is None:
        return []
    (begins, ends), (begin, end) = edges(ran.transactions), edges(ran.vfs)
    row, phase = inside(begin, begins, ends), inside(begin, *edges(ran.workload_phases))
    table = ran.vfs.with_columns(transaction=row)
    crossing = table.filter((row >= 0) & (end > at(ends, row) + TICKS_NS))
    faults = [
        *_count_calls(crossing, "end after their transaction"),
        *_between(ran, table.filter(phase >= 0)),
        *_missing_calls(run, row),
        *_wrong_database(run, table.filter(row >= 0)),
        *_shared_files(ran.vfs),
        *_orders(run, table.filter((row >= 0) & ~np.isin(row, _unordered(run)))),
    ]
    return [f"vfs.csv: {reason}" for reason in faults]


def _missing_calls(run: Run, row: np.ndarray) -> list[str]:
    """Return a reason if transactions changed the number of rows without a file call.

    Such a transaction always changes a page; an update may write the same values again.
    """
    word = pl.col("op").cast(pl.String).str.split("_").list.first()
    changed = run.driver.transactions.filter((pl.col("changes") > 0) & word.is_in(operations.changing_rows()))
    silent = changed.filter(~pl.col("transaction").is_in(row.tolist()))
    if silent.is_empty():
        return []
    return [
        f"{silent.height} transactions changed rows without a call: "
        f"first transaction {silent['transaction'][0]}"
    ]


def _given(run: Run) -> tuple[sqlfile.Statement, ...]:
    """Return the transactions of a user's file; none for another workload."""
    if "file" not in run.driver.config["driver"]:
        return ()
    profile = run.cell.profiles.get("file", {})
    if userfile.REQUESTS in profile:
        return ()
    try:
        return userfile.parts(profile).transactions
    except sqlfile.SqlFileError:
        return ()  # reported by workload_replay.sql_file


def _unordered(run: Run) -> list[int]:
    """Return the transactions of a user's file that do more than commit their changes."""
    return [number for number, text in enumerate(_given(run)) if not sqlfile.is_ordered(text)]


def _wrong_database(run: Run, table: pl.DataFrame) -> list[str]:
    """Return a reason if transactions called files of another of several databases."""
    if "database" not in table.columns:
        return []
    own = [transaction.database + 1 for transaction in _given(run)]
    wanted = pl.DataFrame({"own": own}, {"own": pl.Int64}).with_row_index("transaction").cast(pl.Int64)
    joined = table.join(wanted, on="transaction", how="left", maintain_order="left")
    wrong = joined.filter(pl.col("database") != pl.col("own"))
    if wrong.is_empty():
        return []
    row = wrong.row(0, named=True)
    return [
        f"{wrong.height} calls of a file of another database than their transaction: first call "
        f"{row['call']}, database {row['database']} in transaction {row['transaction']} "
        f"of database {row['own']}"
    ]


def _shared_files(calls: pl.DataFrame) -> list[str]:
    """Return a reason if two databases call the same file. The inode of a deleted file may be reused."""
    if "database" not in calls.columns:
        return []
    owners = dict[tuple[str, int], int]()
    for call, op, file, inode, own in calls.select("call", "op", "file", "inode", "database").iter_rows():
        if own is None:
            continue
        if op == "delete":
            owners = {key: owner for key, owner in owners.items() if (key[0], owner) != (file, own)}
        elif inode and (owner := owners.setdefault((file, inode), own)) != own:
            return [f"call {call} is for the {file} of database {own}, but the file was database {owner}'s"]
    return []


def _orders(run: Run, table: pl.DataFrame) -> list[str]:
    """Return a reason if transactions' calls are in an order that the engine's settings do not allow."""
    engine = run.driver.engine
    if engine.order is None:
        return []
    try:
        allowed = engine.order(engine.in_effect(run.driver.config))
    except KeyError as error:
        return [f"the order of {engine.TITLE}'s calls is unknown with the effective settings: {error}"]
    named = table.filter(~pl.col("file").cast(pl.String).is_in(engine.UNORDERED)).with_columns(
        letter=_letters(engine)
    )
    texts = named.group_by("transaction", maintain_order=True).agg(pl.col("letter").str.join())
    wrong = [text for text in texts["letter"].unique().to_list() if not allowed.fullmatch(text)]
    rows = texts.filter(pl.col("letter").is_in(wrong))
    if rows.is_empty():
        return []
    number, text = rows.row(0)
    return [
        f"{rows.height} transactions have calls in an order that {engine.TITLE} does not use: "
        f"first transaction {number}, {text[:60]} (model/engines)"
    ]


class _Checkpoints(NamedTuple):
    """The checkpoints that the driver requests: the transaction before each, and its latest end."""

    number: Ints
    end: Ints  # ns


def _letters(engine: Engine) -> pl.Expr:
    """Return the expression for the letter of each call of vfs.csv (Engine.CALLS)."""
    named = pl.concat_str(pl.col("file").cast(pl.String), pl.lit("."), pl.col("op").cast(pl.String))
    return named.replace_strict(engine.CALLS, default="?", return_dtype=pl.String)


def _requested(ran: Driver) -> _Checkpoints:
    """Return the requested checkpoints; none for settings with which they do nothing."""
    interval, phases = int(ran.config["driver"].get("checkpoint_every", -1)), edges(ran.workload_phases)
    begins, _ = edges(ran.transactions)
    if interval < 1 or not ran.engine.maintenance(ran.engine.in_effect(ran.config)) or not begins.size:
        return _Checkpoints(np.empty(0, np.int64), np.empty(0, np.int64))
    phase = inside(begins, *phases)
    last = np.r_[phase[1:] != phase[:-1], True]
    end = np.where(last, at(phases[1], phase), np.r_[begins[1:], -1])
    number = np.arange(interval - 1, begins.size, interval)
    return _Checkpoints(number, end[number])


def _between(ran: Driver, table: pl.DataFrame) -> list[str]:
    """Return the faults of calls between transactions, and requested checkpoints that did not happen.

    table: the calls of the workload's phases, with the `transaction` of each, -1: none.
    """
    engine, checkpoints, time = ran.engine, _requested(ran), ints(table["begin_ns"])
    before = preceding(edges(ran.transactions)[0], time) - 1
    # the first checkpoint that does not end before the call
    place = preceding(checkpoints.end, time)
    after, end = (np.r_[column, -1].take(place) for column in checkpoints)
    table = table.with_columns(
        place=place, in_checkpoint=(after == before) & (time < end), letter=_letters(engine)
    )
    outside = table.filter(pl.col("transaction") < 0)
    faults = _count_calls(outside.filter(~pl.col("in_checkpoint")), "in no transaction")
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


def _count_calls(rows: pl.DataFrame, fault: str) -> list[str]:
    """Return a reason with the number of calls and the first one; none for an empty table."""
    if rows.is_empty():
        return []
    return [
        f"{rows.height} calls {fault}: first call {rows['call'][0]}, {rows['op'][0]} of {rows['file'][0]}"
    ]


RUN_CHECKS = (calls,)
