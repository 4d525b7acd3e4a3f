"""Check SQLite/SSL's and /PPL's counters against each other and logged file calls; sum the bytes they imply.

workloads/engines/ssl/ counts each request where it makes it (`properties` in config.json). A checkpoint syncs
the file that it writes its pages to once, and the database once. Each page is written to both. A transaction
that writes is logged, or its commit is a checkpoint. The logged calls have the same numbers, except for calls
of the opening, which come before logging begins, and of the close, which come after the counters are read.

Held in 222 runs of the two engines, with baseline runs and crash trials; 26 runs had calls.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

# beginning of the names of counters of checkpoints, before the reason
CHECKPOINTS = "checkpoints: "
# recovery states of a closed database, which each run opens
_CLOSED = ("clean", "log not begun or closed")
_NUMBERS = (
    *("transactions", "logged transactions", "log bytes", "log syncs", "WAL pages", "WAL syncs"),
    *("database pages", "database syncs", "dirty pages of checkpoints", "most dirty pages of one"),
    *("time of checkpoints, ns", "longest checkpoint, ns", "transactions executed again"),
)
# counters: those of several databases are added, or the largest is reported
COUNTED = re.compile(f"{CHECKPOINTS}.*|{'|'.join(_NUMBERS)}|memory peak|PCM (lines|bytes|ns)")
# reasons of checkpoints of one transaction's pages
_MERGES = ("sector full", "larger than a sector")
_FRAME_HEADER = 24  # bytes, before the page of a frame
WAL_HEADER = 32


def number(properties: Mapping[str, Any], name: str) -> int:
    """Return a counter. Raises ValueError if it is not a number."""
    text = properties.get(name)
    if not isinstance(text, str) or not (text.isascii() and text.isdigit()):
        raise ValueError(f"{name} is {text!r}, not a number")
    return int(text)


class Counts(dict[str, int]):
    """The counters as numbers, by name. Raises ValueError for one that is not a number."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        reasons = [name for name in properties if name.startswith(CHECKPOINTS)]
        super().__init__({name: number(properties, name) for name in (*_NUMBERS, *reasons)})
        self.recovery = properties.get("recovery")
        self.reasons = {name.removeprefix(CHECKPOINTS): self[name] for name in reasons}
        self.checkpoints = sum(self.reasons.values())

    def commits(self, others: Collection[str]) -> int:
        """Return the number of checkpoints that were commits; `others`: reasons of those that were not."""
        return sum(count for reason, count in self.reasons.items() if reason not in others)


def contradictions(
    counts: Counts, settings: Mapping[str, Any], others: Collection[str], ran: int
) -> list[str]:
    """Return how the counters contradict each other.

    others: reasons of checkpoints that are not commits. ran: number of transactions.
    """
    made, commits = counts.checkpoints, counts.commits(others)
    reasons = list[str]()

    def same(name: str, source: str, number: int) -> None:
        if counts[name] != number:
            reasons.append(f"{name}: {counts[name]}, but {source} {number}")

    def within(name: str, least: int, most: int) -> None:
        if not least <= counts[name] <= most:
            reasons.append(f"{name}: {counts[name]}, not {least} to {most} as the other counters require")

    same(
        "transactions",
        "logged ones and commits by a checkpoint are",
        counts["logged transactions"] + commits,
    )
    within("transactions", 0, ran)
    if settings.get("checkpoint_write", "wal") == "wal":
        same("WAL syncs", "checkpoints are", made)
        same("database pages", "WAL pages are", counts["WAL pages"])
    else:
        within("database pages", counts["WAL pages"], counts["dirty pages of checkpoints"] + made)
    same("database syncs", "checkpoints are", made)
    # page 1 has the mark and is written even if clean. The pages that a checkpoint commits are not dirty yet,
    # unless it has only these.
    own = counts.commits((*others, *_MERGES))
    least = 0 if own else max(counts["database pages"] - made, 0)
    within("dirty pages of checkpoints", least, counts["database pages"])
    least = -(-counts["dirty pages of checkpoints"] // made) if made else 0
    within("most dirty pages of one", least, counts["dirty pages of checkpoints"])
    least = -(-counts["time of checkpoints, ns"] // made) if made else 0
    within("longest checkpoint, ns", least, counts["time of checkpoints, ns"])
    # the opening syncs the log that it makes
    each = counts["logged transactions"] if settings.get("synchronous", "full") == "full" else 0
    syncs = 0 if settings["log_medium"] == "pcm" else each + made + 1
    same("log syncs", f"the logged transactions require with {settings['log_medium']}", syncs)
    if counts.recovery not in _CLOSED or counts["transactions executed again"]:
        reasons.append(
            f"its opening found '{counts.recovery}' and executed {counts['transactions executed again']} "
            "transactions again, but the database had been closed"
        )
    return reasons


def contradicted_calls(
    counts: Counts, settings: Mapping[str, Any], calls: pl.DataFrame, log: str, pages: str
) -> list[str]:
    """Return how the counters contradict the calls.

    log, pages: roles of the log and of the file that checkpoints write pages to.
    """
    is_write = pl.col("op").is_in(["write", "copy"])
    is_sync = pl.col("op").is_in(["sync", "msync"])

    def number_of(file: str, kind: pl.Expr) -> int:
        return calls.filter((pl.col("file") == file) & kind).height

    opening, close = int(settings["log_medium"] != "pcm"), 1
    made = {
        "log syncs": number_of(log, is_sync) + opening,
        "WAL pages": number_of(pages, is_write & (pl.col("bytes") > WAL_HEADER)),
        "WAL syncs": number_of(pages, is_sync) - close,
        "database pages": number_of("database", is_write) - close,
        "database syncs": number_of("database", is_sync) - close,
    }
    return differences({name: (counts[name], number) for name, number in made.items()})


def differences(numbers: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return a reason for each counter that differs. numbers: name → (counter, number by the calls)."""
    return [
        f"{name}: {counter}, but its calls make {number}"
        for name, (counter, number) in numbers.items()
        if counter != number
    ]


def least_written(counts: Counts, settings: Mapping[str, Any]) -> int:
    """Return the least number of bytes that reached the device: those synced before they were overwritten."""
    page = int(settings["page_size"])
    durable = settings["log_medium"] != "pcm" and settings.get("synchronous", "full") == "full"
    return (
        counts["database pages"] * page
        + counts["WAL pages"] * (_FRAME_HEADER + page)
        + (counts["log bytes"] if durable else 0)
    )
