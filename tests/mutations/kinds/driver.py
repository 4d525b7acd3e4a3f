"""What the driver wrote down: transactions, phases, the counters, its clock."""

from __future__ import annotations

import numpy as np
import polars as pl
from forged import Forged
from side import Absent, Side
from times import NS, halved, inner, moved_boundaries, set_rows, shorter_phases

from kinds import kind, some


@kind
def second_boundaries(run: Forged, draw: np.random.Generator) -> None:
    """every second boundary between transactions is moved"""
    moved_boundaries(run, draw, inner(run)[::2])


@kind
def boundaries(run: Forged, draw: np.random.Generator) -> None:
    """some boundaries between transactions are moved"""
    moved_boundaries(run, draw, some(draw, inner(run)[::2]))


@kind
def boundaries_of_both(run: Forged, draw: np.random.Generator) -> None:
    """boundaries between transactions are moved in the run and in its twin"""
    places = some(draw, inner(run)[::2])
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
    run.transactions = set_rows(run.transactions, "end_ns", places, new)


@kind
def other_operations(run: Forged, draw: np.random.Generator) -> None:
    """transactions are called another operation's, in the run and in its twin"""
    ops = run.transactions["op"].unique().to_list()
    places = some(draw, np.arange(run.transactions.height))
    new = draw.choice(ops, places.size).tolist()
    for side in (run, run.twin):
        side.transactions = set_rows(side.transactions, "op", places, pl.Series(new))


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


@kind
def close_shorter(run: Forged, draw: np.random.Generator) -> None:
    """the phase close takes a tenth of its time, in the run and its twin"""
    for side in (run, run.twin):
        table = side.phases
        at = np.flatnonzero((table["phase"] == "close").to_numpy())
        begin, end = table["begin_ns"][int(at[0])], table["end_ns"][int(at[0])]
        side.phases = set_rows(table, "end_ns", at, [begin + (end - begin) // 10])


@kind
def changes_of_none(run: Forged, draw: np.random.Generator) -> None:
    """transactions changed no row, in the run and its twin"""
    places = some(draw, np.arange(run.transactions.height))
    for side in (run, run.twin):
        side.transactions = set_rows(side.transactions, "changes", places, 0)


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
