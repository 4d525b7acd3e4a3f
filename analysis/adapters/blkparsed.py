"""Text of block events: what blkparse, ftrace, trace-cmd or `perf script` printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analysis.adapters import blklines, blktable
from analysis.adapters.blkevents import EVENT, Collected, Events

_PIECE = 1 << 20  # bytes at once
_LONGEST = 1 << 16  # of a line
# glibc keeps for later what is freed, up to twice the largest block that was (mallopt(3), M_MMAP_THRESHOLD).
# A piece has less, which it gave back and asked for again with every piece: 150 000 page faults.
_KEPT = 31 << 20
_BOM = b"\xef\xbb\xbf"
_HEADERS = ("Input file ", "Trace started at ")
_SUMS = ("CPU", "Total (", "Throughput", "Events (")
_OF_TRACER = ("#", "CPU ", "CPU:", "cpus=", "version = ", "name: ")


class NoTextError(ValueError):
    """The text is none of block events; says which line of it."""


def read(path: Path, form: blklines.Reader | None = None) -> Events:
    """Return the events of a text; `form` reads a line of it, None: that is found out. Raises NoTextError."""
    found = Collected()
    np.empty(_KEPT, np.uint8)  # freed at once
    with path.open("rb") as file:
        _Text(file, found, form).read()
    return found.events(sort=True)


class _Text:
    """A text that is being read."""

    def __init__(self, file: BinaryIO, found: Collected, form: blklines.Reader | None) -> None:
        self.file, self.found = file, found
        self.form = form
        self.line = 0  # number of the line before the piece
        self.events = 0
        self.ended = False

    def read(self) -> None:
        """Read all of it."""
        for piece in self._pieces():
            lines = piece.replace(b"\r\n", b"\n").decode(errors="replace").split("\n")[:-1]
            if self.form is None:
                self.form = _form(lines)
                self.found.traced = self.form is blklines.traced
            if self.form in (blklines.parsed, blklines.traced):
                self._at_once(self.form, lines)
            else:
                self._by_lines(lines)
            if self.ended:
                return

    def _pieces(self) -> Iterator[bytes]:
        """Give whole lines."""
        rest = self.file.read(len(_BOM))
        rest = b"" if rest == _BOM else rest
        while data := self.file.read(_PIECE):
            data = rest + data
            end = data.rfind(b"\n") + 1
            if end == 0 and len(data) > _LONGEST:
                raise NoTextError(f"line {self.line + 1}: longer than {_LONGEST} bytes")
            rest = data[end:]
            if end:
                yield data[:end]
        if rest:
            yield rest + b"\n"

    def _by_lines(self, lines: list[str]) -> None:
        rows = [row for line in lines if (row := self._row(line)) is not None]
        self._keep(np.array(rows, EVENT))

    def _row(self, line: str) -> blklines.Row | None:
        """Return the event of the next line."""
        self.line += 1
        if self.ended or not line.strip() or line.startswith(_HEADERS):
            return None
        if self.form is blklines.traced and line.lstrip().startswith(_OF_TRACER):
            return None
        if self.form is not blklines.traced and self.events and line.startswith(_SUMS):
            self.ended = True
            return None
        assert self.form is not None
        try:
            row = self.form(line, self.found.number)
        except blklines.LineError as error:
            raise NoTextError(f"line {self.line}: {error}") from None
        self.events += 1
        return row

    def _keep(self, rows: np.ndarray) -> None:
        self.found.keep(rows[self.found.add(rows["action"], rows["device"])])

    def _at_once(self, form: blklines.Reader, lines: list[str]) -> None:
        """Read lines: most at once, the others one by one."""
        rows, read, unread = blktable.read(lines, form, self.found.number)
        before, events = self.line, self.events
        places, others = list[int](), list[blklines.Row]()
        for number in unread.tolist():
            self.line = before + number
            self.events = events + int(np.searchsorted(read, number)) + len(others)
            row = self._row(lines[number])
            if self.ended:
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


def _form(lines: list[str]) -> blklines.Reader:
    """Return what reads the lines of a text, by its first."""
    for line in lines:
        if not line.strip() or line.lstrip().startswith(_OF_TRACER):
            continue
        return blklines.traced if blklines.TRACED.fullmatch(line) else blklines.parsed
    return blklines.parsed
