"""Read the binary files of the kernel's block tracer, with process names; decode the type of each record.

Records are `struct blk_io_trace` of linux/blktrace_api.h.

A record is 48 bytes, little-endian, and `pdu_len` more of payload; one of version 8, `struct
blk_io_trace2`, is 64 bytes, and is given as one of version 7. Most have no payload, but
one in ten has, so no stride fits a whole file. Instead of walking it record by record, a chunk
of it is searched for the magic number at once; if each record then ends where the next begins,
the chunk is whole. Only the wanted records are kept, so memory holds these and one chunk.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import polars as pl

from analysis.adapters.proberecords import opaque, taken
from analysis.schemas import events
from base.errors import FileError

MAGIC = 0x65617407  # 0x65617400 | version 7
RECORD = np.dtype(
    [
        ("magic", "<u4"),
        ("sequence", "<u4"),
        ("time", "<u8"),  # ns, CLOCK_MONOTONIC
        ("sector", "<u8"),
        ("bytes", "<u4"),
        ("action", "<u4"),  # category bits << 16 | what happened
        ("pid", "<u4"),
        ("device", "<u4"),  # major << 20 | minor
        ("cpu", "<u4"),
        ("error", "<u2"),
        ("pdu_len", "<u2"),
    ]
)
MAGIC2 = 0x65617408
_RECORD2 = np.dtype(
    [
        *((name, RECORD[name]) for name in ("magic", "sequence", "time", "sector", "bytes", "pid")),
        ("action", "<u8"),  # above 32 bits: operations on zones, and writes of zeros
        *((name, RECORD[name]) for name in ("device", "cpu", "error", "pdu_len")),
        ("pad", "V12"),
    ]
)
_FORMS = {MAGIC: RECORD, MAGIC2: _RECORD2}
WRITE, FLUSH, SYNC = 1 << 17, 1 << 18, 1 << 19
PASSTHROUGH = 1 << 25
NOTIFY, AHEAD, META, DISCARD, FUA = 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 31
QUEUE, BACK_MERGE, FRONT_MERGE, GET_REQUEST, REQUEUE, ISSUE, COMPLETE = 1, 2, 3, 4, 6, 7, 8
INSERT, SPLIT, REMAP = 12, 13, 15
NOTIFY_PROCESS = 0
ACTION = 0xFF  # bit 8: a cgroup id leads the payload
CHUNK = 1 << 20  # bytes searched at once: with its columns it fits in a CPU's cache
_LONGEST = _RECORD2.itemsize + (1 << 16)

Wanted = Callable[[np.ndarray], np.ndarray]


class Chunk(NamedTuple):
    """Whole records that are next to each other in a file."""

    records: np.ndarray  # RECORD
    data: np.ndarray  # the bytes they are from, with their payloads
    payloads: np.ndarray  # where in them the payload of each begins


def read_file(path: Path, wanted: Wanted | None = None) -> tuple[np.ndarray, dict[int, str]]:
    """Return records (RECORD, in file order) and the names of the processes {pid: comm}.

    wanted: returns for each action whether to keep its records; notes are left out. Raises FileError with the
    byte offset of the first record that is cut short or corrupt.
    """
    parts: list[np.ndarray] = [np.empty(0, RECORD)]
    names: dict[int, str] = {}
    for chunk in chunks(path):
        action = chunk.records["action"]
        note = action & NOTIFY > 0
        parts.append(taken(chunk.records, wanted(action) & ~note) if wanted else chunk.records)
        if note.any():
            names |= process_names(chunk, np.flatnonzero(note).tolist())
    return np.concatenate(parts), names


def version(path: Path) -> int:
    """Return the version of a file's records, 0 for an empty file."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(4), "little") & 0xFF


def process_names(chunk: Chunk, notes: list[int]) -> dict[int, str]:
    """Return {pid: comm} of the notes (rows of records) that name a process."""
    names: dict[int, str] = {}
    for row in notes:
        note, at = chunk.records[row], int(chunk.payloads[row])
        if note["action"] & ACTION == NOTIFY_PROCESS:
            payload = chunk.data[at : at + int(note["pdu_len"])].tobytes()
            names[int(note["pid"])] = payload.split(b"\0")[0].decode(errors="replace")
    return names


def as_first(path: Path) -> Iterator[bytes]:
    """Yield a file's records with payloads, converted to version 7. Raises FileError."""
    for chunk in chunks(path):
        begins, sizes = chunk.payloads.tolist(), chunk.records["pdu_len"].tolist()
        whole = chunk.data.tobytes()
        for row, begin, size in zip(chunk.records, begins, sizes, strict=True):
            yield row.tobytes() + whole[begin : begin + size]


def chunks(path: Path) -> Iterator[Chunk]:
    """Go through all records of a file. Raises FileError. A chunk's `data` is overwritten by the next."""
    memory = bytearray(CHUNK + _LONGEST)
    buffer = np.frombuffer(memory, np.uint8)
    try:
        with path.open("rb", buffering=0) as file:
            base = held = magic = 0
            while read := file.readinto(memoryview(memory)[held : held + CHUNK]):
                data = buffer[: held + read]
                magic = magic or _magic(path, data)
                chunk, end = _records(path, base, data, magic)
                yield chunk
                base, held = base + end, data.size - end
                buffer[:held] = data[end:].copy()
            if held:
                _fail(path, base, buffer[:held], 0, [magic])
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None


def _magic(path: Path, data: np.ndarray) -> int:
    """Return the magic number of a file; all of its records have the same. Raises FileError."""
    word = int.from_bytes(data[:4].tobytes(), "little")
    if data.size >= 4 and word not in _FORMS:
        _fail(path, 0, data, 0, list(_FORMS))
    return word if data.size >= 4 else MAGIC


def _records(path: Path, base: int, data: np.ndarray, magic: int) -> tuple[Chunk, int]:
    """Return the whole records of `data`, and where the last one ends.

    `base` is the place of `data` in the file, a record's begin. Raises FileError at a record with
    another magic number.
    """
    form = _FORMS[magic]
    # payloads are words, as a rule, and so is every record's begin
    for shifts in ((0,), (0, 1, 2, 3)):
        starts = _candidates(data, shifts, magic)
        records = _at(data, starts, form)
        ends = starts + form.itemsize + records["pdu_len"]
        is_record, at = _chain(starts, ends)
        if at + form.itemsize > data.size:
            if at > data.size:  # the last one goes on in the next chunk
                at = int(starts[is_record][-1])
            whole = is_record & (ends <= data.size)
            if not whole.all():
                records, starts = taken(records, whole), starts[whole]
            return Chunk(_as_first(records), data, starts + form.itemsize), at
    _fail(path, base, data, at, [magic])


def _as_first(records: np.ndarray) -> np.ndarray:
    """Return records of any version as those of version 7, with the lower 32 bits of the action."""
    if records.dtype == RECORD:
        return records
    result = np.empty(records.size, RECORD)
    for name in RECORD.names or ():
        result[name] = records[name]
    result["magic"], result["action"] = MAGIC, records["action"] & 0xFFFFFFFF
    return result


def _at(data: np.ndarray, starts: np.ndarray, form: np.dtype) -> np.ndarray:
    """Return the records that begin at `starts`, which need not be aligned."""
    if not starts.size:
        return np.empty(0, form)
    places = data.size - form.itemsize + 1
    return np.asarray(np.ndarray((places,), opaque(form), data, 0, (1,))[starts].view(form))


def _candidates(data: np.ndarray, shifts: tuple[int, ...], magic: int) -> np.ndarray:
    """Return where the magic number is, ascending, in steps of 4 bytes from each of `shifts`."""
    parts = []
    for shift in shifts:
        words = data[shift : shift + max(data.size - shift, 0) // 4 * 4].view("<u4")
        parts.append(np.flatnonzero(words == magic) * 4 + shift)
    starts = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
    return starts[starts <= data.size - _FORMS[magic].itemsize]


def _chain(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, int]:
    """Return which of `starts` follow each other without a gap from 0 on, and where the next should be.

    The magic number may also occur inside a record: then the chain skips that candidate. Only skips cost a
    step in Python.
    """
    is_record = np.zeros(starts.size, bool)
    skips = np.flatnonzero(starts[1:] != ends[:-1])
    row, at = 0, 0
    while row < starts.size and starts[row] == at:
        place = np.searchsorted(skips, row)
        last = int(skips[place]) if place < skips.size else starts.size - 1
        is_record[row : last + 1] = True
        at = int(ends[last])
        row = int(np.searchsorted(starts, at))
    return is_record, at


def _fail(path: Path, base: int, data: np.ndarray, at: int, allowed: list[int]) -> NoReturn:
    """Raise FileError for the record that should begin at `at` of `data`; allowed: magic numbers."""
    left = data.size - at
    word = int.from_bytes(data[at : at + 4].tobytes(), "little")
    place = f"byte {base + at}"
    if left >= 4 and word not in allowed:
        swapped = [int.from_bytes(magic.to_bytes(4, "big"), "little") for magic in allowed]
        big = " (a big-endian board?)" if word in swapped else ""
        expected = " or ".join(f"{magic:#010x}" for magic in allowed)
        raise FileError(path, place, f"the magic number is {word:#010x}{big}", expected)
    raise FileError(path, place, f"the record is cut short after {left} bytes", "a whole record")


# An action's bits 17-19, 27-29 and 31, and a bit for "has data", are packed into a code of 8 bits.
_CODED = (WRITE, FLUSH, SYNC, AHEAD, META, DISCARD, FUA)
_HAS_DATA = 1 << len(_CODED)


def codes(action: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the code of each record, an index of `words`."""
    code = action >> 17 & 7 | action >> 27 << 3 & 0x38 | action >> 31 << 6
    return np.asarray(code | (size > 0).astype(np.uint32) << 7)


@cache
def words() -> pl.DataFrame:
    """Return rwbs and kind of each code."""
    letters = []
    for code in range(2 * _HAS_DATA):
        has = {bit: code >> place & 1 for place, bit in enumerate(_CODED)}
        operation = "D" if has[DISCARD] else "W" if has[WRITE] else "R" if code & _HAS_DATA else "N"
        before = "F" if has[FLUSH] else ""
        after = ((FUA, "F"), (AHEAD, "A"), (SYNC, "S"), (META, "M"))
        letters.append(before + operation + "".join(letter for bit, letter in after if has[bit]))
    sectors = [code // _HAS_DATA for code in range(2 * _HAS_DATA)]
    return pl.DataFrame({"rwbs": letters, "sectors": sectors}).with_columns(events.block_kind())
