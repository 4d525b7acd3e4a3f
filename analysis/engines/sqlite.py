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
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import polars as pl

from analysis.engines import Transaction
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


# what is written in each journal_mode, beside the database
_LOGS = {"wal": {"wal"}, "memory": set[str](), "off": set[str]()}
# (in WAL mode, synchronous) → syncs of the log by which a transaction is committed
_SYNCS = {
    **{(True, "off"): 0, (True, "normal"): 0, (True, "full"): 1, (True, "extra"): 1},
    **{(False, "off"): 0, (False, "normal"): 1, (False, "full"): 2, (False, "extra"): 2},
}


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what the calls are not of these pragmas: page_size, journal_mode, synchronous.

    pager.c: pager_write_pagelist (a page a write), pager_end_transaction (how a journal ends), syncJournal
    (FULL syncs the journal twice before the database is written, NORMAL once); wal.c: walFrames (FULL
    syncs the WAL behind the frames of a commit), walCheckpoint (syncs it before it writes the database).
    """
    mode, level, size = (settings[name] for name in ("journal_mode", "synchronous", "page_size"))
    table = calls.with_columns(pl.col("op", "file").cast(pl.String))
    writes = table.filter(pl.col("op") == "write")
    pages = writes.filter((pl.col("file") == "database") & (pl.col("bytes") != size))
    used = {*writes["file"]} & {"journal", "wal"}
    found = (
        [f"page_size is {size}, and {pages.height} writes to the database were of another"]
        if pages.height
        else []
    )
    found += [
        f"journal_mode is {mode}, and a {name} was written" for name in used - _LOGS.get(mode, {"journal"})
    ]
    ends = {*table.filter(pl.col("file") == "journal")["op"]} & {"delete", "truncate"}
    if mode in ("delete", "truncate") and ends - {mode}:
        found.append(f"journal_mode is {mode}, and a journal ended otherwise")
    if level == "off" and (table["op"] == "sync").any():
        found.append("synchronous is off, and a file was synced")
    if (mode == "wal", level) in _SYNCS and mode not in ("memory", "off"):
        each = _synced(table, mode == "wal", _SYNCS[mode == "wal", level])
        wrong = each.filter(pl.col("had") != pl.col("due")).sort("transaction")
        for number, had, due in wrong.select("transaction", "had", "due").head(1).rows():
            what = f"transaction {number} synced its log {had} times, not {due}"
            found.append(f"synchronous is {level}, and {what} ({wrong.height} such)")
    return found


def _synced(calls: pl.DataFrame, wal: bool, syncs: int) -> pl.DataFrame:
    """Return transaction, and how often it synced its log and should have: the WAL behind its frames, once
    more if it made a checkpoint; a journal before the first write to the database."""
    rows = calls.with_row_index().drop_nulls("transaction")
    to_database, index = pl.col("file") == "database", pl.col("index")
    log = "wal" if wal else "journal"
    written, synced = pl.col("op") == "write", (pl.col("op") == "sync") & (pl.col("file") == log)
    edge = (
        index.filter(written & (pl.col("file") == log)).max()
        if wal
        else index.filter(written & to_database).min()
    )
    counted = (synced & (index > edge)) if wal else (synced & (index < edge))
    checkpoints = (written & to_database).any().cast(pl.Int64) if wal else pl.lit(0)
    each = rows.group_by("transaction").agg(edge=edge, had=counted.sum(), due=syncs + checkpoints)
    return each.drop_nulls("edge")


_OPERATIONS = {
    b"INSERT": "insert",
    b"UPDATE": "update",
    b"DELETE": "delete",
    b"SELECT": "read",
    b"CREATE": "create",
    b"DROP": "drop",
}
# Bytes of a statement that its first word and a blank are in.
_LONGEST = 1 + max(map(len, _OPERATIONS))


def requested(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pragmas that a cell asks for, as far as it does."""
    return {name: cell[name] for name in _SETTINGS if name in cell}


def release(cell: Mapping[str, Any]) -> str | None:
    """Return the release that a cell asks for; None: any."""
    return str(cell["sqlite"]) if "sqlite" in cell else None


def transactions(rendered: BinaryIO) -> Iterator[Transaction]:
    """Yield what each line does: one statement in autocommit, or those between BEGIN and COMMIT.

    Raises ValueError with the line that is neither. No value has a semicolon: they are of letters, digits
    and blanks.
    """
    for number, line in enumerate(rendered, 1):
        *statements, end = line.split(b";")
        words = [statement[:_LONGEST].partition(b" ")[0] for statement in statements]
        batch = len(words) > 2 and (words[0], words[-1]) == (b"BEGIN", b"COMMIT")
        inner = words[1:-1] if batch else words
        if end != b"\n" or (len(inner) != 1 and not batch) or not _OPERATIONS.keys() >= set(inner):
            raise ValueError(f"line {number}")
        yield Transaction(tuple(_OPERATIONS[word] for word in inner), batch)


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    journal_mode = settings["journal_mode"]
    process = CORRUPT if journal_mode in ("memory", "off") else ALL
    return process, _SYNCED[journal_mode][settings["synchronous"]]
