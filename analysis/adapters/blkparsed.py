"""Text of block events: what blkparse, ftrace, trace-cmd or `perf script` printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analysis.adapters import blkbytes, blklines, blkwords
from analysis.adapters.blkevents import EVENT, Collected, Events

_PIECE = 1 << 20  # bytes at once
_LONGEST = 1 << 16  # of a line
# glibc keeps for later what is freed, up to twice the largest block that was (mallopt(3), M_MMAP_THRESHOLD).
# A piece has less, which it gave back and asked for again with every piece: 150 000 page faults.
_KEPT = 31 << 20
_BOM = b"\xef\xbb\xbf"
_HEADERS = (b"Input file ", b"Trace started at ")
_SUMS = (b"CPU", b"Total (", b"Throughput", b"Events (")
_OF_TRACER = (b"#", b"CPU ", b"CPU:", b"cpus=", b"version = ", b"name: ")


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
        self.words = blkwords.Lines(found)
        self.line = 0  # number of the line before the piece
        self.events = 0
        self.ended = False

    def read(self) -> None:
        """Read all of it."""
        for piece in self._pieces():
            if self.form is None:
                self.form = _form(piece)
                self.found.traced = self.form is blklines.traced
            if self.form is blklines.parsed:
                self._by_words(piece)
            else:
                self._by_lines(piece)
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

    def _by_lines(self, piece: bytes) -> None:
        rows = [row for line in piece.split(b"\n")[:-1] if (row := self._row(line)) is not None]
        self._keep(np.array(rows, EVENT))

    def _row(self, line: bytes) -> blklines.Row | None:
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
            row = self.form(line.decode(errors="replace").rstrip("\r"), self.found.number)
        except blklines.LineError as error:
            raise NoTextError(f"line {self.line}: {error}") from None
        self.events += 1
        return row

    def _keep(self, rows: np.ndarray) -> None:
        self.found.keep(rows[self.found.add(rows["action"], rows["device"])])

    def _by_words(self, piece: bytes) -> None:
        """Read blkparse's lines: most at once, the others one by one."""
        blanks = b" " * blkbytes.PAD
        piece = b"".join((blanks, piece, blanks))
        data = np.frombuffer(piece, np.uint8)
        newlines = np.flatnonzero(data == ord("\n"))
        unread, lines, rows = self.words.rows(data, newlines)
        before, events = self.line, self.events
        begins = np.r_[len(blanks), newlines[:-1] + 1]
        places, found = list[int](), list[blklines.Row]()
        for number in unread.tolist():
            self.line = before + number
            self.events = events + int(np.searchsorted(lines, number)) + len(found)
            row = self._row(piece[begins[number] : newlines[number]])
            if self.ended:
                rows, lines = rows[lines < number], lines[lines < number]
                break
            if row is not None:
                places.append(number)
                found.append(row)
        self.line, self.events = before + newlines.size, events + lines.size + len(found)
        if found:
            order = np.argsort(np.r_[lines, places], kind="stable")
            rows = np.concatenate([rows, np.array(found, EVENT)])[order]
        self._keep(rows)


def _form(piece: bytes) -> blklines.Reader:
    """Return what reads the lines of a text, by its first."""
    for line in piece.split(b"\n"):
        if not line.strip() or line.lstrip().startswith(_OF_TRACER):
            continue
        text = line.decode(errors="replace").rstrip("\r")
        return blklines.traced if blklines.TRACED.fullmatch(text) else blklines.parsed
    return blklines.parsed
