"""blkparse's lines read at once: those that look as it prints most commands.

The words of a piece of text are found with numpy. Lines as `8,0 3 1 0.000000000 697 D WS 223490 + 8
[kjournald]`, or without sectors, are read by their words; of all others the caller is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analysis.adapters import blklines
from analysis.adapters.blkevents import EVENT, Collected
from analysis.adapters.blkrecords import COMPLETE, REQUEUE

_ACTIONS = {letter: action for letter, action in blklines.ACTIONS.items() if letter not in "XA"}
_NOTES = ("P", "U", "UT", "m", "S", "B")  # of no command, or of nothing that a matcher asks
_NAME = 16  # bytes of a process's name, at most
_ODD = 1 << 62  # of a number: it is none


class Words(NamedTuple):
    """The words of a piece of text, each line of which ends with a newline."""

    data: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    first: np.ndarray  # of each line its first word
    counts: np.ndarray


def words(data: np.ndarray, newlines: np.ndarray) -> Words:
    """Find the words."""
    blank = data <= ord(" ")
    change = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    change = change if blank[0] else np.r_[0, change]
    begins, ends = change[::2], change[1::2]
    last = np.searchsorted(begins, newlines)
    first = np.r_[0, last[:-1]]
    return Words(data, begins, ends, first, last - first)


def rows(
    data: np.ndarray, newlines: np.ndarray, found: Collected
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (lines that are not read, lines with an event, their events: EVENT)."""
    text = words(data, newlines)
    lines = np.flatnonzero(text.counts >= 7)
    word = [_word(text, text.first[lines] + place) for place in range(7)]
    time, pid = _time(word[3]), word[4].number()
    action, device = word[5].coded(_action), word[0].coded(_device)
    ok = (device >= 0) & (time < _ODD) & (pid < 1 << 32)
    ok &= word[1].is_digit() & word[2].is_digit()
    is_note = ok & (action == 0)
    ok &= action > 0
    # what is behind the operation
    count = text.counts[lines]
    at, sector, size = text.first[lines] + 7, np.zeros(lines.size, np.int64), np.zeros(lines.size, np.int64)
    seventh = _word(text, at, count > 7)
    has_sector = seventh.first() != ord("[")
    answers = (action == COMPLETE) | (action == REQUEUE)
    place = _word(text, at + 1, has_sector & (count > 10))
    has_size = (place.first() == ord("+")) & (place.ends - place.begins == 1)
    sector[has_sector] = seventh.number()[has_sector]
    size[has_size] = _word(text, at + 2, has_size).number()[has_size]
    ok &= (count > 7) & (has_size | (has_sector == answers)) & (sector + size < 1 << 54)
    last = _word(text, at + has_sector + 2 * has_size, ok & (count > 7 + has_sector + 2 * has_size))
    ok &= last.first() == ord("[")
    begins, ends = last.begins + 1, text.ends[text.first[lines] + count - 1] - 1
    ok &= (data[ends] == ord("]")) & (ends >= begins)
    inside = _Word(data, begins, np.maximum(ends, begins))
    error, name = _last(inside, ok & (action == COMPLETE), ok & ~answers, found)
    bits = word[6].coded(_bits)
    ok &= (bits >= 0) & (error < 1 << 16) & (name >= 0)
    made = np.zeros(np.count_nonzero(ok), EVENT)
    columns = {"time": time, "sector": sector, "bytes": size * 512, "action": bits | action, "pid": pid}
    for column, values in {**columns, "device": device, "name": name, "error": error}.items():
        made[column] = values[ok]
    unread = np.ones(newlines.size, bool)
    unread[lines[ok | is_note]] = False
    return np.flatnonzero(unread & (text.counts > 0)), lines[ok], made


class _Word(NamedTuple):
    """A word of each of some lines; where there is none, an empty one."""

    data: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    def first(self) -> np.ndarray:
        """Return the first byte of each, 0 of an empty one."""
        found: np.ndarray = np.where(self.ends > self.begins, self.data[self.begins], 0)
        return found

    def is_digit(self) -> np.ndarray:
        """Return which begin and end with a digit."""
        ends = np.stack([self.data[self.begins], self.data[self.ends - 1]])
        digit: np.ndarray = np.logical_and.reduce((ends >= ord("0")) & (ends <= ord("9")), axis=0)
        return digit

    def number(self) -> np.ndarray:
        """Return each as a number, _ODD of what is none."""
        length = self.ends - self.begins
        ok = (length > 0) & (length < 19)
        found = np.zeros(length.size, np.int64)
        for place in range(int(length[ok].max(initial=0))):
            inside = ok & (length > place)
            digit = self.data[np.where(inside, self.begins + place, 0)].astype(np.int64) - ord("0")
            ok &= ~inside | ((digit >= 0) & (digit < 10))
            found = np.where(inside, found * 10 + digit, found)
        return np.where(ok, found, _ODD)

    def text(self, row: int) -> str:
        """Return one as text."""
        return self.data[self.begins[row] : self.ends[row]].tobytes().decode(errors="replace")

    def coded(
        self, code: Callable[[str], int], which: np.ndarray | None = None, longest: int = 8
    ) -> np.ndarray:
        """Return code(word) of each, -1 of those that are longer or not in `which`."""
        length = self.ends - self.begins
        rows = np.flatnonzero((length <= longest) & (True if which is None else which))
        found = np.full(length.size, -1)
        if not rows.size:
            return found
        at = np.arange((longest + 7) // 8 * 8)
        inside = at < length[rows][:, None]
        packed = self.data[np.where(inside, self.begins[rows][:, None] + at, 0)] * inside
        parts = np.ascontiguousarray(packed).view(np.uint64)
        key = parts[:, 0].copy()
        for column in range(1, parts.shape[1]):
            key = (key * np.uint64(0x9E3779B97F4A7C15)) ^ parts[:, column]
        _, first, places = np.unique(key, return_index=True, return_inverse=True)
        codes = np.array([code(self.text(row)) for row in rows[first].tolist()])
        # two words may have one key by chance
        same = (parts == parts[first][places]).all(axis=1)
        found[rows] = np.where(same, codes[places], -1)
        return found


def _word(text: Words, which: np.ndarray, there: np.ndarray | None = None) -> _Word:
    which = which if there is None else np.where(there, which, 0)
    begins, ends = text.begins[which], text.ends[which]
    return _Word(text.data, begins, ends if there is None else np.where(there, ends, begins))


def _time(word: _Word) -> np.ndarray:
    """Return seconds and nine digits behind a point as ns."""
    point = np.maximum(word.ends - 10, word.begins)
    seconds = _Word(word.data, word.begins, point).number()
    ns = _Word(word.data, np.minimum(point + 1, word.ends), word.ends).number()
    ok = (word.data[point] == ord(".")) & (seconds < 10**9) & (ns < _ODD)
    return np.where(ok, seconds * 10**9 + ns, _ODD)


def _action(text: str) -> int:
    return 0 if text in _NOTES else _ACTIONS.get(text, -1)


def _device(text: str) -> int:
    major, _, minor = text.partition(",")
    if not (major.isdecimal() and minor.isdecimal()) or int(major) >> 12 or int(minor) >> 20:
        return -1
    return int(major) << 20 | int(minor)


def _bits(text: str) -> int:
    try:
        return blklines.flags(text, has_data=True)
    except blklines.LineError:
        return -1


def _last(
    word: _Word, errors: np.ndarray, names: np.ndarray, found: Collected
) -> tuple[np.ndarray, np.ndarray]:
    """Return the error of each completion, and the number of each other's process."""
    failed = np.where(errors, word.number(), 0)
    named = word.coded(lambda text: found.number(blklines.process(text)), names, _NAME)
    return failed, np.where(names, named, 0)
