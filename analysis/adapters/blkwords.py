"""blkparse's lines read at once: those that look as it prints most commands.

The words of a piece of text are found with numpy. Lines as `8,0 3 1 0.000000000 697 D WS 223490 + 8
[kjournald]`, or without sectors, are read by their words; of all others the caller is told.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.adapters import blklines
from analysis.adapters.blkbytes import ODD, Codes, Word
from analysis.adapters.blkevents import EVENT, Collected
from analysis.adapters.blkrecords import COMPLETE, REQUEUE

_ACTIONS = {letter: action for letter, action in blklines.ACTIONS.items() if letter not in "XA"}
_NOTES = ("P", "U", "UT", "m", "S", "B")  # of no command, or of nothing that a matcher asks
_NAME = 16  # bytes of a process's name, at most


class Words(NamedTuple):
    """The words of a piece of text, each line of which ends with a newline."""

    data: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    first: np.ndarray  # of each line its first word
    counts: np.ndarray


def words(data: np.ndarray, newlines: np.ndarray) -> Words:
    """Find the words of a text with blanks around it."""
    blank = data <= ord(" ")
    change = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    begins, ends = change[::2], change[1::2]
    last = np.searchsorted(begins, newlines)
    first = np.r_[0, last[:-1]]
    return Words(data, begins, ends, first, last - first)


class Lines:
    """Reads the lines of one text, piece by piece."""

    def __init__(self, found: Collected) -> None:
        self._action, self._device, self._bits = Codes(_action), Codes(_device), Codes(_bits)
        self._name = Codes(lambda text: found.number(blklines.process(text)), _NAME)

    def rows(self, data: np.ndarray, newlines: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (lines that are not read, lines with an event, their events: EVENT).

        data: whole lines, with PAD blanks before and behind them.
        """
        text = words(data, newlines)
        lines = np.flatnonzero(text.counts >= 7)
        word = [_word(text, text.first[lines] + place) for place in range(7)]
        time, pid = _time(word[3]), word[4].number()
        action, device = self._action.numbers(word[5]), self._device.numbers(word[0])
        ok = (device >= 0) & (time < ODD) & (pid < 1 << 32)
        ok &= (word[1].number() < 10**5) & (word[2].number() < ODD)
        is_note = ok & (action == 0)
        ok &= action > 0
        # what is behind the operation
        count = text.counts[lines]
        at, sector, size = (
            text.first[lines] + 7,
            np.zeros(lines.size, np.int64),
            np.zeros(lines.size, np.int64),
        )
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
        inside = Word(data, begins, np.maximum(ends, begins))
        # the error of a completion, the process of another event
        error = np.where(ok & (action == COMPLETE), inside.number(), 0)
        named = Word(data, begins, np.where(ok & ~answers, inside.ends, begins))
        name = self._name.numbers(named)
        bits = self._bits.numbers(word[6])
        ok &= (bits >= 0) & (error < 1 << 16) & (name >= 0)
        made = np.zeros(np.count_nonzero(ok), EVENT)
        columns = {"time": time, "sector": sector, "bytes": size * 512, "action": bits | action, "pid": pid}
        for column, values in {**columns, "device": device, "name": name, "error": error}.items():
            made[column] = values[ok]
        unread = np.ones(newlines.size, bool)
        unread[lines[ok | is_note]] = False
        return np.flatnonzero(unread & (text.counts > 0)), lines[ok], made


def _word(text: Words, which: np.ndarray, there: np.ndarray | None = None) -> Word:
    which = which if there is None else np.where(there, which, 0)
    begins, ends = text.begins[which], text.ends[which]
    return Word(text.data, begins, ends if there is None else np.where(there, ends, begins))


def _time(word: Word) -> np.ndarray:
    """Return seconds and nine digits behind a point as ns."""
    point = np.maximum(word.ends - 10, word.begins)
    seconds = Word(word.data, word.begins, point).number()
    ns = Word(word.data, np.minimum(point + 1, word.ends), word.ends).number()
    ok = (word.data[point] == ord(".")) & (seconds < 10**9) & (ns < ODD)
    return np.where(ok, seconds * 10**9 + ns, ODD)


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
