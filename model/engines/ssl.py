"""SQLite/SSL, which logs statements: files, settings, call order, survival; checks of calls and counters.

It renders SQLite's SQL. A commit is durable when its record is, or the WAL of the checkpoint made instead of
the record. All durable commits survive a crash of the process or the system. With synchronous NORMAL the log
is synced by checkpoints only. Then all commits survive a crash of the process. A power cut
leaves the first records after the last checkpoint, up to an incomplete one. With pcm the log is in persistent
memory: the driver maps it with MAP_SYNC, or the run is refused.

Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Collection, Mapping, Set
from typing import Any

import polars as pl

from model.cell import Cell
from model.engines import _log_counters, sqlite
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
# first bytes of its files (workloads/engines/ssl/log.c)
HEADS = {"statements": (b"statement log\0",)}
LOGS_CALLS = True
RECOVERIES: dict[str, bool | None] = {
    **dict.fromkeys(("clean", "log not begun or closed"), False),
    **{f"log reset; WAL {state}": False for state in ("reset", "live", "torn")},
    **{f"log used; WAL {state}": True for state in ("reset", "live", "torn")},
    **dict.fromkeys(("WAL ahead of the log", "WAL ahead of the log; copied"), False),
}
COUNTED = _log_counters.COUNTED
# without mmap_size: the log's files have no xFetch, and the pragma returns nothing
UNASKED = {"locking_mode": "exclusive", "temp_store": "0"}


def call_letters(log: str, pages: str) -> dict[str, str]:
    """Return the letters of a transaction's calls.

    k: a page kept by SQLite. l: a record or header of `log`. w, d: a page of `pages` or the database written
    by a checkpoint. u, s: a truncation of these files. A sync is the file's letter in upper case.
    """
    return {
        **{"wal.keep": "k", f"{pages}.write": "w", f"{pages}.sync": "W", f"{pages}.truncate": "u"},
        **{f"{log}.write": "l", f"{log}.copy": "l", f"{log}.sync": "L", f"{log}.msync": "L"},
        # checks/persistent.py checks the place of these calls
        f"{log}.clean": "",
        **{"database.write": "d", "database.sync": "D", "database.truncate": "s"},
    }


CALLS = call_letters("statements", "wal")
UNORDERED = sqlite.UNORDERED
# pages that no checkpoint wrote to the database
UNFINISHED = re.compile("k[^d]*$")

_LOG = "-sla"
_SYNCHRONOUS = "synchronous"
# log_medium → synchronous → what survives a crash of the system
_OUTLIVES_SYSTEM = {
    "fdatasync": {"full": ALL, "normal": RECENT},
    "msync": {"full": ALL, "normal": RECENT},
    "pcm": {"full": ALL},
}
# reasons of checkpoints that are not commits
_NOT_COMMITS = ("log full", "dirty pages", "requested", "after recovery")
_HEADER = 64  # bytes of a header of the log; each checkpoint and the opening write one (log.c)
RECORDS = 1024  # where the log's records begin (workloads/engines/ssl/state.h)


def role(name: str, databases: Collection[str]) -> str | None:
    """Return the role of a file by its name; except for the log, roles are SQLite's."""
    return "statements" if name.endswith(_LOG) else sqlite.role(name, databases)


def _synchronous(settings: Mapping[str, Any]) -> str:
    """Return when the log is synced. SQLite/PPL has no such setting and syncs it at each commit."""
    return str(settings.get(_SYNCHRONOUS, "full"))


def call_patterns(settings: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the calls of a log record, a log header, a checkpoint that is a commit, and another checkpoint.

    A checkpoint calls the WAL, the log's header, the database and the WAL's header. With atomic writes it
    calls the database and the log's header (workloads/engines/ssl/checkpoint.c).
    """
    reset = {"fdatasync": "lL", "msync": "lL", "pcm": "l"}[settings["log_medium"]]
    logged = {"full": reset, "normal": "l"}[_synchronous(settings)]
    commits = f"w+W{reset}d+s?Dw"
    others = {"wal": commits, "atomic": f"({commits}|W?d+{reset})"}[settings.get("checkpoint_write", "wal")]
    return logged, reset, commits, others


def order(settings: Mapping[str, Any]) -> re.Pattern[str]:
    """Return the calls that one transaction may make (CALLS).

    Its pages are kept. Then a record is logged, which a checkpoint may follow, or a checkpoint is made. A
    transaction without changes makes no calls.
    """
    logged, _, commits, others = call_patterns(settings)
    return re.compile(f"(k+({logged}({others})?|{commits}))?")


def maintenance(settings: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return the calls that an explicit checkpoint may make; without dirty pages it may reset the log."""
    _, reset, _, others = call_patterns(settings)
    return re.compile(f"({others}|{reset})?")


def contradicted(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return how the calls contradict page_size, log_size, log_full and dirty_pages.

    The last three determine when a logged commit makes a checkpoint.
    """
    numbers = ("log_size", "log_full", "dirty_pages")
    if wrong := not_integers(settings, "page_size", *numbers):
        return wrong
    due, copied = _due(settings, calls)
    amiss = [number for number, is_due in due.items() if is_due != (number in copied)]
    return wrong_page_size(settings, calls) + wrong_checkpoints(settings, numbers, amiss, copied)


def miscounted(config: Mapping[str, Any], ran: int, calls: pl.DataFrame | None) -> list[str]:
    """Return how its counters contradict each other or the calls; each log record is one call."""
    settings = config["effective"]
    try:
        counts = _log_counters.Counts(config["properties"])
    except ValueError as error:
        return [str(error)]
    reasons = _log_counters.contradictions(counts, settings, _NOT_COMMITS, ran)
    # a checkpoint resets a log that is filled to log_full; no record need follow the last checkpoint
    room, full = settings["log_size"] - RECORDS, counts.reasons.get("log full", 0)
    least = -(-room * settings["log_full"] // 100)
    most = full * room + (counts.checkpoints - full) * least
    if not full * least <= counts["log bytes"] <= most:
        reasons.append(
            f"log bytes: {counts['log bytes']}, but {counts.checkpoints} checkpoints, {full} of them "
            f"for a full log, make {full * least} to {most}"
        )
    dirty = counts.reasons.get("dirty pages", 0)
    if dirty and not 0 < settings["dirty_pages"] < counts["most dirty pages of one"]:
        reasons.append(
            f"checkpoints: dirty pages: {dirty}, but none had more than {settings['dirty_pages']} dirty pages"
        )
    stored = config["properties"].get("PCM bytes")
    expected = counts["log bytes"] + _HEADER * (counts.checkpoints + 1)
    if settings["log_medium"] == "pcm" and stored != str(expected):
        reasons.append(f"PCM bytes: {stored}, but log bytes and headers are {expected}")
    if calls is None:
        return reasons
    reasons += _log_counters.contradicted_calls(counts, settings, calls, "statements", "wal")
    is_record = pl.col("op").is_in(["write", "copy"]) & (pl.col("file") == "statements")
    records = calls.filter(is_record & (pl.col("offset") >= RECORDS))
    ends = (records["offset"] + records["bytes"] - RECORDS) * 100
    filled = ends >= (settings["log_size"] - RECORDS) * settings["log_full"]
    made = {"logged transactions": records.height, "log bytes": int(records["bytes"].sum())}
    reasons += _log_counters.differences({name: (counts[name], number) for name, number in made.items()})
    if full != filled.sum():
        reasons.append(f"checkpoints: log full: {full}, but its calls filled the log {filled.sum()} times")
    return reasons


def least_written(config: Mapping[str, Any]) -> int:
    """Return the least number of bytes that reached the device by its counters."""
    return _log_counters.least_written(_log_counters.Counts(config["properties"]), config["effective"])


def not_integers(settings: Mapping[str, Any], *names: str) -> list[str]:
    """Return the first of the settings that is not a whole number, as a reason."""
    wrong = [name for name in names if type(settings.get(name)) is not int]
    return [f"{wrong[0]} is {settings.get(wrong[0])!r}, not a whole number"] if wrong else []


def wrong_page_size(settings: Mapping[str, Any], calls: pl.DataFrame) -> list[str]:
    """Return a reason if a checkpoint within a transaction wrote pages of another size."""
    of_database = (pl.col("op") == "write") & (pl.col("file") == "database")
    within = calls.filter(of_database & pl.col("transaction").is_not_null())
    other = within.filter(pl.col("bytes") != settings["page_size"]).height
    size = settings["page_size"]
    return [f"page_size is {size}, but {other} writes to the database have another size"] if other else []


def wrong_checkpoints(
    settings: Mapping[str, Any], names: tuple[str, ...], amiss: list[int], made: Set[int]
) -> list[str]:
    """Return a reason for the transactions `amiss`, which contradict the settings of these names.

    made: transactions that made a checkpoint.
    """
    if not amiss:
        return []
    values = ", ".join(f"{name} is {settings[name]}" for name in names)
    return [
        f"{values}, but {len(amiss)} transactions contradict it: first transaction {amiss[0]}, "
        f"{'a' if amiss[0] in made else 'no'} checkpoint"
    ]


def _due(settings: Mapping[str, Any], calls: pl.DataFrame) -> tuple[dict[int, bool], set[int]]:
    """Return logged transaction → whether a checkpoint was due, and the transactions that wrote to the
    database."""
    room, most = settings["log_size"] - RECORDS, settings["dirty_pages"]
    due, copied, dirty = dict[int, bool](), set[int](), set[int]()
    kept, last, current = dict[int, int](), -1, None  # kept: offset → page, of the current transaction
    columns = ("op", "file", "offset", "bytes", "page", "transaction")
    for op, file, offset, size, page, transaction in calls.select(columns).iter_rows():
        if transaction != current:
            kept, current = {}, transaction
        if op == "keep":
            kept[offset], last = page, offset
        elif file == "statements" and op in ("write", "copy") and offset >= RECORDS:
            # frames after the last one were rolled back
            dirty |= {number for at, number in kept.items() if at <= last}
            used = (offset + size - RECORDS) * 100 >= room * settings["log_full"]
            due[transaction] = used or 0 < most < len(dirty)
        elif file == "database" and op == "write":
            dirty = set()
            copied.add(transaction)
    return due, copied


def requested(cell: Cell) -> dict[str, Any]:
    """Return the settings that a cell has; `synchronous` only if it is not the default."""
    settings = {name: cell.value(name) for name in _SETTINGS if cell.has(name)}
    return settings | ({_SYNCHRONOUS: cell.synchronous} if cell.synchronous != "full" else {})


release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered


def survives(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system."""
    return ALL, _OUTLIVES_SYSTEM[settings["log_medium"]][_synchronous(settings)]
