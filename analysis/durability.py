"""What of the committed transactions survives a failure, from settings alone: asked for, or in effect.

Sources, all of SQLite's documentation unless said:
- pragma.html, `synchronous`: OFF survives a crash of the process only; NORMAL in WAL mode stays
  consistent but may roll the last commits back after a power loss or system crash, and with a
  rollback journal has "a very small (though non-zero) chance" of corruption; FULL "ensures that
  an operating system crash or power failure will not corrupt the database"; EXTRA also syncs the
  directory after a rollback journal was unlinked, so that in DELETE mode the commit itself lasts.
  "Transactions are durable across application crashes regardless of the synchronous setting or
  journal mode."
- pragma.html, `journal_mode`: with MEMORY and OFF a crash in the middle of a transaction very
  likely corrupts the database.
- atomiccommit.html, 3.11: deleting the journal is the commit. Before EXTRA nothing waits for that
  deletion to reach the disk, so the last transaction may be rolled back. TRUNCATE and PERSIST
  sync the journal after they end it (pager.c, pager_end_transaction and zeroJournalHdr: TRUNCATE
  from FULL on, PERSIST from NORMAL on).
- howtocorrupt.html, 3: without barriers a device's volatile cache may lose or reorder what was
  synced. The pages of Documentation/filesystems of the kernel: `nobarrier`, `barrier=0`,
  `fsync_mode=nobarrier`.

A filesystem's data mode does not enter: SQLite syncs what it relies on, and fsync means the same in
each of them. Where it does not sync (OFF), the database may be corrupt in all of them.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from analysis.documents import UnfitError

ALL = "every committed transaction survives"
LAST = "consistent, but the last transaction may be rolled back"
RECENT = "consistent, but the transactions since the last checkpoint may be rolled back"
RARELY_CORRUPT = "the last transaction may be rolled back; a very small chance of corruption"
CORRUPT = "the database may be corrupt"

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
    """Return what survives. Raises KeyError for a value that SQLite does not have."""
    synced = _SYNCED[journal_mode][synchronous]
    process = CORRUPT if journal_mode in ("memory", "off") else ALL
    return Durability(process, synced, CORRUPT if NO_BARRIER & set(mount_options) else synced)


_ROLLBACK = {"off": CORRUPT, "normal": RARELY_CORRUPT, "full": ALL, "extra": ALL}
_NONE = dict.fromkeys(_ROLLBACK, CORRUPT)
_SYNCED = {
    "delete": _ROLLBACK | {"full": LAST},
    "truncate": _ROLLBACK,
    "persist": _ROLLBACK,
    "wal": {"off": CORRUPT, "normal": RECENT, "full": ALL, "extra": ALL},
    "memory": _NONE,
    "off": _NONE,
}


def of(cell: dict[str, Any]) -> Durability:
    """Return what survives in `cell` (cell.json)."""
    profiles = cell["profiles"]
    options = [*profiles["fs"].get("mount", []), *cell.get("mount_options", "").split(",")]
    return rule(profiles["mode"]["journal_mode"], cell["sync"], options)


def in_effect(manifest: dict[str, Any]) -> Durability:
    """Return what survives with the settings that were read back (manifest.json of an ok run).

    Raises UnfitError where one of them was not, or is none of SQLite's.
    """
    effective, mount = manifest["sqlite"]["effective"], manifest["filesystem"]["mount"]
    try:
        return rule(effective["journal_mode"], effective["synchronous"], mount["options"])
    except (KeyError, TypeError):
        raise UnfitError("journal_mode, synchronous or the mount's options were not read back") from None


def differences(a: Durability, b: Durability) -> list[tuple[str, str, str]]:
    """Return (failure, what survives it in a, in b) where they differ."""
    pairs = zip(a.rows(), b.rows(), strict=True)
    return [(failure, in_a, in_b) for (failure, in_a), (_, in_b) in pairs if in_a != in_b]
