"""Are the engine's calls of its files those that its transactions must make, in that order?

A boundary between two transactions that is not where it was parts the calls of one of them, and a file
that is taken for another is called as that one never is.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.adapters.drivertables import TICKS_NS
from analysis.audit import maintained
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import at, inside
from model import operations, userfile
from model.statements import sqlfile


def calls(run: Run) -> list[str]:
    """Each call of a workload's phase lies in one transaction, or is of a checkpoint that was called for;
    and each transaction's are in order."""
    ran = run.driver
    if ran.vfs is None or ran.engine.order is None:
        return []
    (begins, ends), (begin, end) = edges(ran.transactions), edges(ran.vfs)
    row, phase = inside(begin, begins, ends), inside(begin, *edges(ran.workload_phases))
    table = ran.vfs.with_columns(transaction=row)
    crossing = table.filter((row >= 0) & (end > at(ends, row) + TICKS_NS))
    found = [
        *maintained.told(crossing, "end after their transaction"),
        *maintained.between(ran, table.filter(phase >= 0)),
        *_without(run, row),
        *_of_another(run, table.filter(row >= 0)),
        *_of_two(ran.vfs),
        *_orders(run, table.filter((row >= 0) & ~np.isin(row, _unordered(run)))),
    ]
    return [f"vfs.csv: {reason}" for reason in found]


def _without(run: Run, row: np.ndarray) -> list[str]:
    """Return which transactions changed how many rows there are and called no file.

    These always change a page of the database; an update may write what is there already.
    """
    word = pl.col("op").cast(pl.String).str.split("_").list.first()
    changed = run.driver.transactions.filter((pl.col("changes") > 0) & word.is_in(operations.changing_rows()))
    none = changed.filter(~pl.col("transaction").is_in(row.tolist()))
    if none.is_empty():
        return []
    return [
        f"{none.height} transactions changed rows without a call: first transaction {none['transaction'][0]}"
    ]


def _given(run: Run) -> tuple[sqlfile.Statement, ...]:
    """Return the transactions of a user's file; none of another workload."""
    if "file" not in run.driver.config["driver"]:
        return ()
    try:
        return userfile.parts(run.cell.profiles.get("file", {})).transactions
    except sqlfile.SqlFileError:
        return ()  # again.of_the_file says so


def _unordered(run: Run) -> list[int]:
    """Return the transactions of a user's file that do something else than to commit what they changed."""
    return [number for number, one in enumerate(_given(run)) if not sqlfile.is_ordered(one)]


def _of_another(run: Run, table: pl.DataFrame) -> list[str]:
    """Return which transactions called a file of another database than their own, where there are several."""
    if "database" not in table.columns:
        return []
    own = [one.database + 1 for one in _given(run)]
    wanted = pl.DataFrame(
        {"transaction": range(len(own)), "own": own}, schema_overrides={"transaction": pl.Int64}
    )
    joined = table.join(wanted, on="transaction", how="left", maintain_order="left")
    wrong = joined.filter(pl.col("database") != pl.col("own"))
    if wrong.is_empty():
        return []
    row = wrong.row(0, named=True)
    return [
        f"{wrong.height} calls of a file of another database than their transaction: first call "
        f"{row['call']}, of database {row['database']} in transaction {row['transaction']}, "
        f"which is of {row['own']}"
    ]


def _of_two(calls: pl.DataFrame) -> list[str]:
    """Return which files are called as two databases' own. Another file may have the inode of one that was
    deleted."""
    if "database" not in calls.columns:
        return []
    owners = dict[tuple[str, int], int]()
    for call, op, file, inode, own in calls.select("call", "op", "file", "inode", "database").iter_rows():
        if own is None:
            continue
        if op == "delete":
            owners = {key: one for key, one in owners.items() if (key[0], one) != (file, own)}
        elif inode and (owner := owners.setdefault((file, inode), own)) != own:
            return [f"call {call} is of database {own}'s {file}, and the file was database {owner}'s"]
    return []


def _orders(run: Run, table: pl.DataFrame) -> list[str]:
    """Return which transactions' calls are in no order that the engine's settings allow."""
    engine = run.driver.engine
    if engine.order is None:
        return []
    try:
        allowed = engine.order(run.driver.config["effective"])
    except KeyError as error:
        return [f"no order of {engine.TITLE}'s calls is known with what was in effect: {error}"]
    named = table.filter(~pl.col("file").cast(pl.String).is_in(engine.UNORDERED)).with_columns(
        letter=maintained.letters(engine)
    )
    texts = named.group_by("transaction", maintain_order=True).agg(pl.col("letter").str.join())
    wrong = [text for text in texts["letter"].unique().to_list() if not allowed.fullmatch(text)]
    rows = texts.filter(pl.col("letter").is_in(wrong))
    if rows.is_empty():
        return []
    number, text = rows.row(0)
    return [
        f"{rows.height} transactions whose calls are in no order of {engine.TITLE}'s: "
        f"first transaction {number}, {text[:60]} (model/engines)"
    ]


OF_RUN = (calls,)
