"""The binary records of blktrace: `struct blk_io_trace` of linux/blktrace_api.h.

A record is 48 bytes, little-endian, and `pdu_len` more of payload. Most have no payload, but
one in ten has, so no stride fits a whole file. Instead of walking it record by record, the
magic number is searched for in all of the file at once; if each record then ends where the
next begins, the file is whole.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.errors import BadInput

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


def read_file(path: Path) -> tuple[np.ndarray, dict[int, str]]:
    """Return the records (RECORD, in file order) and the names of the processes {pid: comm}.

    Raises BadInput with the byte offset of the first record that is cut short or corrupt.
    """
    try:
        data = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    offsets = _record_offsets(path, data)
    if not offsets.size:
        return np.empty(0, RECORD), {}
    records = _gather(data, offsets)
    names: dict[int, str] = {}
    is_name = (records["action"] & NOTIFY > 0) & (records["action"] & ACTION == NOTIFY_PROCESS)
    for at, pid, length in zip(
        offsets[is_name], records["pid"][is_name], records["pdu_len"][is_name], strict=True
    ):
        payload = data[at + RECORD.itemsize : at + RECORD.itemsize + length].tobytes()
        names[int(pid)] = payload.split(b"\0")[0].decode(errors="replace")
    return records, names


def _gather(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the records at `offsets`, which need not be aligned."""
    windows = np.lib.stride_tricks.sliding_window_view(data, RECORD.itemsize)
    records: np.ndarray = windows[offsets].view(RECORD)[:, 0]
    return records


def _record_offsets(path: Path, data: np.ndarray) -> np.ndarray:
    """Return where each record of `data` begins, int64, ascending. Raises BadInput."""
    size = data.size
    last = size - RECORD.itemsize  # the last place where a record fits
    found = [np.empty(0, np.int64)]
    for shift in range(4):
        words = data[shift : shift + (size - shift) // 4 * 4].view("<u4")
        found.append(np.flatnonzero(words == MAGIC) * 4 + shift)
    candidates = np.sort(np.concatenate(found))
    candidates = candidates[candidates <= last]
    if not candidates.size or candidates[0] != 0:
        if size:
            _fail(path, data, 0)
        return candidates
    ends = candidates + RECORD.itemsize + _gather(data, candidates)["pdu_len"]
    following = np.searchsorted(candidates, ends)
    # The magic number may also occur inside a record: then the chain skips that candidate.
    # Everything between two skips is taken as one run, so only skips cost a Python step.
    skips = np.flatnonzero(following != np.arange(1, candidates.size + 1))
    is_record = np.zeros(candidates.size, bool)
    at = 0
    while at < candidates.size:
        rest = np.searchsorted(skips, at)
        stop = int(skips[rest]) if rest < skips.size else candidates.size - 1
        _check_run(path, data, candidates, ends, at, stop)
        is_record[at : stop + 1] = True
        at = int(following[stop])
        if at < candidates.size and candidates[at] != ends[stop]:
            _fail(path, data, int(ends[stop]))
        if at == candidates.size and ends[stop] != size:
            begin = int(candidates[stop] if ends[stop] > size else ends[stop])
            _fail(path, data, begin)
    return candidates[is_record]


def _check_run(
    path: Path, data: np.ndarray, starts: np.ndarray, ends: np.ndarray, first: int, last: int
) -> None:
    """Raise BadInput at the first record of starts[first:last + 1] not followed by the next."""
    gaps = np.flatnonzero(starts[first + 1 : last + 1] != ends[first:last])
    if gaps.size:
        _fail(path, data, int(ends[first + gaps[0]]))


def _fail(path: Path, data: np.ndarray, offset: int) -> None:
    """Raise the BadInput for the record that should begin at byte `offset`."""
    left = data.size - offset
    word = int.from_bytes(data[offset : offset + 4].tobytes(), "little")
    place = f"byte {offset}"
    if left >= 4 and word != MAGIC:
        swapped = int.from_bytes(MAGIC.to_bytes(4, "big"), "little")
        big = " (a big-endian board?)" if word == swapped else ""
        raise BadInput(path, place, f"the magic number is {word:#010x}{big}", f"{MAGIC:#010x}")
    raise BadInput(path, place, f"the record is cut short after {left} bytes", "a whole record")
