"""raw/probes.txt: one event a line, tab-separated, the event's name first."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from analysis import events
from analysis.errors import BadInput
from analysis.files import integer, read_text

# The fields after the name, in order, by column of the schema.
LINES: dict[str, tuple[str, ...]] = {
    "attached": ("begin_ns",),
    "sync": (
        *("begin_ns", "end_ns", "tid", "dev", "inode", "is_directory", "datasync", "result"),
        *("reason", "comm", "file"),
    ),
    "block": (*("begin_ns", "end_ns", "dev", "sector", "sectors", "rwbs", "result", "tid", "comm"),),
    "flush": ("begin_ns", "end_ns", "dev", "tid", "comm"),
    "jbd2": ("begin_ns", "end_ns", "dev", "tid", "result", "pages"),
    "checkpoint": ("begin_ns", "end_ns", "dev", "reason"),
    "writeback": ("begin_ns", "end_ns", "dev", "pages", "reason", "comm"),
    "tx": ("begin_ns", "end_ns", "transaction", "phase"),
    "detached": ("begin_ns",),
}
_RWBS = re.compile(r"[A-Z]{1,8}")
# bpftrace's own lines: a greeting (0.23 and older print it on stdout), and losses.
_BPFTRACE = re.compile(
    r"Attach(ing|ed) \d+ probes?\.*|__BPFTRACE_NOTIFY_PROBES_ATTACHED|Lost \d+ events?|\s*"
)


def read(path: Path) -> tuple[pl.DataFrame, list[str]]:
    """Return the probes' events, and the lines in which bpftrace reports losses.

    A file name may hold tabs: it is the last field and takes the rest of its line.
    Raises BadInput at a line with an unknown name, a missing field or a bad number.
    """
    found: dict[str, list[list[Any]]] = {name: [] for name in LINES}
    losses: list[str] = []
    readers = {name: _readers(path, fields) for name, fields in LINES.items()}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        name, _, rest = line.partition("\t")
        fields = LINES.get(name)
        if fields is None:
            if not _BPFTRACE.fullmatch(line):
                expected = "one of " + ", ".join(LINES)
                raise BadInput(path, f"line {number}", f"event {name[:40]!r}", expected)
            if line.startswith("Lost"):
                losses.append(line)
            continue
        values = rest.split("\t", len(fields) - 1)
        if len(values) != len(fields):
            wrong = f"{len(values)} fields after {name!r}"
            raise BadInput(path, f"line {number}", wrong, f"{len(fields)}")
        row = [read(number, value) for read, value in zip(readers[name], values, strict=True)]
        if fields[1:2] == ("end_ns",) and row[1] < row[0]:
            raise BadInput(path, f"line {number}", f"{name} ends before it begins", "begin <= end")
        found[name].append(row)
    frames = [_frame(name, LINES[name], rows) for name, rows in found.items() if rows]
    return events.merge(frames), losses


def _frame(name: str, fields: tuple[str, ...], rows: list[list[Any]]) -> pl.DataFrame:
    columns = dict(zip(fields, map(list, zip(*rows, strict=True)), strict=True))
    columns.setdefault("end_ns", columns["begin_ns"])
    return events.frame({"source": "probe", "event": name, **columns}, len(rows))


def _readers(path: Path, fields: tuple[str, ...]) -> list[Callable[[int, str], Any]]:
    """Return one function (line number, text) -> value for each field."""

    def reader(field: str) -> Callable[[int, str], Any]:
        kind = events.SCHEMA[field]
        if kind is pl.Int64:
            return lambda line, text: integer(path, line, field, text)
        if kind is pl.Boolean:
            return lambda line, text: _choice(path, line, field, text, {"0": False, "1": True})
        pattern = _RWBS if field == "rwbs" else None
        if pattern is None:
            return lambda line, text: text
        return lambda line, text: _match(path, line, field, text, pattern)

    return [reader(field) for field in fields]


def _choice(path: Path, line: int, field: str, text: str, values: dict[str, bool]) -> bool:
    if text not in values:
        raise BadInput(path, f"line {line}", f"{field} is {text!r}", " or ".join(values))
    return values[text]


def _match(path: Path, line: int, field: str, text: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(text):
        raise BadInput(path, f"line {line}", f"{field} is {text!r}", pattern.pattern)
    return text
