"""Check bytes that one transaction wrote for an earlier one, and that each WAL page reaches the database."""

import polars as pl

from analysis.checks.file_calls import first
from analysis.ledger.build import Ledger

_ROUNDED = 1e-6  # relative: shares are fractions of bytes


def deferred(made: Ledger) -> list[str]:
    """Check that deferred bytes move once from the transaction that wrote them to the one that owns them.

    A transaction gives away at most the bytes it wrote. A command's content is older than the command.
    """
    late, costs = made.deferred, made.costs
    total = float(late["bytes"].sum())
    background = float(late.filter(pl.col("made_by").is_null())["bytes"].sum())
    given, taken = float(costs["deferred"].sum()), float(costs["for_others"].sum()) + background
    over = costs.filter(pl.col("for_others") > pl.col("bytes") * (1 + _ROUNDED))
    begins = made.given.transactions.select("transaction", "begin_ns")
    issued = made.ledger.select("command", "issue_ns", size="bytes")
    parts = late.join(begins, on="transaction").join(issued, on="command")
    early = parts.filter(pl.col("begin_ns") > pl.col("issue_ns"))
    sums = parts.group_by("command", "size").agg(pl.col("bytes").sum())
    large = sums.filter(pl.col("bytes") > pl.col("size") * (1 + _ROUNDED))
    wrong = [
        *first(over, "transactions that wrote more for others than in total", "transaction", "bytes"),
        *first(early, "deferred parts written before their transaction", "command", "transaction"),
        *first(large, "commands with more deferred than written", "command", "bytes", "size"),
    ]
    for direction, size in (("given to", given), ("taken from", taken)):
        if abs(size - total) > _ROUNDED * max(total, 1):
            wrong.append(f"{total:.0f} bytes are deferred, but {size:.0f} are {direction} transactions")
    return wrong


def written_home(made: Ledger) -> list[str]:
    """Check that exactly the logged pages are written to the database, each after its last frame.

    The close checkpoints all pages. A frame with a wrong page number fails this check.
    """
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
        *first(left, "logged pages that no checkpoint wrote to the database", "page", "last"),
        *first(unlogged, "pages that a checkpoint wrote without a frame", "page", "begun"),
    ]


LEDGER_CHECKS = (deferred, written_home)
