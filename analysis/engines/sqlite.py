"""SQLite: its files, its settings, and what survives.

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
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from analysis.engines.survival import ALL, CORRUPT, LAST, RARELY_CORRUPT, RECENT

TITLE = "SQLite"
_SETTINGS = (
    *("journal_mode", "synchronous", "page_size", "cache_size"),
    *("wal_autocheckpoint", "journal_size_limit"),
)
FILES = {
    "database": ("database page", "#0072B2"),
    "journal": ("rollback journal", "#E69F00"),
    "wal": ("WAL", "#D55E00"),
    # memory that is shared: no page of it is synced
    "shm": ("other", "#CC79A7"),
}
PROPERTIES = "pragmas"
LOGS_CALLS = True
# Pragmas that no cell asks for and that change what is synced or written: SQLite's own values.
UNASKED = {
    "checkpoint_fullfsync": "0",
    "fullfsync": "0",
    "locking_mode": "normal",
    "mmap_size": "0",
    "temp_store": "0",
}

# a super-journal (tempfilecompat.html, 2.3), a temporary file (SQLITE_TEMP_FILE_PREFIX of os.h)
_UNNAMED = re.compile(r"-mj[0-9A-F]{6}9[0-9A-F]{2}$|^etilqs_")
_SUFFIXES = {"": "database", "-journal": "journal", "-wal": "wal", "-shm": "shm"}


def role(name: str, database: str) -> str | None:
    """Return which of SQLite's files a name is; of another database too, as far as its end says it."""
    for suffix, kind in _SUFFIXES.items():
        if name == database + suffix:
            return kind
    if stem := re.search(r"-(journal|wal|shm)$", name):
        return stem.group(1)
    return "other" if _UNNAMED.search(name) else None


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


def requested(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pragmas that a cell asks for, as far as it does."""
    return {name: cell[name] for name in _SETTINGS if name in cell}


def release(cell: Mapping[str, Any]) -> str | None:
    """Return the release that a cell asks for; None: any."""
    return str(cell["sqlite"]) if "sqlite" in cell else None


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    journal_mode = settings["journal_mode"]
    process = CORRUPT if journal_mode in ("memory", "off") else ALL
    return process, _SYNCED[journal_mode][settings["synchronous"]]
