"""The binary records of the kernel's block tracer: `struct blk_io_trace` of linux/blktrace_api.h.

A record is 48 bytes, little-endian, and `pdu_len` more of payload. Most have no payload, but
one in ten has, so no stride fits a whole file. Instead of walking it record by record, a chunk
of it is searched for the magic number at once; if each record then ends where the next begins,
the chunk is whole. Only the records that are asked for are kept: memory is theirs and a chunk's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from base.errors import BadInput

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
WRITE, FLUSH, SYNC = 1 << 17, 1 << 18, 1 << 19
NOTIFY, AHEAD, META, DISCARD, FUA = 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 31
QUEUE, REQUEUE, ISSUE, COMPLETE = 1, 6, 7, 8
NOTIFY_PROCESS = 0
ACTION = 0xFF  # bit 8 says that a cgroup id leads the payload
CHUNK = 1 << 20  # bytes searched at once: with its columns it fits in a CPU's cache
_LONGEST = RECORD.itemsize + (1 << 16)
_WHOLE = np.dtype((np.void, RECORD.itemsize))

Wanted = Callable[[np.ndarray], np.ndarray]


class Chunk(NamedTuple):
    """Whole records that are next to each other in a file."""

    records: np.ndarray  # RECORD
    data: np.ndarray  # the bytes they are from, with their payloads
    starts: np.ndarray  # where in them each begins


def read_file(path: Path, wanted: Wanted | None = None) -> tuple[np.ndarray, dict[int, str]]:
    """Return records (RECORD, in file order) and the names of the processes {pid: comm}.

    With `wanted` (action -> bool) only those of which it says so, and no notes. Raises BadInput
    with the byte offset of the first record that is cut short or corrupt.
    """
    found: list[np.ndarray] = [np.empty(0, RECORD)]
    names: dict[int, str] = {}
    for chunk in chunks(path):
        action = chunk.records["action"]
        note = action & NOTIFY > 0
        found.append(taken(chunk.records, wanted(action) & ~note) if wanted else chunk.records)
        if note.any():
            names |= _process_names(chunk, np.flatnonzero(note).tolist())
    return np.concatenate(found), names


def _process_names(chunk: Chunk, notes: list[int]) -> dict[int, str]:
    """{pid: comm} of those of the records `notes` that name a process."""
    names: dict[int, str] = {}
    for row in notes:
        note, at = chunk.records[row], int(chunk.starts[row]) + RECORD.itemsize
        if note["action"] & ACTION == NOTIFY_PROCESS:
            payload = chunk.data[at : at + int(note["pdu_len"])].tobytes()
            names[int(note["pid"])] = payload.split(b"\0")[0].decode(errors="replace")
    return names


def taken(records: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return records[which]: opaque values are copied in one go, those of fields one by one."""
    opaque = records.view(_WHOLE)
    found = opaque.compress(which) if which.dtype == bool else opaque.take(which)
    return found.view(RECORD)


def chunks(path: Path) -> Iterator[Chunk]:
    """Go through all records of a file. Raises BadInput. A chunk's `data` is overwritten by the next."""
    memory = bytearray(CHUNK + _LONGEST)
    buffer = np.frombuffer(memory, np.uint8)
    try:
        with path.open("rb", buffering=0) as file:
            base = held = 0
            while read := file.readinto(memoryview(memory)[held : held + CHUNK]):
                data = buffer[: held + read]
                chunk, end = _records(path, base, data)
                yield chunk
                base, held = base + end, data.size - end
                buffer[:held] = data[end:].copy()
            if held:
                _fail(path, base, buffer[:held], 0)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None


def _records(path: Path, base: int, data: np.ndarray) -> tuple[Chunk, int]:
    """Return the whole records of `data`, and where the last one ends.

    `base` is the place of `data` in the file, a record's begin. Raises BadInput at a record with
    another magic number.
    """
    # payloads are words, as a rule, and so is every record's begin
    for shifts in ((0,), (0, 1, 2, 3)):
        starts = _candidates(data, shifts)
        records = _at(data, starts)
        ends = starts + RECORD.itemsize + records["pdu_len"]
        is_record, at = _chain(starts, ends)
        if at + RECORD.itemsize > data.size:
            if at > data.size:  # the last one goes on in the next chunk
                at = int(starts[is_record][-1])
            whole = is_record & (ends <= data.size)
            if whole.all():
                return Chunk(records, data, starts), at
            return Chunk(taken(records, whole), data, starts[whole]), at
    _fail(path, base, data, at)


def _at(data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the records that begin at `starts`, which need not be aligned."""
    if not starts.size:
        return np.empty(0, RECORD)
    places = data.size - RECORD.itemsize + 1
    records: np.ndarray = np.ndarray((places,), _WHOLE, data, 0, (1,))[starts].view(RECORD)
    return records


def _candidates(data: np.ndarray, shifts: tuple[int, ...]) -> np.ndarray:
    """Return where the magic number is, ascending, in steps of 4 bytes from each of `shifts`."""
    found = []
    for shift in shifts:
        words = data[shift : shift + max(data.size - shift, 0) // 4 * 4].view("<u4")
        found.append(np.flatnonzero(words == MAGIC) * 4 + shift)
    starts = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
    return starts[starts <= data.size - RECORD.itemsize]


def _chain(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, int]:
    """Return which of `starts` follow each other gaplessly from 0 on, and where the next should be.

    The magic number may also occur inside a record: then the chain skips that candidate. What is
    between two skips is taken as one run, so only skips cost a Python step.
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


def _fail(path: Path, base: int, data: np.ndarray, at: int) -> NoReturn:
    """Raise the BadInput for the record that should begin at `at` of `data`."""
    left = data.size - at
    word = int.from_bytes(data[at : at + 4].tobytes(), "little")
    place = f"byte {base + at}"
    if left >= 4 and word != MAGIC:
        swapped = int.from_bytes(MAGIC.to_bytes(4, "big"), "little")
        big = " (a big-endian board?)" if word == swapped else ""
        raise BadInput(path, place, f"the magic number is {word:#010x}{big}", f"{MAGIC:#010x}")
    raise BadInput(path, place, f"the record is cut short after {left} bytes", "a whole record")
