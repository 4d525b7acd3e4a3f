"""SQLite/PPL, which logs changed parts of pages: files, settings, call order; checks of calls and counters.

It logs page records instead of statements, and is otherwise as SQLite/SSL. A commit is durable when its
records are, or the pages of the merge or checkpoint made instead of them. docs/reference/ppl.md explains the
words. Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from model.cell import Cell
from model.engines import _log_counters, sqlite, ssl

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
# first bytes of its files (workloads/engines/ppl/page_log.c)
HEADS = {"pages": (b"page log\0",)}
LOGS_CALLS = True
# merged pages that are ahead of the log are not all pages with records
RECOVERIES: dict[str, bool | None] = {
    **dict.fromkeys(("clean", "log not begun or closed"), False),
    **{
        f"log {used}; {state}": used == "used"
        for used in ("reset", "used")
        for state in ("no merged pages", "merged pages live", "merged pages torn")
    },
    **dict.fromkeys(("merged pages ahead of the log", "merged pages ahead; copied"), None),
}
COUNTED = re.compile(f"{ssl.COUNTED.pattern}|page records|merged pages")
UNASKED = ssl.UNASKED
# Letters (ssl.call_letters): k: a page kept. l, L: a record or header of the log, and its sync. w, W, u: a
# write, sync and truncation of `merge`. d, D, s: those of the database.
CALLS = ssl.call_letters("pages", "merge")
UNORDERED = ssl.UNORDERED
# Pages that no checkpoint wrote to the database, or records that no checkpoint followed (k: a page kept, l: a
# record, d: a page of the database, W: a sync of `merge`, L: of the log). A merge in which no page has a
# sector makes the same calls as a checkpoint.
UNFINISHED = re.compile("k([^d]*$|l(?!.*WlL?d))")

_SUFFIXES = {"-ppl": "pages", "-merge": "merge"}
# reasons of checkpoints that are not commits
_NOT_COMMITS = ("dirty pages", "requested", "after recovery")
_WORD, _HEADER = 24, 16  # bytes of a commit word, and of a sector's header (workloads/engines/ppl/pages.h)
_FIRST = 32  # offset of a WAL's first frame


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; except for the log and merged pages, roles are SQLite's."""
    kind = next((kind for end, kind in _SUFFIXES.items() if name.endswith(end)), None)
    return kind or sqlite.role(name, databases)


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make (CALLS).

    Its pages are kept. Then its records and their commit word are logged, or its pages are merged, which
    empties their sectors. A checkpoint may follow either, or be made instead, with the calls of a merge. A
    transaction without changes makes no calls.
    """
    logged, _, checkpoint, _ = ssl.call_patterns(settings)
    many = logged.replace("l", "l+")
    return re.compile(f"(k+({many}|{checkpoint.replace(logged, many)})({checkpoint})?)?")


maintenance = ssl.maintenance


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return how the calls contradict page_size, sector_size, log_size and dirty_pages.

    sector_size and log_size determine where records lie, dirty_pages when a commit makes a checkpoint.
    """
    if wrong := ssl.not_integers(settings, "page_size", "log_size", "sector_size", "dirty_pages"):
        return wrong
    amiss, made = _due(settings["dirty_pages"], calls)
    return [
        *ssl.wrong_page_size(settings, calls),
        *_misplaced(settings, calls),
        *ssl.wrong_checkpoints(settings, ("dirty_pages",), amiss, made),
    ]


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Return how its counters contradict each other or the calls; each log record is one call."""
    settings, properties = config["effective"], config["properties"]
    try:
        counts = _log_counters.Counts(properties)
        records, merged = (
            _log_counters.number(properties, name) for name in ("page records", "merged pages")
        )
    except ValueError as error:
        return [str(error)]
    reasons = _log_counters.contradictions(counts, settings, _NOT_COMMITS, ran)
    logged = counts["logged transactions"]
    if not logged <= records or (records > 0) != (logged > 0):
        reasons.append(f"page records: {records}, but {logged} transactions were logged")
    if merged > counts["WAL pages"]:
        reasons.append(f"merged pages: {merged}, but WAL pages are {counts['WAL pages']}")
    if calls is None:
        return reasons
    reasons += _log_counters.contradicted_calls(counts, settings, calls, "pages", "merge")
    is_write = pl.col("op").is_in(["write", "copy"]) & (pl.col("file") == "pages")
    written = calls.filter(is_write)
    # zeroing a sector's header is not a record
    record = (pl.col("offset") >= ssl.RECORDS) & (pl.col("bytes") != _HEADER)
    word = (pl.col("offset") < ssl.RECORDS) & (pl.col("bytes") == _WORD)
    return reasons + _log_counters.differences(
        {
            "page records": (records, written.filter(record).height),
            "logged transactions": (logged, written.filter(word).height),
            "log bytes": (counts["log bytes"], int(written.filter(record | word)["bytes"].sum())),
        }
    )


least_written = ssl.least_written


def _misplaced(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return a reason if writes to the log lie outside the sectors in use.

    A page's first record begins a sector, its other records follow there, and zeroing the header ends it.
    """
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
    values = f"sector_size is {size} and log_size {settings['log_size']}"
    return [f"{values}, but {len(amiss)} writes to the log are outside its sectors: first call {amiss[0]}"]


def _due(most: int, calls: pl.DataFrame) -> tuple[list[int], set[int]]:
    """Return the transactions where making a checkpoint contradicts dirty_pages, and those that made one.

    A merge and a checkpoint make the same calls; each syncs `merge` once. So a checkpoint that follows a
    commit shows as one sync more than a record (none) or a merge (one) has. One in place of a commit writes
    page 1 and all pages that the database lacks. A merge may, too, and is a checkpoint if that was due.
    """
    in_memory, stored = set[int](), set[int]()  # pages of the WAL, and those that a merge or checkpoint wrote
    amiss, made = list[int](), set[int]()
    is_in = pl.col("transaction").is_not_null()
    for (number,), rows in calls.filter(is_in).group_by("transaction", maintain_order=True):
        kept, written, syncs, first = dict[int, int](), set[int](), 0, None  # kept: offset → page
        for op, file, offset, page in rows.select("op", "file", "offset", "page").iter_rows():
            if op == "keep":
                kept[offset], last = page, offset
                continue
            first = first or file
            syncs += (op, file) == ("sync", "merge")
            written |= {page} if (op, file) == ("write", "merge") and page is not None else set()
        if not kept:
            continue
        # SQLite restarts its WAL after a checkpoint of all its pages
        if _FIRST in kept:
            in_memory, stored = set(), set()
        # frames after the last one were rolled back
        changed = {page for offset, page in kept.items() if offset <= last}
        in_memory, stored = in_memory | changed, stored - changed
        is_due = 0 < most < len(in_memory)
        follows = syncs > (0 if first == "pages" else 1)
        # pages after the last one written were truncated
        has_all = 1 in written and {page for page in in_memory - stored if page <= max(written)} <= written
        is_checkpoint = follows or (syncs > 0 and has_all and is_due)
        stored |= written
        made |= {number} if is_checkpoint else set()
        amiss += [number] if is_due != is_checkpoint else []
    return amiss, made


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell has."""
    return {name: cell.value(name) for name in _SETTINGS if cell.has(name)}


release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered
survives = ssl.survives
