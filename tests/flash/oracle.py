"""A second implementation of flashsim's time model: when each command of a log was done, and ns by cause.

What a command takes follows from the device's parameters, the commands since its reset and when each came.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from oracle_map import PageMap, Splitmix

from model.block_operations import DISCARD, FLUSH, FUA, OP, READ

# model.h
_MOST_PENDING, _MOST_PROGRAMS = 256, 4096


class Chain:
    """A command on its way: where in time it is, and what took it there."""

    def __init__(self, at: int, parts: Counter[str] | None = None) -> None:
        self.at, self.parts = at, Counter() if parts is None else parts

    def until(self, cause: str, time: int) -> None:
        """Wait, if the time has not come."""
        self.add(cause, max(time - self.at, 0))

    def add(self, cause: str, ns: int) -> None:
        """Take so long."""
        self.parts[cause] += ns
        self.at += ns

    def copy(self) -> Chain:
        """A command's part that goes on beside it."""
        return Chain(self.at, Counter(self.parts))


@dataclass
class _Unit:
    """An open allocation unit; next: the sector after an unbroken run from its start."""

    number: int
    next: int = 0
    used: int = 0
    sequential: bool = True
    logged: int = 0  # bytes in its log


class Model:
    """A device since its reset. Commands are given in the order in which they came."""

    def __init__(self, parameters: Mapping[str, int]) -> None:
        self.each = parameters
        self.parts: Counter[str] = Counter()
        self.random = Splitmix(parameters["seed"])
        self.controller_free = self.bus_free = self.next_die = self.uses = 0
        self.die_free, self.die_page = [0] * parameters["dies"], [-1] * parameters["dies"]
        self.units: list[_Unit] = []
        self.map = PageMap(parameters) if parameters["gc_blocks"] else None
        self.held: OrderedDict[int, None] = OrderedDict()  # pages of the map, the newest last
        self.slc = self.folded_until = 0
        self.dirty = self.taken_at = 0  # bytes; when the cache took the newest
        self.pending: list[list[int]] = []  # sector, sectors
        self.programs: deque[tuple[int, int]] = deque()  # done, bytes
        self.pending_bytes = self.programming_bytes = 0

    def does(self, now: int, sector: int, sectors: int, operation: int) -> int:
        """Return when a command is done that comes now."""
        kind = operation & OP
        self._fold(now)
        if kind == FLUSH:
            chain = self._flush(now)
        elif kind == DISCARD:
            chain = self._begin(now)
            chain.add("discard", self.each["discard_ns"])
            if self.map:
                self.map.discard(sector, sectors)
        elif kind == READ:
            chain = self._read(self._begin(now, self.each["read_command_ns"]), sector, sector + sectors)
        else:
            chain = self._writes(Chain(now), sector, sector + sectors, operation & FUA > 0)
        self.parts.update(chain.parts)
        return chain.at

    def _begin(self, now: int, more: int = 0) -> Chain:
        return self._command(Chain(now), more)

    def _command(self, chain: Chain, more: int) -> Chain:
        chain.until("queue", self.controller_free)
        chain.add("command", self.each["command_ns"] + more)
        self.controller_free = chain.at
        return chain

    def _transfer(self, size: int) -> int:
        return size * 1000 // self.each["bus_mb_s"]

    def _read(self, chain: Chain, sector: int, end: int) -> Chain:
        page_bytes, sent, last = self.each["read_bytes"], 0, chain.copy()
        self.bus_free = max(self.bus_free, chain.at)
        while sector < end:
            page = sector * 512 // page_bytes
            size = min((page + 1) * page_bytes, end * 512) - sector * 512
            self._look_up(chain, sector, 1)
            part, die = chain.copy(), page % self.each["dies"]
            if self.die_page[die] != page:
                part.until("die", self.die_free[die])
                part.add("read", self.each["read_ns"])
                self.die_free[die], self.die_page[die] = part.at, page
            sent = max(part.at, sent) + self._transfer(size)
            self.bus_free += self._transfer(size)
            part.until("bus", max(sent, self.bus_free))
            last = part if part.at >= last.at else last
            sector += size // 512
        return last

    def _writes(self, chain: Chain, sector: int, end: int, fua: bool) -> Chain:
        """Split a reliable write as drivers/mmc/core/block.c does (mmc_apply_rel_rw)."""
        limit = self.each["rel_sectors"] if fua else 0
        while sector < end:
            blocks = end - sector
            if limit:
                if sector % limit:
                    blocks = 1
                if blocks > limit:
                    blocks = limit
                elif blocks < limit:
                    blocks = 1
            chain = self._command(chain, self.each["write_command_ns"])
            chain = self._write(chain, sector, sector + blocks, fua)
            sector += blocks
        return chain

    def _write(self, chain: Chain, sector: int, end: int, fua: bool) -> Chain:
        unit, last = self.each["program_bytes"], chain.copy()
        chain.until("bus", self.bus_free)
        while sector < end:
            size = min((sector * 512 // unit + 1) * unit, end * 512) - sector * 512
            chain.add("bus", self._transfer(size))
            self.bus_free = chain.at
            if self.each["cache_kib"] and not fua:
                self._cache(chain, sector, size)
                last = chain.copy()
            else:
                part = chain.copy()
                self._program(part, [(sector, size // 512)], size)
                last = part if part.at >= last.at else last
            sector += size // 512
        if fua:
            last.add("fua", self.each["fua_ns"])
            self._exclude(last)
        return last

    def _flush(self, now: int) -> Chain:
        chain = Chain(now)
        if not self.dirty:
            chain.add("flush", self.each["flush_clean_ns"])
            return chain
        chain.until("queue", self.controller_free)
        self._retire(chain.at)
        while self.pending_bytes:
            self._drain(max(chain.at, self.taken_at))
        for done, _ in self.programs:
            chain.until("drain", done)
        chain.add("flush", self.each["flush_dirty_ns"] + self.each["flush_dirty_kib_ns"] * self.dirty // 1024)
        self._exclude(chain)
        self.dirty = 0
        return chain

    def _exclude(self, chain: Chain) -> None:
        if self.each["exclusive"]:
            self.controller_free = max(self.controller_free, chain.at)

    def _cache(self, chain: Chain, sector: int, size: int) -> None:
        room, unit = self.each["cache_kib"] * 1024, self.each["program_bytes"]
        drain_at = max(unit, room // 2) if self.each["cache_reorder"] else unit
        chain.until("cache", self.taken_at)
        self._retire(chain.at)
        while self.pending_bytes + self.programming_bytes + size > room:
            if not self.programs:
                self._drain(chain.at)
            chain.until("cache", self.programs[0][0])
            self._retire(chain.at)
        self.taken_at = chain.at
        self._pend(sector, size // 512)
        self.dirty += size
        while len(self.pending) == _MOST_PENDING or self.pending_bytes >= drain_at:
            self._drain(chain.at)

    def _pend(self, sector: int, sectors: int) -> None:
        at = len(self.pending)
        while self.each["cache_reorder"] and at and self.pending[at - 1][0] > sector:
            at -= 1
        self.pending_bytes += sectors * 512
        if at and sum(self.pending[at - 1]) == sector:
            self.pending[at - 1][1] += sectors
        else:
            self.pending.insert(at, [sector, sectors])

    def _retire(self, now: int) -> None:
        while self.programs and self.programs[0][0] <= now:
            self.programming_bytes -= self.programs.popleft()[1]

    def _drain(self, now: int) -> None:
        """Program up to one unit from the front of what is pending."""
        room, drained = self.each["program_bytes"] // 512, []
        while self.pending and room:
            first = self.pending[0]
            taken = min(first[1], room)
            drained.append((first[0], taken))
            room -= taken
            first[0] += taken
            first[1] -= taken
            if not first[1]:
                self.pending.pop(0)
        size = 512 * sum(sectors for _, sectors in drained)
        self.pending_bytes -= size
        chain = Chain(now)
        self._program(chain, drained, size)
        if len(self.programs) == _MOST_PROGRAMS:
            self._retire(self.programs[0][0])
        self.programs.append((chain.at, size))
        self.programming_bytes += size

    def _program(self, chain: Chain, written: list[tuple[int, int]], size: int) -> None:
        stored, program = self._padded(size), self._program_ns(size)
        if self.slc + stored <= self.each["slc_mib"] << 20:
            self.slc += stored
            program = self.each["slc_program_ns"]
        for part in written:
            self._look_up(chain, *part)
        die = self.next_die
        self.next_die = (die + 1) % self.each["dies"]
        merge = sum(self._touch(*part) for part in written) if self.each["open_units"] else 0
        chain.until("die", self.die_free[die])
        chain.add("gc", self.map.program(written) if self.map else 0)
        chain.add("merge", merge)
        chain.add("program", program)
        self.die_free[die], self.die_page[die] = chain.at, -1

    def _program_ns(self, size: int) -> int:
        return self.each["program_ns"] + self.each["program_kib_ns"] * size // 1024

    def _fold(self, now: int) -> None:
        """Each die that was idle before a command programs units from SLC again."""
        unit = self.each["program_bytes"]
        one = -(-unit // self.each["read_bytes"]) * self.each["read_ns"] + self._program_ns(unit)
        idle = now - max(self.controller_free, self.folded_until, *self.die_free)
        if one and idle > 0:
            self.slc = max(self.slc - idle // one * self.each["dies"] * unit, 0)
        self.folded_until = max(self.folded_until, now)

    def _look_up(self, chain: Chain, sector: int, sectors: int) -> None:
        """Read the pages of the map that are not held: four bytes for each 4 KiB."""
        room, span = self.each["map_kib"] * 1024 // self.each["read_bytes"], self.each["read_bytes"] * 2
        for page in range(sector // span, (sector + sectors - 1) // span + 1) if room else ():
            if page not in self.held:
                if len(self.held) == room:
                    self.held.popitem(last=False)
                die = page % self.each["dies"]
                chain.until("die", self.die_free[die])
                chain.add("map", self.each["read_ns"])
                self.die_free[die], self.die_page[die] = chain.at, -1
            self.held[page] = None
            self.held.move_to_end(page)

    def _touch(self, sector: int, sectors: int) -> int:
        """Write in allocation units; return what it costs to have them open."""
        size, end, ns = self.each["unit_kib"] * 2, sector + sectors, 0
        while sector < end:
            number, offset = divmod(sector, size)
            stop = min((number + 1) * size, end)
            unit = next((one for one in self.units if one.number == number), None)
            if unit is None:
                if len(self.units) == self.each["open_units"]:
                    oldest = min(self.units, key=lambda one: one.used)
                    self.units.remove(oldest)
                    ns += self._close(oldest)
                unit = _Unit(number)
                self.units.append(unit)
            ns += self._log(unit, offset, stop - sector)
            unit.sequential &= offset == unit.next
            unit.next = offset + stop - sector
            self.uses += 1
            unit.used = self.uses
            sector = stop
        return ns

    def _log(self, unit: _Unit, offset: int, sectors: int) -> int:
        """Put a write out of order into the unit's log; return what it costs if that is full."""
        room, ns = self.each["log_kib"] * 1024, 0
        if not room or (unit.sequential and offset == unit.next):
            return 0
        if unit.logged + self._padded(sectors * 512) > room:
            ns = self._close(unit)
            unit.next, unit.sequential, unit.logged = 0, True, 0
            if offset == 0:
                return ns
        unit.logged += self._padded(sectors * 512)
        return ns

    def _padded(self, size: int) -> int:
        pad = self.each["pad_bytes"] or 1
        return -(-size // pad) * pad

    def _close(self, unit: _Unit) -> int:
        size, erase = self.each["unit_kib"] * 2, self.each["erase_ns"]
        if unit.sequential and unit.next == size:
            return erase
        spread = self.each["merge_spread_ns"]
        ns = self.each["merge_ns"] + (self.random.draw() % (spread + 1) if spread else 0)
        if self.each["log_kib"] and unit.sequential and ns > erase:
            return erase + (ns - erase) * (size - unit.next) // size
        return ns


def made_again(parameters: Mapping[str, int], entries: np.ndarray) -> tuple[np.ndarray, Counter[str]]:
    """Return when each command of a log (device_logs.ENTRY) was done, and ns of all by cause."""
    model = Model(parameters)
    told = (entries[name].tolist() for name in ("begin_ns", "sector", "sectors", "operation"))
    ends = [model.does(*command) for command in zip(*told, strict=True)]
    return np.array(ends, np.int64), model.parts
