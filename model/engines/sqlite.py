"""SQLite: file roles, pragmas, order of file calls, what survives a crash; check calls, render transactions.

Sources, in SQLite's documentation unless noted:
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

Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl

from model.cell import Cell
from model.engines import _wal_limits
from model.engines.survival import ALL, CORRUPT, LAST, RARELY_CORRUPT, RECENT
from model.operations import Transaction
from model.statements import sql, sqlfile
from model.workloads import Operation

TITLE = "SQLite"
_SETTINGS = (
    *("journal_mode", "synchronous", "page_size", "cache_size"),
    *("wal_autocheckpoint", "journal_size_limit", "mmap_size", "auto_vacuum"),
    *("secure_delete", "temp_store", "locking_mode", "cache_spill", "held_reader"),
    *("writers", "busy_timeout", "checksums"),
)
FILES = {
    "database": ("database page", "#0072B2"),
    "journal": ("rollback journal", "#E69F00"),
    "wal": ("WAL", "#D55E00"),
    # shared memory; its pages are never synced
    "shm": ("other", "#CC79A7"),
    # for sorts and temporary tables that exceed memory, and statements that may be rolled back
    "temporary": ("temporary file", "#999933"),
}
# first bytes of its files (fileformat2.html, 1.3, 3 and 4.1)
HEADS = {
    "database": (b"SQLite format 3\0",),
    "journal": (bytes.fromhex("d9d505f920a163d7"),),
    "wal": (bytes.fromhex("377f0682"), bytes.fromhex("377f0683")),
}
PROPERTIES = "pragmas"
LOGS_CALLS = True
JOBS = {"writer": "engine job"}  # of writers=2 (workloads/engines/sqlite/writers.c)
OF_ANY_SQLITE = True
UNASKED = {"checkpoint_fullfsync": "0", "fullfsync": "0"}

# a super-journal (tempfilecompat.html, 2.3)
_SUPER_JOURNAL = re.compile(r"-mj[0-9A-F]{6}9[0-9A-F]{2}$")
_TEMPORARY = "etilqs_"  # SQLITE_TEMP_FILE_PREFIX of os.h
_SUFFIXES = {"": "database", "-journal": "journal", "-wal": "wal", "-shm": "shm"}


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; by the suffix if it belongs to another database."""
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
    """Return how the calls contradict page_size, synchronous, and in WAL mode the limits of the log.

    pager_write_pagelist writes a page at a time. pager_end_transaction has xDelete sync the directory with
    EXTRA only. `order` covers the rest of journal_mode and synchronous.
    """
    size, reasons = settings.get("page_size"), []
    of_database = (pl.col("op") == "write") & (pl.col("file") == "database")
    if other := calls.filter(of_database & pl.col("bytes").ne_missing(size)).height:
        reasons.append(f"page_size is {size}, but {other} writes to the database have another size")
    deletes = calls.filter((pl.col("op") == "delete") & (pl.col("file") == "journal"))
    level, synced = settings.get("synchronous"), int((deletes["bytes"] != 0).sum())
    if synced != (deletes.height if level == "extra" else 0):
        reasons.append(
            f"synchronous is {level}, but {synced} of {deletes.height} deletions of the journal "
            "synced the directory"
        )
    # an invalid size is reported above
    is_wal = settings.get("journal_mode") == "wal" and isinstance(size, int)
    return reasons + (_wal_limits.contradicted(settings, calls) if is_wal else [])


# The calls of a transaction: on the database, the rollback journal (o: open, t: truncate, c: close, x:
# delete) and the WAL. A sync is the file's letter in upper case.
CALLS = {
    **{"database.write": "d", "database.sync": "D", "database.truncate": "s"},
    **{"journal.open": "o", "journal.write": "j", "journal.sync": "J"},
    **{"journal.truncate": "t", "journal.close": "c", "journal.delete": "x"},
    **{"wal.write": "w", "wal.sync": "W", "wal.truncate": "u"},
}
# the WAL's index grows with it, and temporary files come with large statements
UNORDERED = ("shm", "temporary", "other")
# pager.c: pages are saved before they are changed. Their number is written into the journal's header and
# synced before the database is written (syncJournal; FULL syncs the saved pages before the number). A cache
# that is too small for a transaction makes this happen several times (pagerStress). With NORMAL a further
# sync follows page writes; otherwise it would be the second sync of FULL.
_SAVED = {
    "off": "(j+d+)+",
    "normal": "j+J([jd]*d[jd]*J)*d+D",
    "full": "j+JjJ([jd]+JjJ)*d+D",
}
# pager_end_transaction and zeroJournalHdr: how the journal ends. PERSIST truncates one that is larger than
# journal_size_limit. With locking_mode=EXCLUSIVE DELETE does as PERSIST, and the journal stays open. A
# database with auto_vacuum that has become smaller is truncated after that; it grows by a truncation before
# its sync.
_ENDED = {
    "delete": {"off": "cx", "normal": "cx", "full": "cx"},
    "truncate": {"off": "tc", "normal": "tc", "full": "tJc"},
    "persist": {"off": "jt?c", "normal": "jJt?c", "full": "jJt?c"},
}
# wal.c: the log's header is synced before the first frame (sqlite3WalFrames). A restarted log is truncated to
# journal_size_limit (walLimitSize). A checkpoint may follow (walCheckpoint).
_COPIED, _COPIED_UNSYNCED = "Wd+sD", "d+s"
_LOGGED = {
    "off": f"w+u?({_COPIED_UNSYNCED})?",
    "normal": f"(wW)?w+u?({_COPIED})?",
    "full": f"(wW)?w+Wu?({_COPIED})?",
}
# frames that no checkpoint wrote to the database; without readers, a passive checkpoint writes all
UNFINISHED = re.compile("w[^d]*$")


def logs_calls(config: Mapping[str, Any]) -> bool:
    """Return whether the calls are logged; those of two writers are not. Older runs had one."""
    return bool(config["effective"].get("writers", "1") == "1")


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make (CALLS); none without changes.

    tests/driver/test_order.py checks it with the oldest and the newest tested release.
    """
    mode, level = settings["journal_mode"], settings["synchronous"]
    level = "full" if level == "extra" else level
    if mode == "wal":
        return re.compile(f"({_LOGGED[level]})?")
    moved = "s?" if settings.get("auto_vacuum", "none") != "none" else ""
    if mode not in _ENDED:  # no journal on disk
        return re.compile(f"(d+{moved}{'' if level == 'off' else 'D'}{moved})?")
    saved = _SAVED[level].replace("D", f"{moved}D") if level != "off" else f"{_SAVED[level]}{moved}"
    if settings.get("locking_mode") == "exclusive":
        ended = _ENDED["persist" if mode == "delete" else mode][level].removesuffix("c")
        return re.compile(f"(o?{saved}{ended}{moved})?")
    # an old journal is opened to see whether it must be rolled back
    opened = "(oc)?" if mode == "persist" else ""
    ended = _ENDED[mode][level]
    # it is closed when the lock is released
    ended = f"{ended}{moved}" if mode == "delete" else f"{ended.removesuffix('c')}{moved}c"
    return re.compile(f"{opened}(o{saved}{ended})?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return the calls that `PRAGMA wal_checkpoint` may make; it does nothing in other journal modes."""
    if settings.get("journal_mode") != "wal":
        return None
    copied = _COPIED_UNSYNCED if settings.get("synchronous") == "off" else _COPIED
    return re.compile(f"({copied})?")


def requested(cell: Cell) -> dict[str, Any]:
    """Return the pragmas that a cell has."""
    return {name: cell.value(name) for name in _SETTINGS if cell.has(name)}


def release(cell: Cell) -> str | None:
    """Return the release that a cell requests, without the content of a user's own; None: any."""
    return cell.sqlite.partition("+")[0] if cell.has("sqlite") else None


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each line does: one statement in autocommit, or those between BEGIN and COMMIT.

    Raises ValueError with the first line that is neither.
    """
    for number, line in enumerate(rendered, 1):
        if (transaction := sql.transaction(line)) is None:
            raise ValueError(f"line {number}")
        yield transaction


transactions_of_file = sqlfile.rendered_transactions


def rendered(operations: tuple[Operation, ...], texts: Mapping[str, str]) -> bytes:
    """Return a transaction's SQL, with its newline (workloads/engines/sqlite/render.c)."""
    statements = [
        texts[kind]
        .encode()
        .replace(b"%k", b"%d" % key)
        .replace(b"%n", b"%d" % rows)
        .replace(b"%v", b"'%s'" % value)
        for kind, key, value, rows in operations
    ]
    batch = [b"BEGIN;", *statements, b"COMMIT;"] if len(statements) > 1 else statements
    return b"".join(batch) + b"\n"


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    journal_mode = settings["journal_mode"]
    process = CORRUPT if journal_mode in ("memory", "off") else ALL
    # its journal ends by a synced write (_ENDED)
    if journal_mode == "delete" and settings.get("locking_mode") == "exclusive":
        journal_mode = "persist"
    return process, _SYNCED[journal_mode][settings["synchronous"]]
