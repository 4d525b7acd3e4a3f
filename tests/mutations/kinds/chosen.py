"""Runs that choose their own checks: what is said of them would leave some out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from forged import Forged
from side import Absent, Side

from analysis.adapters import proberecords
from kinds import kind, some


def two_cpus(run: Forged) -> None:
    """Let the board have had a second CPU, in the run and its twin."""
    for side in (run, run.twin):
        text = side.text("board/cpuinfo.txt").rstrip("\n")
        second = text.replace("processor\t: 0", "processor\t: 1")
        (side.raw / "board/cpuinfo.txt").write_text(f"{text}\n\n{second}\n")


@kind
def second_cpu_no_waits(run: Forged, draw: np.random.Generator) -> None:
    """the board is said to have two CPUs, and nobody waited for a commit"""
    lost = run.of("commit_wait")
    two_cpus(run)
    run.records = np.delete(run.records, lost)


@kind
def second_cpu_always_on(run: Forged, draw: np.random.Generator) -> None:
    """the board is said to have two CPUs, and the driver's thread was never off its own"""
    lost = run.of("off_cpu")
    two_cpus(run)
    run.records = np.delete(run.records, lost)


def _asked(run: Forged, axis: str, value: Any) -> None:
    """Let the cell ask for another value of a driver's axis, and plan and driver say so."""
    run.claim({axis: value})
    plan = run.document("plan.json")
    for one in plan["expected"]:
        if one["name"] == axis:
            one["requested"] = str(value)
    run.put("plan.json", plan)
    for side in (run, run.twin):
        config = side.document("driver/config.json")
        config["driver"][axis] = value
        side.put("driver/config.json", config)


def _cut(side: Side, ns: int) -> None:
    """Let each transaction end soon after its begin."""
    side.transactions = side.transactions.with_columns(end_ns=pl.col("begin_ns") + ns)


@kind
def checkpoint_after_each(run: Forged, draw: np.random.Generator) -> None:
    """checkpoint_every is said to be 1, and all calls lie between transactions, in the run and its twin"""
    _asked(run, "checkpoint_every", 1)
    for side in (run, run.twin):
        _cut(side, int(draw.choice([2000, 50_000])))


def _unkept(run: Forged) -> None:
    """Let nobody have kept what was written."""
    if not run.has_content:
        raise Absent("content.zst")
    plan, said = run.document("plan.json"), run.document("run.json")
    for document in (plan["runs"]["run"], said):
        document["observers"] = [name for name in document["observers"] if name != "content"]
    run.put("plan.json", plan)
    run.put("run.json", said)
    (run.raw / "content.zst").unlink()


@kind
def content_unkept(run: Forged, draw: np.random.Generator) -> None:
    """nobody is said to have kept what was written, and pages are said to be another inode's"""
    pages = run.of("pages")
    _unkept(run)
    which = some(draw, pages)
    run.records["a"][which] = run.records["a"][which[0]]


@kind
def fewer_probes(run: Forged, draw: np.random.Generator) -> None:
    """two probes are said to have watched, what the others wrote is gone, and so is every third sync"""
    _narrow(run)
    kept = [proberecords.TYPES[name] for name in ("attached", "detached", "block", "name", "comm")]
    which = np.isin(run.records["type"], kept)
    syncs = run.of("sync")
    which[syncs[np.arange(syncs.size) % 3 > 0]] = True
    run.records = run.records[which]


@kind
def unasked_records(run: Forged, draw: np.random.Generator) -> None:
    """two probes are said to have watched, so that no ledger is made"""
    _narrow(run)


def _narrow(run: Forged) -> None:
    run.claim({"probes": "block,filesystem"})
    kind_of = run.document("../cell.json")["profiles"]["fs"]["type"]
    plan, said = run.document("plan.json"), run.document("run.json")
    plan["runs"]["run"]["probes"] = ["block", kind_of]
    said["probes"]["requested"] = f"block,{kind_of}"
    run.put("plan.json", plan)
    run.put("run.json", said)
