"""Describe the gaps of an external block trace in sentences."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl

from analysis.adapters.blkevents import ERROR_UNKNOWN, Events
from analysis.adapters.blkrecords import (
    ACTION,
    COMPLETE,
    DISCARD,
    FUA,
    PASSTHROUGH,
    QUEUE,
    WRITE,
    version,
)
from analysis.inspect.traced import Traced

# the version of records that a kernel of any release makes
_FIRST = 7


def lacks(events: Events, found: Traced) -> list[str]:
    """Return a sentence for each gap in the commands."""
    unfinished = found.commands["end_ns"].null_count()
    number = (
        (unfinished, "command has", "commands have", "no completion in the trace: shown without a length"),
        (
            found.orphans.height,
            "completion has",
            "completions have",
            "no issue in the trace: shown without a length",
        ),
        (found.returned, "requeue has", "requeues have", "no issue in the trace: left out"),
        (
            found.passed,
            "command is",
            "commands are",
            "SCSI or ATA passthrough (as of smartd or hdparm): left out",
        ),
    )
    said = ["the last line has no end: left out, the trace may be cut short"] if events.cut else []
    if events.lost:
        lost = f"{'at least ' if events.lost_more else ''}{counted(events.lost, 'event')}"
        said.append(f"the tracer lost {lost}: commands may be missing or unfinished")
    said += [f"{count} {one if count == 1 else many} {what}" for count, one, many, what in number if count]
    failed = found.commands.filter(pl.col("result") > 0)["result"].value_counts(sort=True)
    if failed.height:
        errors = (f"{count} with {error_name(result)}" for result, count in failed.iter_rows())
        said.append(f"{counted(int(failed['count'].sum()), 'command')} failed: {', '.join(errors)}")
    completed = events.rows[events.rows["action"] & ACTION == COMPLETE]
    if unknown := int((completed["error"] == ERROR_UNKNOWN).sum()):
        without = f"{counted(unknown, 'completion')} without an error number in the text"
        said.append(f"{without}: whether the command failed is not known")
    said += [
        f"{device} has no issue events, as is normal for md, dm, bcache and zram: "
        "its commands begin when they are queued"
        for device in found.bios
    ]
    said += [
        f"{above} is stacked on {below}: what {above} did appears again on {below}, "
        "attributed to the same process"
        for above, below in found.stacked
    ]
    if not events.actions[QUEUE]:
        said.append(
            "the trace has no queue events (Q): a command is attributed to the process that issued it"
        )
    return said


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}{'es' if what.endswith('sh') else 's'}"


def error_name(number: int) -> str:
    """Return an error of a command as the kernel calls it."""
    return errno.errorcode.get(number, f"error {number}")


def left_out(files: list[Path], prefix: str, events: Events) -> list[str]:
    """Say what a trace lacks that its records do not show: those of a CPU, and writes with FUA."""
    before = f"{Path(prefix).name}.blktrace."
    numbers = {int(file.suffix[1:]) for file in files if file.name.startswith(before)}
    found = []
    if missing := sorted(set(range(max(numbers, default=-1) + 1)) - numbers):
        named = ", ".join(f"{Path(prefix).name}.blktrace.{number}" for number in missing)
        found.append(f"there is no {named}: what these CPUs did is missing")
    of_first = any(version(file) == _FIRST for file in files)
    action = events.rows["action"]
    writes = action[action & (WRITE | DISCARD | PASSTHROUGH) == WRITE]
    if of_first and writes.size and not (writes & FUA > 0).any():
        found.append(
            "no write is marked FUA: either there was none, or the kernel is Linux 6.19 or later, "
            "which leaves FUA out of records of version 7 (blktrace 1.3)"
        )
    return found
