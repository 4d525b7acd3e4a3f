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

from base.arrays import Ints
from model.block_operations import DISCARD, FLUSH, FUA, OP, WRITE

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
    def from_profile(cls, profile: Mapping[str, Any]) -> Cache:
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
        # by when all up to each are done; FLUSHes by their ends, and the latest begin of those up to each
        self._all_done = np.maximum.accumulate(self.end)
        flushes = np.flatnonzero(self.is_flush & (self.end > 0))
        flushes = flushes[np.argsort(self.end[flushes], kind="stable")]
        self._flush_ends = self.end[flushes]
        self._flushed = np.maximum.accumulate(self.begin[flushes])

    def arrived(self, moment: int) -> int:
        """How many had come by then: those with a smaller number."""
        return int(np.searchsorted(self.begin, moment, side="right"))

    def losable(self, moment: int) -> Ints:
        """The numbers of those that a cut at that moment may take, in their order."""
        count = self.arrived(moment)
        first, flushed = self._first(moment, count), self._flushed_at(moment)
        end = self.end[first:count]
        done = (end > 0) & (end <= moment)
        if not self.cache.bytes:
            durable = done
        else:
            durable = done & (end <= flushed)
            if "fua" not in self.cache.ignores:
                durable |= done & self.is_fua[first:count]
            if self.cache.ignores:
                # what came after it has pushed it out
                durable |= done & (self._behind(first, count) >= self.cache.bytes)
        return np.flatnonzero(self.changes[first:count] & ~durable) + first

    def _flushed_at(self, moment: int) -> int:
        """Return what is durable by FLUSHes at a moment: all that was done by then."""
        done = int(np.searchsorted(self._flush_ends, moment, side="right"))
        return int(self._flushed[done - 1]) if done and "flush" not in self.cache.ignores else -1

    def _first(self, moment: int, count: int) -> int:
        """Return a number before which nothing can be lost: a run has many commands, and few at stake."""
        before = moment if not self.cache.bytes or self.cache.ignores else self._flushed_at(moment)
        first = int(np.searchsorted(self._all_done, before, side="right"))
        if self.cache.bytes and self.cache.ignores:
            kept = int((self._behind(0, count) < self.cache.bytes).argmax()) if count else 0
            first = min(first, kept)
        return min(first, count)

    def _behind(self, first: int, count: int) -> Ints:
        """Return the bytes that were written after each of some commands, by the time that COUNT had come."""
        behind: Ints = self._written_before[count] - self._written_before[first + 1 : count + 1]
        return behind
