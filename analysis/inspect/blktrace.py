"""Read an external block trace: blktrace's files, or the text of blkparse, ftrace or perf.

It has only block commands: submitter, type and times. It lacks statements, syncs and files, so commands are
not attributed to a cause.
"""

from __future__ import annotations

import glob
import itertools
import re
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analysis.adapters import blkevents, blkformat, blkparsed
from analysis.adapters.blkrecords import COMPLETE, MAGIC, MAGIC2, QUEUE
from analysis.figures import style
from analysis.inspect import lacks, traced
from analysis.inspect.lacks import counted
from analysis.schemas.events import BLOCK_KINDS
from base.errors import BadInput, BadInputError

# Lanes of a page: of the processes that had most commands, each kind of theirs; the others share lanes.
_PROCESSES = 6
_OTHERS = "others"
_WORDS = {"write metadata": "metadata write", "write FUA": "FUA write"}
# process of completions without an issue
_COMPLETED = "no issue:"
_FAILED, _UNFINISHED = ", failed", ", no end"
_STATES = ("", _FAILED, _UNFINISHED)
# the first CPU's file may be given in place of what all are called before that
_PER_CPU = re.compile(r"\.blktrace\.[0-9]+$")
# bytes read to distinguish text from blktrace's records
_LOOKED_AT = 4096
# with which blktrace's records begin, in either byte order: what is wrong with the other is told
_MAGICS = {magic.to_bytes(4, order) for magic in (MAGIC, MAGIC2) for order in ("little", "big")}
# how other files of block traces begin: what they are, and what to do
_OTHER_FILES = {
    b"\x1f\x8b": ("compressed by gzip", "what `gunzip` makes of it"),
    b"\xfd7zXZ\0": ("compressed by xz", "what `unxz` makes of it"),
    b"BZh": ("compressed by bzip2", "what `bunzip2` makes of it"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "what `unzstd` makes of it"),
    b"\x17\x08Dtracing": ("a file of trace-cmd", "what `trace-cmd report` prints of it"),
    b"PERFILE2": ("a file of perf", "what `perf script` prints of it"),
}


class Trace(NamedTuple):
    """The input of a page."""

    name: str
    found: traced.Traced
    commands: pl.DataFrame  # of `found`, with `process` and `lane`
    shown: pl.DataFrame  # the same, and completions without an issue
    lanes: tuple[str, ...]  # `[<device> ]<process> <kind>[, <state>]`, in the order in which they are shown
    colors: dict[str, str]  # {lane: of its kind of command, or of a failed one}
    said: tuple[str, ...]  # what the trace lacks


def place(given: str) -> Path:
    """Return the path of a trace's page, in the same folder."""
    return Path(_PER_CPU.sub("", given) + ".inspect.html")


def read(given: str, form: str = "") -> Trace:
    """Read a trace: a file, or PREFIX of PREFIX.blktrace.0, .1, … Raises BadInput.

    form: what `blkparse -f` was given, for its text.
    """
    prefix, files = _record_files(given)
    if files and form:
        raise BadInputError(f"FORMAT and {files[0]}: that is no text, but blktrace's records")
    events = blkevents.read(files) if files else _text(Path(given), form)
    found = traced.commands(events)
    if found.commands.is_empty():
        expected = "a trace with issue and complete events, as of blktrace without -a"
        raise BadInput(prefix, "", _nothing(events, found), expected)
    missing = lacks.lacks(events, found) + lacks.left_out(files, prefix, events)
    del events  # 56 bytes each, which lanes do not need
    return _with_lanes(Path(prefix).name, found, tuple(missing))


def _record_files(given: str) -> tuple[str, list[Path]]:
    """Return what a trace is called, and its files of records: blktrace's, or the one that `blkparse -d` or
    `blktrace -o -` wrote. A text has none."""
    prefix, path = _PER_CPU.sub("", given), Path(given)
    if prefix != given and not path.exists():
        raise BadInput(path, "", "no such file", "the file of a CPU, or what is before `.blktrace.0`")
    files = [] if path.is_file() and prefix == given else _paths(prefix)
    if files:
        return prefix, files
    expected = "blkparse's text, or the prefix of blktrace's files"
    if not path.exists():
        raise BadInput(prefix, "", f"no such file, and no {Path(prefix).name}.blktrace.0 there", expected)
    if not path.is_file() or _is_descriptor(path):
        raise BadInput(prefix, "", "a folder" if path.is_dir() else "not a regular file", expected)
    head = _head(path)
    if head[:4] in _MAGICS:
        return prefix, [path]
    for begin, (what, remedy) in _OTHER_FILES.items():
        if head.startswith(begin):
            raise BadInput(path, "", what, remedy)
    if b"\0" in head:
        raise BadInput(
            path,
            "",
            "not text (it has NUL bytes, as UTF-16 and binary files have)",
            "what blkparse prints, or the prefix of blktrace's files",
        )
    return prefix, []


def _is_descriptor(path: Path) -> bool:
    """Whether a name is that of an open file, such as /dev/stdin: beside it is no place for a page."""
    is_link = path.is_symlink() and path.readlink().is_relative_to("/proc")
    return is_link or path.parent.resolve().is_relative_to("/proc")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LOOKED_AT)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None


def _text(path: Path, form: str) -> blkevents.Events:
    """Read the text of blkparse, with or without -f, or of ftrace, trace-cmd or perf."""
    try:
        reader = blkformat.Format(form) if form else None
    except blkformat.FormatError as error:
        raise BadInputError(f"FORMAT={form}: {error}") from None
    try:
        return blkparsed.read(path, reader)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    except blkparsed.NoTextError as error:
        own = "what blkparse, ftrace, trace-cmd or perf script prints, or FORMAT= as blkparse -f was given it"
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


def _with_lanes(name: str, found: traced.Traced, said: tuple[str, ...]) -> Trace:
    # a worker is called after its CPU and its work
    process = pl.col("comm").fill_null("unknown").str.replace(r"^kworker/.*$", "kworker")
    state = (
        pl.when(pl.col("end_ns").is_null())
        .then(pl.lit(_UNFINISHED))
        .when(pl.col("result") > 0)
        .then(pl.lit(_FAILED))
        .otherwise(pl.lit(""))
    )
    orphans = found.orphans.with_columns(process=pl.lit(_COMPLETED))
    commands = pl.concat([found.commands.with_columns(process=process), orphans]).with_columns(state=state)
    devices = commands["dev"].unique().sort().to_list()
    parts, lanes = [], dict[str, str]()
    for device in devices:
        part = commands.filter(pl.col("dev") == device)
        named = part.filter(pl.col("process") != _COMPLETED)
        most = named["process"].value_counts(sort=True)["process"].to_list()
        alone = most if len(most) <= _PROCESSES + 1 else most[:_PROCESSES]
        own = (
            pl.when(pl.col("process").is_in([*alone, _COMPLETED])).then("process").otherwise(pl.lit(_OTHERS))
        )
        before = f"{device} " if len(devices) > 1 else ""
        part = part.with_columns(process=own).with_columns(
            lane=pl.concat_str(pl.lit(before), "process", pl.lit(" "), "kind", "state")
        )
        there = set(part.select("process", "kind", "state").unique().iter_rows())
        order = itertools.product([*alone, _OTHERS, _COMPLETED], BLOCK_KINDS, _STATES)
        lanes |= {
            f"{before}{who} {kind}{state}": style.FAILED if state == _FAILED else style.BLOCKS[kind]
            for who, kind, state in order
            if (who, kind, state) in there
        }
        parts.append(part)
    shown = pl.concat(parts).sort("begin_ns", maintain_order=True)
    commands = shown.filter(pl.col("process") != _COMPLETED)
    return Trace(name, found, commands, shown, tuple(lanes), lanes, said)


def summary(trace: Trace) -> list[str]:
    """Return what a trace has of each device, and what it lacks, in lines."""
    return [*_facts(trace), *trace.said]


def _facts(trace: Trace) -> list[str]:
    facts = []
    for (device,), commands in sorted(trace.found.commands.group_by("dev")):
        count = {kind: int((commands["kind"] == kind).sum()) for kind in BLOCK_KINDS}
        written = int(commands.filter(pl.col("kind").str.starts_with("write"))["sectors"].sum()) * 512
        told = [counted(number, _WORDS.get(kind, kind)) for kind, number in count.items() if number]
        if written:
            told.append(
                f"{f'{written / 2**20:.1f} MiB' if written >= 2**20 else f'{written / 2**10:g} KiB'} written"
            )
        facts.append(f"{counted(commands.height, 'block command')} of device {device}: {', '.join(told)}")
    return facts


def said(trace: Trace) -> dict[str, Any]:
    """Return what the page says of the trace: a line of facts of each device, and what it cannot show."""
    return {
        "facts": ". ".join(_facts(trace)),
        "notice": "This is a block trace alone: it shows who queued each command, and when the device "
        "had it. It does not show which statement, sync, file or journal a command was for."
        + "".join(f" {lack[0].upper()}{lack[1:]}." for lack in trace.said),
    }
