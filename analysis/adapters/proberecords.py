"""Read and check raw/probes.bin, the records of the kernel probes (`struct record` of probes/record.h).

Records are in the order in which their events ended; `begin_ns` gives the order in time.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from base.errors import FileError
from model.block_operations import OP, PASSTHROUGH

HEADER = np.dtype([("magic", "S8"), ("record_size", "<u4"), ("version", "<u4"), ("reserved", "V48")])
RECORD = np.dtype(
    [
        ("begin_ns", "<u8"),  # CLOCK_MONOTONIC
        ("end_ns", "<u8"),
        ("type", "<u2"),
        ("flags", "<u2"),
        ("tid", "<u4"),
        ("dev", "<u4"),  # major << 20 | minor
        ("n", "<u4"),
        *((name, "<u8") for name in "abcd"),
    ]
)
# What `flags`, `n` and `a` to `d` of each type are, where it uses them.
TYPES = {
    "attached": 1,  # a point in time; n: programs attached
    "detached": 2,  # a point in time; n: records lost; a: calls without a record (struct ring's `updates`)
    # the filesystem's sync_file; flags: 1 datasync, 2 directory, bits 4 to 7 the caller (CALLERS); n: result;
    # a: inode; b: generation
    "sync": 3,
    # issue to completion; flags: error; n: sectors; a: sector; b: request flags; c: `start_time_ns` of the
    # request (its bio may have waited before); d: number in order of issue
    "block": 4,
    # queued; dev: the partition; flags: pages records that follow; n: sectors; a: sector of the disk;
    # b: flags; d: number
    "bio": 5,
    # with its bio; flags: owner (OWNERS); n: pages in a row; a: inode; b: first index; c: generation; d: the
    # bio's number
    "pages": 6,
    "flush": 7,  # blkdev_issue_flush
    # of a journal; flags: sync_commit; n: blocks logged, with the commit block; a: tid; b: ns flushing;
    # c: ns logging
    "commit": 8,
    "commit_wait": 9,  # jbd2_log_wait_commit; a: tid waited for
    "checkpoint": 10,  # or a log write; n: reason, in bits
    "data_wait": 11,  # a sync's begin to the end of file_write_and_wait_range; n: result; a: inode
    "node_wait": 12,  # a wait for node pages, or for the log; a: inode, 0 for a log
    "off_cpu": 13,  # the driver's thread was not running; flags: its state
    "writeback": 14,  # a round of a flusher thread; flags: reason; n: pages
    "name": 15,  # of an inode, in parts; a point in time; n: part; a: inode; b to d: characters
    "comm": 16,  # of a thread; a point in time; n: tid; a, b: characters
}
CALLERS = ("kernel", "fsync", "fdatasync", "io_uring")  # of a sync: bits 4 to 7 of its flags
OWNERS = ("file", "directory", "device", "other", "none", "moved")  # of pages: their flags
CHUNK = 1 << 14  # records read at once: they fit in a CPU's cache
_WANTED = {"magic": b"CPPROBE1", "record_size": RECORD.itemsize, "version": 1}
# Impossible values: the first one that is too large, by field. The limits are the kernel's (a bio has at most
# 4 GiB, as bi_size has 32 bits; inode numbers of small filesystems and numbers of commits have 32 bits; times
# are years) or the ledger's keys (36 bits for a sector: 32 TiB).
_LATEST_NS, _SECTOR, _NUMBER, _SECTORS, _PAGES = 1 << 62, 1 << 36, 1 << 32, (1 << 23) + 1, (1 << 20) + 1
LIMITS: dict[str, dict[str, int]] = {
    "sync": {"flags": len(CALLERS) << 4, "a": _NUMBER},
    "block": {"n": _SECTORS, "a": _SECTOR, "c": _LATEST_NS, "d": _LATEST_NS},
    "bio": {"n": _SECTORS, "a": _SECTOR, "d": _LATEST_NS},
    "pages": {"flags": len(OWNERS), "n": _PAGES, "a": _NUMBER, "b": _SECTOR >> 3, "d": _LATEST_NS},
    "commit": {"a": _NUMBER, "b": _LATEST_NS, "c": _LATEST_NS},
    "commit_wait": {"a": _NUMBER},
    "checkpoint": {"a": _NUMBER},
    "data_wait": {"a": _NUMBER},
    "node_wait": {"a": _NUMBER},
    "name": {"n": 1 << 8, "a": _NUMBER},
}

ByType = dict[str, np.ndarray]


def read(path: Path) -> np.ndarray:
    """Return all records of a file (RECORD). Raises FileError with the byte that is wrong."""
    return joined([rows for rows, _ in _checked(path)])


def taken(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return rows[which]. numpy copies a record of fields field by field, an opaque one at once."""
    values = rows.view(opaque(rows.dtype))
    return (values.compress(which) if which.dtype == bool else values.take(which)).view(rows.dtype)


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return one array of all parts, copied as `taken` does."""
    return np.concatenate([part.view(opaque(part.dtype)) for part in parts]).view(parts[0].dtype)


def opaque(record: np.dtype[Any]) -> np.dtype[np.void]:
    """Return the dtype of records of the same size without fields."""
    return np.dtype((np.void, record.itemsize))


def split(rows: np.ndarray) -> ByType:
    """Return the rows of each type, in their order. Every type must be one of TYPES."""
    kind = np.ascontiguousarray(rows["type"])
    ordered = taken(rows, np.argsort(kind, kind="stable"))
    ends = np.cumsum(np.bincount(kind, minlength=len(TYPES) + 1)).tolist()
    return {name: ordered[ends[code - 1] : ends[code]] for name, code in TYPES.items()}


def chunks(path: Path) -> Iterator[ByType]:
    """Yield the records of a file, a chunk at a time. Raises FileError with the byte that is wrong."""
    return (parts for _, parts in _checked(path))


def _checked(path: Path) -> Iterator[tuple[np.ndarray, ByType]]:
    """Read a file: the records of each chunk, in order and by type.

    The first record is `attached`, the last `detached`, and there is one of each: a file cut
    short at any place is refused.
    """
    try:
        size, file = path.stat().st_size, path.open("rb")
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    edges: list[tuple[int, int]] = []
    with file:
        _check_size(path, size, np.fromfile(file, HEADER, 1))
        while (rows := np.fromfile(file, RECORD, CHUNK)).size:
            base = file.tell() - rows.nbytes
            kind = np.ascontiguousarray(rows["type"])
            if kind.min() < 1 or kind.max() > len(TYPES):
                wrong = int(np.argmax((kind < 1) | (kind > len(TYPES))))
                _fail(path, base, rows, wrong, "type", f"1 to {len(TYPES)}")
            parts = split(rows)
            at = np.flatnonzero(kind <= TYPES["detached"])
            edges += zip((base + at * RECORD.itemsize).tolist(), kind[at].tolist(), strict=True)
            if _spoiled(rows, parts):
                if not (passed := _passthrough(rows)).any():
                    _refuse(path, base, rows)
                ours = taken(rows, ~passed)
                parts = split(ours)
                if ours.size and _spoiled(ours, parts):
                    _refuse(path, base, rows)
                rows = ours
            yield rows, parts
    _check_edges(path, edges, size)


def _check_size(path: Path, size: int, header: np.ndarray) -> None:
    if not header.size:
        raise FileError(path, "byte 0", f"a header of {size} bytes", f"{HEADER.itemsize} bytes")
    for field, wanted in _WANTED.items():
        value = header[0][field]
        if value != wanted:
            offset = HEADER.fields[field][1] if HEADER.fields else 0
            raise FileError(path, f"byte {offset}", f"{field} is {value.item()!r}", repr(wanted))
    if cut := (size - HEADER.itemsize) % RECORD.itemsize:
        raise FileError(path, f"byte {size - cut}", f"a record of {cut} bytes", f"{RECORD.itemsize} bytes")


def _spoiled(rows: np.ndarray, parts: ByType) -> bool:
    """Return whether a field of a record has an impossible value; `parts` are the rows by type."""
    begin, end = rows["begin_ns"], rows["end_ns"]
    if (begin > end).any() or end.max() >= _LATEST_NS:
        return True
    return any(
        parts[name][field].max() >= most
        for name, limits in LIMITS.items()
        if parts[name].size
        for field, most in limits.items()
    )


def _passthrough(rows: np.ndarray) -> np.ndarray:
    """Return which records are commands that bypass the block layer's operations, such as SMART's.

    They have no place: their sector is -1. No filesystem issues them, and the kernel does not count them.
    """
    is_block = rows["type"] == TYPES["block"]
    passed: np.ndarray = is_block & np.isin(rows["b"] & OP, PASSTHROUGH) & (rows["a"] == 2**64 - 1)
    return passed


def _refuse(path: Path, base: int, rows: np.ndarray) -> None:
    """Raise FileError at the first of `rows`, which begin at byte `base`, that is spoiled."""
    names, passed = ["", *TYPES], _passthrough(rows)
    for row, kind in enumerate(rows["type"].tolist()):
        name = names[kind]
        if passed[row]:
            continue
        if rows["begin_ns"][row] > rows["end_ns"][row]:
            _fail(path, base, rows, row, "begin_ns", "no more than end_ns")
        for field, most in {"end_ns": _LATEST_NS, **LIMITS.get(name, {})}.items():
            if rows[field][row] >= most:
                _fail(path, base, rows, row, field, f"less than {most} of a record of {name}")


def _fail(path: Path, base: int, rows: np.ndarray, row: int, field: str, expected: str) -> NoReturn:
    """Raise FileError at a field of one of `rows`, which begin at byte `base`."""
    offset = RECORD.fields[field][1] if RECORD.fields else 0
    place = f"byte {base + row * RECORD.itemsize + offset}"
    raise FileError(path, place, f"{field} is {rows[field][row]}", expected)


def _check_edges(path: Path, edges: list[tuple[int, int]], size: int) -> None:
    """Raise FileError unless the file has one `attached`, first, and one `detached`, last."""
    last = size - RECORD.itemsize
    if not edges or edges[0] != (HEADER.itemsize, TYPES["attached"]):
        raise FileError(
            path, f"byte {HEADER.itemsize}", "the first record is not 'attached'", "a record 'attached'"
        )
    if edges[-1] != (last, TYPES["detached"]):
        raise FileError(path, f"byte {size}", "it ends without a record 'detached'", "a whole file")
    if len(edges) > 2:
        raise FileError(path, f"byte {edges[1][0]}", "a second 'attached' or 'detached'", "one of each")
