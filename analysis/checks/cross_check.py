"""Check the ledger against other recorders, device log and recorded bytes: commands, times, labels."""

from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import device_logs
from analysis.adapters.partition import FOREIGN_SECTOR
from analysis.checks import counts, disk, ledger_consistency, phases
from analysis.checks.file_calls import fault
from analysis.ledger.build import Ledger
from analysis.observers import Content, Witness
from analysis.run import Run
from base.arrays import Ints, ints
from model.block_operations import OP, READ

# Both record the time at the same tracepoint, one after the other: 0.3 µs apart with CPU_NS=2. An interrupt
# that copies the data of other commands may come between: 0.19 ms, and once 0.88 ms on a fast device.
KEPT_WITHIN_NS = 5_000_000


class _Tolerance(NamedTuple):
    """How far an observer's time of a command may differ from the probe's, ns."""

    half: int  # for half of the commands
    most: int  # for all but two in a hundred, where an interrupt came between the two records
    each: int | None  # for each command; None: no limit, as another thread may have had the CPU


# Measured on clean runs: another observer differs by 0.3 to 0.6 µs, varying by 16 ns within a run, as one
# tracepoint calls both. A device receives a command 0.6 to 0.8 µs after its issue and finishes 2 to 13 µs
# before its completion; up to 18 and 57 µs on the fastest, where commands wait for the CPU to copy data.
# Copying the data of other commands in flight adds to that. A thread that loses the CPU between the issue and
# the device may take any time.
_BIO_NS = 100_000
_OBSERVER = _Tolerance(1_000, 1_000, _BIO_NS)
_IN_THE_DEVICE = _Tolerance(25_000, 100_000, None)
_BLOCK, _BLOCK_NS = 4096, 10_000


def ledger_agrees(run: Run) -> list[str]:
    """Check that the ledger, if there is one, is valid and agrees with what the device got."""
    made = run.ledger
    if made is None:
        return []
    reasons = _sums(run, "bytes written", "bytes_written", int(made.pieces["bytes"].sum()))
    if made.has_reads:
        reasons += _sums(run, "bytes read", "bytes_read", int(made.reads["bytes"].sum()))
    own = made.given.records.bios(made.given.dev)
    own = own[own["a"] != FOREIGN_SECTOR]
    bios = own[(own["begin_ns"] >= made.given.window[0]) & (own["begin_ns"] < made.given.window[1])]
    for name, witness in run.witnesses.items():
        reasons += _as_observed(run, made, name) + _same_bios(run, bios, name, witness, made.given.slower)
    for name, content in run.contents.items():
        reasons += _as_kept(run, made, name, content)
    if run.log:
        reasons += _as_the_device_logged(run, made)
    return [*ledger_consistency.reasons(made), *reasons]


def content_agrees(run: Run) -> list[str]:
    """Check that no bytes show another label, place or commit than the ledger has."""
    if run.content is None or run.content.wrong.is_empty():
        return []
    wrong = run.content.wrong
    first = wrong.row(0, named=True)
    return [
        f"content: {wrong['bytes'].sum()} bytes contradict the ledger, first {first['label']} at sector "
        f"{first['sector']}: {first['rule']}"
    ]


def _sums(run: Run, what: str, name: str, own: int) -> list[str]:
    """Compare the bytes of the ledger with those that each source counted."""
    sums = {"ledger": own} | {who: row[name] or 0 for who, row in counts.by_source(run).items()}
    table = ", ".join(f"{who} {size}" for who, size in sums.items())
    return [f"ledger: {what}: {table}"] if len(set(sums.values())) > 1 else []


def _as_kept(run: Run, made: Ledger, name: str, content: Content) -> list[str]:
    """Compare the commands with those the observer kept: operation, place, size and time of issue."""
    begin, end = run.driver.window
    kept = content.within(begin, end)
    own = made.given.records.commands(made.given.dev)
    own = own[(own["b"] & OP != READ) & (own["begin_ns"] >= begin) & (own["begin_ns"] < end)]
    if own.size != kept.time.size:
        return [f"ledger: {own.size} commands except reads, {name} kept {kept.time.size}"]
    same = (own["a"] == kept.sector) & (own["n"] == kept.sectors) & (own["b"] == kept.flags)
    if run.counted:
        same &= np.abs(own["begin_ns"].astype(np.int64) - kept.time) <= KEPT_WITHIN_NS
    wrong = np.flatnonzero(~same)
    if not wrong.size:
        return []
    first = f"first at {own['begin_ns'][wrong[0]]} ns, sector {own['a'][wrong[0]]}"
    return [f"ledger: {wrong.size} commands differ from those that {name} kept: {first}"]


def _as_the_device_logged(run: Run, made: Ledger) -> list[str]:
    """Compare the commands with the device's log: kind, place, size, and time in the device."""
    own, seen = device_logs.aligned(made.ledger, counts.window_blocks(run, counts.DEVICE_LOG))
    if own.height != seen.height:
        return [f"ledger: {own.height} commands, the device's log has {seen.height}"]
    differs = pl.any_horizontal(*(own[name] != seen[name] for name in device_logs.ORDER[:3]))
    differs |= (seen["begin_ns"] < own["begin_ns"]) | (seen["end_ns"] > own["end_ns"])
    wrong = own.filter(differs)
    reasons = [f"ledger: {text}" for text in fault(wrong, "commands missing from the device's log", "sector")]
    if reasons:
        return reasons
    slower = made.given.slower
    copying = _under_way(own, seen["end_ns"]) * _BLOCK_NS * slower
    return _in_time(run, "the device's log", own, seen, _IN_THE_DEVICE, slower, copying)


def _under_way(own: pl.DataFrame, since: pl.Series) -> Ints:
    """Return the number of blocks in flight at any time from `since` to the completion of each command."""
    issue, complete, blocks = ints(own["begin_ns"]), ints(own["end_ns"]), ints(own["sectors"]) * 512 // _BLOCK
    begun, ended = np.argsort(issue, kind="stable"), np.argsort(complete, kind="stable")
    issued = np.r_[0, np.cumsum(blocks[begun])][np.searchsorted(issue[begun], complete, "right")]
    gone = np.r_[0, np.cumsum(blocks[ended])][np.searchsorted(complete[ended], ints(since))]
    return ints(issued - gone)


def _as_observed(run: Run, made: Ledger, name: str) -> list[str]:
    """Compare the commands and their times with those an observer recorded."""
    own = made.ledger.select(
        pl.col("sector").fill_null(0), bytes=pl.col("bytes") // 512, begin_ns="issue_ns", end_ns="complete_ns"
    )
    seen = counts.window_blocks(run, name).select("sector", "begin_ns", "end_ns", bytes="sectors")
    if run.partition:
        # at the window's edges, a flush of another partition may be recorded (disk.py)
        begin, end = run.driver.window
        inner = pl.col("begin_ns").is_between(begin + disk.APART_NS, end - disk.APART_NS)
        own, seen = (table.filter((pl.col("bytes") > 0) | inner) for table in (own, seen))
    if own.height != seen.height:
        return [f"ledger: {own.height} commands, {name} saw {seen.height}"]
    own, seen = (table.sort("sector", "bytes", "begin_ns") for table in (own, seen))
    differs = pl.any_horizontal(own["sector"] != seen["sector"], own["bytes"] != seen["bytes"])
    wrong = own.filter(differs)
    reasons = [f"ledger: {text}" for text in fault(wrong, f"commands that {name} did not see", "sector")]
    return reasons or _in_time(run, name, own, seen, _OBSERVER, made.given.slower)


def _in_time(
    run: Run,
    name: str,
    own: pl.DataFrame,
    seen: pl.DataFrame,
    limit: _Tolerance,
    slower: int,
    copying: Ints | int = 0,
) -> list[str]:
    """Compare the issue and completion times of commands, where times count instructions.

    copying: by how many ns a completion may be later.
    """
    if not run.counted or own.is_empty():
        return []
    reasons = []
    for what, column in (("issued", "begin_ns"), ("completed", "end_ns")):
        # unfinished commands are reported by counts.agree
        apart = ints((own[column] - seen[column]).abs().fill_null(0))
        allowed = [(limit.half, apart.size // 2), (limit.most, 2 * (1 + apart.size // 100))]
        allowed += [] if limit.each is None else [(limit.each, 0)]
        for ns, number in allowed:
            later = copying if what == "completed" else 0
            late = own.filter(apart - later > ns * slower)
            if late.height > number:
                reasons += fault(late, f"commands that {name} has {what} at another time", "sector", column)
                break
    return [f"ledger: {text}" for text in reasons]


def _same_bios(run: Run, bios: np.ndarray, name: str, witness: Witness, slower: int) -> list[str]:
    """Compare the writes that each thread queued with those the observer saw: order and, if exact, time."""
    # operations that write to the device have odd numbers (linux/blk_types.h)
    own = bios[bios["b"] & 1 > 0]
    seen = witness.queued()
    if run.partition:
        # the observer does not record the partition of an empty bio
        own, seen = own[own["n"] > 0], seen[seen["bytes"] > 0]
    if own.size != seen.size:
        return [f"ledger: {own.size} bios, {name} saw {seen.size}"]
    own = own[np.lexsort((own["d"], own["tid"]))]
    same = (own["tid"] == seen["pid"]) & (own["n"] == seen["bytes"] >> 9)
    same &= (own["a"] == seen["sector"]) | (own["n"] == 0)  # an empty bio has no place
    wrong = np.flatnonzero(~same)
    if not wrong.size and phases.instruction_ns(run) is not None:
        apart = np.abs(ints(own["begin_ns"]) - ints(seen["time"]))
        wrong = np.flatnonzero(apart > _BIO_NS * slower)
    if not wrong.size:
        return []
    bio = own[wrong[0]]
    first = f"first serial {bio['d']}, sector {bio['a']}"
    return [f"ledger: {wrong.size} bios differ from those that {name} saw: {first}"]
