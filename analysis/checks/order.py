"""Are the engine's calls of its files those that its transactions must make, in that order?

A boundary between two transactions that is not where it was parts the calls of one of them, and a file
that is taken for another is called as that one never is.
"""

from __future__ import annotations

import polars as pl

from analysis.ledger.arrays import at, inside
from analysis.ledger.timeline import edges
from analysis.run import Run

# vfs.csv is in ticks of the counter behind the clock, turned into its ns (TICKS_TOLERANCE_NS of
# workloads/ticks.h).
TICKS_NS = 250


def calls(run: Run) -> list[str]:
    """Each call of a workload's phase lies in one transaction, and each transaction's are in order."""
    ran = run.driver
    if ran.vfs is None or ran.engine.order is None:
        return []
    (begins, ends), (begin, end) = edges(ran.transactions), edges(ran.vfs)
    row, phase = inside(begin, begins, ends), inside(begin, *edges(ran.workload_phases))
    table = ran.vfs.with_columns(transaction=row)
    crossing = table.filter((row >= 0) & (end > at(ends, row) + TICKS_NS))
    between = table.filter((row < 0) & (phase >= 0))
    found = [
        f"{rows.height} calls {what}: first call {rows['call'][0]}, {rows['op'][0]} of {rows['file'][0]}"
        for what, rows in (("end after their transaction", crossing), ("in no transaction", between))
        # an explicit checkpoint comes between two transactions
        if not rows.is_empty() and not (rows is between and _maintained(run))
    ]
    return [f"vfs.csv: {reason}" for reason in found + _orders(run, table.filter(row >= 0))]


def _maintained(run: Run) -> bool:
    """Whether the driver called for a checkpoint now and then."""
    return int(run.driver.config["driver"].get("checkpoint_every", -1)) > 0


def _orders(run: Run, table: pl.DataFrame) -> list[str]:
    """Return which transactions' calls are in no order that the engine's settings allow."""
    engine = run.driver.engine
    if engine.order is None:
        return []
    try:
        allowed = engine.order(run.driver.config["effective"])
    except KeyError as error:
        return [f"no order of {engine.TITLE}'s calls is known with what was in effect: {error}"]
    letters = pl.concat_str(pl.col("file").cast(pl.String), pl.lit("."), pl.col("op").cast(pl.String))
    named = table.filter(~pl.col("file").cast(pl.String).is_in(engine.UNORDERED)).with_columns(
        letter=letters.replace_strict(engine.CALLS, default="?")
    )
    texts = named.group_by("transaction", maintain_order=True).agg(pl.col("letter").str.join())
    wrong = [text for text in texts["letter"].unique().to_list() if not allowed.fullmatch(text)]
    rows = texts.filter(pl.col("letter").is_in(wrong))
    if rows.is_empty():
        return []
    number, text = rows.row(0)
    return [
        f"{rows.height} transactions whose calls are in no order of {engine.TITLE}'s: "
        f"first transaction {number}, {text[:60]} (analysis/engines)"
    ]
