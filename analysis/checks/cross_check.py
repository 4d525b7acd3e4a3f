"""Does a run's ledger tell of what the device got, by who else saw it?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.partition import ELSEWHERE
from analysis.checks import counts, disk, ledger, phases
from analysis.checks.calls import first
from analysis.ledger import logged
from analysis.ledger.build import Ledger
from analysis.observers import Content, Witness
from analysis.run import Run
from base.arrays import Ints, ints
from model.block_operations import OP, READ

# Both note the time at the same tracepoint, one after the other: 0.3 µs apart with CPU_NS=2. An interrupt
# may come between, and copy what other commands wrote: 0.19 ms and once 0.88 ms on a quick device.
KEPT_WITHIN_NS = 5_000_000


class _Apart(NamedTuple):
    """How far a witness's time of a command may be from the probe's, ns."""

    half: int  # of one half of the commands
    most: int  # of all but two of each hundred, between whose records an interrupt was served
    each: int | None  # None: as long as another thread may have the CPU


# Measured on clean runs: 0.3 to 0.6 µs to another observer, of which 16 ns change within a run; one
# tracepoint calls both. A device has a command 0.6 to 0.8 µs after its issue, and is done 2 to 13 µs before
# its completion; the quickest, whose commands wait for the CPU that copies their data, up to 18 and 57 µs.
# What the CPU copies for the commands that are under way comes on top. A thread that loses the CPU between
# the issue and the device takes any time.
_BIO_NS = 100_000
_BESIDE = _Apart(1_000, 1_000, _BIO_NS)
_IN_THE_DEVICE = _Apart(25_000, 100_000, None)
_BLOCK, _BLOCK_NS = 4096, 10_000


def holds(run: Run) -> list[str]:
    """The ledger of a run, if there is one, is whole, and tells of what the device got."""
    made = run.ledger
    if made is None:
        return []
    written = {"ledger": int(made.pieces["bytes"].sum())}
    written |= {who: row["bytes_written"] or 0 for who, row in counts.told(run).items()}
    table = ", ".join(f"{who} {size}" for who, size in written.items())
    found = [f"ledger: bytes written: {table}"] if len(set(written.values())) > 1 else []
    own = made.given.records.bios(made.given.dev)
    own = own[own["a"] != ELSEWHERE]
    bios = own[(own["begin_ns"] >= made.given.window[0]) & (own["begin_ns"] < made.given.window[1])]
    for name, witness in run.witnesses.items():
        found += _as_witnessed(run, made, name) + _same_bios(run, bios, name, witness, made.given.slower)
    for name, content in run.contents.items():
        found += _as_kept(run, made, name, content)
    if run.log:
        found += _as_the_device_says(run, made)
    return [*ledger.reasons(made), *found]


def _as_kept(run: Run, made: Ledger, name: str, content: Content) -> list[str]:
    """The commands are those that the observer kept, one to one in the order of issue: each with its
    operation, place and size, and issued at the same time."""
    begin, end = run.driver.window
    kept = content.within(begin, end)
    own = made.given.records.commands(made.given.dev)
    own = own[(own["b"] & OP != READ) & (own["begin_ns"] >= begin) & (own["begin_ns"] < end)]
    if own.size != kept.time.size:
        return [f"ledger: {own.size} commands but reads, {name} kept {kept.time.size}"]
    same = (own["a"] == kept.sector) & (own["n"] == kept.sectors) & (own["b"] == kept.flags)
    if run.counted:
        same &= np.abs(own["begin_ns"].astype(np.int64) - kept.time) <= KEPT_WITHIN_NS
    wrong = np.flatnonzero(~same)
    if not wrong.size:
        return []
    first = f"first at {own['begin_ns'][wrong[0]]} ns, sector {own['a'][wrong[0]]}"
    return [f"ledger: {wrong.size} commands that {name} kept otherwise: {first}"]


def _as_the_device_says(run: Run, made: Ledger) -> list[str]:
    """The commands are those of the device's log, of the same kind, and each was there in its time."""
    own, seen = logged.beside(made.ledger, counts.window_blocks(run, counts.DEVICE_LOG))
    if own.height != seen.height:
        return [f"ledger: {own.height} commands, the device's log has {seen.height}"]
    differs = pl.any_horizontal(*(own[name] != seen[name] for name in logged.ORDER[:3]))
    differs |= (seen["begin_ns"] < own["begin_ns"]) | (seen["end_ns"] > own["end_ns"])
    wrong = own.filter(differs)
    found = [f"ledger: {text}" for text in first(wrong, "commands that the device's log has not", "sector")]
    if found:
        return found
    slower = made.given.slower
    copying = _under_way(own, seen["end_ns"]) * _BLOCK_NS * slower
    return _in_time(run, "the device's log", own, seen, _IN_THE_DEVICE, slower, copying)


def _under_way(own: pl.DataFrame, since: pl.Series) -> Ints:
    """Return how many blocks were in the commands that were under way at some time from SINCE on to the
    completion of each."""
    issue, complete, blocks = ints(own["begin_ns"]), ints(own["end_ns"]), ints(own["sectors"]) * 512 // _BLOCK
    begun, ended = np.argsort(issue, kind="stable"), np.argsort(complete, kind="stable")
    issued = np.r_[0, np.cumsum(blocks[begun])][np.searchsorted(issue[begun], complete, "right")]
    gone = np.r_[0, np.cumsum(blocks[ended])][np.searchsorted(complete[ended], ints(since))]
    return ints(issued - gone)


def _as_witnessed(run: Run, made: Ledger, name: str) -> list[str]:
    """The commands are those that the observer saw, when it saw them."""
    own = made.ledger.select(
        pl.col("sector").fill_null(0), bytes=pl.col("bytes") // 512, begin_ns="issue_ns", end_ns="complete_ns"
    )
    seen = counts.window_blocks(run, name).select("sector", "begin_ns", "end_ns", bytes="sectors")
    if run.partition:
        # others of the disk may be sent a flush where the window begins or ends (disk.py)
        begin, end = run.driver.window
        inner = pl.col("begin_ns").is_between(begin + disk.APART_NS, end - disk.APART_NS)
        own, seen = (table.filter((pl.col("bytes") > 0) | inner) for table in (own, seen))
    if own.height != seen.height:
        return [f"ledger: {own.height} commands, {name} saw {seen.height}"]
    own, seen = (table.sort("sector", "bytes", "begin_ns") for table in (own, seen))
    differs = pl.any_horizontal(own["sector"] != seen["sector"], own["bytes"] != seen["bytes"])
    wrong = own.filter(differs)
    found = [f"ledger: {text}" for text in first(wrong, f"commands that {name} did not see", "sector")]
    return found or _in_time(run, name, own, seen, _BESIDE, made.given.slower)


def _in_time(
    run: Run,
    name: str,
    own: pl.DataFrame,
    seen: pl.DataFrame,
    limit: _Apart,
    slower: int,
    copying: Ints | int = 0,
) -> list[str]:
    """Each command was issued and completed when the witness has it.

    Where a difference is a number of instructions. copying: by how many ns a completion may be later.
    """
    if not run.counted or own.is_empty():
        return []
    found = []
    for what, column in (("issued", "begin_ns"), ("completed", "end_ns")):
        # one that did not end is told elsewhere
        apart = ints((own[column] - seen[column]).abs().fill_null(0))
        allowed = [(limit.half, apart.size // 2), (limit.most, 2 * (1 + apart.size // 100))]
        allowed += [] if limit.each is None else [(limit.each, 0)]
        for ns, number in allowed:
            later = copying if what == "completed" else 0
            late = own.filter(apart - later > ns * slower)
            if late.height > number:
                found += first(late, f"commands that {name} has {what} at another time", "sector", column)
                break
    return [f"ledger: {text}" for text in found]


def _same_bios(run: Run, bios: np.ndarray, name: str, witness: Witness, slower: int) -> list[str]:
    """Each thread queued the writes that the observer saw it queue, in that order and, in virtual time,
    then."""
    # an operation that takes data to the device has an odd number (linux/blk_types.h)
    own = bios[bios["b"] & 1 > 0]
    seen = witness.queued()
    if run.partition:
        # whose an empty one is the observer does not tell
        own, seen = own[own["n"] > 0], seen[seen["bytes"] > 0]
    if own.size != seen.size:
        return [f"ledger: {own.size} bios, {name} saw {seen.size}"]
    own = own[np.lexsort((own["d"], own["tid"]))]
    same = (own["tid"] == seen["pid"]) & (own["n"] == seen["bytes"] >> 9)
    same &= (own["a"] == seen["sector"]) | (own["n"] == 0)  # an empty one has no place
    wrong = np.flatnonzero(~same)
    if not wrong.size and phases.instruction_ns(run) is not None:
        apart = np.abs(ints(own["begin_ns"]) - ints(seen["time"]))
        wrong = np.flatnonzero(apart > _BIO_NS * slower)
    if not wrong.size:
        return []
    bio = own[wrong[0]]
    first = f"first serial {bio['d']}, sector {bio['a']}"
    return [f"ledger: {wrong.size} bios that {name} saw otherwise: {first}"]
