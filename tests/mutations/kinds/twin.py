"""The untraced twin, whose times are the published ones."""

from __future__ import annotations

import numpy as np
import polars as pl
from forged import Forged
from side import LOG_HEADER, Absent, Side
from times import NS, halved, set_rows, shorter_phases

from analysis.ledger.match import WRITE
from kinds import kind, some


def _scaled(side: Side, factor: float, places: np.ndarray) -> None:
    begin, end = (side.transactions[name].to_numpy() for name in NS)
    new = begin[places] + ((end - begin)[places] * factor).astype(np.int64)
    side.transactions = set_rows(side.transactions, "end_ns", places, new)


@kind
def twin_quicker(run: Forged, draw: np.random.Generator) -> None:
    """the twin's transactions took a tenth of their time"""
    _scaled(run.twin, 0.1, np.arange(run.twin.transactions.height))


@kind
def twin_some_quicker(run: Forged, draw: np.random.Generator) -> None:
    """some of the twin's transactions took less time"""
    _scaled(run.twin, float(draw.choice([0.5, 0.9])), some(draw, np.arange(run.twin.transactions.height)))


@kind
def twin_clock_halved(run: Forged, draw: np.random.Generator) -> None:
    """the twin's clock goes at half its pace"""
    halved(run.twin, ("transactions", "phases", "stat"))


@kind
def twin_clock_halved_with_log(run: Forged, draw: np.random.Generator) -> None:
    """the twin's clock goes at half its pace, in its device's log and the steps of run.json too"""
    zero = int(run.twin.phases["begin_ns"][0])
    if run.twin.has_log:
        for field in NS:
            time = run.twin.log[field].astype(np.int64)
            run.twin.log[field] = np.where(time > zero, (time - zero) // 2 + zero, time)
    said = run.twin.document("run.json")
    for step in said["steps"]:
        for field in NS:
            if step[field] > zero:
                step[field] = (step[field] - zero) // 2 + zero
    run.twin.put("run.json", said)
    halved(run.twin, ("transactions", "phases", "stat"))


@kind
def twin_clock_a_little(run: Forged, draw: np.random.Generator) -> None:
    """the twin's clock goes slower by 10 to 20 %, in its device's log too"""
    twin, pace = run.twin, 1 - float(draw.choice([0.1, 0.2]))
    zero = int(twin.phases["begin_ns"][0])
    if twin.has_log:
        for field in NS:
            time = twin.log[field].astype(np.int64)
            twin.log[field] = np.where(time > zero, ((time - zero) * pace).astype(np.int64) + zero, time)
    for name in ("transactions", "phases", "stat"):
        table = getattr(twin, name)
        times = [column for column in (*NS, "time_ns") if column in table.columns]
        scaled = [((pl.col(t) - zero) * pace).cast(pl.Int64) + zero for t in times]
        setattr(twin, name, table.with_columns(scaled))


@kind
def twin_phase_shorter(run: Forged, draw: np.random.Generator) -> None:
    """a phase of the twin ends earlier, and its last transactions are pressed together"""
    table = run.twin.phases
    at = int(np.flatnonzero(table["transactions"].to_numpy() > 0)[-1])
    name, begin = table["phase"][at], table["begin_ns"][at]
    share = float(draw.choice([0.5, 0.9]))
    inside = pl.col("phase") == name
    run.twin.transactions = run.twin.transactions.with_columns(
        pl.when(inside).then(((pl.col(t) - begin) * share).cast(pl.Int64) + begin).otherwise(t).alias(t)
        for t in NS
    )
    shorter_phases(run.twin, draw, share - 1)


@kind
def twin_close_shorter(run: Forged, draw: np.random.Generator) -> None:
    """the twin's close takes a tenth of its time"""
    table = run.twin.phases
    at = np.flatnonzero((table["phase"] == "close").to_numpy())
    begin, end = table["begin_ns"][int(at[0])], table["end_ns"][int(at[0])]
    run.twin.phases = set_rows(table, "end_ns", at, [begin + (end - begin) // 10])


@kind
def twin_transactions_exchanged(run: Forged, draw: np.random.Generator) -> None:
    """the twin's slowest transaction has the median's latency, and the time is outside transactions"""
    table = run.twin.transactions
    latency = (table["end_ns"] - table["begin_ns"]).to_numpy()
    slow = np.argsort(latency)[-max(1, latency.size // 50) :]
    new = table["begin_ns"].to_numpy()[slow] + int(np.median(latency))
    run.twin.transactions = set_rows(table, "end_ns", slow, new)


@kind
def twin_counters(run: Forged, draw: np.random.Generator) -> None:
    """the twin's device counted fewer writes"""
    twin = run.twin
    twin.count("write_ios", -int(draw.integers(1, 20)), twin.window[1])
    twin.count("write_sectors", -8 * int(draw.integers(1, 200)), twin.window[1])


@kind
def twin_log_shorter(run: Forged, draw: np.random.Generator) -> None:
    """the twin's device says that its commands took half as long"""
    log = run.twin.log
    log["end_ns"] -= (log["end_ns"] - log["begin_ns"]) // np.uint64(2)


@kind
def twin_is_run(run: Forged, draw: np.random.Generator) -> None:
    """the twin's transactions and phases are the watched run's"""
    twin = run.twin
    twin.transactions, twin.phases, twin.stat = run.transactions, run.phases, run.stat


@kind
def twin_device_levelled(run: Forged, draw: np.random.Generator) -> None:
    """the twin's device got two commands in another order; some were quicker and as many slower"""
    _reordered(run.twin, draw)
    _levelled(run.twin, draw)


@kind
def twin_device_levelled_lost(run: Forged, draw: np.random.Generator) -> None:
    """the same, and the log of the twin's device is said to have lost a command"""
    twin_device_levelled(run, draw)
    path = run.twin.raw / "device.bin"
    data = bytearray(path.read_bytes())
    data[24:LOG_HEADER] = (1).to_bytes(8, "little")
    path.write_bytes(data)
    run.twin.replace("board/device_time.txt", "^log_lost=.*", "log_lost=1")


def _reordered(side: Side, draw: np.random.Generator) -> None:
    """Exchange what two neighbours of one size were told to do."""
    log = side.log
    like = (log["operation"][1:] == log["operation"][:-1]) & (log["sectors"][1:] == log["sectors"][:-1])
    like &= (log["sector"][1:] != log["sector"][:-1]) & (log["begin_ns"][:-1] >= side.window[0])
    places = np.flatnonzero(like)
    if not places.size:
        raise Absent("two commands of one size")
    at = int(draw.choice(places))
    log["sector"][[at, at + 1]] = log["sector"][[at + 1, at]]


def _levelled(side: Side, draw: np.random.Generator) -> None:
    """Give half of what slow writes took longer than others to as many of them; the rest is moved."""
    begin, end = (side.log[field].astype(np.int64) for field in NS)
    took, plain = end - begin, (begin >= side.window[0]) & (side.log["operation"] == WRITE)
    usual = int(np.median(took[plain])) if plain.any() else 0
    slow = np.flatnonzero(plain & (took > usual + 1_000_000))
    if slow.size < 2:
        raise Absent("two slow writes")
    quicker, slower = draw.permutation(slow)[: slow.size // 2 * 2].reshape(2, -1)
    by = (took[quicker] - usual) // 2
    more = np.zeros(begin.size, np.int64)
    more[quicker], more[slower] = -by, by
    side.log["begin_ns"] = begin + np.r_[0, np.cumsum(more)[:-1]]
    side.log["end_ns"] = end + np.cumsum(more)
    ended = np.sort(end)
    shift = np.r_[0, np.cumsum(more[np.argsort(end, kind="stable")])]
    for name in ("transactions", "phases", "stat"):
        table = getattr(side, name)
        times = [column for column in (*NS, "time_ns") if column in table.columns]
        moved = {
            t: table[t] + shift[np.searchsorted(ended, table[t].to_numpy(), side="right")] for t in times
        }
        setattr(side, name, table.with_columns(**moved))
