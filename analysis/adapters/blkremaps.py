"""Attribute bios below dm or md to the process that queued the bio above, by remap events (A) of the trace.

A worker often queues the lower bio some time after the remap. The lower bio belongs to the process that
queued the latest unfinished upper bio that covers its sectors.
"""

import numpy as np

from analysis.adapters.blkopen import Open, Range
from analysis.adapters.blkpairs import targets
from analysis.adapters.blkrecords import ACTION, COMPLETE, FLUSH, ISSUE, QUEUE, REMAP

_Key = tuple[int, int, int]  # device and operation, first sector, bytes


def origins(events: np.ndarray) -> dict[int, int]:
    """Return {row of a Q or of a D: row of the Q above}, of those that were remapped from a traced device.

    The device below has no Q, but a D, where requests are remapped in place of bios.
    """
    action = events["action"] & ACTION
    is_remap, is_queue = action == REMAP, action == QUEUE
    stacked = is_remap & (events["source"] != events["device"])
    stacked &= np.isin(events["source"], np.unique(events["device"][is_queue]))
    if not stacked.any():
        return {}
    below = np.isin(events["device"], np.unique(events["device"][stacked]))
    above = np.isin(events["device"], np.unique(events["source"][stacked]))
    queues = np.isin(events["device"], np.unique(events["device"][is_queue]))
    used = is_remap | (is_queue & (above | below)) | ((action == ISSUE) & below & ~queues)
    rows = np.flatnonzero(used | ((action == COMPLETE) & above))
    columns = (
        targets(events, rows),
        *(events[name][rows] for name in ("sector", "bytes", "other", "source")),
    )
    stack = _Stack()
    for row, bits, target, sector, size, other, source in zip(
        rows.tolist(), events["action"][rows].tolist(), *(column.tolist() for column in columns), strict=True
    ):
        kind, key = bits & ACTION, (target, sector, size)
        if kind == REMAP:
            stack.remap(key, source, other)
        elif kind == COMPLETE:
            stack.complete(key)
        else:
            stack.submit(row, key)
            if kind == QUEUE:
                stack.queue(row, key, wants_flush=bits & FLUSH > 0)
    return stack.origins


class _Stack:
    """The unfinished bios, and the remapped ranges that are not yet submitted."""

    def __init__(self) -> None:
        self.origins: dict[int, int] = {}
        self.open = Open()
        self.flushes: dict[int, list[Range]] = {}  # {device: bios that request a flush}
        self.remapped: dict[_Key, list[Range]] = {}

    def queue(self, row: int, key: _Key, *, wants_flush: bool) -> None:
        """Open a bio."""
        target, sector, size = key
        item = Range(row, sector, sector + (size >> 9))
        if size:
            self.open.add(target, item)
        if wants_flush:
            self.flushes.setdefault(target >> 3, []).append(item)

    def complete(self, key: _Key) -> None:
        """Close the bio that was completed."""
        target, sector, size = key
        end = sector + (size >> 9)
        if (item := self.open.latest(target, sector, end)) is not None:
            self.open.remove(target, item)
        flushes = self.flushes.get(target >> 3, [])
        ended = [bio for bio in flushes if bio is item or (not size and bio.start == bio.end == sector)]
        if ended:
            ended[-1].open = False
            flushes.remove(ended[-1])

    def remap(self, key: _Key, source: int, place: int) -> None:
        """Note the bio above of a range below."""
        target, _, size = key
        item: Range | None
        if not size:
            flushes = self.flushes.get(source)
            item = flushes[-1] if flushes else None
        else:
            item = self.open.around(source << 3 | target & 7, place, place + (size >> 9))
            # a partition's remap is behind the one to it, and on the same device
            item = item or self._take((target, place, size))
        if item is not None:
            self.remapped.setdefault(key, []).append(item)

    def submit(self, row: int, key: _Key) -> None:
        """Set the origin of a Q or a D that was remapped."""
        if (item := self._take(key)) is not None and item.open:
            self.origins[row] = self.origins.get(item.row, item.row)

    def _take(self, key: _Key) -> Range | None:
        items = self.remapped.get(key)
        item = items.pop() if items else None
        if items is not None and not items:
            del self.remapped[key]
        return item
