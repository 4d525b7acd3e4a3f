"""What watching is said to have cost, what the twin's device did, and that neither was virtual."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
from forged import Forged
from side import Absent
from times import NS

from kinds import kind


def _padded(run: Forged, name: str) -> None:
    """So many records of a type in a quarter of the transactions that they could cost half of each; and the
    twin's took half."""
    rows, table = run.records, run.transactions[::4]
    begin, end = (table[column].to_numpy() for column in NS)
    times = np.concatenate([np.arange(b + 500, e, 3000) for b, e in zip(begin, end, strict=True)])
    more = np.repeat(rows[run.of(name)[:1]], times.size)
    more["begin_ns"] = more["end_ns"] = times
    run.records = np.concatenate([rows[:-1], more, rows[-1:]])
    _half_as_long(run)


def _half_as_long(run: Forged) -> None:
    """Each fourth of the twin's transactions took half its time; what is between them is as it was."""
    twin = run.twin
    begin, end = (twin.transactions[column].to_numpy() for column in NS)
    knots = np.unique(np.concatenate([begin, end]))
    spans = np.diff(knots)
    new = knots[0] + np.r_[0, np.cumsum(np.where(np.isin(knots[:-1], begin[::4]), spans // 2, spans))]
    for name in ("transactions", "phases", "stat"):
        table = getattr(twin, name)
        for column in (column for column in (*NS, "time_ns") if column in table.columns):
            times = table[column].to_numpy()
            moved = np.interp(times, knots, new).astype(np.int64)
            moved = np.where(times < knots[0], times, moved)
            moved = np.where(times > knots[-1], times - knots[-1] + new[-1], moved)
            table = table.with_columns(pl.Series(column, moved))
        setattr(twin, name, table)


@kind
def names_padded(run: Forged, draw: np.random.Generator) -> None:
    """thousands of records of a name, and a quarter of the twin's transactions took half their time"""
    _padded(run, "comm")


@kind
def flushes_padded(run: Forged, draw: np.random.Generator) -> None:
    """thousands of records of a flush, and a quarter of the twin's transactions took half their time"""
    _padded(run, "flush")


@kind
def twin_counters_grown(run: Forged, draw: np.random.Generator) -> None:
    """the twin's device counted half as many requests and flushes again, and the sectors of them"""
    share = float(draw.choice([0.5, 1.0]))
    fields = ("write_ios", "write_sectors", "flush_ios")
    grown = [((pl.col(name) - pl.col(name).first()) * share).cast(pl.Int64) + pl.col(name) for name in fields]
    run.twin.stat = run.twin.stat.with_columns(grown)


@kind
def twin_model_quicker(run: Forged, draw: np.random.Generator) -> None:
    """the twin's device says that its commands took half as long, and that each part of them did"""
    twin = run.twin
    half = (twin.log["end_ns"] - twin.log["begin_ns"]) // np.uint64(2)
    twin.log["end_ns"] -= half
    lines = [line.partition("=") for line in twin.text("board/device_time.txt").splitlines()]
    told = {name: int(number) for name, _, number in lines}
    parts = {name: number // 2 for name, number in told.items() if name.startswith("time_")}
    told |= parts | {"time_ns": told["time_ns"] - int(half.sum())}
    told["time_drain_ns"] += told["time_ns"] - sum(n for name, n in parts.items() if name != "time_ns")
    text = "".join(f"{name}={number}\n" for name, number in told.items())
    (twin.raw / "board/device_time.txt").write_text(text)


@kind
def values_fewer(run: Forged, draw: np.random.Generator) -> None:
    """the driver counted a hundredth of the bytes of values, in the run and its twin"""
    for side in (run, run.twin):
        config = side.document("driver/config.json")
        side.put("driver/config.json", config | {"sql_bytes": config["sql_bytes"] // 100})


@kind
def claims_real_time(run: Forged, draw: np.random.Generator) -> None:
    """the run is said to be one of real time, which has no twin, in cell, plan and what the board said"""
    said = run.document("driver/config.json")
    if "instruction_ps" not in said["clock"] or not (run.folder / "twin").exists():
        raise Absent("instruction_ps")
    shutil.rmtree(run.folder / "twin")
    run.claim({"clock": "real"})
    run.put("run.json", run.document("run.json") | {"clock": "real"})
    plan = run.document("plan.json")
    del plan["runs"]["twin"]
    plan["expected"] = [one for one in plan["expected"] if one["name"] not in ("cpu_ns", "clock")]
    run.put("plan.json", plan)
    host = run.folder / "host.json"
    host.write_text(json.dumps(json.loads(host.read_text()) | {"timed_seconds": None}))
