"""What an engine with a log of its own counts (config.json, properties), held against itself and its calls.

workloads/engines/ssl/ counts what it asks for where it asks for it. So each checkpoint is one sync of the
file that it writes its pages to, and one of the database; each page is written to both; a transaction that
writes is logged, or its commit is a checkpoint; and the calls of its files are as many, but for those of the
opening, which are before the log of calls begins, and of the close, which are after the counts are read.

All of it held in 222 runs of the two engines, twins and boards of trials among them, 26 of them with calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

# as what an engine counts of its checkpoints begins, by reason
CHECKPOINTS = "checkpoints: "
# what a run's opening meets: its database was closed
_CLOSED = ("clean", "log not begun or closed")
_NUMBERS = (
    *("transactions", "logged transactions", "log bytes", "log syncs", "WAL pages", "WAL syncs"),
    *("database pages", "database syncs", "dirty pages of checkpoints", "most dirty pages of one"),
    *("time of checkpoints, ns", "longest checkpoint, ns", "transactions executed again"),
)
# of what is counted, what of several databases adds up, or is the largest
COUNTED = re.compile(f"{CHECKPOINTS}.*|{'|'.join(_NUMBERS)}|memory peak|PCM (lines|bytes|ns)")
# a checkpoint of one transaction's pages
_MERGES = ("sector full", "larger than a sector")
_FRAME_HEADER = 24  # bytes: of a frame, which a page follows
WAL_HEADER = 32


def number(said: Mapping[str, Any], name: str) -> int:
    """Return a number that was counted. Raises ValueError where it is none."""
    text = said.get(name)
    if not isinstance(text, str) or not (text.isascii() and text.isdigit()):
        raise ValueError(f"{name} is {text!r}, no number")
    return int(text)


class Counts:
    """What was counted, as numbers.

    Raises ValueError with what is none.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        reasons = [name for name in said if name.startswith(CHECKPOINTS)]
        self.said = said
        self.of = {name: number(said, name) for name in (*_NUMBERS, *reasons)}
        self.reasons = {name.removeprefix(CHECKPOINTS): self.of[name] for name in reasons}
        self.checkpoints = sum(self.reasons.values())

    def commits(self, others: Collection[str]) -> int:
        """Return how many checkpoints were a commit. others: reasons of those that were none."""
        return sum(count for reason, count in self.reasons.items() if reason not in others)


def disagree(counts: Counts, settings: Mapping[str, Any], others: Collection[str], ran: int) -> list[str]:
    """Return in what the counts contradict each other. others: reasons of checkpoints that are no commit;
    ran: how many transactions there were."""
    of, made, commits = counts.of, counts.checkpoints, counts.commits(others)
    found = list[str]()

    def same(name: str, told: str, number: int) -> None:
        if of[name] != number:
            found.append(f"{name}: {of[name]}, and {told} {number}")

    def within(name: str, least: int, most: int) -> None:
        if not least <= of[name] <= most:
            found.append(f"{name}: {of[name]}, which is {least} to {most} by what else is counted")

    same("transactions", "logged ones and commits by a checkpoint are", of["logged transactions"] + commits)
    within("transactions", 0, ran)
    if settings.get("checkpoint_write", "wal") == "wal":
        same("WAL syncs", "checkpoints are", made)
        same("database pages", "WAL pages are", of["WAL pages"])
    else:
        within("database pages", of["WAL pages"], of["dirty pages of checkpoints"] + made)
    same("database syncs", "checkpoints are", made)
    # page 1, which has the mark, is written whether it is dirty or not; and the pages of a transaction whose
    # commit the checkpoint is are not dirty yet, unless they are all of it
    own = counts.commits((*others, *_MERGES))
    least = 0 if own else max(of["database pages"] - made, 0)
    within("dirty pages of checkpoints", least, of["database pages"])
    least = -(-of["dirty pages of checkpoints"] // made) if made else 0
    within("most dirty pages of one", least, of["dirty pages of checkpoints"])
    least = -(-of["time of checkpoints, ns"] // made) if made else 0
    within("longest checkpoint, ns", least, of["time of checkpoints, ns"])
    # the first is of the log that the opening makes
    each = of["logged transactions"] if settings.get("synchronous", "full") == "full" else 0
    syncs = 0 if settings["log_medium"] == "pcm" else each + made + 1
    same("log syncs", f"{settings['log_medium']} makes of what was logged", syncs)
    if (met := counts.said.get("recovery")) not in _CLOSED or of["transactions executed again"]:
        found.append(
            f"its opening met '{met}' and executed {of['transactions executed again']} transactions again, "
            "and the database had been closed"
        )
    return found


def called(
    counts: Counts, settings: Mapping[str, Any], calls: pl.DataFrame, log: str, pages: str
) -> list[str]:
    """Return which counts are not of the calls: of the file `log`, of that which checkpoints write pages to,
    and of the database."""
    is_write = pl.col("op").is_in(["write", "copy"])
    is_sync = pl.col("op").is_in(["sync", "msync"])

    def of(file: str, what: pl.Expr) -> int:
        return calls.filter((pl.col("file") == file) & what).height

    # of the opening, and of the close
    before, behind = int(settings["log_medium"] != "pcm"), 1
    made = {
        "log syncs": of(log, is_sync) + before,
        "WAL pages": of(pages, is_write & (pl.col("bytes") > WAL_HEADER)),
        "WAL syncs": of(pages, is_sync) - behind,
        "database pages": of("database", is_write) - behind,
        "database syncs": of("database", is_sync) - behind,
    }
    return [
        f"{name}: {counts.of[name]}, and its calls make {count}"
        for name, count in made.items()
        if counts.of[name] != count
    ]


def least_written(counts: Counts, settings: Mapping[str, Any]) -> int:
    """Return how many bytes reached the device at least: what was synced before it was written again."""
    page = int(settings["page_size"])
    durable = settings["log_medium"] != "pcm" and settings.get("synchronous", "full") == "full"
    return (
        counts.of["database pages"] * page
        + counts.of["WAL pages"] * (_FRAME_HEADER + page)
        + (counts.of["log bytes"] if durable else 0)
    )
