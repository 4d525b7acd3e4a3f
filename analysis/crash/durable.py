"""What of a device's commands a power cut at a moment cannot take: from its log alone.

The rule is the one of the module that makes the device (cache.c): a write is durable once it is done where
there is no volatile cache, with FUA, or once a FLUSH is done that came after the write was done. A device
may break it (`ignores` of its profile): it answers a FLUSH or FUA, and its cache keeps what came last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.ledger.arrays import Ints
from analysis.ledger.match import DISCARD, FLUSH, FUA, OP, WRITE

SECTOR = 512


@dataclass(frozen=True)
class Cache:
    """What of a device's profile says what a cut may take."""

    bytes: int  # 0: none, what is done is durable
    reorders: bool
    block: int  # bytes of its smallest write
    unit: int  # bytes that it programs at once
    ignores: frozenset[str] = frozenset()  # flush, fua

    @classmethod
    def of(cls, profile: Mapping[str, Any]) -> Cache:
        """Return that of a profile (experiments/device/*.yml). Raises KeyError where it does not say."""
        has = profile["geometry"]
        return cls(
            bytes=has["cache_kib"] * 1024,
            reorders=bool(has["cache_reorder"]),
            block=has["block_bytes"],
            unit=has["program_bytes"],
            ignores=frozenset(profile.get("ignores", ())),
        )


class Commands:
    """The commands of a log (devicelog.ENTRY), by their number in it."""

    def __init__(self, entries: np.ndarray, cache: Cache) -> None:
        self.cache = cache
        kind = entries["operation"] & OP
        self.begin, self.end = (entries[name].astype(np.int64) for name in ("begin_ns", "end_ns"))
        self.sectors = entries["sectors"].astype(np.int64)
        self.is_flush = kind == FLUSH
        self.is_write = kind == WRITE
        self.changes = self.is_write | (kind == DISCARD)
        self.is_fua = self.is_write & (entries["operation"] & FUA > 0)
        written = np.where(self.is_write, self.sectors * SECTOR, 0)
        self._written_before = np.concatenate(([0], np.cumsum(written)))

    def arrived(self, moment: int) -> int:
        """How many had come by then: those with a smaller number."""
        return int(np.searchsorted(self.begin, moment, side="right"))

    def losable(self, moment: int) -> Ints:
        """The numbers of those that a cut at that moment may take, in their order."""
        count = self.arrived(moment)
        begin, end = self.begin[:count], self.end[:count]
        done = (end > 0) & (end <= moment)
        if not self.cache.bytes:
            durable = done
        else:
            ignores = self.cache.ignores
            durable = np.zeros(count, bool) if "fua" in ignores else done & self.is_fua[:count]
            flushed = begin[done & self.is_flush[:count]]
            if flushed.size and "flush" not in ignores:
                durable |= done & (end <= flushed.max())
            if ignores:
                # what came after it has pushed it out
                behind = self._written_before[count] - self._written_before[1 : count + 1]
                durable |= done & (behind >= self.cache.bytes)
        return np.flatnonzero(self.changes[:count] & ~durable)
