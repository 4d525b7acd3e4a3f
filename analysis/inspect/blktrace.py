"""A block trace that no run of ours made: blktrace's files of each CPU, or blkparse's text.

It tells of block commands: who queued and what the device did, when. It tells of no statement, no sync and no
file, so nothing is tied to a cause.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import blkparsed
from analysis.adapters.blkcommands import codes, words
from analysis.adapters.blkrecords import (
    ACTION,
    COMPLETE,
    FUA,
    ISSUE,
    NOTIFY,
    QUEUE,
    REQUEUE,
    WRITE,
    read_file,
    version,
)
from analysis.events import BLOCK_KINDS
from analysis.figures import style
from analysis.observers import blktrace as observer
from base.errors import BadInput

# Lanes of a page: of the processes that had most commands, each kind of theirs; the others share lanes.
_PROCESSES = 6
_OTHERS = "others"
# the first CPU's file may be given in place of what all are called before that
_PER_CPU = re.compile(r"\.blktrace\.[0-9]+$")
# bytes of a text by which it is told from blktrace's records
_LOOKED_AT = 4096
# the version of records that a kernel of any release makes
_FIRST = 7


class Trace(NamedTuple):
    """What a page shows."""

    name: str
    commands: pl.DataFrame  # observers' columns of a command, `queue_ns`, and `lane`
    lanes: tuple[str, ...]  # `<process> <kind>`, in the order in which they are shown
    colors: dict[str, str]
    said: tuple[str, ...]  # what the trace lacks


def place(given: str) -> Path:
    """Return where the page of a trace goes: beside it."""
    return Path(_PER_CPU.sub("", given) + ".inspect.html")


def read(given: str) -> Trace:
    """Read a trace: TEXT, or PREFIX of PREFIX.blktrace.0, .1, … Raises BadInput."""
    prefix = _PER_CPU.sub("", given)
    path = Path(given)
    if prefix == given and path.is_file():
        records, names = _text(path)
    else:
        records, names = _files(prefix)
    action, note = records["action"] & ACTION, records["action"] & NOTIFY > 0
    kept = np.isin(action, (QUEUE, REQUEUE, ISSUE, COMPLETE)) & ~note
    records = records[kept]
    records = records[np.argsort(records["time"], kind="stable")]
    action = records["action"] & ACTION
    commands = observer.commands(records[action != QUEUE], names)
    if commands.is_empty():
        raise BadInput(prefix, "", _nothing(action), "a trace of blktrace -a issue -a complete, or of all")
    lacks = []
    if unfinished := commands["end_ns"].null_count():
        lacks.append(f"{unfinished} commands have no completion in it, and are shown without a length")
    if orphans := _completions(records) - (commands.height - unfinished):
        lacks.append(f"{orphans} completions have no issue in it, and are left out")
    if not (action == QUEUE).any():
        lacks.append("nobody is told to have queued anything: a command's process is who issued it")
    lacks += _left_out(path, prefix, records)
    commands = _queued(commands, records[action == QUEUE], names)
    return _with_lanes(Path(prefix).name, commands, tuple(lacks))


def _left_out(path: Path, prefix: str, records: np.ndarray) -> list[str]:
    """Say what a trace lacks that its records do not show: those of a CPU, and writes with FUA."""
    files = [] if prefix == str(path) and path.is_file() else _paths(prefix)
    numbers = {int(file.suffix[1:]) for file in files}
    found = []
    if missing := sorted(set(range(max(numbers, default=-1) + 1)) - numbers):
        named = ", ".join(f"{Path(prefix).name}.blktrace.{number}" for number in missing)
        found.append(f"there is no {named}: what these CPUs did is not in it")
    of_first = not files or any(version(file) == _FIRST for file in files)
    writes = records["action"][records["action"] & WRITE > 0]
    if of_first and writes.size and not (writes & FUA > 0).any():
        found.append(
            "no write with FUA is in it: of records of version 7, as blktrace 1.3 asks for, Linux 6.19 and "
            "later leave these out"
        )
    return found


def _text(path: Path) -> tuple[np.ndarray, dict[int, str]]:
    try:
        with path.open("rb") as file:
            head = file.read(_LOOKED_AT)
        if b"\0" in head:
            raise BadInput(path, "", "no text", "what blkparse prints, or the prefix of blktrace's files")
        with path.open(encoding="utf-8", errors="replace") as text:
            return blkparsed.records(text)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    except blkparsed.NoBlkparseError as error:
        raise BadInput(path, "", str(error), "blkparse's own format, without -f") from None


def _paths(prefix: str) -> list[Path]:
    folder, name = Path(prefix).parent, glob.escape(Path(prefix).name)
    return sorted(path for path in folder.glob(f"{name}.blktrace.*") if _PER_CPU.search(path.name))


def _files(prefix: str) -> tuple[np.ndarray, dict[int, str]]:
    paths = _paths(prefix)
    if not paths:
        wrong = f"no such file, and no {Path(prefix).name}.blktrace.0 there"
        raise BadInput(prefix, "", wrong, "blkparse's text, or the prefix of blktrace's files")
    for path in paths:
        # nobody may ever write into a pipe
        if not path.is_file():
            raise BadInput(path, "", "not a file", "a file of blktrace's")
    loaded = [read_file(path) for path in paths]
    return (
        np.concatenate([records for records, _ in loaded]),
        {pid: name for _, found in loaded for pid, name in found.items()},
    )


def _nothing(action: np.ndarray) -> str:
    count = {name: int((action == one).sum()) for name, one in (("queued", QUEUE), ("completed", COMPLETE))}
    return f"no command was issued ({count['queued']} queued, {count['completed']} completed)"


def _completions(records: np.ndarray) -> int:
    """Return how many records complete a command; one of no sectors that is no flush answers an empty bio."""
    kinds = words()["kind"].to_numpy()[codes(records["action"], records["bytes"])]
    done = (records["action"] & ACTION == COMPLETE) & ((records["bytes"] > 0) | (kinds == "flush"))
    return int(done.sum())


def _queued(commands: pl.DataFrame, bios: np.ndarray, names: dict[int, str]) -> pl.DataFrame:
    """Add `queue_ns`, and put who queued in place of who issued: of the last bio before a command that begins
    where it does."""
    given = pl.DataFrame(
        {
            "queue_ns": bios["time"].astype(np.int64),
            "dev_number": bios["device"].astype(np.int64),
            "sector": bios["sector"].astype(np.int64),
            "by": bios["pid"].astype(np.int64),
        }
    ).sort("queue_ns")
    numbers = pl.col("dev").str.split(":").list.to_struct(fields=["major", "minor"])
    major, minor = (numbers.struct.field(name).cast(pl.Int64) for name in ("major", "minor"))
    found = commands.with_columns(dev_number=major * (1 << 20) + minor).sort("begin_ns", maintain_order=True)
    found = found.join_asof(
        given, left_on="begin_ns", right_on="queue_ns", by=["dev_number", "sector"], strategy="backward",
        check_sortedness=False,
        coalesce=False,
    )  # fmt: skip
    by = pl.col("by").replace_strict(names, default=None, return_dtype=pl.String)
    return found.with_columns(
        comm=pl.when(pl.col("by").is_null()).then("comm").otherwise(by),
        tid=pl.coalesce("by", "tid"),
    ).drop("by", "dev_number")


def _with_lanes(name: str, commands: pl.DataFrame, lacks: tuple[str, ...]) -> Trace:
    # a worker is called after its CPU and its work
    process = pl.col("comm").fill_null("unknown").str.replace(r"^kworker/.*$", "kworker")
    commands = commands.with_columns(process=process)
    most = commands["process"].value_counts(sort=True)["process"].to_list()
    shown = most if len(most) <= _PROCESSES + 1 else most[:_PROCESSES]
    process = pl.when(pl.col("process").is_in(shown)).then("process").otherwise(pl.lit(_OTHERS))
    commands = commands.with_columns(process=process)
    commands = commands.with_columns(lane=pl.concat_str("process", "kind", separator=" "))
    pairs = set(commands.select("process", "kind").unique().iter_rows())
    order = [pair for who in [*shown, _OTHERS] for kind in BLOCK_KINDS if (pair := (who, kind)) in pairs]
    lanes = {f"{who} {kind}": style.BLOCKS[kind] for who, kind in order}
    return Trace(name, commands, tuple(lanes), lanes, lacks)


def said(trace: Trace) -> dict[str, Any]:
    """Return what the page says of the trace: a line of facts, and what it cannot show."""
    commands, devices = trace.commands, sorted(set(trace.commands["dev"]))
    count = {kind: int((commands["kind"] == kind).sum()) for kind in BLOCK_KINDS}
    written = int(commands.filter(pl.col("kind").str.starts_with("write"))["sectors"].sum()) * 512
    told = [f"{number} {kind}" for kind, number in count.items() if number]
    return {
        "facts": f"{commands.height} block commands of device {', '.join(devices)}: {', '.join(told)}; "
        f"{written / 2**20:.1f} MiB written",
        "notice": "A block trace alone: who queued each command, and when the device had it. What it was "
        "for, statement, sync, file or journal, no such trace says."
        + "".join(f" {lack[0].upper()}{lack[1:]}." for lack in trace.said),
    }
