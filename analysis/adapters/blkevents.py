"""Collect block events in one array by time (EVENT, for `make inspect TRACE=…`); read binary block traces.

Readers of a tracer's text add their events to a Collected.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.adapters import blkrecords as blk
from base.errors import FileError

EVENT = np.dtype(
    [
        ("time", "<u8"),
        ("sector", "<u8"),
        ("bytes", "<u8"),
        ("other", "<u8"),  # SPLIT: the first sector of the second half; REMAP: the sector on `source`
        ("action", "<u4"),  # as in blkrecords.RECORD
        ("pid", "<u4"),
        ("device", "<u4"),
        ("source", "<u4"),  # REMAP: the device that the bio was for before
        ("name", "<u4"),  # of the process: an index of Events.names
        ("error", "<u4"),  # of a completion: 16 bits as the kernel's records have them, or ERROR_UNKNOWN
    ]
)
_IS_KEPT = np.zeros(blk.ACTION + 1, bool)
_IS_KEPT[[blk.QUEUE, blk.BACK_MERGE, blk.FRONT_MERGE, blk.REQUEUE]] = True
_IS_KEPT[[blk.ISSUE, blk.COMPLETE, blk.SPLIT, blk.REMAP]] = True
# actions of requests; a device that takes bios as they are has none
_OF_REQUESTS = np.zeros(blk.ACTION + 1, bool)
_OF_REQUESTS[[blk.GET_REQUEST, blk.INSERT, blk.BACK_MERGE, blk.FRONT_MERGE, blk.REQUEUE, blk.ISSUE]] = True
UNKNOWN = 0
ERROR_UNKNOWN = 1 << 16  # the text has no error number
SECTORS = 1 << 54  # of 512 bytes, of a device of at most 2^63 bytes
_ROWS = 1 << 20  # events that a new Collected has room for
_CGROUP = 1 << 8  # bit of an action: the payload begins with 8 bytes of a control group's id


class Events(NamedTuple):
    """The events of _IS_KEPT, in the order of time."""

    rows: np.ndarray  # EVENT
    names: list[str | None]  # of processes; the first is None
    requests: set[int]  # the devices that have requests
    actions: np.ndarray  # how many events there are of each action, notes left out
    cut: bool = False  # the text's last line has no end
    lost: int = 0  # events that the tracer reports as lost
    lost_more: bool = False  # the number of some losses is unknown


class Collected:
    """Events as a reader adds them, in one array that grows."""

    def __init__(self) -> None:
        # the kernel allocates a page when it is first written, so unused room costs nothing
        self._rows = np.empty(_ROWS, EVENT)
        self._count = 0
        self._requests: set[int] = set()
        self._actions = np.zeros(blk.ACTION + 1, np.int64)
        self.numbers: dict[str | None, int] = {None: UNKNOWN}
        self.cut = False
        self.lost = 0
        self.lost_more = False

    def number(self, name: str | None) -> int:
        """Return the number of a process's name."""
        return self.numbers.setdefault(name, len(self.numbers))

    def add(self, action: np.ndarray, device: np.ndarray) -> np.ndarray:
        """Count events, and return which of them are to be kept."""
        kind = action & blk.ACTION
        self._actions += np.bincount(kind, minlength=blk.ACTION + 1)
        self._requests.update(np.unique(device[_OF_REQUESTS[kind]]).tolist())
        return np.asarray(_IS_KEPT[kind])

    def keep(self, rows: np.ndarray) -> None:
        """Keep events (EVENT)."""
        before, self._count = self._count, self._count + rows.size
        if self._count > self._rows.size:
            more = np.empty(2 * self._count, EVENT)
            more[:before] = self._rows[:before]
            self._rows = more
        self._rows[before : self._count] = rows

    def goes_back(self) -> bool:
        """Return whether an event is earlier than the one before it."""
        time = self._rows["time"][: self._count]
        return bool((time[1:] < time[:-1]).any())

    def events(self) -> Events:
        """Return all events, by time."""
        rows = self._rows[: self._count]
        if self.goes_back():
            rows = rows[np.argsort(rows["time"], kind="stable")]
        numbers = self.cut, self.lost, self.lost_more
        return Events(rows, list(self.numbers), self._requests, self._actions, *numbers)


def read(paths: list[Path]) -> Events:
    """Return the events of files of the kernel's records. Raises FileError."""
    collected, names = Collected(), dict[int, str]()
    for path in paths:
        for chunk in blk.chunks(path):
            records = chunk.records
            note = records["action"] & blk.NOTIFY > 0
            names |= blk.process_names(chunk, np.flatnonzero(note).tolist())
            events = np.flatnonzero(~note)
            kept = events[collected.add(records["action"][events], records["device"][events])]
            _check(path, records[kept])
            collected.keep(_with_payload(chunk, kept))
    result = collected.events()
    pids = {pid: collected.number(name) for pid, name in names.items()}
    distinct, places = np.unique(result.rows["pid"], return_inverse=True)
    numbers = np.array([pids.get(pid, UNKNOWN) for pid in distinct.tolist()], np.uint32)
    result.rows["name"] = numbers[places] if distinct.size else 0
    return result._replace(names=list(collected.numbers))


def _check(path: Path, records: np.ndarray) -> None:
    """Refuse numbers that no device or clock has. Raises FileError with the first."""
    of_sectors = records["action"] & blk.PASSTHROUGH == 0
    for name, wrong, text, expected in (
        (
            "sector",
            (records["bytes"] > 0) & (records["sector"] >= SECTORS),
            "a command at sector",
            "less than 2^54, as a device has",
        ),
        ("time", records["time"] >= 1 << 63, "an event at nanosecond", "less than 2^63"),
        (
            "bytes",
            of_sectors & (records["bytes"] % 512 > 0),
            "a command with a size of",
            "a multiple of 512 bytes, a sector",
        ),
    ):
        if (rows := np.flatnonzero(wrong)).size:
            raise FileError(path, "", f"{text} {int(records[name][rows[0]])}", expected)


def _with_payload(chunk: blk.Chunk, kept: np.ndarray) -> np.ndarray:
    """Return records as events (EVENT), with the target that a split or remap has in its payload."""
    records = chunk.records[kept]
    events = np.zeros(kept.size, EVENT)
    for name in ("time", "sector", "bytes", "action", "pid", "device", "error"):
        events[name] = records[name]
    kind = records["action"] & blk.ACTION
    begins = chunk.payloads[kept] + np.where(records["action"] & _CGROUP > 0, 8, 0)
    lengths = records["pdu_len"] - np.where(records["action"] & _CGROUP > 0, 8, 0)
    for action, size in ((blk.SPLIT, 8), (blk.REMAP, 16)):
        rows = np.flatnonzero((kind == action) & (lengths >= size))
        if not rows.size:
            continue
        data = chunk.data[begins[rows][:, None] + np.arange(size)]
        events["other"][rows] = np.ascontiguousarray(data[:, -8:]).view(">u8")[:, 0]
        if action == blk.REMAP:
            events["source"][rows] = np.ascontiguousarray(data[:, :4]).view(">u4")[:, 0]
    return events
