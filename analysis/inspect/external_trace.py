"""Read a block trace of another tool for the inspect page: detect its format, sort commands into lanes.

It has only block commands: submitter, type and times. It lacks statements, syncs and files, so commands are
not attributed to a cause.
"""

import glob
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import polars as pl

from analysis.adapters import blkevents, blkformat, blkparsed
from analysis.adapters.blkrecords import COMPLETE, MAGIC, MAGIC2, QUEUE
from analysis.figures import style
from analysis.inspect import trace_gaps, traced
from analysis.schemas.events import BLOCK_KINDS
from base.errors import BadInputError, FileError
from base.text import counted

# Processes with lanes of their own, one for each kind of their commands; all other processes share lanes.
_PROCESSES = 6
_OTHERS = "others"
_WORDS = {"write metadata": "metadata write", "write FUA": "FUA write"}
# stands for the process of completions without an issue
_COMPLETED = "no issue:"
_FAILED, _UNFINISHED = ", failed", ", no end"
_STATES = ("", _FAILED, _UNFINISHED)
# suffix of a CPU's file, which may be given in place of the prefix
_PER_CPU = re.compile(r"\.blktrace\.[0-9]+$")
# bytes read to distinguish text from blktrace's records
_LOOKED_AT = 4096
# first bytes of blktrace's records, in either byte order: the reader reports the wrong order
_MAGICS = {magic.to_bytes(4, order) for magic in (MAGIC, MAGIC2) for order in ("little", "big")}
# first bytes of other files of block traces: their format, and what to give instead
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
    traced: traced.Traced
    commands: pl.DataFrame  # of `traced`, with `process` and `lane`
    shown: pl.DataFrame  # the same, and completions without an issue
    # {lane: of its kind of command, or of a failed one}, in the order in which they are shown;
    # a lane is `[<device> ]<process> <kind>[, <state>]`
    colors: dict[str, str]
    gaps: tuple[str, ...]  # sentences


def place(given: str) -> Path:
    """Return the path of a trace's page, in the same folder."""
    return Path(_PER_CPU.sub("", given) + ".inspect.html")


def read(given: str, form: str = "") -> Trace:
    """Read a trace: a file, or PREFIX of PREFIX.blktrace.0, .1, … Raises FileError.

    form: what `blkparse -f` was given, for its text.
    """
    prefix, files = _record_files(given)
    if files and form:
        raise BadInputError(f"FORMAT and {files[0]}: not a text, but blktrace's records")
    events = blkevents.read(files) if files else _text(Path(given), form)
    paired = traced.commands(events)
    if paired.commands.is_empty():
        wrong = f"no command was issued ({events.actions[QUEUE]} queued, {events.actions[COMPLETE]} completed"
        wrong += f", and {paired.passed} of SCSI or ATA passthrough)" if paired.passed else ")"
        raise FileError(
            prefix, "", wrong, "a trace with issue and complete events, as of blktrace without -a"
        )
    gaps = trace_gaps.of_events(events, paired) + trace_gaps.of_files(files, prefix, events)
    del events  # 56 bytes each, which lanes do not need
    return _with_lanes(Path(prefix).name, paired, tuple(gaps))


def _record_files(given: str) -> tuple[str, list[Path]]:
    """Return a trace's name, and its files of records: blktrace's, or the one of `blkparse -d` or
    `blktrace -o -`. A text has none."""
    prefix, path = _PER_CPU.sub("", given), Path(given)
    if prefix != given and not path.exists():
        raise FileError(path, "", "no such file", "the file of a CPU, or the prefix before `.blktrace.0`")
    files = [] if path.is_file() and prefix == given else _paths(prefix)
    if files:
        return prefix, files
    expected = "blkparse's text, or the prefix of blktrace's files"
    if not path.exists():
        raise FileError(prefix, "", f"no such file, and no {Path(prefix).name}.blktrace.0 there", expected)
    if not path.is_file() or _is_descriptor(path):
        raise FileError(prefix, "", "a folder" if path.is_dir() else "not a regular file", expected)
    head = _head(path)
    if head[:4] in _MAGICS:
        return prefix, [path]
    for begin, (form, remedy) in _OTHER_FILES.items():
        if head.startswith(begin):
            raise FileError(path, "", form, remedy)
    if b"\0" in head:
        wrong = "not text (it has NUL bytes, as UTF-16 and binary files have)"
        raise FileError(path, "", wrong, "what blkparse prints, or the prefix of blktrace's files")
    return prefix, []


def _is_descriptor(path: Path) -> bool:
    """Whether a path names an open file, such as /dev/stdin: a page cannot be next to it."""
    is_link = path.is_symlink() and path.readlink().is_relative_to("/proc")
    return is_link or path.parent.resolve().is_relative_to("/proc")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LOOKED_AT)
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None


def _text(path: Path, form: str) -> blkevents.Events:
    """Read the text of blkparse, with or without -f, or of ftrace, trace-cmd or perf."""
    try:
        reader = blkformat.Format(form) if form else None
    except blkformat.FormatError as error:
        raise BadInputError(f"FORMAT={form}: {error}") from None
    try:
        return blkparsed.read(path, reader)
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    except blkparsed.NoTextError as error:
        expected = (
            "what blkparse, ftrace, trace-cmd or perf script prints, or FORMAT= as blkparse -f was given it"
        )
        raise FileError(path, "", str(error), f"lines as FORMAT={form} says" if form else expected) from None


def _paths(prefix: str) -> list[Path]:
    folder, name = Path(prefix).parent, glob.escape(Path(prefix).name)
    paths = sorted(path for path in folder.glob(f"{name}.blktrace.*") if _PER_CPU.search(path.name))
    for path in paths:
        # opening a pipe would wait for a writer
        if not path.is_file():
            raise FileError(path, "", "not a file", "a file of blktrace's")
    return paths


def _with_lanes(name: str, paired: traced.Traced, gaps: tuple[str, ...]) -> Trace:
    # the name of a worker has its CPU and its work
    process = pl.col("comm").fill_null("unknown").str.replace(r"^kworker/.*$", "kworker")
    state = (
        pl.when(pl.col("end_ns").is_null())
        .then(pl.lit(_UNFINISHED))
        .when(pl.col("result") > 0)
        .then(pl.lit(_FAILED))
        .otherwise(pl.lit(""))
    )
    orphans = paired.orphans.with_columns(process=pl.lit(_COMPLETED))
    commands = pl.concat([paired.commands.with_columns(process=process), orphans]).with_columns(state=state)
    devices = commands["dev"].unique().sort().to_list()
    parts, colors = [], dict[str, str]()
    for device in devices:
        part = commands.filter(pl.col("dev") == device)
        named = part.filter(pl.col("process") != _COMPLETED)
        most = named["process"].value_counts(sort=True)["process"].to_list()
        alone = most if len(most) <= _PROCESSES + 1 else most[:_PROCESSES]
        has_lanes = pl.col("process").is_in([*alone, _COMPLETED])
        before = f"{device} " if len(devices) > 1 else ""
        part = part.with_columns(
            process=pl.when(has_lanes).then("process").otherwise(pl.lit(_OTHERS))
        ).with_columns(lane=pl.concat_str(pl.lit(before), "process", pl.lit(" "), "kind", "state"))
        lanes = set(part["lane"])
        order = itertools.product([*alone, _OTHERS, _COMPLETED], BLOCK_KINDS, _STATES)
        colors |= {
            lane: style.FAILED if state == _FAILED else style.BLOCKS[kind]
            for who, kind, state in order
            if (lane := f"{before}{who} {kind}{state}") in lanes
        }
        parts.append(part)
    shown = pl.concat(parts).sort("begin_ns", maintain_order=True)
    commands = shown.filter(pl.col("process") != _COMPLETED)
    return Trace(name, paired, commands, shown, colors, gaps)


def facts(trace: Trace) -> list[str]:
    """Return a line for each device: its commands by kind, and the bytes written."""
    lines = []
    for (device,), commands in sorted(trace.traced.commands.group_by("dev")):
        count = {kind: int((commands["kind"] == kind).sum()) for kind in BLOCK_KINDS}
        written = int(commands.filter(pl.col("kind").str.starts_with("write"))["sectors"].sum()) * 512
        parts = [counted(number, _WORDS.get(kind, kind)) for kind, number in count.items() if number]
        if written:
            size = f"{written / 2**20:.1f} MiB" if written >= 2**20 else f"{written / 2**10:g} KiB"
            parts.append(f"{size} written")
        lines.append(f"{counted(commands.height, 'block command')} of device {device}: {', '.join(parts)}")
    return lines


def notice(trace: Trace) -> str:
    """Return what a page of a trace cannot show."""
    return (
        "This is a block trace alone: it shows who queued each command, and when the device "
        "had it. It does not show which statement, sync, file or journal a command was for."
        + "".join(f" {gap[0].upper()}{gap[1:]}." for gap in trace.gaps)
    )
