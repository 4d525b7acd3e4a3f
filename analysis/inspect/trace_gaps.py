"""Describe in sentences the gaps of an external block trace: lost, failed, unfinished, repeated commands."""

import errno
from pathlib import Path

import polars as pl

from analysis.adapters.blkevents import ERROR_UNKNOWN, Events
from analysis.adapters.blkrecords import ACTION, COMPLETE, DISCARD, FUA, PASSTHROUGH, QUEUE, WRITE, version
from analysis.inspect.traced import Traced
from base.text import counted

# the version of records that a kernel of any release makes
_FIRST = 7
_HAVE = ("has", "have")


def of_events(events: Events, paired: Traced) -> list[str]:
    """Return a sentence for each gap in the commands."""
    gaps = ["the last line has no end: left out, the trace may be cut short"] if events.cut else []
    if events.lost:
        lost = f"{'at least ' if events.lost_more else ''}{counted(events.lost, 'event')}"
        gaps.append(f"the tracer lost {lost}: commands may be missing or unfinished")
    unfinished = paired.commands["end_ns"].null_count()
    passed = "SCSI or ATA passthrough (as of smartd or hdparm): left out"
    gaps += [
        f"{counted(number, name)} {verbs[number != 1]} {text}"
        for number, name, verbs, text in (
            (unfinished, "command", _HAVE, "no completion in the trace: shown without a length"),
            (paired.orphans.height, "completion", _HAVE, "no issue in the trace: shown without a length"),
            (paired.returned, "requeue", _HAVE, "no issue in the trace: left out"),
            (paired.passed, "command", ("is", "are"), passed),
        )
        if number
    ]
    failed = paired.commands.filter(pl.col("result") > 0)["result"].value_counts(sort=True)
    if failed.height:
        errors = (f"{count} with {error_name(result)}" for result, count in failed.iter_rows())
        gaps.append(f"{counted(int(failed['count'].sum()), 'command')} failed: {', '.join(errors)}")
    completed = events.rows[events.rows["action"] & ACTION == COMPLETE]
    if unknown := int((completed["error"] == ERROR_UNKNOWN).sum()):
        without = f"{counted(unknown, 'completion')} without an error number in the text"
        gaps.append(f"{without}: whether the command failed is not known")
    gaps += [
        f"{device} has no issue events, as is normal for md, dm, bcache and zram: "
        "its commands begin when they are queued"
        for device in paired.bios
    ]
    gaps += [
        f"{above} is stacked on {below}: what {above} did appears again on {below}, "
        "attributed to the same process"
        for above, below in paired.stacked
    ]
    if not events.actions[QUEUE]:
        gaps.append(
            "the trace has no queue events (Q): a command is attributed to the process that issued it"
        )
    return gaps


def error_name(number: int) -> str:
    """Return an error of a command as the kernel calls it."""
    return errno.errorcode.get(number, f"error {number}")


def of_files(files: list[Path], prefix: str, events: Events) -> list[str]:
    """Return the gaps that records do not show: a CPU's missing file, and missing marks of FUA."""
    before = f"{Path(prefix).name}.blktrace."
    numbers = {int(file.suffix[1:]) for file in files if file.name.startswith(before)}
    gaps = []
    if missing := sorted(set(range(max(numbers, default=-1) + 1)) - numbers):
        names = ", ".join(f"{before}{number}" for number in missing)
        gaps.append(f"{names} missing: commands of these CPUs are not in the trace")
    of_first = any(version(file) == _FIRST for file in files)
    action = events.rows["action"]
    writes = action[action & (WRITE | DISCARD | PASSTHROUGH) == WRITE]
    if of_first and writes.size and not (writes & FUA > 0).any():
        gaps.append(
            "no write is marked FUA: either there was none, or the kernel is Linux 6.19 or later, "
            "which leaves FUA out of records of version 7 (blktrace 1.3)"
        )
    return gaps
