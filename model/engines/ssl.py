"""SQLite/SSL: its files, its settings, and what survives (docs/reference/ssl.md).

What is rendered is SQLite's SQL. A commit is durable when its record is, or the WAL of the checkpoint that is
made in its place: all of them survive whatever ends the process or the system. With synchronous NORMAL the
log is synced at a checkpoint alone: what a kernel was given outlives the process, and of the records behind
the last checkpoint a power cut leaves the first, up to one that is not whole. With pcm the log is in
persistent memory, or there is no run: the driver maps it with MAP_SYNC, or fails.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Set
from typing import Any

import polars as pl

from model.cell import Cell
from model.engines import _counts, sqlite
from model.engines.survival import ALL, RECENT

TITLE = "SQLite/SSL"
_SETTINGS = (
    *("page_size", "cache_size", "log_size", "log_full", "dirty_pages"),
    *("log_medium", "pcm_line", "pcm_write_ns", "not_repeatable", "checkpoint_write"),
    "recovery_rule",
)
FILES = {
    "database": sqlite.FILES["database"],
    "wal": sqlite.FILES["wal"],
    "statements": ("statement log", "#7A4B1F"),
    "temporary": sqlite.FILES["temporary"],
}
# what a file of it begins with (workloads/engines/ssl/log.c)
HEADS = {"statements": (b"statement log\0",)}
PROPERTIES = "properties"
LOGS_CALLS = True
RECOVERIES: dict[str, bool | None] = {
    **dict.fromkeys(("clean", "log not begun or closed"), False),
    **{f"log reset; WAL {state}": False for state in ("reset", "live", "torn")},
    **{f"log used; WAL {state}": True for state in ("reset", "live", "torn")},
    **dict.fromkeys(("WAL ahead of the log", "WAL ahead of the log; copied"), False),
}
OF_ANY_SQLITE = False
COUNTED = _counts.COUNTED
JOBS: dict[str, str] = {}
ADDS_MISSING = False
UNASKED = {"locking_mode": "exclusive", "mmap_size": "0", "temp_store": "0"}


def calls_of(log: str, pages: str) -> dict[str, str]:
    """Return the letters of a transaction's calls: pages of SQLite's that are kept, records and headers of
    the log, and what a checkpoint calls, which writes its pages to the file `pages`. A sync is the file's
    letter in upper case."""
    return {
        **{"wal.keep": "k", f"{pages}.write": "w", f"{pages}.sync": "W", f"{pages}.truncate": "u"},
        **{f"{log}.write": "l", f"{log}.copy": "l", f"{log}.sync": "L", f"{log}.msync": "L"},
        # whether they come where they must checks/persistent.py says
        f"{log}.clean": "",
        **{"database.write": "d", "database.sync": "D", "database.truncate": "s"},
    }


CALLS = calls_of("statements", "wal")
UNORDERED = sqlite.UNORDERED
# pages that no checkpoint wrote home
UNFINISHED = re.compile("k[^d]*$")

_LOG = "-sla"
_SYNCHRONOUS = "synchronous"
# log_medium → synchronous → what survives a crash of the system
_OUTLIVES_SYSTEM = {
    "fdatasync": {"full": ALL, "normal": RECENT},
    "msync": {"full": ALL, "normal": RECENT},
    "pcm": {"full": ALL},
}
# reasons of checkpoints that are no commit
_NO_COMMIT = ("log full", "dirty pages", "requested", "after recovery")
_HEADER = 64  # bytes of a header of the log, as each checkpoint and the opening write one (log.c)
RECORDS = 1024  # where the log's records begin (workloads/engines/ssl/state.h)


def role(name: str, databases: Collection[str]) -> str | None:
    """Return which of its files a name is; but for the log they are SQLite's."""
    return "statements" if name.endswith(_LOG) else sqlite.role(name, databases)


def _synchronous(settings: Mapping[str, Any]) -> str:
    """Return when the log is synced; SQLite/PPL has no such setting, and syncs it at each commit."""
    return str(settings.get(_SYNCHRONOUS, "full"))


def written(settings: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the calls that write a record to the log, and its header, and those of a checkpoint that is a
    commit, and of another (workloads/engines/ssl/checkpoint.c).

    These are the WAL's file, the log's header, the database and the WAL's header; of atomic writes, which no
    call begins or commits, the database and the log's header.
    """
    reset = {"fdatasync": "lL", "msync": "lL", "pcm": "l"}[settings["log_medium"]]
    logged = {"full": reset, "normal": "l"}[_synchronous(settings)]
    commits = f"w+W{reset}d+s?Dw"
    others = {"wal": commits, "atomic": f"({commits}|W?d+{reset})"}[settings.get("checkpoint_write", "wal")]
    return logged, reset, commits, others


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return what one transaction may call (CALLS): its pages are kept, and then it is a record, behind which
    a checkpoint may come, or a checkpoint. One that changes nothing calls nothing."""
    logged, _, commits, others = written(settings)
    return re.compile(f"(k+({logged}({others})?|{commits}))?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return what an explicit checkpoint may call; with nothing to write home the log is begun anew, where it
    has records."""
    _, reset, _, others = written(settings)
    return re.compile(f"({others}|{reset})?")


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return in what the calls are not of this page_size, or not of log_size, log_full and dirty_pages, which
    say when a commit that was logged makes a checkpoint."""
    numbers = ("log_size", "log_full", "dirty_pages")
    if wrong := no_number(settings, "page_size", *numbers):
        return wrong
    due, copied = _due(settings, calls)
    amiss = [number for number, is_due in due.items() if is_due != (number in copied)]
    return of_another_size(settings, calls) + told(settings, numbers, amiss, copied)


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Return in what its counts contradict each other or the calls, of which each record is one."""
    settings = config["effective"]
    try:
        counts = _counts.Counts(config[PROPERTIES])
    except ValueError as error:
        return [str(error)]
    found = _counts.disagree(counts, settings, _NO_COMMIT, ran)
    # a log that is full to log_full is reset, and nothing else is logged behind the last checkpoint
    room, full = settings["log_size"] - RECORDS, counts.reasons.get("log full", 0)
    least = -(-room * settings["log_full"] // 100)
    most = full * room + (counts.checkpoints - full) * least
    if not full * least <= counts.of["log bytes"] <= most:
        found.append(
            f"log bytes: {counts.of['log bytes']}, and {counts.checkpoints} checkpoints, {full} of them of a "
            f"full log, make {full * least} to {most}"
        )
    dirty = counts.reasons.get("dirty pages", 0)
    if dirty and not 0 < settings["dirty_pages"] < counts.of["most dirty pages of one"]:
        found.append(
            f"checkpoints: dirty pages: {dirty}, and none had more than {settings['dirty_pages']} dirty pages"
        )
    headers = _HEADER * (counts.checkpoints + 1)
    if settings["log_medium"] == "pcm" and config[PROPERTIES].get("PCM bytes") != str(
        counts.of["log bytes"] + headers
    ):
        found.append(
            f"PCM bytes: {config[PROPERTIES].get('PCM bytes')}, and log bytes and headers are "
            f"{counts.of['log bytes'] + headers}"
        )
    if calls is None:
        return found
    found += _counts.called(counts, settings, calls, "statements", "wal")
    is_record = pl.col("op").is_in(["write", "copy"]) & (pl.col("file") == "statements")
    records = calls.filter(is_record & (pl.col("offset") >= RECORDS))
    ends = (records["offset"] + records["bytes"] - RECORDS) * 100
    filled = ends >= (settings["log_size"] - RECORDS) * settings["log_full"]
    made = {"logged transactions": records.height, "log bytes": records["bytes"].sum()}
    return [
        *found,
        *(
            f"{name}: {counts.of[name]}, and its calls make {n}"
            for name, n in made.items()
            if counts.of[name] != n
        ),
        *(
            [f"checkpoints: log full: {full}, and its calls filled the log {filled.sum()} times"]
            if full != filled.sum()
            else []
        ),
    ]


def least_written(config: Mapping[str, Any]) -> int:
    """Return how many bytes reached the device at least, by what it counts."""
    return _counts.least_written(_counts.Counts(config[PROPERTIES]), config["effective"])


def no_number(settings: Mapping[str, Any], *numbers: str) -> list[str]:
    """Return which of the settings is none, the first one."""
    wrong = [key for key in numbers if type(settings.get(key)) is not int]
    return [f"{wrong[0]} is {settings.get(wrong[0])!r}, no number"] if wrong else []


def of_another_size(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return whether a checkpoint within a transaction wrote pages of another page_size."""
    of_database = (pl.col("op") == "write") & (pl.col("file") == "database")
    within = calls.filter(of_database & pl.col("transaction").is_not_null())
    other = within.filter(pl.col("bytes") != settings["page_size"]).height
    size = settings["page_size"]
    return [f"page_size is {size}, and {other} writes to the database were of another"] if other else []


def told(
    settings: Mapping[str, Any], numbers: tuple[str, ...], amiss: list[int], made: Set[int]
) -> list[str]:
    """Return which transactions are not of these settings. made: those that made a checkpoint."""
    if not amiss:
        return []
    asked = ", ".join(f"{key} is {settings[key]}" for key in numbers)
    return [
        f"{asked}, and {len(amiss)} transactions are not of it: first transaction {amiss[0]}, "
        f"{'a' if amiss[0] in made else 'no'} checkpoint"
    ]


def _due(settings: Mapping[str, Any], calls: pl.DataFrame) -> tuple[dict[int, bool], set[int]]:
    """Return of each transaction that was logged whether a checkpoint was due then, and the transactions that
    wrote to the database."""
    room, most = settings["log_size"] - RECORDS, settings["dirty_pages"]
    due, copied, dirty = dict[int, bool](), set[int](), set[int]()
    kept, last, of = dict[int, int](), -1, None  # the frames of the transaction `of`: offset → page
    columns = ("op", "file", "offset", "bytes", "page", "transaction")
    for op, file, offset, size, page, transaction in calls.select(columns).iter_rows():
        if transaction != of:
            kept, of = {}, transaction
        if op == "keep":
            kept[offset], last = page, offset
        elif file == "statements" and op in ("write", "copy") and offset >= RECORDS:
            # frames behind the last one were taken back
            dirty |= {number for at, number in kept.items() if at <= last}
            used = (offset + size - RECORDS) * 100 >= room * settings["log_full"]
            due[transaction] = used or 0 < most < len(dirty)
        elif file == "database" and op == "write":
            dirty = set()
            copied.add(transaction)
    return due, copied


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell asks for, as far as it does; `synchronous` if it is not the default."""
    asked = {name: cell.value(name) for name in _SETTINGS if cell.has(name)}
    return asked | ({_SYNCHRONOUS: cell.synchronous} if cell.synchronous != "full" else {})


release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return ALL, _OUTLIVES_SYSTEM[settings["log_medium"]][_synchronous(settings)]
