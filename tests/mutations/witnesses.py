"""A block command wherever it was recorded: the probes', the block tracer's, the device's log, its content.

What a forger must change alike, so that each witness confirms the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from forged import Forged
from side import Absent

from analysis.adapters.blkrecords import ACTION, COMPLETE, ISSUE, NOTIFY, QUEUE
from analysis.ledger.match import FUA, OP, WRITE

# ns between a tracepoint's record of the probes and the block tracer's of the same moment, at most
NEAR = 20_000
SECTOR = 512


@dataclass(frozen=True)
class Command:
    """Rows of one command, in each of what recorded it."""

    block: int  # of records
    bios: np.ndarray  # of records
    pages: np.ndarray  # of records
    traced: np.ndarray  # of trace.records
    entry: int | None  # of the device's log
    kept: int | None  # of content.records


class Commands:
    """Finds what is recorded of a command."""

    def __init__(self, run: Forged) -> None:
        self.run = run
        begin, end = run.window
        blocks = run.of("block")
        rows = run.records[blocks]
        inside = (rows["begin_ns"] >= begin) & (rows["begin_ns"] < end) & (rows["dev"] == self.device)
        self.blocks = blocks[inside]
        self._bios, self._pages = run.of("bio"), run.of("pages")

    @property
    def device(self) -> int:
        """The device that got most bios."""
        dev, number = np.unique(self.run.records["dev"][self.run.of("bio")], return_counts=True)
        return int(dev[number.argmax()])

    def writes(self, flags: int = 0, least: int = 1) -> np.ndarray:
        """Places of the writes that have all of `flags` and at least so many sectors."""
        rows = self.run.records[self.blocks]
        has = (rows["b"] & OP == WRITE) & (rows["b"] & flags == flags) & (rows["n"] >= least)
        if not has.any():
            raise Absent("such writes")
        found: np.ndarray = self.blocks[has]
        return found

    def of(self, place: int) -> Command:
        """What is recorded of the command whose record of the probes is there."""
        records = self.run.records
        row = records[place]
        first, last = int(row["a"]), int(row["a"]) + int(row["n"])
        issue, end, queued = int(row["begin_ns"]), int(row["end_ns"]), int(row["c"])
        bios = records[self._bios]
        mine = (bios["a"] >= first) & (bios["a"] + bios["n"] <= last) & (bios["n"] > 0)
        mine &= (bios["begin_ns"] >= queued - NEAR) & (bios["begin_ns"] <= issue)
        serials = bios["d"][mine]
        pages = self._pages[np.isin(records["d"][self._pages], serials)]
        traced = self._traced(first, last, queued, end)
        return Command(place, self._bios[mine], pages, traced, self._entry(row), self._kept(row))

    def _traced(self, first: int, last: int, queued: int, end: int) -> np.ndarray:
        if not self.run.has_trace:
            return np.empty(0, np.int64)
        rows = self.run.trace.records
        there = (rows["sector"] >= first) & (rows["sector"] < max(last, first + 1))
        if first == last:
            there &= rows["bytes"] == 0
        when = (rows["time"] >= queued - NEAR) & (rows["time"] <= end + NEAR)
        return np.flatnonzero(there & when & (rows["action"] & NOTIFY == 0))

    def _entry(self, row: np.ndarray) -> int | None:
        if not self.run.has_log:
            return None
        log = self.run.log
        same = (log["sector"] == row["a"]) & (log["sectors"] == row["n"])
        same &= (log["begin_ns"] >= row["begin_ns"]) & (log["begin_ns"] <= row["end_ns"])
        found = np.flatnonzero(same)
        if found.size != 1:
            raise Absent("the command in the device's log")
        return int(found[0])

    def _kept(self, row: np.ndarray) -> int | None:
        if not self.run.has_content:
            return None
        kept = self.run.content.records
        same = kept["bytes"] == row["n"] * SECTOR
        same &= (kept["sector"] == row["a"]) | (row["n"] == 0)
        same &= abs(kept["time_ns"].astype(np.int64) - int(row["begin_ns"])) < NEAR
        found = np.flatnonzero(same)
        if found.size != 1:
            raise Absent("the command in what was kept")
        return int(found[0])

    def move(self, one: Command, sector: int) -> None:
        """Let the command be at another sector, in all that recorded it."""
        records = self.run.records
        by = sector - int(records["a"][one.block])
        for places in (np.array([one.block]), one.bios):
            records["a"][places] = records["a"][places].astype(np.int64) + by
        if one.traced.size:
            traced = self.run.trace.records
            traced["sector"][one.traced] = traced["sector"][one.traced].astype(np.int64) + by
        if one.entry is not None:
            self.run.log["sector"][one.entry] = sector
        if one.kept is not None:
            self.run.content.records["sector"][one.kept] = sector

    def drop(self, dropped: list[Command]) -> None:
        """Let commands not have been, in all that recorded them and in the counters."""
        run, records = self.run, self.run.records
        gone = [np.r_[[one.block], one.bios, one.pages] for one in dropped]
        for one in dropped:
            row = records[one.block]
            flush = row["n"] == 0
            run.count("flush_ios" if flush else "write_ios", -1, int(row["end_ns"]))
            if not flush:
                run.count("write_sectors", -int(row["n"]), int(row["end_ns"]))
        if traced := [one.traced for one in dropped if one.traced.size]:
            run.trace = run.trace.kept(~np.isin(np.arange(run.trace.records.size), np.concatenate(traced)))
        if kept := [one.kept for one in dropped if one.kept is not None]:
            run.content = run.content.kept(~np.isin(np.arange(run.content.records.size), kept))
        if entries := [one.entry for one in dropped if one.entry is not None]:
            run.log = np.delete(run.log, entries)
        run.records = np.delete(records, np.unique(np.concatenate(gone)).astype(np.int64))
        self.renumber()

    def renumber(self) -> None:
        """Give commands and bios numbers without a gap."""
        records = self.run.records
        for names in (("block",), ("bio", "pages")):
            serials = np.unique(records["d"][self.run.of(names[0])])
            for name in names:
                places = self.run.of(name)
                records["d"][places] = np.searchsorted(serials, records["d"][places])

    def flag(self, one: Command, bit: int, traced_bit: int) -> None:
        """Flip a flag of the command, in all that recorded it."""
        self.run.records["b"][np.r_[[one.block], one.bios]] ^= np.uint64(bit)
        if one.traced.size:
            self.run.trace.records["action"][one.traced] ^= np.uint32(traced_bit)
        if one.entry is not None and bit == FUA:
            self.run.log["operation"][one.entry] ^= np.uint32(bit)
        if one.kept is not None:
            self.run.content.records["flags"][one.kept] ^= np.uint32(bit)

    def resize(self, one: Command, sectors: int) -> None:
        """Let a command of one bio with one run of pages have so many sectors, in all that recorded it."""
        if one.bios.size != 1 or one.pages.size != 1:
            raise Absent("a command of one bio")
        run, records = self.run, self.run.records
        old = int(records["n"][one.block])
        records["n"][np.r_[[one.block], one.bios]] = sectors
        records["n"][one.pages] = sectors // 8
        run.count("write_sectors", sectors - old, int(records["end_ns"][one.block]))
        if one.traced.size:
            traced = run.trace.records
            sized = np.isin(traced["action"][one.traced] & ACTION, (QUEUE, ISSUE, COMPLETE))
            sized &= traced["bytes"][one.traced] > 0
            traced["bytes"][one.traced[sized]] = sectors * SECTOR
        if one.entry is not None:
            run.log["sectors"][one.entry] = sectors
        if one.kept is not None:
            run.content.records["bytes"][one.kept] = sectors * SECTOR
            data = run.content.data
            data[one.kept] = (data[one.kept] + data[one.kept][-8 * SECTOR :])[: sectors * SECTOR]
