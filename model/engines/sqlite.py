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
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl

from model.cell import Cell
from model.engines import _wal
from model.engines.survival import ALL, CORRUPT, LAST, RARELY_CORRUPT, RECENT
from model.operations import Transaction
from model.statements import sql, sqlfile
from model.workloads import Operation

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
    # of sorts and temporary tables that do not fit into memory, and of statements that may be undone
    "temporary": ("temporary file", "#999933"),
}
# what a file of it begins with (fileformat2.html, 1.3, 3 and 4.1)
HEADS = {
    "database": (b"SQLite format 3\0",),
    "journal": (bytes.fromhex("d9d505f920a163d7"),),
    "wal": (bytes.fromhex("377f0682"), bytes.fromhex("377f0683")),
}
PROPERTIES = "pragmas"
LOGS_CALLS = True
RECOVERIES: dict[str, bool | None] = {}
OF_ANY_SQLITE = True
COUNTED = re.compile("(?!)")
# Pragmas that no cell asks for and that change what is synced or written: SQLite's own values.
JOBS: dict[str, str] = {}
ADDS_MISSING = False
UNASKED = {
    "checkpoint_fullfsync": "0",
    "fullfsync": "0",
    "locking_mode": "normal",
    "mmap_size": "0",
    "temp_store": "0",
}

# a super-journal (tempfilecompat.html, 2.3)
_SUPER_JOURNAL = re.compile(r"-mj[0-9A-F]{6}9[0-9A-F]{2}$")
_TEMPORARY = "etilqs_"  # SQLITE_TEMP_FILE_PREFIX of os.h
_SUFFIXES = {"": "database", "-journal": "journal", "-wal": "wal", "-shm": "shm"}


def role(name: str, databases: Collection[str]) -> str | None:
    """Return which of SQLite's files a name is; of another database too, as far as its end says it."""
    for suffix, kind in _SUFFIXES.items():
        if name.endswith(suffix) and name.removesuffix(suffix) in databases:
            return kind
    if stem := re.search(r"-(journal|wal|shm)$", name):
        return stem.group(1)
    if name.startswith(_TEMPORARY):
        return "temporary"
    return "other" if _SUPER_JOURNAL.search(name) else None


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


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what the calls are not of this page_size (pager_write_pagelist writes a page at a time), or
    of this synchronous: pager_end_transaction has xDelete sync the directory with EXTRA, and only then.

    `order` says what journal_mode and synchronous make of them.
    """
    size, found = settings.get("page_size"), []
    of_database = (pl.col("op") == "write") & (pl.col("file") == "database")
    if other := calls.filter(of_database & pl.col("bytes").ne_missing(size)).height:
        found.append(f"page_size is {size}, and {other} writes to the database were of another")
    deletes = calls.filter((pl.col("op") == "delete") & (pl.col("file") == "journal"))
    level, synced = settings.get("synchronous"), int((deletes["bytes"] != 0).sum())
    if synced != (deletes.height if level == "extra" else 0):
        found.append(
            f"synchronous is {level}, and of {deletes.height} deletions of the journal "
            f"{synced} had the directory synced"
        )
    # a size that is no number is told by now
    is_wal = settings.get("journal_mode") == "wal" and isinstance(size, int)
    return found + (_wal.contradicted(settings, calls) if is_wal else [])


# The calls of a transaction: of the database, the rollback journal (lower case: open, close, delete,
# truncate) and the WAL. A sync is the file's letter in upper case.
CALLS = {
    **{"database.write": "d", "database.sync": "D", "database.truncate": "s"},
    **{"journal.open": "o", "journal.write": "j", "journal.sync": "J"},
    **{"journal.truncate": "t", "journal.close": "c", "journal.delete": "x"},
    **{"wal.write": "w", "wal.sync": "W", "wal.truncate": "u"},
}
# the WAL's index grows with it, and temporary files come with large statements
UNORDERED = ("shm", "temporary", "other")
# pager.c: what is changed is saved, and the number of saved pages is written into the journal's header
# and synced before the database is written (syncJournal; FULL syncs what was saved before that number).
# Where the cache is too small for a transaction it does so several times (pagerStress).
# With NORMAL a sync comes after pages were written, or it would be FULL's second.
_SAVED = {
    "off": "(j+d+)+",
    "normal": "j+J([jd]*d[jd]*J)*d+D",
    "full": "j+JjJ([jd]+JjJ)*d+D",
}
# pager_end_transaction and zeroJournalHdr: how the journal ends. PERSIST cuts one that is larger than
# journal_size_limit.
_ENDED = {
    "delete": {"off": "cx", "normal": "cx", "full": "cx"},
    "truncate": {"off": "tc", "normal": "tc", "full": "tJc"},
    "persist": {"off": "jt?c", "normal": "jJt?c", "full": "jJt?c"},
}
# wal.c: the first frame behind the log's header waits for that to be synced (sqlite3WalFrames), a log that
# was begun again is cut to journal_size_limit (walLimitSize), and a checkpoint may follow (walCheckpoint).
_COPIED, _COPIED_UNSYNCED = "Wd+sD", "d+s"
_LOGGED = {
    "off": f"w+u?({_COPIED_UNSYNCED})?",
    "normal": f"(wW)?w+u?({_COPIED})?",
    "full": f"(wW)?w+Wu?({_COPIED})?",
}
# frames that no checkpoint wrote home: a passive one that nobody holds back writes all
UNFINISHED = re.compile("w[^d]*$")


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return what one transaction may call (CALLS); one that changes nothing calls nothing.

    Held by tests/driver/test_order.py with the oldest and the newest release that are tested.
    """
    mode, level = settings["journal_mode"], settings["synchronous"]
    level = "full" if level == "extra" else level
    if mode == "wal":
        return re.compile(f"({_LOGGED[level]})?")
    if mode not in _ENDED:  # no journal on the disk
        return re.compile("(d+)?" if level == "off" else "(d+D)?")
    # an old journal is looked into, whether it is one to roll back
    looked = "(oc)?" if mode == "persist" else ""
    return re.compile(f"{looked}(o{_SAVED[level]}{_ENDED[mode][level]})?")


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Nothing: it counts nothing."""
    return []


def least_written(config: Mapping[str, Any]) -> int:
    """Nothing: it counts no bytes."""
    return 0


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return what `PRAGMA wal_checkpoint` may call; in other journal modes it does nothing.

    As `order`, with UNFINISHED.
    """
    if settings.get("journal_mode") != "wal":
        return None
    copied = _COPIED_UNSYNCED if settings.get("synchronous") == "off" else _COPIED
    return re.compile(f"({copied})?")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the pragmas that a cell asks for, as far as it does."""
    return {name: cell.value(name) for name in _SETTINGS if cell.has(name)}


def release(cell: Cell) -> str | None:
    """Return the release that a cell asks for; None: any."""
    return cell.sqlite if cell.has("sqlite") else None


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each line does: one statement in autocommit, or those between BEGIN and COMMIT.

    Raises ValueError with the line that is neither.
    """
    for number, line in enumerate(rendered, 1):
        if (found := sql.transaction(line)) is None:
            raise ValueError(f"line {number}")
        yield found


transactions_of_file = sqlfile.of_rendered


def rendered(operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
    """Return a transaction's SQL, with its newline (workloads/engines/sqlite/render.c)."""
    statements = [
        texts[kind].encode().replace(b"%k", b"%d" % key).replace(b"%v", b"'%s'" % value)
        for kind, key, value in operations
    ]
    batch = [b"BEGIN;", *statements, b"COMMIT;"] if len(statements) > 1 else statements
    return b"".join(batch) + b"\n"


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    journal_mode = settings["journal_mode"]
    process = CORRUPT if journal_mode in ("memory", "off") else ALL
    return process, _SYNCED[journal_mode][settings["synchronous"]]
