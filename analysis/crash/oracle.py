"""What a database must hold after each of a run's transactions: a hash of all rows, whatever their order.

The hash is that of workloads/trials/recovered.h; the rows are the workload's own, made again
(analysis/workloads/), and no byte of what the board did enters.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping
from typing import Any

from analysis import workloads
from analysis.workloads import Options, _sample

_WORD = (1 << 64) - 1
_BEGIN, _FACTOR, _CLOSING = 0xCBF29CE484222325, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
_INTEGER, _TEXT = 1, 3


def can_tell(workload: Mapping[str, Any]) -> bool:
    """Whether a workload's profile is of transactions that are made again, on rows of a key and a text."""
    found = workloads.find(str(workload["driver_workload"]))
    return found is not None and found.TEXTS is _sample.TEXTS


def after_each(cell: Mapping[str, Any], phases: list[str]) -> list[tuple[int, int]]:
    """Return (rows, hash) after m transactions of a run of those phases, m from 0 on.

    Raises ValueError where the cell's workload is not made again.
    """
    workload = workloads.find(name := str(cell["profiles"]["workload"]["driver_workload"]))
    if workload is None or not can_tell(cell["profiles"]["workload"]):
        raise ValueError(f"the rows of {name} are not known")
    options = Options(cell["rows"], cell["n"], cell["value_size"], cell["seed"])
    rows = dict.fromkeys(range(1, options.rows + 1), b"i" * options.value_size)
    total = sum(row_hash(key, value) for key, value in rows.items()) & _WORD
    found = [(len(rows), total)]
    for transaction in workloads.again(workload, options, phases):
        for kind, key, value in transaction:
            there = key in rows
            if kind == "read" or there == (kind == "insert"):
                continue
            total -= row_hash(key, rows.pop(key)) if there else 0
            if kind != "delete":
                rows[key] = value
                total += row_hash(key, value)
        total &= _WORD
        found.append((len(rows), total))
    return found


def row_hash(key: int, value: bytes) -> int:
    """Return the hash of a row (INTEGER, TEXT)."""
    return _closed(_word(_word(_BEGIN, _value(_INTEGER, struct.pack("<q", key))), _value(_TEXT, value)))


@functools.lru_cache(4096)
def _value(kind: int, content: bytes) -> int:
    """Return the hash of a value; those of a workload are alike."""
    found = _word(_word(_BEGIN, kind), len(content))
    padded = content + bytes(-len(content) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        found = _word(found, word)
    return _closed(found)


def _word(taken: int, word: int) -> int:
    return (taken ^ word) * _FACTOR & _WORD


def _closed(taken: int) -> int:
    taken = (taken ^ (taken >> 32)) * _CLOSING & _WORD
    return taken ^ (taken >> 29)
