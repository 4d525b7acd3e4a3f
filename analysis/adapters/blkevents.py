"""Block events of any source, as a matcher takes them: the kernel's records with what their payloads tell."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.adapters.blkrecords import (
    ACTION,
    BACK_MERGE,
    COMPLETE,
    FRONT_MERGE,
    GET_REQUEST,
    INSERT,
    ISSUE,
    NOTIFY,
    PASSTHROUGH,
    QUEUE,
    REMAP,
    REQUEUE,
    SPLIT,
    Chunk,
    chunks,
    process_names,
)
from base.errors import BadInput

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
KEPT = (QUEUE, BACK_MERGE, FRONT_MERGE, REQUEUE, ISSUE, COMPLETE, SPLIT, REMAP)
_IS_KEPT = np.zeros(ACTION + 1, bool)
_IS_KEPT[list(KEPT)] = True
# only a request is made or inserted; a device that takes bios as they are has none
_OF_REQUESTS = np.zeros(ACTION + 1, bool)
_OF_REQUESTS[[GET_REQUEST, INSERT, BACK_MERGE, FRONT_MERGE, REQUEUE, ISSUE]] = True
UNKNOWN = 0
ERROR_UNKNOWN = 1 << 16  # the text does not say whether there was an error
SECTORS = 1 << 54  # of 512 bytes, of a device of at most 2^63 bytes
_ROWS = 1 << 20  # of which the first place has room
_CGROUP = 1 << 8  # of an action: 8 bytes of a control group's id lead the payload


class Events(NamedTuple):
    """The events of KEPT, in the order of time."""

    rows: np.ndarray  # EVENT
    names: list[str | None]  # of processes; the first is None
    requests: set[int]  # the devices that have requests
    actions: np.ndarray  # how many events there are of each action, notes left out
    cut: bool = False  # the text's last line has no end
    lost: int = 0  # events that the tracer says it lost
    lost_more: bool = False  # it does not say of all losses how many events they were


class Collected:
    """Events as they come."""

    def __init__(self) -> None:
        # the kernel gives a page of it when that is written, so a place for many costs nothing
        self._rows = np.empty(_ROWS, EVENT)
        self._count = 0
        self._requests: set[int] = set()
        self._actions = np.zeros(ACTION + 1, np.int64)
        self.numbers: dict[str | None, int] = {None: UNKNOWN}
        self.cut = False
        self.lost = 0
        self.lost_more = False

    def number(self, name: str | None) -> int:
        """Return the number of a process's name."""
        return self.numbers.setdefault(name, len(self.numbers))

    def add(self, action: np.ndarray, device: np.ndarray) -> np.ndarray:
        """Count events, and return which of them are to be kept."""
        kind = action & ACTION
        self._actions += np.bincount(kind, minlength=ACTION + 1)
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

    def events(self, *, sort: bool) -> Events:
        """Return all events."""
        rows = self._rows[: self._count]
        if sort and self.goes_back():
            rows = rows[np.argsort(rows["time"], kind="stable")]
        return Events(
            rows,
            list(self.numbers),
            self._requests,
            self._actions,
            cut=self.cut,
            lost=self.lost,
            lost_more=self.lost_more,
        )


def read(paths: list[Path]) -> Events:
    """Return the events of files of the kernel's records. Raises BadInput."""
    found, names = Collected(), dict[int, str]()
    for path in paths:
        for chunk in chunks(path):
            records = chunk.records
            note = records["action"] & NOTIFY > 0
            names |= process_names(chunk, np.flatnonzero(note).tolist())
            events = np.flatnonzero(~note)
            kept = events[found.add(records["action"][events], records["device"][events])]
            _check(path, records[kept])
            found.keep(_with_payload(chunk, kept))
    result = found.events(sort=True)
    pids = {pid: found.number(name) for pid, name in names.items()}
    distinct, places = np.unique(result.rows["pid"], return_inverse=True)
    numbers = np.array([pids.get(pid, UNKNOWN) for pid in distinct.tolist()], np.uint32)
    result.rows["name"] = numbers[places] if distinct.size else 0
    return result._replace(names=list(found.numbers))


def _check(path: Path, records: np.ndarray) -> None:
    """Refuse numbers that no device or clock has. Raises BadInput with the first."""
    of_sectors = records["action"] & PASSTHROUGH == 0
    for name, wrong, what, expected in (
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
            "a command whose bytes are",
            "a multiple of 512, which is a sector",
        ),
    ):
        if (rows := np.flatnonzero(wrong)).size:
            raise BadInput(path, "", f"{what} {int(records[name][rows[0]])}", expected)


def _with_payload(chunk: Chunk, kept: np.ndarray) -> np.ndarray:
    """Return records as events."""
    records = chunk.records[kept]
    found = np.zeros(kept.size, EVENT)
    for name in ("time", "sector", "bytes", "action", "pid", "device", "error"):
        found[name] = records[name]
    kind = records["action"] & ACTION
    begins = chunk.payloads[kept] + np.where(records["action"] & _CGROUP > 0, 8, 0)
    lengths = records["pdu_len"] - np.where(records["action"] & _CGROUP > 0, 8, 0)
    for action, size in ((SPLIT, 8), (REMAP, 16)):
        rows = np.flatnonzero((kind == action) & (lengths >= size))
        if not rows.size:
            continue
        data = chunk.data[begins[rows][:, None] + np.arange(size)]
        found["other"][rows] = np.ascontiguousarray(data[:, -8:]).view(">u8")[:, 0]
        if action == REMAP:
            found["source"][rows] = np.ascontiguousarray(data[:, :4]).view(">u4")[:, 0]
    return found
