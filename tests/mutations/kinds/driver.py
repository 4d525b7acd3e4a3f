"""What the driver wrote down: transactions, phases, SQLite's calls, the counters."""

from __future__ import annotations

import numpy as np
import polars as pl
from forged import Absent, Forged, Side

from kinds import kind, some

NS = ("begin_ns", "end_ns")


def _set(table: pl.DataFrame, column: str, places: np.ndarray, values: object) -> pl.DataFrame:
    """The table with other values in some rows of a column."""
    return table.with_columns(table[column].scatter(places.tolist(), values))


def moved_boundaries(run: Side, draw: np.random.Generator, places: np.ndarray) -> None:
    """Move the boundary between each of the transactions and the next one, by part of either."""
    table = run.transactions
    begin, end = (table[name].to_numpy().copy() for name in NS)
    share = draw.choice([-0.8, -0.3, -0.05, 0.05, 0.3, 0.8])
    for i in places.tolist():
        span = end[i] - begin[i] if share < 0 else end[i + 1] - begin[i + 1]
        by = int(span * share)
        end[i], begin[i + 1] = end[i] + by, begin[i + 1] + by
    run.transactions = table.with_columns(begin_ns=begin, end_ns=end)


def _inner(run: Side) -> np.ndarray:
    """Transactions that one of the same phase follows."""
    phase = run.transactions["phase"].to_numpy()
    return np.flatnonzero(phase[:-1] == phase[1:])


@kind
def second_boundaries(run: Forged, draw: np.random.Generator) -> None:
    """every second boundary between transactions is moved"""
    moved_boundaries(run, draw, _inner(run)[::2])


@kind
def boundaries(run: Forged, draw: np.random.Generator) -> None:
    """some boundaries between transactions are moved"""
    moved_boundaries(run, draw, some(draw, _inner(run)[::2]))


@kind
def boundaries_of_both(run: Forged, draw: np.random.Generator) -> None:
    """boundaries between transactions are moved in the run and in its twin"""
    places = some(draw, _inner(run)[::2])
    seed = int(draw.integers(2**31))
    for side in (run, run.twin):
        moved_boundaries(side, np.random.default_rng(seed), places)


@kind
def shorter_transactions(run: Forged, draw: np.random.Generator) -> None:
    """transactions end earlier than they did"""
    places = some(draw, np.arange(run.transactions.height))
    begin, end = (run.transactions[name].to_numpy() for name in NS)
    share = draw.choice([0.05, 0.3, 0.9])
    new = end[places] - ((end - begin)[places] * share).astype(np.int64)
    run.transactions = _set(run.transactions, "end_ns", places, new)


@kind
def other_operations(run: Forged, draw: np.random.Generator) -> None:
    """transactions are called another operation's, in the run and in its twin"""
    ops = run.transactions["op"].unique().to_list()
    places = some(draw, np.arange(run.transactions.height))
    new = draw.choice(ops, places.size).tolist()
    for side in (run, run.twin):
        side.transactions = _set(side.transactions, "op", places, pl.Series(new))


@kind
def operations_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """two operations exchange their names, in transactions and phases of the run and its twin"""
    ops = run.transactions["op"].unique(maintain_order=True).to_list()
    one, other = draw.choice(ops, 2, replace=False).tolist()
    names = {one: other, other: one}
    for side in (run, run.twin):
        side.transactions = side.transactions.with_columns(
            pl.col(name).replace(names) for name in ("op", "phase")
        )
        side.phases = side.phases.with_columns(pl.col("phase").replace(names))
        side.stat = side.stat.with_columns(
            pl.col("label").replace({f"end-{a}": f"end-{b}" for a, b in names.items()})
        )
        config = side.document("driver/config.json")
        if "transactions" in config:
            config["transactions"] = {names.get(k, k): v for k, v in config["transactions"].items()}
            side.put("driver/config.json", config)


@kind
def phases_moved(run: Forged, draw: np.random.Generator) -> None:
    """the edge between two phases is moved over a tenth of the transactions, in the run and its twin"""
    for side in (run, run.twin):
        _moved_edge(side)


def _moved_edge(side: Side) -> None:
    phases = side.phases.filter(pl.col("transactions") > 0)
    if phases.height < 2:
        raise Absent("two phases")
    one, other = phases["phase"].to_list()[:2]
    of_other = side.transactions.filter(pl.col("phase") == other)
    taken = max(1, of_other.height // 10)
    cut = of_other["end_ns"][taken - 1]
    mine = (pl.col("phase") == other) & (pl.col("end_ns") <= cut)
    side.transactions = side.transactions.with_columns(
        pl.when(mine).then(pl.lit(one)).otherwise(name).alias(name) for name in ("phase", "op")
    )
    is_one, is_other = pl.col("phase") == one, pl.col("phase") == other
    by = pl.when(is_one).then(taken).when(is_other).then(-taken).otherwise(0)
    side.phases = side.phases.with_columns(
        pl.when(is_one).then(cut).otherwise("end_ns").alias("end_ns"),
        pl.when(is_other).then(cut).otherwise("begin_ns").alias("begin_ns"),
        transactions=pl.col("transactions") + by,
    )
    config = side.document("driver/config.json")
    if "transactions" in config:
        config["transactions"][one] += taken
        config["transactions"][other] -= taken
        side.put("driver/config.json", config)


@kind
def phases_longer(run: Forged, draw: np.random.Generator) -> None:
    """phases end later, the next ones begin later"""
    shorter_phases(run, draw, 0.1)


def shorter_phases(side: Side, draw: np.random.Generator, share: float) -> None:
    """Move the end of the last workload phase, and the begin of the next, by a share of the phase."""
    table = side.phases
    at = int(np.flatnonzero(table["transactions"].to_numpy() > 0)[-1])
    by = int((table["end_ns"][at] - table["begin_ns"][at]) * share)
    span = table["end_ns"][at + 1] - table["begin_ns"][at + 1]
    by = min(by, span) if share > 0 else by
    table = _set(table, "end_ns", np.array([at]), [table["end_ns"][at] + by])
    side.phases = _set(table, "begin_ns", np.array([at + 1]), [table["begin_ns"][at + 1] + by])


@kind
def close_shorter(run: Forged, draw: np.random.Generator) -> None:
    """the phase close takes a tenth of its time, in the run and its twin"""
    for side in (run, run.twin):
        table = side.phases
        at = np.flatnonzero((table["phase"] == "close").to_numpy())
        begin, end = table["begin_ns"][int(at[0])], table["end_ns"][int(at[0])]
        side.phases = _set(table, "end_ns", at, [begin + (end - begin) // 10])


@kind
def calls_of_another_file(run: Forged, draw: np.random.Generator) -> None:
    """calls of SQLite are said to be of another of its files"""
    calls = run.calls
    files = [name for name in calls["file"].cast(pl.String).unique().sort() if name != "other"]
    places = some(draw, np.arange(calls.height))
    run.calls = _set(
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
    run.calls = _set(run.calls, "offset", places, run.calls["offset"].to_numpy()[places] + by)


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
    run.calls = _set(
        _set(run.calls, "begin_ns", places, begin[places] + gap), "end_ns", places, end[places] + gap
    )


@kind
def changes_of_none(run: Forged, draw: np.random.Generator) -> None:
    """transactions changed no row, in the run and its twin"""
    places = some(draw, np.arange(run.transactions.height))
    for side in (run, run.twin):
        side.transactions = _set(side.transactions, "changes", places, 0)


@kind
def window_later(run: Forged, draw: np.random.Generator) -> None:
    """the window begins later: after the first tenth of the transactions, with the counters as they were"""
    cut = int(run.transactions["begin_ns"][max(1, run.transactions.height // 10)])
    run.stat = run.stat.with_columns(
        time_ns=pl.when(pl.col("label") == "begin").then(cut).otherwise("time_ns")
    )


@kind
def window_earlier(run: Forged, draw: np.random.Generator) -> None:
    """the window ends earlier: before the close, with the counters of then"""
    before = run.stat.filter(pl.col("label") == "end-close")
    if before.is_empty():
        raise Absent("end-close")
    last = before.with_columns(label=pl.lit("end"))
    run.stat = pl.concat([run.stat.filter(pl.col("label") != "end"), last])


@kind
def counters_changed(run: Forged, draw: np.random.Generator) -> None:
    """a counter of the device grew by another number"""
    field = str(draw.choice(["read_ios", "write_ios", "write_sectors", "flush_ios"]))
    run.count(field, int(draw.integers(1, 100)), run.window[1])


@kind
def clock_halved(run: Forged, draw: np.random.Generator) -> None:
    """the driver's clock goes at half its pace, in transactions, phases, calls and counters"""
    halved(run, ("transactions", "phases", "calls", "stat"))


def halved(side: Side, tables: tuple[str, ...]) -> None:
    """Let all times since the first begin have gone at half the pace."""
    zero = int(side.phases["begin_ns"][0])
    for name in tables:
        table = getattr(side, name)
        times = [column for column in (*NS, "time_ns") if column in table.columns]
        setattr(side, name, table.with_columns((pl.col(t) - zero) // 2 + zero for t in times))
