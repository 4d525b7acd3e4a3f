"""Words of a text as numpy takes them: where each begins and ends in its bytes, all of one column at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ODD = 1 << 62  # of a number: it is none
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: it mixes the bits of a key
PAD = 24  # blanks before and behind a text, so that what is around a word may be read
# the last bytes of eight, and the first
_LAST = np.array([(1 << 64) - (1 << 8 * (8 - count)) for count in range(9)], np.uint64)
_FIRST = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
_ZEROS, _SIXES, _HIGH = (np.uint64(digit * 0x0101010101010101) for digit in (0x30, 0x06, 0xF0))


class Word(NamedTuple):
    """A word of each of some lines; where there is none, an empty one."""

    data: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    def first(self) -> np.ndarray:
        """Return the first byte of each, 0 of an empty one."""
        found: np.ndarray = np.where(self.ends > self.begins, self.data[self.begins], 0)
        return found

    def number(self) -> np.ndarray:
        """Return each as a number, ODD of what is none."""
        length = self.ends - self.begins
        ok = (length > 0) & (length < 19)
        found, digits = _digits(self.data, self.ends, length)
        ok &= digits
        for done in (8, 16):
            longer = np.flatnonzero(ok & (length > done))
            if not longer.size:
                break
            more, digits = _digits(self.data, self.ends[longer] - done, length[longer] - done)
            found[longer] += more * 10**done
            ok[longer] &= digits
        return np.where(ok, found, ODD)

    def text(self, row: int) -> str:
        """Return one as text."""
        return self.data[self.begins[row] : self.ends[row]].tobytes().decode(errors="replace")


def _eight(data: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the eight bytes from each place on as a number, the first of them lowest."""
    found: np.ndarray = np.ndarray((data.size - 7,), "V8", data, 0, (1,))[at].view("<u8")
    return found


def _digits(data: np.ndarray, ends: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (the number that the last digits before `ends` are, eight at most, which are digits)."""
    value = (_eight(data, ends - 8) ^ _ZEROS) & _LAST[np.clip(length, 0, 8)]
    ok = (value | (value + _SIXES)) & _HIGH == 0
    # two digits, then four, then eight at once
    value = value * np.uint64(10) + (value >> np.uint64(8))
    twos = np.uint64(0xFF000000FF)
    value = (value & twos) * np.uint64(100 + (1000000 << 32)) + ((value >> np.uint64(16)) & twos) * np.uint64(
        1 + (10000 << 32)
    )
    return (value >> np.uint64(32)).astype(np.int64), ok


class Codes:
    """The code of each word of a text: words are few, so each is looked at once."""

    def __init__(self, code: Callable[[str], int], longest: int = 8) -> None:
        self._code, self._longest = code, longest
        self._keys = np.empty(0, np.uint64)  # ascending
        self._parts = np.empty((longest // 8, 0), np.uint64)  # eight bytes each
        self._codes = np.empty(0, np.int64)

    def numbers(self, word: Word) -> np.ndarray:
        """Return the code of each word, -1 of longer ones."""
        length = word.ends - word.begins
        parts = np.stack(
            [
                _eight(word.data, word.begins + 8 * nth) & _FIRST[np.clip(length - 8 * nth, 0, 8)]
                for nth in range(self._longest // 8)
            ]
        )
        key = parts[0]
        for part in parts[1:]:
            key = (key * _FACTOR) ^ part
        fits = length <= self._longest
        place = self._places(key)
        new = np.flatnonzero(fits & ~self._has(place, key))
        if new.size:
            distinct, first = np.unique(key[new], return_index=True)
            codes = [self._code(word.text(row)) for row in new[first].tolist()]
            at = np.searchsorted(self._keys, distinct)
            self._keys = np.insert(self._keys, at, distinct)
            self._parts = np.insert(self._parts, at, parts[:, new[first]], axis=1)
            self._codes = np.insert(self._codes, at, codes)
            place = self._places(key)
        if not self._keys.size:
            return np.full(length.size, -1)
        # two words may have one key by chance
        same = (parts == self._parts[:, place]).all(axis=0)
        return np.where(fits & same, self._codes[place], -1)

    def _places(self, key: np.ndarray) -> np.ndarray:
        return np.minimum(np.searchsorted(self._keys, key), max(self._keys.size - 1, 0))

    def _has(self, place: np.ndarray, key: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._keys[place] == key if self._keys.size else np.zeros(key.size, bool)
        return found
