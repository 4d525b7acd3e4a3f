"""Read and check raw/content.zst: write commands and their data, from probes/content/; drop requeued ones."""

from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import zstandard

from analysis.observers import Content, Given, Observer, Seen
from base.errors import FileError
from model.block_operations import DISCARD, FLUSH, OP, SECURE_ERASE, WRITE, WRITE_ZEROES

HEADER = np.dtype(
    [
        ("magic", "V8"),
        ("header_bytes", "<u4"),
        ("record_bytes", "<u4"),
        ("records", "<u8"),
        ("data_bytes", "<u8"),
        ("unkept", "<u8"),  # writes with data for which there was no room
        ("lost", "<u8"),  # commands for which there was no record
    ]
)
RECORD = np.dtype(
    [
        ("time_ns", "<u8"),
        ("sector", "<u8"),
        ("begin", "<u8"),
        ("bytes", "<u4"),
        ("flags", "<u4"),
        ("serial", "<u8"),
    ]
)
MAGIC = b"CPCONT\0\1"
NOT_KEPT = 2**64 - 1
PUT_BACK = 1 << 31  # of flags: the driver requeued the command
OPERATIONS = (WRITE, FLUSH, DISCARD, SECURE_ERASE, WRITE_ZEROES)
# Limits that no board reaches (probes/content/log.h has half of the first two).
_MOST_RECORDS, _MOST_DATA, _LATEST_NS, _SECTOR = 1 << 21, 1 << 30, 1 << 62, 1 << 36
# of the compressor's window (`packs` of experiments/observer/), which a reader holds in addition to the data
WINDOW_BYTES = 1 << 27
_FRAME_HEADER = 18  # the most that one has: ZSTD_FRAMEHEADERSIZE_MAX


def read(path: Path) -> tuple[Content, int, int]:
    """Return the content, the number of records, and the number of lost commands.

    Raises FileError with the byte of the unpacked file. Memory holds the data and the decompressor's window.
    """
    try:
        with path.open("rb") as file:
            if (end := _end_of_frame(file)) != (size := path.stat().st_size):
                wrong = "it is cut short" if end > size else "data after the frame"
                raise FileError(path, f"byte {min(end, size)}", wrong, "one frame of zstd")
            file.seek(0)
            decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES)
            return _read(path, decompressor.stream_reader(file))
    except OSError as error:
        raise FileError(path, "", f"cannot be read ({error.strerror})", "a readable file") from None
    except zstandard.ZstdError as error:
        raise FileError(path, "", f"it cannot be decompressed ({error})", "one frame of zstd") from None


def _end_of_frame(file: BinaryIO) -> int:
    """Return where the frame that a file begins with ends, beyond the file if it is cut short.

    RFC 8878, 3.1.1: a header, blocks with a header of 3 bytes each (whether it is the last; its type, of
    which 1 has one byte however long it is; its size), and a checksum of 4 bytes if the frame has one.
    """
    head = file.read(_FRAME_HEADER)
    checksum = 4 if zstandard.get_frame_parameters(head).has_checksum else 0
    file.seek(zstandard.frame_header_size(head))
    while len(header := file.read(3)) == 3:
        block = int.from_bytes(header, "little")
        file.seek(1 if block >> 1 & 3 == 1 else block >> 3, 1)
        if block & 1:
            break
    return file.tell() + checksum


def _read(path: Path, file: Any) -> tuple[Content, int, int]:
    header = _fill(path, file, np.empty(1, HEADER), 0)[0]
    _check_header(path, header)
    records = _fill(path, file, np.empty(int(header["records"]), RECORD), HEADER.itemsize)
    _check_records(path, header, records)
    at = HEADER.itemsize + records.nbytes
    data = _fill(path, file, np.empty(int(header["data_bytes"]), np.uint8), at)
    if file.read(1):
        raise FileError(path, f"byte {at + data.nbytes}", "bytes after the data", "the end of the file")
    records = _taken(path, records)
    begin = records["begin"].astype(np.int64)  # NOT_KEPT is -1
    content = Content(
        time=records["time_ns"].astype(np.int64),
        sector=records["sector"].astype(np.int64),
        sectors=records["bytes"].astype(np.int64) >> 9,
        flags=records["flags"].copy(),
        begin=begin,
        data=data,
        unkept=int(header["unkept"]),
    )
    return content, int(header["records"]), int(header["lost"])


def _fill(path: Path, file: Any, array: np.ndarray, at: int) -> np.ndarray:
    """Fill an array from the file, which is at byte `at`. Raises FileError if it ends before."""
    room, done = array.view(np.uint8), 0
    while done < room.size:
        size = file.readinto(room[done:])
        if not size:
            raise FileError(path, f"byte {at + done}", "it is cut short", f"{room.size - done} bytes more")
        done += size
    return array


def _check_header(path: Path, header: np.void) -> None:
    wanted = (("magic", MAGIC), ("header_bytes", HEADER.itemsize), ("record_bytes", RECORD.itemsize))
    for field, value in wanted:
        text = header[field].tobytes() if field == "magic" else header[field]
        if text != value:
            _fail(path, 0, HEADER, field, header[field], repr(value))
    for field, most in (("records", _MOST_RECORDS), ("data_bytes", _MOST_DATA)):
        if header[field] > most:
            _fail(path, 0, HEADER, field, header[field], f"{most} at most")


def _check_records(path: Path, header: np.void, records: np.ndarray) -> None:
    """Raise FileError at the first impossible record, or if a total of the header is wrong."""
    operation, size, begin = records["flags"] & OP, records["bytes"], records["begin"]
    is_data = (operation == WRITE) & (size > 0) & (records["flags"] & PUT_BACK == 0)
    kept = is_data & (begin != NOT_KEPT)
    end = np.cumsum(np.where(kept, size, 0), dtype=np.uint64)
    place = np.where(kept, end - size, np.uint64(NOT_KEPT))
    time, serial = records["time_ns"], records["serial"]
    rules = (
        ("time_ns", time >= _LATEST_NS, f"less than {_LATEST_NS}"),
        ("time_ns", np.r_[False, time[1:] < time[:-1]], "no earlier than the record before"),
        ("sector", records["sector"] >= _SECTOR, f"less than {_SECTOR}"),
        ("flags", ~np.isin(operation, OPERATIONS), f"an operation of {OPERATIONS} in its lowest byte"),
        ("bytes", size % 512 > 0, "whole sectors"),
        ("bytes", (operation == FLUSH) & (size > 0), "0 of a flush"),
        ("begin", begin != place, "the end of the data before, or 2^64-1"),
        ("serial", serial != np.arange(records.size, dtype=np.uint64), "the number of records before"),
    )
    wrong = [(int(np.argmax(broken)), field, expected) for field, broken, expected in rules if broken.any()]
    if wrong:
        row, field, expected = min(wrong, key=lambda fault: fault[0])
        _fail(path, HEADER.itemsize + row * RECORD.itemsize, RECORD, field, records[row][field], expected)
    if header["data_bytes"] != (total := int(end[-1]) if end.size else 0):
        _fail(path, 0, HEADER, "data_bytes", header["data_bytes"], f"{total}, the sum over the records")
    if header["unkept"] != (total := int(np.count_nonzero(is_data & ~kept))):
        _fail(path, 0, HEADER, "unkept", header["unkept"], f"{total}, the sum over the records")


def _fail(path: Path, at: int, kind: np.dtype[Any], field: str, found: Any, expected: str) -> NoReturn:
    """Raise FileError at a field of a header or record that begins at byte `at`."""
    offset = kind.fields[field][1] if kind.fields else 0
    text = found.tobytes() if field == "magic" else found
    raise FileError(path, f"byte {at + offset}", f"{field} is {text}", expected)


def _taken(path: Path, records: np.ndarray) -> np.ndarray:
    """Return the records of served commands, without requeued ones and the records of the requeueing.

    Records pair like brackets: a requeueing closes the last open command of the same kind.
    """
    put_back = records["flags"] & PUT_BACK > 0
    if not put_back.any():
        return records
    kind = (records["sector"], records["bytes"], records["flags"] & ~np.uint32(PUT_BACK))
    order = np.lexsort(kind)  # stable: of one kind as they came
    first = np.r_[True, np.any([values[order][1:] != values[order][:-1] for values in kind], axis=0)]
    step = np.where(put_back, -1, 1)[order]
    total, of = np.cumsum(step), np.cumsum(first) - 1
    opened = total - (total - step)[first][of]
    if (opened < 0).any():
        row = int(order[opened < 0].min())
        at = HEADER.itemsize + row * RECORD.itemsize
        _fail(path, at, RECORD, "flags", records["flags"][row], "an earlier issue of the command")
    level = opened + put_back[order]
    pairs = order[np.lexsort((level, of))]  # an issue is followed by the requeueing that closes it
    served = ~put_back
    served[pairs[:-1][put_back[pairs[1:]]]] = False
    return np.asarray(records[served])


def _seen(given: Given) -> Seen:
    path = given.raw / "content.zst"
    if not path.is_file():
        return Seen(missing=["raw/content.zst"])
    content, records, lost = read(path)
    losses = [f"content lost {lost} commands: it had no room for more records"] if lost else []
    numbers = {"records": records, "bytes": content.data.size, "unkept": content.unkept}
    return Seen(lost=lost, losses=losses, numbers=numbers, content=content)


OBSERVER = Observer(read=_seen, leaves=("content.zst",))
