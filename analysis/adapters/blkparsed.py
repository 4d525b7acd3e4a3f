"""Read block events from a text of blkparse, ftrace, trace-cmd or perf: detect which, count lost events."""

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import blklines, blktable
from analysis.adapters.blkevents import EVENT, Collected, Events

_PIECE = 7 << 18  # bytes at once
_THREADS = 2  # a third makes it no faster, and needs 20 MB
_LONGEST = 1 << 16  # of a line
# glibc keeps freed memory, up to twice the largest block that was freed (mallopt(3), M_MMAP_THRESHOLD).
# A piece has less, so without this its memory is returned and mapped again each time: 150 000 page faults.
_KEPT = 31 << 20
_BOM = b"\xef\xbb\xbf"
_HEADERS = ("Input file ", "Trace started at ")
# blkparse's sums, which follow the events; with -s those of each process, `fio (275)`, come first
_SUMS = re.compile(r"(?:CPU|Total \(|Throughput|Events \().*|.+ \([0-9]+(?:, \.\.\.)?\)")
# as `grep --color=always` marks what it found
_COLOR = re.compile(rb"\x1b\[[0-9;]*[mK]")
# device, CPU and number of an event, which no other event of a trace has; a note's number is 0
_NUMBER = r"^\s*([0-9]+,[0-9]+)\s+([0-9]+)\s+([1-9][0-9]*)\s+[0-9]+\.[0-9]{9}\s"
_TWO = "two traces in one file; their times cannot be compared"
_OF_TRACER = ("#", "CPU ", "CPU:", "cpus=", "version = ", "name: ")
# `CPU:1 [LOST 500 EVENTS]` of ftrace, `CPU:1 [500 EVENTS DROPPED]` of trace-cmd (either may have no number),
# `fio 7 [001] 1.000001: PERF_RECORD_LOST lost 5` of perf
_LOST = re.compile(
    r"CPU:[ 0-9]+\[(?:LOST )?(?:(?P<number>[0-9]{1,18}) )?EVENTS(?: DROPPED)?\]\s*"
    r"|.*PERF_RECORD_LOST(?:_SAMPLES)? lost (?P<records>[0-9]{1,18})\s*"
)
_EITHER = "an event in blkparse's default format, nor in that of ftrace, trace-cmd or perf"


class NoTextError(ValueError):
    """The text is not a block trace; the message names the line."""


def read(path: Path, form: blklines.Reader | None = None) -> Events:
    """Return the events of a text; `form` reads a line, by default it is detected. Raises NoTextError."""
    collected = Collected()
    np.empty(_KEPT, np.uint8)  # freed at once
    with path.open("rb") as file:
        text = _Text(file, collected, form)
        text.read()
        if text.form is blklines.parsed and collected.goes_back():
            file.seek(0)
            _check_numbers(file)
    return collected.events()


def _check_numbers(file: BinaryIO) -> None:
    """Raise NoTextError if two events of blkparse's default text have one number."""
    tables, before = list[pl.DataFrame](), 0
    for data in _Text(file, Collected(), None).pieces():
        lines = _lines(data)
        groups = lines.str.extract_groups(_NUMBER).struct.unnest()
        key = groups.select(pl.concat_str(pl.all(), separator=" ").hash()).to_series()
        table = pl.DataFrame({"key": key, "is_event": groups.to_series(0).is_not_null()})
        tables.append(table.with_row_index("line", before + 1).filter("is_event").drop("is_event"))
        before += len(lines)
    events = pl.concat(tables)
    again = events.filter(~pl.col("key").is_first_distinct())
    if again.height:
        raise NoTextError(f"line {again['line'][0]}: an earlier event has its number: {_TWO}")


class _Piece(NamedTuple):
    """Some whole lines."""

    data: bytes
    lines: pl.Series
    read: blktable.Read | None  # None: the format was unknown when they were read


class _Text:
    """A text that is being read."""

    def __init__(self, file: BinaryIO, found: Collected, form: blklines.Reader | None) -> None:
        self.file, self.found = file, found
        self.form = form
        self.line = 0  # number of the line before the piece
        self.events = 0
        self.ended = False
        self.rest = b""  # bytes after the last newline

    def read(self) -> None:
        """Read all of it."""
        for piece in self._read_ahead():
            self._check(piece)
            self.form = self.form or _form(piece.lines, self.line)
            if self.form is None:
                self.line += len(piece.lines)
                continue
            if self.form is blklines.traced and (b"LOST" in piece.data or b"DROPPED" in piece.data):
                self._count_lost(piece.lines)
            matched = piece.read or blktable.read(piece.lines, self.form)
            if self.ended:
                self._check_ended(matched, -1)
                self.line += len(piece.lines)
            else:
                self._keep_piece(piece.lines, matched)
        if self.ended:
            return
        if self.rest.strip():
            piece = self._piece(self.rest.rstrip() + b"\n")
            self._check(piece)
            self._last_line(*piece.lines)

    def _read_ahead(self) -> Iterator[_Piece]:
        """Yield the pieces in order, while threads match the lines of the next ones."""
        with ThreadPoolExecutor(_THREADS) as pool:
            waiting = deque[Future[_Piece]]()
            for data in self.pieces():
                waiting.append(pool.submit(self._piece, data))
                if len(waiting) > _THREADS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _piece(self, data: bytes) -> _Piece:
        lines, form = _lines(data), self.form
        return _Piece(data, lines, form and blktable.read(lines, form))

    def _check(self, piece: _Piece) -> None:
        """Raise NoTextError at a carriage return within a line, and at a line that is too long."""
        if b"\r" in piece.data:
            for number, line in enumerate(piece.lines, self.line + 1):
                if "\r" in line:
                    raise NoTextError(f"line {number}: has a carriage return (CR), which alone ends no line")
        if not piece.data.endswith(b"\n"):
            raise NoTextError(f"line {self.line + 1}: longer than {_LONGEST} bytes")

    def _last_line(self, line: str) -> None:
        """Read a last line that has no newline: an event ends with `]`, or it may be cut short."""
        self.form = self.form or _form(pl.Series([line]), self.line)
        self.found.cut = self.form not in (blklines.parsed, blklines.traced) or not line.endswith("]")
        try:
            row = None if self.form is None else self._row(line)
        except NoTextError:
            if not self.events:
                raise
            row, self.found.cut = None, True
        if row is not None and not self.found.cut:
            self._keep(np.array([row], EVENT))

    def _count_lost(self, lines: pl.Series) -> None:
        for line in lines:
            if lost := _LOST.fullmatch(line):
                number = lost["number"] or lost["records"]
                self.found.lost += int(number or 1)
                self.found.lost_more |= number is None

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines, or the begin of a line that is too long."""
        rest = self.file.read(len(_BOM))
        rest = b"" if rest == _BOM else rest
        while data := self.file.read(_PIECE):
            data = rest + data
            end = data.rfind(b"\n") + 1
            if end == 0 and len(data) > _LONGEST:
                yield data
                return
            rest = data[end:]
            if end:
                yield data[:end]
        self.rest = rest

    def _row(self, line: str) -> blklines.Row | None:
        """Return the event of the next line."""
        self.line += 1
        if self.ended or not line.strip() or line.startswith(_HEADERS):
            return None
        if self.form is blklines.traced and (line.lstrip().startswith(_OF_TRACER) or _LOST.fullmatch(line)):
            return None
        if self.form is not blklines.traced and self.events and _SUMS.fullmatch(line):
            self.ended = True
            return None
        assert self.form is not None
        try:
            row = self.form(line, self.found.number)
        except blklines.LineError as error:
            raise NoTextError(f"line {self.line}: {error}") from None
        self.events += 1
        return row

    def _check_ended(self, matched: blktable.Read, number: int) -> None:
        """Raise NoTextError if an event follows line `number` of a piece, where the sums begin."""
        later = matched.lines[matched.lines > number]
        if later.size:
            raise NoTextError(f"line {self.line + int(later[0]) + 1}: an event behind the sums: {_TWO}")

    def _keep(self, rows: np.ndarray) -> None:
        self.found.keep(rows[self.found.add(rows["action"], rows["device"])])

    def _keep_piece(self, lines: pl.Series, matched: blktable.Read) -> None:
        """Keep the events of the lines that were matched, and of the others, which are read one by one."""
        rows, read = blktable.rows(matched.table, self.found.number), matched.lines
        before, events = self.line, self.events
        places, others = list[int](), list[blklines.Row]()
        for number in matched.unread.tolist():
            self.line = before + number
            self.events = events + int(np.searchsorted(read, number)) + len(others)
            row = self._row(lines[number])
            if self.ended:
                self.line = before
                self._check_ended(matched, number)
                rows, read = rows[read < number], read[read < number]
                break
            if row is not None:
                places.append(number)
                others.append(row)
        self.line, self.events = before + len(lines), events + read.size + len(others)
        if others:
            order = np.argsort(np.r_[read, places], kind="stable")
            rows = np.concatenate([rows, np.array(others, EVENT)])[order]
        self._keep(rows)


def _lines(data: bytes) -> pl.Series:
    """Return the lines of whole lines."""
    if b"\x1b[" in data:
        data = _COLOR.sub(b"", data)
    text = data.replace(b"\r\n", b"\n").decode(errors="replace")
    return pl.Series([text]).str.split("\n").explode()[:-1]


def _form(lines: pl.Series, before: int) -> blklines.Reader | None:
    """Return the reader of a text's lines, by the first that is not a comment; None if all are.

    `before` is the number of the line before them. Raises NoTextError.
    """
    for number, line in enumerate(lines, before + 1):
        if not line.strip() or line.lstrip().startswith(_OF_TRACER) or _LOST.fullmatch(line):
            continue
        if blklines.TRACED.fullmatch(line):
            return blklines.traced
        if line.startswith(_HEADERS) or blklines.PARSED.fullmatch(line):
            return blklines.parsed
        raise NoTextError(f"line {number}: {line.strip()[:40]!r} is not {_EITHER}")
    return None
