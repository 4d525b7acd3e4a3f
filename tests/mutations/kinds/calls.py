"""SQLite's calls of its files, as the driver logged them."""

from __future__ import annotations

import numpy as np
import polars as pl
from forged import Forged
from side import Absent
from times import NS, set_rows

from kinds import kind, some


@kind
def calls_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """calls of SQLite are said to be of another of its files"""
    calls = run.calls
    files = [name for name in calls["file"].cast(pl.String).unique().sort() if name != "other"]
    places = some(draw, np.arange(calls.height))
    run.calls = set_rows(
        calls.with_columns(pl.col("file").cast(pl.String)), "file", places, str(draw.choice(files))
    )


@kind
def journal_is_wal(run: Forged, draw: np.random.Generator) -> None:
    """every call to the journal is said to be to a WAL, or the reverse"""
    calls = run.calls.with_columns(pl.col("file").cast(pl.String))
    names = {"journal": "wal", "wal": "journal"}
    if not calls["file"].is_in(["journal", "wal"]).any():
        raise Absent("a journal or WAL")
    run.calls = calls.with_columns(pl.col("file").replace(names))


@kind
def database_is_another(run: Forged, draw: np.random.Generator) -> None:
    """the database and the journal or WAL exchange their names, in SQLite's calls and the probes' names"""
    calls = run.calls.with_columns(pl.col("file").cast(pl.String))
    log = "journal" if "journal" in calls["file"].to_list() else "wal"
    run.calls = calls.with_columns(pl.col("file").replace({"database": log, log: "database"}))
    run.records = np.delete(run.records, run.of("name"))


@kind
def calls_lost(run: Forged, draw: np.random.Generator) -> None:
    """calls of SQLite are lost, and the later ones are numbered anew"""
    keep = ~np.isin(np.arange(run.calls.height), some(draw, np.arange(run.calls.height)))
    _numbered(run, run.calls.filter(keep))


@kind
def writes_lost(run: Forged, draw: np.random.Generator) -> None:
    """xWrites are lost, and the later calls are numbered anew"""
    writes = np.flatnonzero((run.calls["op"] == "write").to_numpy())
    keep = ~np.isin(np.arange(run.calls.height), some(draw, writes))
    _numbered(run, run.calls.filter(keep))


def _numbered(run: Forged, calls: pl.DataFrame) -> None:
    run.calls = calls.with_columns(call=pl.int_range(pl.len()))


@kind
def syncs_lost_by_both(run: Forged, draw: np.random.Generator) -> None:
    """xSyncs are lost in SQLite's calls and with what the probes saw of them"""
    calls = run.calls
    at = some(draw, np.flatnonzero((calls["op"] == "sync").to_numpy()))
    begin, end = (calls[name].to_numpy()[at] for name in NS)
    _numbered(run, calls.filter(~np.isin(np.arange(calls.height), at)))
    syncs = run.of("sync")
    rows = run.records[syncs]
    place = np.searchsorted(begin, rows["begin_ns"], side="right") - 1
    within = (place >= 0) & (rows["end_ns"] <= end[np.maximum(place, 0)])
    run.records = np.delete(run.records, syncs[within])


@kind
def writes_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """xWrites were to another place of their file"""
    places = some(draw, np.flatnonzero((run.calls["op"] == "write").to_numpy()))
    by = 4096 * int(draw.integers(1, 50))
    run.calls = set_rows(run.calls, "offset", places, run.calls["offset"].to_numpy()[places] + by)


@kind
def writes_exempted(run: Forged, draw: np.random.Generator) -> None:
    """xWrites are added that nothing wrote out, each before a truncate of their file"""
    calls = run.calls.with_columns(pl.col(name).cast(pl.String) for name in ("op", "file"))
    at = np.flatnonzero((calls["op"] == "truncate").to_numpy())
    if not at.size:
        raise Absent("a truncate")
    rows = [calls[int(i)] for i in at]
    for row in rows:
        calls = calls.vstack(
            row.with_columns(
                op=pl.lit("write"),
                offset=pl.lit(4096 * 77, pl.Int64),
                bytes=pl.lit(4096, pl.Int64),
                end_ns=pl.col("begin_ns"),
            )
        )
    ordered = calls.with_row_index().sort("begin_ns", "index", descending=[False, True]).drop("index")
    _numbered(run, ordered.sort("begin_ns", maintain_order=True))


@kind
def calls_later(run: Forged, draw: np.random.Generator) -> None:
    """calls of SQLite were made later, up to the next one"""
    begin, end = (run.calls[name].to_numpy().copy() for name in NS)
    places = some(draw, np.arange(begin.size - 1))
    gap = begin[places + 1] - end[places]
    run.calls = set_rows(
        set_rows(run.calls, "begin_ns", places, begin[places] + gap), "end_ns", places, end[places] + gap
    )
