"""Summarize a watched program's logged transactions, by database and statement, and its waits for locks."""

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from analysis.adapters.drivertables import unescape
from analysis.command.command_tables import Tables
from analysis.run import Run
from base.text import counted, printable
from model import engines

# costs that are averaged over transactions
_MEANS = ("syncs", "writes", "bytes", "flushes")


def summary(run: Run, built: Tables) -> dict[str, Any]:
    """Return the summary in words, counts, rows by database and statement, and lock statistics.

    syncs_in_none: how many syncs of an engine's files are outside transactions.
    """
    return {**_transactions(run, built), "locks": locks(run.driver.config.get("transactions"))}


def locks(config: dict[str, int] | None) -> dict[str, Any] | None:
    """Return how often the engine found a database locked, also in words; None if not counted."""
    if config is None or "busy" not in config or not config["processes"]:
        return None
    busy, sleeps, slept_ns = (config[name] for name in ("busy", "sleeps", "slept_ns"))
    slept = f"{counted(sleeps, 'time')} for a lock, {slept_ns / 1e6:.1f} ms in all threads"
    text = f"{counted(busy, 'call')} returned SQLITE_BUSY; SQLite slept {slept}"
    return {"said": text, "busy": busy, "sleeps": sleeps, "slept_ns": slept_ns}


def _transactions(run: Run, built: Tables) -> dict[str, Any]:
    table, config = run.driver.transactions, run.driver.config.get("transactions")
    if config is None:
        return _unknown("not known: they are logged only in a watched run")
    roles, titles = _recognised()
    rows_by_file = [row for each in (built.syncs, built.files) if each is not None for row in each.to_dicts()]
    written = {row["name"] for row in rows_by_file if row["file"] in roles}
    if table.is_empty():
        return _unknown(_why_none(written, config, titles))
    undone = int(table["rolled_back"].sum())
    parts = [f"{table.height} in {counted(config['processes'], 'process')}"]
    parts += [f"{undone} rolled back"] if undone else []
    if lost := config["ended"] - table.height:
        parts.append(f"{lost} more were lost: the log was full, or the process died while writing it")
    if pages := config["unseen_pages"]:
        words = counted(pages, "page")
        parts.append(f"{words} written in calls that are not traced (a backup, a blob)")
    if calls := config["unfollowed"]:
        parts.append(f"{calls} calls could not be followed")
    databases = {row["name"] for row in rows_by_file if row["file"] == "database"}
    databases -= {PurePosixPath(path).name for path in table["file"]}
    attached = {PurePosixPath(unescape(path)).name for path in config.get("attached", [])} & databases
    if attached:
        parts.append(f"{_listed(attached)} attached: its writes count for its connection's database")
    if others := databases - attached:
        parts.append(f"not known of {_listed(others)}: no logged transaction wrote it")
    return {
        "said": "; ".join(parts),
        "count": table.height,
        "rolled_back": undone,
        "rows": rows(run),
        "syncs_in_none": _outside(run, roles),
    }


def _unknown(text: str) -> dict[str, Any]:
    return {"said": text, "count": None, "rolled_back": None, "rows": None, "syncs_in_none": None}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(printable, sorted(names)))


def _recognised() -> tuple[set[str], str]:
    """Return the file roles and titles of the engines with databases that their first bytes identify."""
    with_heads = [engine for engine in map(engines.by_name, engines.names()) if "database" in engine.HEADS]
    roles = {role for engine in with_heads for role in engine.HEADS}
    return roles, " or ".join(engine.TITLE for engine in with_heads)


def _why_none(written: set[str], config: dict[str, int], titles: str) -> str:
    if not written:
        return f"not known: it wrote no file of {titles}, the only engine with logged transactions"
    if calls := config["unfollowed"]:
        unfollowed = counted(calls, "call")
        return f"not known: it called {titles}, but {unfollowed} could not be followed, as in a PID namespace"
    if config["processes"]:
        return f"none: it called {titles}, but no transaction that wrote ended"
    first = min(written)
    return (
        f"not known: it wrote files of {titles} ({first}), but called no shared library of it; a statically "
        "linked one cannot be traced"
    )


def _endings(paths: Iterable[str]) -> dict[str, str]:
    """Return the shortest endings of paths that distinguish them."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    # an in-memory database has an empty path
    endings: dict[str, str] = {path: "" for path in parts if not path}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        alike = Counter(names[-length:] for names in parts.values())
        for path, names in parts.items():
            if alike[names[-length:]] == 1 or length >= len(names):
                endings.setdefault(path, printable(PurePosixPath(*names[-length:])))
    return endings


def rows(run: Run) -> list[dict[str, Any]]:
    """Return a row for each database and first word of a statement.

    It has the number of transactions, their median time, rows changed and mean costs; null if not recorded.
    """
    table = run.driver.transactions.with_columns(ns=pl.col("end_ns") - pl.col("begin_ns"))
    if run.ledger is not None:
        table = table.join(run.ledger.costs.select("transaction", *_MEANS), on="transaction")
    else:
        table = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in _MEANS)
    endings = _endings(table["file"].unique())
    return (
        table.with_columns(pl.col("file").replace_strict(endings, return_dtype=pl.String))
        .group_by("file", "op")
        .agg(
            pl.len().alias("transactions"),
            pl.col("rolled_back").sum(),
            pl.col("changes").sum(),
            pl.col("ns").median(),
            *(pl.col(name).mean() for name in _MEANS),
        )
        .sort("transactions", "file", "op", descending=[True, False, False])
        .to_dicts()
    )


def _outside(run: Run, roles: Iterable[str]) -> int | None:
    """Return the number of syncs of an engine's files outside transactions, as of a checkpoint at close."""
    if run.ledger is None:
        return None
    begin, end = run.ledger.given.window
    mine = pl.col("file").cast(pl.String).is_in(list(roles)) & pl.col("transaction").is_null()
    in_window = pl.col("begin_ns").is_between(begin, end, closed="left")
    return run.ledger.syncs.filter(mine & in_window).height
