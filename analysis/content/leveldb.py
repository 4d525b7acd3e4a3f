"""Confirm or contradict labels of LevelDB's blocks by their bytes: CRCs of log records and of table blocks.

doc/log_format.md: a log, also a manifest, has blocks of 32 KiB with records: CRC, length, type.
doc/table_format.md: a table ends with a footer of 48 bytes: the places of two blocks, and a magic number.
Each block ends with its compression and a CRC. LevelDB only appends: a page's last writing has the bytes of
all earlier ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.content.blocks import BLOCK
from analysis.content.crc import crc32c
from analysis.content.findings import Finding, confirmed, contradicted
from analysis.content.units import Evidence
from base.arrays import Ints, LastBefore, ints
from model.engines.leveldb import FILES

# each part of these files has a checksum
SEALED = tuple(FILES[role][0] for role in ("log", "table", "manifest"))
_LOG_BLOCK, _FOOTER, _TRAILER = 32768, 48, 5
# type of a log's record → bytes of its header
HEADERS = dict.fromkeys(range(1, 5), 7)
_MAGIC = 0xDB4775248B80FB57
_MASK = 0xA282EAD8  # util/crc32c.h
_RULES = {
    "log": "record of a log with its CRC",
    "manifest": "record of a log with its CRC",
    "table": "block of a table with its CRC",
}


class _File(NamedTuple):
    """A file as its writings leave it."""

    units: Ints  # of it, in the order of issue
    bytes: np.ndarray  # uint8; zeros where nothing was written
    complete: np.ndarray  # bool, for each page: its last xWrite was written


class _Part(NamedTuple):
    """A part of a file with a checksum: what that covers, and the part's begin and end."""

    begin: int
    end: int
    covered: np.ndarray
    crc: int


def read(given: Evidence) -> list[Finding]:
    """Judge the units of LevelDB's files."""
    right, wrong = dict[str, list[Ints]](), dict[str, list[Ints]]()
    for role, rule in _RULES.items():
        for file in _files(given, role):
            good, bad = _judged(given, file, _blocks(file) if role == "table" else records(file.bytes))
            right.setdefault(rule, []).append(good)
            wrong.setdefault(rule, []).append(bad)
    findings = [confirmed(rule, np.concatenate(units)) for rule, units in right.items()]
    return (
        findings
        + [contradicted(rule, np.concatenate(units)) for rule, units in wrong.items()]
        + _texts(given)
    )


def _files(given: Evidence, role: str) -> Iterator[_File]:
    """Yield the files of a role; an inode number may be reused after a deletion."""
    units, calls = given.units, given.written.calls
    of_role = units.of_file(role)
    of_role = of_role[(units.offset[of_role] >= 0) & (units.call[of_role] >= 0)]
    opens = calls.filter(pl.col("op").cast(pl.String) == "open")
    last = LastBefore(ints(opens["inode"]), ints(opens["begin_ns"]))
    inode, begin = ints(calls["inode"]), ints(calls["begin_ns"])
    life = last.event(inode, begin)
    is_write = (calls["op"].cast(pl.String) == "write").to_numpy()
    own = life[units.call[of_role]]
    for number in np.unique(own):
        mine = of_role[own == number]
        writes = np.flatnonzero(is_write & (life == number))
        offset, size = (ints(calls[name].gather(writes)) for name in ("offset", "bytes"))
        end = int((offset + size).max())
        pages = -(-end // BLOCK)
        latest = np.full(pages, -1, np.int64)
        for call, first, behind in zip(writes, offset // BLOCK, -(-(offset + size) // BLOCK), strict=True):
            latest[first:behind] = call
        image, complete = np.zeros(pages * BLOCK, np.uint8), np.zeros(pages, bool)
        page = units.offset[mine] // BLOCK
        image.reshape(pages, BLOCK)[page] = given.blocks.take(units.row[mine])
        complete[page] = units.call[mine] == latest[page]
        yield _File(mine, image[:end], complete)


def records(data: np.ndarray, headers: Mapping[int, int] = HEADERS) -> Iterator[_Part]:
    """Yield the records of a log, up to the first place in each of its blocks that cannot be one."""
    for block in range(0, data.size, _LOG_BLOCK):
        at, end = block, min(block + _LOG_BLOCK, data.size)
        while at + min(headers.values()) <= end:
            length, header = int(data[at + 4]) | int(data[at + 5]) << 8, headers.get(int(data[at + 6]))
            if header is None or (behind := at + header + length) > end:
                break
            yield _Part(at, behind, data[at + 6 : behind], _word(data, at))
            at = behind


def _blocks(file: _File) -> Iterator[_Part]:
    """Yield the blocks of a table that its footer and index name; none without them."""
    data = file.bytes
    if data.size < _FOOTER or int.from_bytes(data[-8:].tobytes(), "little") != _MAGIC:
        return
    (places, _), index = _varints(data[-_FOOTER:], 0, 4), []
    for begin, size in ((places[0], places[1]), (places[2], places[3])):
        if begin + size + _TRAILER > data.size:
            return
        yield (part := _block(data, begin, size))
        index.append(part.covered[:-1])
    for begin, size in _handles(index[1]):
        if begin + size + _TRAILER > data.size:
            return
        yield _block(data, begin, size)


def _block(data: np.ndarray, begin: int, size: int) -> _Part:
    end = begin + size + _TRAILER
    return _Part(begin, end, data[begin : end - 4], _word(data, end - 4))


def _handles(block: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the places in an index. A row: sizes of the key's shared and own part and the value; both."""
    end = block.size - 4 - 4 * _word(block, block.size - 4)
    at = 0
    while at < end:
        (_, own, size), at = _varints(block, at, 3)
        (begin, length), _ = _varints(block, at + own, 2)
        yield begin, length
        at += own + size


def _varints(data: np.ndarray, at: int, count: int) -> tuple[list[int], int]:
    numbers = []
    for _ in range(count):
        number = shift = 0
        while at < data.size:
            byte = int(data[at])
            number, shift, at = number | (byte & 0x7F) << shift, shift + 7, at + 1
            if byte < 0x80:
                break
        numbers.append(number)
    return numbers, at


def _word(data: np.ndarray, at: int) -> int:
    return int.from_bytes(data[at : at + 4].tobytes(), "little")


def _judged(given: Evidence, file: _File, parts: Iterable[_Part]) -> tuple[Ints, Ints]:
    """Return the units with bytes of a part with a valid CRC, and of complete parts with an invalid one."""
    good, bad = np.zeros(file.complete.size, bool), np.zeros(file.complete.size, bool)
    for part, is_right in checked(parts):
        pages = slice(part.begin // BLOCK, -(-part.end // BLOCK))
        if is_right:
            good[pages] = True
        elif file.complete[pages].all():
            bad[pages] = True
    page = given.units.offset[file.units] // BLOCK
    return file.units[good[page] & _are_parts(given, file, page)], file.units[bad[page] & ~good[page]]


def checked(parts: Iterable[_Part]) -> Iterator[tuple[_Part, bool]]:
    """Yield each part with whether its CRC is right."""
    by_size: dict[int, list[_Part]] = {}
    for part in parts:
        by_size.setdefault(part.covered.size, []).append(part)
    for same in by_size.values():
        crcs = ~crc32c(np.stack([part.covered for part in same]), 0xFFFFFFFF)
        masked = ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(_MASK)
        yield from zip(same, (masked == [part.crc for part in same]).tolist(), strict=True)


def _are_parts(given: Evidence, file: _File, page: Ints) -> np.ndarray:
    """Return which units have the bytes of their page's last writing, as far as these were written then."""
    calls = given.written.calls
    call = given.units.call[file.units]
    end = ints(calls["offset"].gather(call)) + ints(calls["bytes"].gather(call)) - page * BLOCK
    padded = np.zeros(file.complete.size * BLOCK, np.uint8)
    padded[: file.bytes.size] = file.bytes
    same = given.blocks.take(given.units.row[file.units]) == padded.reshape(-1, BLOCK)[page]
    return np.asarray((same | (np.arange(BLOCK) >= end[:, None])).all(axis=1))


def _texts(given: Evidence) -> list[Finding]:
    """Confirm CURRENT, which names a manifest, and the info log by the date in each line."""
    findings = []
    for role, rule, first in (
        ("current", "name of a manifest", b"MANIFEST-"),
        ("info", "lines of the info log", b"20"),
    ):
        units = given.units.of_file(role)
        units = units[given.units.offset[units] == 0]
        head = given.blocks.take(given.units.row[units])[:, : len(first)]
        findings.append(confirmed(rule, units[(head == np.frombuffer(first, np.uint8)).all(axis=1)]))
    return findings
