"""What of a command's transactions is known: those that an engine's preload noted in its processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from analysis.adapters.drivertables import unescaped
from analysis.command.tables import Tables
from analysis.run import Run
from base.text import printable
from model import engines

# means of the costs of one
_MEANS = ("syncs", "writes", "bytes", "flushes")


def summary(run: Run, built: Tables) -> dict[str, Any]:
    """Return what is known in words, how many there were, rows by database and statement, how many syncs of
    an engine's files lie in none, and how often a database was locked."""
    return {**_known(run, built), "locks": locks(run.driver.config.get("transactions"))}


def locks(config: dict[str, int] | None) -> dict[str, Any] | None:
    """Return how often the engine found a database locked, and in words; None where nobody counted that."""
    if config is None or "busy" not in config or not config["processes"]:
        return None
    busy, sleeps, slept_ns = (config[name] for name in ("busy", "sleeps", "slept_ns"))
    slept = f"{_counted(sleeps, 'time', 'times')} for a lock, {slept_ns / 1e6:.1f} ms in all threads"
    said = f"{_counted(busy, 'call', 'calls')} returned SQLITE_BUSY; SQLite slept {slept}"
    return {"said": said, "busy": busy, "sleeps": sleeps, "slept_ns": slept_ns}


def _known(run: Run, built: Tables) -> dict[str, Any]:
    noted, config = run.driver.transactions, run.driver.config.get("transactions")
    if config is None:
        return _nothing("not known: nothing notes them in a run that is not watched")
    roles, titles = _recognised()
    named = [one for table in (built.syncs, built.files) if table is not None for one in table.to_dicts()]
    written = {one["name"] for one in named if one["file"] in roles}
    if noted.is_empty():
        return _nothing(_why_none(written, config, titles))
    undone = int(noted["rolled_back"].sum())
    said = [f"{noted.height} in {_counted(config['processes'], 'process', 'processes')}"]
    said += [f"{undone} rolled back"] if undone else []
    if lost := config["ended"] - noted.height:
        said.append(f"{lost} more found no place, or their process died while it noted them")
    if pages := config["unseen_pages"]:
        words = _counted(pages, "page", "pages")
        said.append(f"{words} written in calls that nothing watches (a backup, a blob)")
    if calls := config["unfollowed"]:
        said.append(f"{calls} calls could not be followed")
    databases = {one["name"] for one in named if one["file"] == "database"}
    databases -= {PurePosixPath(path).name for path in noted["file"]}
    attached = {PurePosixPath(unescaped(path)).name for path in config.get("attached", [])} & databases
    if attached:
        said.append(f"{_listed(attached)} attached: what is written there is of its connection's database")
    if others := databases - attached:
        said.append(f"not known of {_listed(others)}, which no transaction that was noted wrote")
    return {
        "said": "; ".join(said),
        "count": noted.height,
        "rolled_back": undone,
        "rows": rows(run),
        "syncs_in_none": _outside(run, roles),
    }


def _nothing(said: str) -> dict[str, Any]:
    return {"said": said, "count": None, "rolled_back": None, "rows": None, "syncs_in_none": None}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(printable, sorted(names)))


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _recognised() -> tuple[set[str], str]:
    """Return the roles of files of the engines whose databases are recognised by their first bytes, and whose
    they are."""
    known = [engines.of(name) for name in engines.names()]
    with_heads = [engine for engine in known if "database" in getattr(engine, "HEADS", {})]
    roles = {role for engine in with_heads for role in getattr(engine, "HEADS", {})}
    return roles, " or ".join(engine.TITLE for engine in with_heads)


def _why_none(written: set[str], config: dict[str, int], titles: str) -> str:
    if not written:
        return f"not known: it wrote no file of {titles}, the only one whose transactions can be noted"
    if calls := config["unfollowed"]:
        counted = _counted(calls, "call", "calls")
        return f"not known: it called {titles}, and {counted} could not be followed, as in a PID namespace"
    if config["processes"]:
        return f"none: it called {titles}, and no transaction ended in which it wrote"
    first = min(written)
    return (
        f"not known: it wrote files of {titles} ({first}), and called no shared library of it; in one that "
        "is linked in statically nothing can be noted"
    )


def _endings(paths: Iterable[str]) -> dict[str, str]:
    """Return each path's last parts, as many as tell it from the others."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    # that of a database in memory is empty
    found: dict[str, str] = {path: "" for path in parts if not path}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        alike = Counter(of[-length:] for of in parts.values())
        for path, of in parts.items():
            if alike[of[-length:]] == 1 or length >= len(of):
                found.setdefault(path, printable(PurePosixPath(*of[-length:])))
    return found


def rows(run: Run) -> list[dict[str, Any]]:
    """Return for each database and first word of a statement: how many there were, the median of their time,
    the rows changed, and the means of what they cost; null of what was not watched."""
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
    """Return how many syncs of an engine's files lie in no transaction, as a checkpoint's at a close."""
    if run.ledger is None:
        return None
    begin, end = run.ledger.given.window
    mine = pl.col("file").cast(pl.String).is_in(list(roles)) & pl.col("transaction").is_null()
    in_window = pl.col("begin_ns").is_between(begin, end, closed="left")
    return run.ledger.syncs.filter(mine & in_window).height
