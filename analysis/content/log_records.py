"""Read the records of logs with LevelDB's format, which RocksDB shares (doc/log_format.md, db/log_format.h).

A log consists of blocks of 32 KiB. Each record has a CRC-32C of its type and data, and none crosses a block's
end. A log is only appended to, so its last content has all its records.
"""

from collections.abc import Iterator

import numpy as np

from analysis.content.blocks import BLOCK
from analysis.content.crc import crc32c
from analysis.content.units import Evidence
from base.arrays import Ints, ints

_BLOCK = 32768
_HEADER, _TYPES = 7, range(1, 5)
# of a log that is reused: the header ends with its number
_NUMBERED, _NUMBERED_TYPES = 11, range(5, 9)
_CRC, _ALL = 6, 0xFFFFFFFF  # where the bytes of the CRC begin
_MASK = 0xA282EAD8


def confirmed(given: Evidence, role: str) -> Ints:
    """Return the units of a role's files whose bytes, less zeros, are all in records with valid CRCs."""
    units = given.units.of_file(role)
    return np.concatenate([np.empty(0, np.int64), *(_of_log(given, each) for each in _logs(given, units))])


def _logs(given: Evidence, units: Ints) -> Iterator[Ints]:
    """Yield the units of each log, in the order of their writing.

    A log that is deleted leaves its inode to another file: the first page then begins with another record.
    """
    for inode in np.unique(given.units.inode[units]).tolist():
        own = units[given.units.inode[units] == inode]
        own = own[np.argsort(given.units.row[own], kind="stable")]
        first = np.flatnonzero(given.units.offset[own] == 0)
        heads = given.blocks.take(given.units.row[own[first]])[:, :_HEADER]
        begins = first[1:][(heads[1:] != heads[:-1]).any(axis=1)]
        yield from np.split(own, begins)


def _of_log(given: Evidence, units: Ints) -> Ints:
    """Return the confirmed units of one log."""
    page = given.units.offset[units] // BLOCK
    pages, last = np.unique(page[::-1], return_index=True)
    content = np.zeros((int(page.max(initial=0)) + 1, BLOCK), np.uint8)
    content[pages] = given.blocks.take(given.units.row[units[::-1][last]])
    known = (_in_records(content.ravel()).reshape(content.shape) | (content == 0)).all(axis=1)
    bytes_ = given.blocks.take(given.units.row[units])
    filled = BLOCK - np.argmax(bytes_[:, ::-1] != 0, axis=1)
    # an earlier writing of a page has the beginning of its last content
    begins = (bytes_ == content[page]) | (np.arange(BLOCK) >= filled[:, None])
    return ints(units[known[page] & begins.all(axis=1) & bytes_.any(axis=1)])


def _in_records(content: np.ndarray) -> np.ndarray:
    """Return which bytes of a log are in records with valid CRCs."""
    result = np.zeros(content.size, bool)
    for block in range(0, content.size, _BLOCK):
        end = min(block + _BLOCK, content.size)
        begin = block
        while begin + _HEADER <= end:
            size, kind = int(content[begin + 4]) | int(content[begin + 5]) << 8, int(content[begin + 6])
            header = _HEADER if kind in _TYPES else _NUMBERED
            after = begin + header + size
            if kind not in (*_TYPES, *_NUMBERED_TYPES) or after > end:
                break
            stored = content[begin : begin + 4].view("<u4")[0]
            if _masked(content[begin + _CRC : after]) == stored:
                result[begin:after] = True
            begin = after
    return result


def _masked(data: np.ndarray) -> int:
    crc = int(crc32c(data[None], _ALL)[0]) ^ _ALL
    return (((crc >> 15) | (crc << 17)) + _MASK) & _ALL
