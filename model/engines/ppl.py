"""SQLite/PPL: its files, its settings, and what survives (docs/reference/ppl.md).

But for what is logged, of pages in the place of statements, it is as SQLite/SSL: a commit is durable when its
records are, or the pages of the merge or checkpoint that is made in their place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from model.cell import Cell
from model.engines import _counts, sqlite, ssl

TITLE = "SQLite/PPL"
_SETTINGS = (
    *("page_size", "cache_size", "log_size", "dirty_pages"),
    *("log_medium", "pcm_line", "pcm_write_ns", "sector_size", "page_record"),
)
FILES = {
    "database": sqlite.FILES["database"],
    "wal": sqlite.FILES["wal"],
    "merge": ("merged page", "#B8860B"),
    "pages": ("page log", "#8C564B"),
    "temporary": sqlite.FILES["temporary"],
}
# what a file of it begins with (workloads/engines/ppl/page_log.c)
HEADS = {"pages": (b"page log\0",)}
PROPERTIES = ssl.PROPERTIES
LOGS_CALLS = True
# pages that are merged and ahead of the log are not all that has records
RECOVERIES: dict[str, bool | None] = {
    **dict.fromkeys(("clean", "log not begun or closed"), False),
    **{
        f"log reset; {state}": False
        for state in ("no merged pages", "merged pages live", "merged pages torn")
    },
    **{f"log used; {state}": True for state in ("no merged pages", "merged pages live", "merged pages torn")},
    **dict.fromkeys(("merged pages ahead of the log", "merged pages ahead; copied"), None),
}
OF_ANY_SQLITE = False
COUNTED = re.compile(f"{ssl.COUNTED.pattern}|page records|merged pages")
JOBS: dict[str, str] = {}
ADDS_MISSING = False
UNASKED = ssl.UNASKED
CALLS = ssl.calls_of("pages", "merge")
UNORDERED = ssl.UNORDERED
# pages that no checkpoint wrote home, or records that none followed; a merge in which no page has a sector is
# called as one
UNFINISHED = re.compile("k([^d]*$|l(?!.*WlL?d))")

_SUFFIXES = {"-ppl": "pages", "-merge": "merge"}
# reasons of checkpoints that are no commit
_NO_COMMIT = ("dirty pages", "requested", "after recovery")
_WORD = 24  # bytes of a commit word
_HEADER = 16  # of a sector (workloads/engines/ppl/pages.h)
_FIRST = 32  # where a WAL's first frame is


def role(name: str, databases: Collection[str]) -> str | None:
    """Return which of its files a name is; but for the log and what it merges they are SQLite's."""
    found = next((kind for end, kind in _SUFFIXES.items() if name.endswith(end)), None)
    return found or sqlite.role(name, databases)


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return what one transaction may call (CALLS): its pages are kept, and then its records and their
    commit word are logged, or its pages are merged, which empties their sectors; behind either a checkpoint
    may come. Or it is a checkpoint, which is called as a merge is. One that changes nothing calls nothing."""
    logged, _, checkpoint, _ = ssl.written(settings)
    many = logged.replace("l", "l+")
    return re.compile(f"(k+({many}|{checkpoint.replace(logged, many)})({checkpoint})?)?")


maintenance = ssl.maintenance


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what the calls are not of this page_size, of sector_size and log_size, which say where
    records lie, or of dirty_pages, which says when a commit makes a checkpoint."""
    if wrong := ssl.no_number(settings, "page_size", "log_size", "sector_size", "dirty_pages"):
        return wrong
    amiss, made = _due(settings["dirty_pages"], calls)
    return [
        *ssl.of_another_size(settings, calls),
        *_misplaced(settings, calls),
        *ssl.told(settings, ("dirty_pages",), amiss, made),
    ]


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Return in what its counts contradict each other or the calls, of which each record is one."""
    settings, said = config["effective"], config[PROPERTIES]
    try:
        counts = _counts.Counts(said)
        records, merged = _counts.number(said, "page records"), _counts.number(said, "merged pages")
    except ValueError as error:
        return [str(error)]
    found = _counts.disagree(counts, settings, _NO_COMMIT, ran)
    logged = counts.of["logged transactions"]
    if not logged <= records or (records > 0) != (logged > 0):
        found.append(f"page records: {records}, and {logged} transactions were logged")
    if merged > counts.of["WAL pages"]:
        found.append(f"merged pages: {merged}, and WAL pages are {counts.of['WAL pages']}")
    if calls is None:
        return found
    found += _counts.called(counts, settings, calls, "pages", "merge")
    is_write = pl.col("op").is_in(["write", "copy"]) & (pl.col("file") == "pages")
    written = calls.filter(is_write)
    # a sector's header that is zeroed is no record
    record = (pl.col("offset") >= ssl.RECORDS) & (pl.col("bytes") != _HEADER)
    word = (pl.col("offset") < ssl.RECORDS) & (pl.col("bytes") == _WORD)
    made = {
        "page records": (records, written.filter(record).height),
        "logged transactions": (logged, written.filter(word).height),
    }
    size = int(written.filter(record | word)["bytes"].sum())
    made["log bytes"] = (counts.of["log bytes"], size)
    return found + [
        f"{name}: {told}, and its calls make {n}" for name, (told, n) in made.items() if told != n
    ]


least_written = ssl.least_written


def _misplaced(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return which writes to the log lie in no sector: a page's first record begins one, its others follow
    there, and a header that is zeroed ends it."""
    size, begun, amiss = settings["sector_size"], set[int](), list[int]()
    first = -(-ssl.RECORDS // size) * size
    is_record = pl.col("op").is_in(["write", "copy"]) & (pl.col("file") == "pages")
    records = calls.filter(is_record & (pl.col("offset") >= ssl.RECORDS))
    for call, offset, count in records.select("call", "offset", "bytes").iter_rows():
        sector, at = divmod(offset - first, size)
        fits = sector >= 0 and at + count <= size and offset + count <= settings["log_size"]
        if at == 0:
            (begun.discard if count == _HEADER else begun.add)(sector)
        elif sector not in begun:
            fits = False
        amiss += [] if fits else [call]
    if not amiss:
        return []
    asked = f"sector_size is {size} and log_size {settings['log_size']}"
    return [f"{asked}, and {len(amiss)} writes to the log are in no sector: first call {amiss[0]}"]


def _due(most: int, calls: pl.DataFrame) -> tuple[list[int], set[int]]:
    """Return the transactions that made a checkpoint and should not, or the reverse; and those that made one,
    as far as it is told from a merge: behind a record or a merge, or of all pages."""
    held, merged, amiss, made = set[int](), set[int](), list[int](), set[int]()
    is_in = pl.col("transaction").is_not_null()
    for (number,), rows in calls.filter(is_in).group_by("transaction", maintain_order=True):
        kept, written, syncs, logged = dict[int, int](), set[int](), 0, None
        for op, file, offset, page in rows.select("op", "file", "offset", "page").iter_rows():
            if op == "keep":
                # SQLite begins its WAL again, once a checkpoint has all of it
                held, merged = (set(), set()) if offset == _FIRST else (held, merged)
                kept[offset], last = page, offset
            else:
                logged = file == "pages" if logged is None else logged
                syncs += (op, file) == ("sync", "merge")
                written |= {page} if (op, file) == ("write", "merge") and page is not None else set()
        if not kept:
            continue
        # frames behind the last one were taken back
        changed = {page for offset, page in kept.items() if offset <= last}
        held, merged = held | changed, merged - changed
        of_all = 1 in written and {page for page in held - merged if page <= max(written)} <= written
        merged |= written
        is_due, behind = 0 < most < len(held), syncs > (0 if logged else 1)
        if behind or (syncs and of_all and is_due):
            made.add(number)
        if is_due != (number in made):
            amiss.append(number)
    return amiss, made


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell asks for, as far as it does."""
    return {name: cell.value(name) for name in _SETTINGS if cell.has(name)}


release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered
survives = ssl.survives
