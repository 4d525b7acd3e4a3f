"""What of the committed transactions survives a failure, from a cell's settings alone.

What each engine promises is in its module of analysis/engines/, with the sources.
- howtocorrupt.html, 3: without barriers a device's volatile cache may lose or reorder what was
  synced. Documentation/filesystems/ext4/ and f2fs.rst of the kernel: `nobarrier`, `barrier=0`,
  `fsync_mode=nobarrier`.

ext4's data mode does not enter: an engine syncs what it relies on, and fsync means the same in
each of them. Where it does not sync (OFF), the database may be corrupt in all of them.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from analysis import engines
from analysis.engines.sqlite import synced as sqlite_synced
from analysis.engines.survival import CORRUPT

FAILURES = ("a crash of the process", "a crash of the system", "a power failure")
NO_BARRIER = {"nobarrier", "barrier=0", "fsync_mode=nobarrier"}


@dataclass(frozen=True)
class Durability:
    """What survives each of FAILURES: one of the texts above."""

    process: str
    system: str
    power: str

    def rows(self) -> list[tuple[str, str]]:
        """(failure, what survives it)."""
        return list(zip(FAILURES, astuple(self), strict=True))


def rule(journal_mode: str, synchronous: str, mount_options: list[str]) -> Durability:
    """Return what of SQLite's transactions survives. Raises KeyError for a value that it does not have."""
    return _on(mount_options, *sqlite_synced(journal_mode, synchronous))


def _on(mount_options: list[str], process: str, system: str) -> Durability:
    return Durability(process, system, CORRUPT if NO_BARRIER & set(mount_options) else system)


def of(cell: dict[str, Any]) -> Durability:
    """Return what survives in `cell` (cell.json)."""
    profiles = cell["profiles"]
    options = [*profiles["fs"].get("mount", []), *cell.get("mount_options", "").split(",")]
    return _on(options, *engines.of(engines.name_in(cell)).survives(cell))


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (failure, what survives it in cell a, in cell b) where they differ."""
    pairs = zip(of(a).rows(), of(b).rows(), strict=True)
    return [(failure, in_a, in_b) for (failure, in_a), (_, in_b) in pairs if in_a != in_b]
