"""Compute which commands in a device's log a power cut may lose, by its cache, FLUSHes and FUA.

The rule is the device module's (cache.c). Without a volatile cache, or with FUA, a write is durable
once it is complete; else once a FLUSH is complete that was sent after the write was complete. A device that
`ignores` FLUSH or FUA (its profile) loses the newest writes that fit into its cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from base.arrays import Ints
from model.block_operations import DISCARD, FLUSH, FUA, OP, WRITE

SECTOR = 512


@dataclass(frozen=True)
class Cache:
    """A device's volatile cache, by its profile."""

    bytes: int  # 0: none, completed writes are durable
    reorders: bool
    block: int  # bytes of the smallest write
    unit: int  # bytes programmed at once
    ignores: frozenset[str] = frozenset()  # flush, fua

    @classmethod
    def from_profile(cls, profile: Mapping[str, Any]) -> "Cache":
        """Return the cache of a profile (experiments/device/*.yml). Raises KeyError for a missing entry."""
        has = profile["geometry"]
        return cls(
            bytes=has["cache_kib"] * 1024,
            reorders=bool(has["cache_reorder"]),
            block=has["block_bytes"],
            unit=has["program_bytes"],
            ignores=frozenset(profile.get("ignores", ())),
        )


class Commands:
    """The commands of a log (device_logs.ENTRY), by their number in it."""

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
        # when all up to each command are complete; FLUSHes by their ends, and the latest begin up to each
        self._all_done = np.maximum.accumulate(self.end)
        flushes = np.flatnonzero(self.is_flush & (self.end > 0))
        flushes = flushes[np.argsort(self.end[flushes], kind="stable")]
        self._flush_ends = self.end[flushes]
        self._flushed = np.maximum.accumulate(self.begin[flushes])

    def arrived(self, moment: int) -> int:
        """Return how many had arrived: those with a smaller number."""
        return int(np.searchsorted(self.begin, moment, side="right"))

    def barriers(self, first: int, last: int) -> list[int]:
        """Return the numbers of the FLUSHes and FUA writes from `first` to before `last`."""
        numbers = np.flatnonzero(self.is_flush[first:last] | self.is_fua[first:last]) + first
        return [int(number) for number in numbers]

    def losable(self, moment: int) -> Ints:
        """Return the numbers of the changes that a cut may take, ascending."""
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
                # later writes pushed it out
                durable |= done & (self._behind(first, count) >= self.cache.bytes)
        return np.flatnonzero(self.changes[first:count] & ~durable) + first

    def _flushed_at(self, moment: int) -> int:
        """Return the time up to which completed writes were durable by FLUSHes."""
        done = int(np.searchsorted(self._flush_ends, moment, side="right"))
        return int(self._flushed[done - 1]) if done and "flush" not in self.cache.ignores else -1

    def _first(self, moment: int, count: int) -> int:
        """Return a number before which nothing can be lost, as a run has many commands."""
        before = moment if not self.cache.bytes or self.cache.ignores else self._flushed_at(moment)
        first = int(np.searchsorted(self._all_done, before, side="right"))
        if self.cache.bytes and self.cache.ignores:
            kept = int((self._behind(0, count) < self.cache.bytes).argmax()) if count else 0
            first = min(first, kept)
        return min(first, count)

    def _behind(self, first: int, count: int) -> Ints:
        """Return the bytes written after each command from `first` on, when COUNT had arrived."""
        behind: Ints = self._written_before[count] - self._written_before[first + 1 : count + 1]
        return behind
