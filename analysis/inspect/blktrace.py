"""A block trace that no run of ours made: blktrace's files, or the text of blkparse, ftrace or perf.

It tells of block commands: who queued and what the device did, when. It tells of no statement, no sync and no
file, so nothing is tied to a cause.
"""

from __future__ import annotations

import errno
import glob
import re
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analysis.adapters import blkevents, blkformat, blkparsed
from analysis.adapters.blkrecords import COMPLETE, FUA, MAGIC, MAGIC2, QUEUE, WRITE, version
from analysis.events import BLOCK_KINDS
from analysis.inspect import traced
from base.errors import BadInput, BadInputError

# Lanes of a page: of the processes that had most commands, each kind of theirs; the others share lanes.
_PROCESSES = 6
_OTHERS = "others"
# the first CPU's file may be given in place of what all are called before that
_PER_CPU = re.compile(r"\.blktrace\.[0-9]+$")
# bytes of a text by which it is told from blktrace's records
_LOOKED_AT = 4096
# with which blktrace's records begin, in either byte order: what is wrong with the other is told
_MAGICS = {magic.to_bytes(4, order) for magic in (MAGIC, MAGIC2) for order in ("little", "big")}
# the version of records that a kernel of any release makes
_FIRST = 7


class Trace(NamedTuple):
    """What a page shows."""

    name: str
    found: traced.Traced
    commands: pl.DataFrame  # of `found`, with `process` and `lane`
    lanes: tuple[str, ...]  # `[<device> ]<process> <kind>`, in the order in which they are shown
    kinds: dict[str, str]  # {lane: its kind of command}
    said: tuple[str, ...]  # what the trace lacks


def place(given: str) -> Path:
    """Return where the page of a trace goes: beside it."""
    return Path(_PER_CPU.sub("", given) + ".inspect.html")


def read(given: str, form: str = "") -> Trace:
    """Read a trace: a file, or PREFIX of PREFIX.blktrace.0, .1, … Raises BadInput.

    form: what `blkparse -f` was given, for its text.
    """
    prefix = _PER_CPU.sub("", given)
    path = Path(given)
    files = [] if prefix == given and path.is_file() else _paths(prefix)
    if files and form:
        raise BadInputError(f"FORMAT and {files[0]}: that is no text, but blktrace's records")
    events = blkevents.read(files) if files else _file(path, prefix, form)
    found = traced.commands(events)
    if found.commands.is_empty():
        expected = "a trace of blktrace -a issue -a complete, or of all"
        raise BadInput(prefix, "", _nothing(events, found), expected)
    lacks = _lacks(events, found) + _left_out(files, prefix, events)
    return _with_lanes(Path(prefix).name, found, tuple(lacks))


def _lacks(events: blkevents.Events, found: traced.Traced) -> list[str]:
    """Say what commands lack."""
    unfinished = found.commands["end_ns"].null_count()
    number = {
        "commands have no completion in it, and are shown without a length": unfinished,
        "completions have no issue in it, and are left out": found.orphans.height,
        "requeues have no issue in it, and are left out": found.returned,
        "SCSI or ATA passthrough commands, as smartd, udisks and hdparm give, are left out": found.passed,
    }
    lacks = [f"{count} {what}" for what, count in number.items() if count]
    failed = found.commands.filter(pl.col("result") > 0)["result"].value_counts(sort=True)
    if failed.height:
        errors = (f"{count} with {error_name(result)}" for result, count in failed.iter_rows())
        lacks.append(f"{failed['count'].sum()} commands failed: {', '.join(errors)}")
    if found.bios:
        lacks.append(
            f"of {', '.join(found.bios)} nothing was issued, as md, dm, bcache and zram issue nothing: "
            "a command begins when it is queued"
        )
    for above, below in found.stacked:
        lacks.append(f"{above} is on {below}, so that what {above} did is in {below} again")
    if not events.actions[QUEUE]:
        lacks.append("nobody is told to have queued anything: a command's process is who issued it")
    return lacks


def error_name(number: int) -> str:
    """Return an error of a command as the kernel calls it."""
    return errno.errorcode.get(number, f"error {number}")


def _left_out(files: list[Path], prefix: str, events: blkevents.Events) -> list[str]:
    """Say what a trace lacks that its records do not show: those of a CPU, and writes with FUA."""
    numbers = {int(file.suffix[1:]) for file in files}
    found = []
    if missing := sorted(set(range(max(numbers, default=-1) + 1)) - numbers):
        named = ", ".join(f"{Path(prefix).name}.blktrace.{number}" for number in missing)
        found.append(f"there is no {named}: what these CPUs did is not in it")
    of_first = not events.traced and (not files or any(version(file) == _FIRST for file in files))
    writes = events.rows["action"][events.rows["action"] & WRITE > 0]
    if of_first and writes.size and not (writes & FUA > 0).any():
        found.append(
            "no write with FUA is in it: of records of version 7, as blktrace 1.3 asks for, Linux 6.19 and "
            "later leave these out"
        )
    return found


def _file(path: Path, prefix: str, form: str) -> blkevents.Events:
    """Read one file: records as `blkparse -d` and `blktrace -o -` write them, or text."""
    if not path.is_file():
        wrong = f"no such file, and no {Path(prefix).name}.blktrace.0 there"
        raise BadInput(prefix, "", wrong, "blkparse's text, or the prefix of blktrace's files")
    try:
        reader = blkformat.reader(form) if form else None
    except blkformat.FormatError as error:
        raise BadInputError(f"FORMAT={form}: {error}") from None
    try:
        with path.open("rb") as file:
            head = file.read(_LOOKED_AT)
        if head[:4] in _MAGICS:
            if form:
                raise BadInputError(f"FORMAT and {path}: that is no text, but blktrace's records")
            return blkevents.read([path])
        if b"\0" in head:
            raise BadInput(path, "", "no text", "what blkparse prints, or the prefix of blktrace's files")
        return blkparsed.read(path, reader)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    except blkparsed.NoTextError as error:
        own = "blkparse's own format, or FORMAT= as its -f was given"
        raise BadInput(path, "", str(error), f"lines as FORMAT={form} says" if form else own) from None


def _paths(prefix: str) -> list[Path]:
    folder, name = Path(prefix).parent, glob.escape(Path(prefix).name)
    paths = sorted(path for path in folder.glob(f"{name}.blktrace.*") if _PER_CPU.search(path.name))
    for path in paths:
        # nobody may ever write into a pipe
        if not path.is_file():
            raise BadInput(path, "", "not a file", "a file of blktrace's")
    return paths


def _nothing(events: blkevents.Events, found: traced.Traced) -> str:
    count = f"{events.actions[QUEUE]} queued, {events.actions[COMPLETE]} completed"
    passed = f", and {found.passed} of SCSI or ATA passthrough" if found.passed else ""
    return f"no command was issued ({count}{passed})"


def _with_lanes(name: str, found: traced.Traced, lacks: tuple[str, ...]) -> Trace:
    # a worker is called after its CPU and its work
    process = pl.col("comm").fill_null("unknown").str.replace(r"^kworker/.*$", "kworker")
    commands = found.commands.with_columns(process=process)
    devices = commands["dev"].unique().sort().to_list()
    parts, lanes = [], dict[str, str]()
    for device in devices:
        part = commands.filter(pl.col("dev") == device)
        most = part["process"].value_counts(sort=True)["process"].to_list()
        shown = most if len(most) <= _PROCESSES + 1 else most[:_PROCESSES]
        own = pl.when(pl.col("process").is_in(shown)).then("process").otherwise(pl.lit(_OTHERS))
        before = f"{device} " if len(devices) > 1 else ""
        part = part.with_columns(process=own).with_columns(
            lane=pl.concat_str(pl.lit(before), "process", pl.lit(" "), "kind")
        )
        pairs = set(part.select("process", "kind").unique().iter_rows())
        order = [pair for who in [*shown, _OTHERS] for kind in BLOCK_KINDS if (pair := (who, kind)) in pairs]
        lanes |= {f"{before}{who} {kind}": kind for who, kind in order}
        parts.append(part)
    commands = pl.concat(parts).sort("begin_ns", maintain_order=True)
    return Trace(name, found, commands, tuple(lanes), lanes, lacks)


def said(trace: Trace) -> dict[str, Any]:
    """Return what the page says of the trace: a line of facts of each device, and what it cannot show."""
    facts = []
    for (device,), commands in sorted(trace.commands.group_by("dev")):
        count = {kind: int((commands["kind"] == kind).sum()) for kind in BLOCK_KINDS}
        written = int(commands.filter(pl.col("kind").str.starts_with("write"))["sectors"].sum()) * 512
        told = [f"{number} {kind}" for kind, number in count.items() if number]
        facts.append(
            f"{commands.height} block commands of device {device}: {', '.join(told)}; "
            f"{written / 2**20:.1f} MiB written"
        )
    return {
        "facts": ". ".join(facts),
        "notice": "A block trace alone: who queued each command, and when the device had it. What it was "
        "for, statement, sync, file or journal, no such trace says."
        + "".join(f" {lack[0].upper()}{lack[1:]}." for lack in trace.said),
    }
