"""Do the probe, blktrace and the device's own counters tell the same story?

/sys/block/<dev>/stat counts a flush that carries no data twice: once as the flush the device
got (`flush_ios`) and once as a finished write of no sectors (`write_ios`), because the flush
machinery completes the original, empty request like any other. Only blktrace sees those empty
requests being queued, so its count of them is taken off `write_ios`.
"""

from __future__ import annotations

import polars as pl

from analysis import events
from analysis.adapters import blktrace
from analysis.adapters.blktrace import Totals
from analysis.run import Run

FIELDS = ("reads", "writes", "bytes_written", "flushes", "discards")


def device_idle(run: Run) -> list[str]:
    """Nothing was in flight at either edge of the window."""
    rows = run.driver.device_stat.filter(pl.col("label").is_in(["begin", "end"]))
    return [
        f"device_stat.csv: {name} is {row[name]} at {row['label']!r}: the device was not idle"
        for row in rows.iter_rows(named=True)
        for name in ("inflight_reads", "inflight_writes", "in_flight")
        if row[name]
    ]


def window_blocks(run: Run, source: str) -> pl.DataFrame:
    """Return the block commands that `source` (probe, blktrace) saw issued in the window.

    The probe sees all devices; those that blktrace did not watch are left out.
    """
    begin, end = run.driver.window
    inside = (pl.col("begin_ns") >= begin) & (pl.col("begin_ns") < end)
    if source == "blktrace" and run.trace:
        return blktrace.read(run.folder / "raw/blktrace").filter(inside)
    watched = pl.col("dev").is_in(run.traced) if run.traced else pl.lit(True)
    block = (pl.col("source") == source) & (pl.col("event") == "block")
    return run.events.filter(block & watched & inside).with_columns(events.block_kind())


def count(blocks: pl.DataFrame) -> dict[str, int]:
    """Return FIELDS (and `fua`) of commands with a `kind`; bytes are 512 times sectors."""
    kinds = pl.col("kind")
    is_write = kinds.is_in(["write", "write metadata", "write FUA"])
    row = blocks.select(
        reads=(kinds == "read").sum(),
        writes=is_write.sum(),
        bytes_written=(is_write * pl.col("sectors")).sum() * 512,
        flushes=(kinds == "flush").sum(),
        discards=(kinds == "discard").sum(),
        fua=(kinds == "write FUA").sum(),
    ).row(0, named=True)
    return {name: int(value or 0) for name, value in row.items()}


def counted(trace: Totals) -> dict[str, int]:
    """Return FIELDS as blktrace has them."""
    writes = [kind for kind in events.BLOCK_KINDS if kind.startswith("write")]
    return {
        "reads": trace.commands["read"],
        "writes": sum(trace.commands[kind] for kind in writes),
        "bytes_written": sum(trace.sectors[kind] for kind in writes) * 512,
        "flushes": trace.commands["flush"],
        "discards": trace.commands["discard"],
    }


def empty_flushes(run: Run) -> int:
    """Return how many flush requests without data blktrace saw queued in the window."""
    return run.trace.empty_flushes if run.trace else 0


def from_stat(run: Run) -> dict[str, int]:
    """Return FIELDS as /sys/block/<dev>/stat counted them."""
    grew = run.driver.stat_difference()
    return {
        "reads": grew["read_ios"],
        "writes": grew["write_ios"] - empty_flushes(run),
        "bytes_written": grew["write_sectors"] * 512,
        "flushes": grew["flush_ios"],
        "discards": grew["discard_ios"],
    }


def told(run: Run) -> dict[str, dict[str, int]]:
    """Return FIELDS of the window as each source that was recorded counted them."""
    found = {}
    if any(name in ("block", "all") for name in run.probes):
        found["probe"] = count(window_blocks(run, "probe"))
    if run.trace:
        found["blktrace"] = counted(run.trace)
        found["device"] = from_stat(run)  # without blktrace, empty flushes are not known
    return found


def agree(run: Run) -> list[str]:
    """The sources agree in every field, and every command was completed without an error."""
    if run.missing:
        return []  # files_there says so
    counted = told(run)
    found = [
        f"{name} in the window: " + ", ".join(f"{who} {n[name]}" for who, n in counted.items())
        for name in FIELDS
        if len({n[name] for n in counted.values()}) > 1
    ]
    blocks = window_blocks(run, "probe")
    unfinished: dict[str, int] = {}
    failed = {"probe": blocks.filter(pl.col("result").fill_null(0) != 0).height}
    if run.trace:
        unfinished["blktrace"], failed["blktrace"] = run.trace.unfinished, run.trace.failed
    found += [f"{who}: {n} block commands never completed" for who, n in unfinished.items() if n]
    found += [f"{who}: {n} block commands ended with an error" for who, n in failed.items() if n]
    if len(run.traced) > 1:
        found.append(f"raw/blktrace holds records of more than one device: {run.traced}")
    return found
