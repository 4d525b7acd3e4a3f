"""Compare reads, writes, flushes and bytes by source; reject failed commands, syncs and calls, a busy device.

The sources are probes, other recorders, the device's log and the kernel's counters.
/sys/block/<dev>/stat counts a flush without data twice: as the flush that the device got (`flush_ios`) and
as a completed write of no sectors (`write_ios`), because the flush machinery completes the original, empty
request like any other. A second observer or the bio probe counts these empty requests when they are queued,
and the number is subtracted from `write_ios`. Without either, writes of stat are not compared.

A run continues after a failed sync if the engine does not learn of it or does not sync again.
"""

import re
from collections.abc import Mapping

import polars as pl

from analysis.adapters import device_logs, drivertables
from analysis.adapters.partition import FOREIGN_SECTOR
from analysis.observers import Witness
from analysis.run import Run
from analysis.schemas import events
from model.block_operations import PREFLUSH

FIELDS = ("reads", "bytes_read", "writes", "bytes_written", "flushes", "discards")
DEVICE_LOG, STAT = "device log", "stat"


def device_idle(run: Run) -> list[str]:
    """Check that all counters of this kernel were read and no command was in flight at the window's edges."""
    version = re.match(r"Linux \S+ ([0-9]{1,4})\.([0-9]{1,4})", run.board.texts.get("kernel", ""))
    kernel = (int(version[1]), int(version[2])) if version else None
    reasons = [
        f"device_stat.csv: {name} is missing, which kernels have since {major}.{minor}"
        for name, (major, minor) in drivertables.LATER.items()
        if run.driver.device_stat[name].null_count() and (kernel is None or kernel >= (major, minor))
    ]
    rows = run.driver.device_stat.filter(pl.col("label").is_in(["begin", "end"]))
    return reasons + [
        f"device_stat.csv: {name} is {row[name]} at {row['label']!r}: the device was not idle"
        for row in rows.iter_rows(named=True)
        for name in ("inflight_reads", "inflight_writes", "in_flight")
        if row[name]
    ]


def window_blocks(run: Run, source: str) -> pl.DataFrame:
    """Return the block commands that `source` (probe, an observer, DEVICE_LOG) saw issued in the window.

    The probe sees all devices; those that are not under the filesystem are excluded.
    """
    begin, end = run.driver.window
    if source == DEVICE_LOG and run.log:
        return device_logs.commands(run.log.within(begin, end))
    inside = (pl.col("begin_ns") >= begin) & (pl.col("begin_ns") < end)
    if source in run.witnesses:
        return run.witnesses[source].read().filter(inside)
    watched = pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True)
    block = (pl.col("source") == source) & (pl.col("event") == "block")
    return run.events.filter(block & watched & inside).with_columns(events.block_kind())


def count(blocks: pl.DataFrame) -> dict[str, int]:
    """Return FIELDS and `fua` of commands with a `kind`."""
    sums = blocks.group_by("kind").agg(commands=pl.len(), sectors=pl.col("sectors").sum()).rows()
    commands = {kind: number for kind, number, _ in sums}
    fields = _fields(commands, {kind: sectors for kind, _, sectors in sums})
    return fields | {"fua": commands.get("write FUA", 0)}


def counted(trace: Witness) -> dict[str, int]:
    """Return FIELDS as counted by an observer."""
    return _fields(trace.commands, trace.sectors)


def _fields(commands: Mapping[str, int], sectors: Mapping[str, int]) -> dict[str, int]:
    """Return FIELDS from the commands and sectors of each kind."""
    writes = [kind for kind in events.BLOCK_KINDS if kind.startswith("write")]
    return {
        "reads": commands.get("read", 0),
        "bytes_read": sectors.get("read", 0) * 512,
        "writes": sum(commands.get(kind, 0) for kind in writes),
        "bytes_written": sum(sectors.get(kind, 0) for kind in writes) * 512,
        "flushes": commands.get("flush", 0),
        "discards": commands.get("discard", 0),
    }


def empty_flushes(run: Run) -> int | None:
    """Return the number of flush requests without data queued in the window; None if none was observed."""
    # on a partition, the kernel's tracer also reports empty flushes of other partitions
    for witness in run.witnesses.values() if run.partition is None else ():
        return witness.empty_flushes
    if run.ledger is None:
        return None
    begin, end = run.driver.window
    bios = run.ledger.given.records.bios(run.ledger.given.dev)
    queued = (bios["begin_ns"] >= begin) & (bios["begin_ns"] < end) & (bios["n"] == 0)
    queued &= bios["a"] != FOREIGN_SECTOR
    return int((queued & (bios["b"] & PREFLUSH > 0)).sum())


def from_stat(run: Run) -> dict[str, int | None]:
    """Return FIELDS as counted by /sys/block/<dev>/stat."""
    grew, empty = run.driver.stat_difference(), empty_flushes(run)
    if run.known and run.known.counts_empty is False:
        empty = 0
    return {
        "reads": grew["read_ios"],
        "bytes_read": grew["read_sectors"] * 512,
        "writes": None if empty is None else grew["write_ios"] - empty,
        "bytes_written": grew["write_sectors"] * 512,
        # flushes are counted for the whole disk (disk.py)
        "flushes": grew.get("flush_ios") if run.partition is None else None,
        "discards": grew.get("discard_ios"),
    }


def by_source(run: Run) -> dict[str, dict[str, int | None]]:
    """Return FIELDS of the window by recorded source; None where a source cannot count a field."""
    counts: dict[str, dict[str, int | None]] = {}
    if any(name in ("block", "all") for name in run.probes):
        counts["probe"] = {**count(window_blocks(run, "probe"))}
    counts |= {name: {**counted(witness)} for name, witness in run.witnesses.items()}
    if run.log and not run.log.lost:
        counts[DEVICE_LOG] = {**count(window_blocks(run, DEVICE_LOG))}
    if run.witnesses or run.log:
        counts[STAT] = from_stat(run)
    return counts


def failed(run: Run) -> dict[str, int]:
    """Return the number of block commands in the window that ended with an error, by source."""
    counts = {name: witness.failed for name, witness in run.witnesses.items()}
    if any(name in ("block", "all") for name in run.probes):
        counts["probe"] = window_blocks(run, "probe").filter(pl.col("result").fill_null(0) != 0).height
    if run.log:
        counts[DEVICE_LOG] = int((run.log.within(*run.driver.window)["end_ns"] == 0).sum())
    return counts


def agree(run: Run) -> list[str]:
    """Check that all sources agree in every field, and every command completed without an error."""
    if run.missing:
        return []  # reported by loss.files_present
    fields = [name for name in FIELDS if run.partition is None or name != "flushes"]
    sources = by_source(run)
    by_field = {name: {who: n[name] for who, n in sources.items()} for name in fields}
    reasons = [
        f"{name} in the window: " + ", ".join(f"{who} {n}" for who, n in counted.items() if n is not None)
        for name, counted in by_field.items()
        if len({n for n in counted.values() if n is not None}) > 1
    ]
    unfinished = {name: witness.unfinished for name, witness in run.witnesses.items()}
    reasons += [f"{who}: {n} block commands never completed" for who, n in unfinished.items() if n]
    reasons += [f"{who}: {n} block commands ended with an error" for who, n in failed(run).items() if n]
    reasons += [
        f"{name} watched more than one device: {witness.devices}"
        for name, witness in run.witnesses.items()
        if len(witness.devices) > 1
    ]
    if run.probes and not run.witnesses and not run.log:
        reasons.append("only the probes recorded block commands: nothing to compare them with")
    return reasons


def failed_syncs(run: Run) -> pl.DataFrame:
    """Return the sync events of the device that returned an error.

    Includes syncs before the window: what they failed to write is not on the device in the window either.
    """
    ours = pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True)
    is_sync = (pl.col("source") == "probe") & (pl.col("event") == "sync")
    return run.events.filter(is_sync & ours & (pl.col("result") != 0))


def failed_calls(run: Run) -> pl.DataFrame | None:
    """Return the engine's file calls that returned an error; None where calls are not logged."""
    if run.driver.vfs is None:
        return None
    return run.driver.vfs.filter(pl.col("result") != 0)


def count_failures(run: Run) -> dict[str, int | None]:
    """Return the number of failed syncs, engine calls and block commands; None if not recorded."""
    watched = "all" in run.probes or "filesystem" in run.probes
    calls = failed_calls(run)
    return {
        "syncs": failed_syncs(run).height if watched else None,
        "calls": None if calls is None else calls.height,
        "commands": max(number, default=0) if (number := failed(run).values()) else None,
    }


def failures_reported(run: Run) -> list[str]:
    """Reject failed syncs and engine calls. Failed block commands are reported by counts.agree."""
    syncs, calls = failed_syncs(run), failed_calls(run)
    reasons = []
    if not syncs.is_empty():
        first = syncs.row(0, named=True)
        text = f"first {first['file'] or 'inode ' + str(first['inode'])}, error {first['result']}"
        reasons.append(f"{syncs.height} syncs failed: {text}")
    if calls is not None and not calls.is_empty():
        first = calls.row(0, named=True)
        text = f"first call {first['call']}, {first['op']} of {first['file']}, error {first['result']}"
        reasons.append(f"{calls.height} calls of {run.driver.engine.TITLE} failed: {text}")
    return reasons
