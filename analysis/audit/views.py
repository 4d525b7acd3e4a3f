"""Do the two views of the bytes agree: who made the device write them, and whose content they were?"""

from __future__ import annotations

import polars as pl

from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger

_ROUNDED = 1e-6  # of the bytes: shares are fractions


def deferred(made: Ledger) -> list[str]:
    """What is deferred is taken from who made it written and given to whose it was, once; nobody gives
    more than he made written; and what a command holds was written before it was issued."""
    late, costs = made.deferred, made.costs
    total = float(late["bytes"].sum())
    nobodys = float(late.filter(pl.col("made_by").is_null())["bytes"].sum())
    given, taken = float(costs["deferred"].sum()), float(costs["for_others"].sum()) + nobodys
    over = costs.filter(pl.col("for_others") > pl.col("bytes") * (1 + _ROUNDED))
    begins = made.given.transactions.select("transaction", "begin_ns")
    issued = made.ledger.select("command", "issue_ns", size="bytes")
    found = late.join(begins, on="transaction").join(issued, on="command")
    early = found.filter(pl.col("begin_ns") > pl.col("issue_ns"))
    sums = found.group_by("command", "size").agg(pl.col("bytes").sum())
    large = sums.filter(pl.col("bytes") > pl.col("size") * (1 + _ROUNDED))
    wrong = [
        *first(over, "transactions that wrote more for others than at all", "transaction", "bytes"),
        *first(early, "deferred parts written before their transaction", "command", "transaction"),
        *first(large, "commands with more deferred than written", "command", "bytes", "size"),
    ]
    for what, size in (("given to", given), ("taken from", taken)):
        if abs(size - total) > _ROUNDED * max(total, 1):
            wrong.append(f"of {total:.0f} deferred bytes {size:.0f} are {what} transactions")
    return wrong


def written_home(made: Ledger) -> list[str]:
    """Each page that was logged is written home after its last frame, as the close of the database is a
    checkpoint of all; and what is written home was logged. So no frame has another page's number."""
    calls = made.vfs.with_columns(pl.col("database").fill_null(1))
    logged = calls.filter(pl.col("page").is_not_null()).group_by("database", "page")
    frames = logged.agg(pl.col("call").min().alias("first"), pl.col("call").max().alias("last"))
    if frames.is_empty():
        return []
    is_home = (pl.col("op") == "write") & (pl.col("file") == "database") & (pl.col("bytes") > 0)
    of_page = (pl.col("offset") // pl.col("bytes") + 1).alias("page")
    homes = calls.filter(is_home).group_by("database", of_page)
    written = homes.agg(pl.col("call").min().alias("begun"), pl.col("call").max().alias("done"))
    both = frames.join(written, on=["database", "page"], how="full", coalesce=True).sort("database", "page")
    left = both.filter(pl.col("last").is_not_null() & (pl.col("done").fill_null(-1) < pl.col("last")))
    before = pl.col("first").is_null() | (pl.col("begun") < pl.col("first"))
    unlogged = both.filter(pl.col("begun").is_not_null() & before)
    return [
        *first(left, "logged pages that no checkpoint wrote home", "page", "last"),
        *first(unlogged, "pages that a checkpoint wrote and no frame held", "page", "begun"),
    ]


OF_LEDGER = (deferred, written_home)
