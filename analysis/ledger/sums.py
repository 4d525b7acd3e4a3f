"""Sum up bytes written for no transaction, deferred bytes and persistent memory, as numbers and sentences.

Deferred bytes are content of an earlier transaction than the one that made the device write them. No block
command shows writes to persistent memory, so the ledger's bytes exclude them. Their source is the engine's
count per transaction (docs/reference/formats.md, persistent.csv).
"""

from typing import Any

import polars as pl

from analysis.adapters.driver import Driver
from analysis.ledger.build import Ledger
from model import engines

VIEWS = ("deferred", "for_others")
# a bio of another partition carries no data, so its reason has no bytes and no entry here
WORDS = {
    "close": "at the close",
    "drain": "in the drain",
    "between transactions": "between transactions",
    "garbage collection": "by garbage collection",
    "write back": "by write back",
    "journal": "by the journal with nobody waiting",
    "engine job": "by a thread of the engine",
    "unknown": "by an unknown thread",
}


def no_transaction(made: Ledger) -> dict[str, Any]:
    """Return the bytes written for no transaction.

    Keys: bytes, share (of the bytes written), by ({reason: bytes}) and per_transaction (None without
    transactions).
    """
    sums = _by_reason(for_nobody(made.ledger, made.shares, made.pieces))
    number = sum(sums.values())
    total, ran = int(made.pieces["bytes"].sum()), made.costs.height
    return {
        "bytes": number,
        "share": number / total if total else 0.0,
        "by": sums,
        "per_transaction": number / ran if ran else None,
    }


def for_nobody(commands: pl.DataFrame, shares: pl.DataFrame, pieces: pl.DataFrame) -> pl.DataFrame:
    """Return no_transaction and bytes of each command, or share of one, that is for no transaction."""
    whole = commands.select("command", "no_transaction", share=pl.lit(1.0))
    parts = pl.concat([whole, shares.select("command", "no_transaction", "share")]).drop_nulls()
    size = pieces.group_by("command").agg(pl.col("bytes").sum())
    return parts.join(size, on="command").with_columns(bytes=pl.col("share") * pl.col("bytes"))


def deferred(made: Ledger) -> dict[str, Any] | None:
    """Return the deferred bytes; None if the engine's calls were not logged, or do not write all pages.

    Keys: bytes, share (of the bytes written), by_transactions (bytes written by a later transaction), by
    ({reason: bytes} written for no transaction) and per_transaction ({op or "all": means of VIEWS}).
    """
    if not made.given.calls or made.given.stores:
        return None
    number, total = float(made.deferred["bytes"].sum()), int(made.pieces["bytes"].sum())
    return {
        "bytes": number,
        "share": number / total if total else 0.0,
        "by_transactions": float(made.costs["for_others"].sum()),
        "by": _by_reason(made.deferred),
        "per_transaction": by_operation(made.costs, VIEWS),
    }


def by_operation(table: pl.DataFrame, columns: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return the means of columns by `op`, and of all rows."""
    groups = [(op, rows) for (op,), rows in table.group_by("op", maintain_order=True)]
    each = [*groups, ("all", table)] if groups else []
    return {str(op): rows.select(pl.col(columns).mean()).row(0, named=True) for op, rows in each}


def _by_reason(table: pl.DataFrame) -> dict[str, int]:
    """Return the bytes of each reason, in WORDS' order."""
    sums = dict(table.group_by("no_transaction").agg(pl.col("bytes").sum()).rows())
    return {reason: round(sums.get(reason, 0)) for reason in WORDS}


def sentences(ledger: dict[str, Any]) -> list[str]:
    """Return the sentences of the summary's `ledger`, in percent of the bytes written."""
    none, late = ledger["no_transaction"], ledger["deferred"]
    total = sum(ledger["bytes"].values())
    reasons = {WORDS[reason]: size for reason, size in none["by"].items()}
    lines = [f"{none['share']:.3%} were written for no transaction" + _list(reasons, total, ": ")]
    if late is None:
        return [*lines, "deferred bytes are unknown: not all writes are logged calls"]
    later = {"by later transactions": late["by_transactions"]}
    ways = later | {WORDS[reason]: size for reason, size in late["by"].items()}
    text = f"{late['share']:.3%} are deferred: the content of earlier transactions, written"
    return [*lines, text + _list(ways, total)] if late["bytes"] else lines


def rows(ledger: dict[str, Any]) -> list[tuple[str, float, float | None]]:
    """Return (description, bytes, deferred bytes or None if unknown) for the transactions and each reason."""
    none, late = ledger["no_transaction"], ledger["deferred"]
    caused = sum(ledger["bytes"].values()) - none["bytes"]
    table = [("by transactions", caused, late and late["by_transactions"])]
    for reason, size in none["by"].items():
        if size:
            table.append((f"for none, {WORDS[reason]}", size, late and late["by"][reason]))
    return table


def _list(sizes: dict[str, float], total: int, before: str = " ") -> str:
    parts = [f"{size / total:.3%} {word}" for word, size in sizes.items() if size]
    return before + ", ".join(parts) if parts else ""


_OF_MEMORY = ("bytes", "lines")


def property_of(driver: Driver, name: str) -> int | None:
    """Return a total of the engine's persistent memory; None if not reported."""
    value = str(driver.config[driver.engine.PROPERTIES].get(f"PCM {name}", ""))
    return int(value) if value.isascii() and value.isdigit() else None


def persistent(driver: Driver) -> dict[str, Any] | None:
    """Return label, lines, bytes, ns charged, and `per_transaction` {op or "all": {lines, bytes}}.

    Return None without persistent memory.
    """
    table = driver.persistent
    if table is None:
        return None
    joined = table.join(driver.transactions.select("transaction", "op"), on="transaction", how="left")
    return {
        "label": f"{engines.files()[table['file'][0]][0]} (PCM)" if table.height else None,
        **{name: property_of(driver, name) for name in (*_OF_MEMORY, "ns")},
        "per_transaction": by_operation(joined, _OF_MEMORY),
    }
