"""Index sector ranges in flight (waiting bios or issued commands) by device, for lookups by range."""

from dataclasses import dataclass

_PART = 11  # log2 of the sectors of a part of a device: 1 MiB
_MOST_PARTS = 64  # a range with more is in a list that each lookup searches


@dataclass(eq=False, slots=True)
class Range:
    """Sectors [start, end) that event `row` opened; `left` bytes of them are pending."""

    row: int
    start: int
    end: int
    left: int = 0
    open: bool = True


class Open:
    """The open ranges of each target, a device and operation, in lists by range and by part of the device."""

    def __init__(self) -> None:
        self._exact: dict[tuple[int, int, int], list[Range]] = {}
        self._parts: dict[tuple[int, int], list[Range]] = {}
        self._long: dict[int, list[Range]] = {}

    def add(self, target: int, item: Range) -> None:
        """Open a range."""
        item.open = True
        self._exact.setdefault((target, item.start, item.end), []).append(item)
        first, last = item.start >> _PART, (item.end - 1) >> _PART
        if last - first >= _MOST_PARTS:
            self._long.setdefault(target, []).append(item)
        else:
            for part in range(first, last + 1):
                self._parts.setdefault((target, part), []).append(item)

    def remove(self, target: int, item: Range) -> None:
        """Close a range. Lists of parts drop it when they are next searched."""
        item.open = False
        key = (target, item.start, item.end)
        items = self._exact[key]
        if len(items) == 1:
            del self._exact[key]
        else:
            items.remove(item)

    def latest(self, target: int, start: int, end: int) -> Range | None:
        """Return the range that was opened last of those from start to end."""
        items = self._exact.get((target, start, end))
        if items is None:
            return None
        return items[0] if len(items) == 1 else max(items, key=_row)

    def around(self, target: int, start: int, end: int) -> Range | None:
        """Return the range that was opened last of those that contain start to end."""
        best = None
        for items in (self._parts.get((target, start >> _PART)), self._long.get(target)):
            if not items:
                continue
            closed = 0
            for item in items:
                if not item.open:
                    closed += 1
                elif item.start <= start and item.end >= end and (best is None or item.row > best.row):
                    best = item
            if closed > len(items) // 2:
                items[:] = [item for item in items if item.open]
        return best

    def ending(self, target: int, end: int) -> Range | None:
        """Return the range that was opened last of those that end there."""
        ends = [item for item in self._in_part(target, (end - 1) >> _PART) if item.end == end]
        return max(ends, key=_row, default=None)

    def starting(self, target: int, start: int) -> Range | None:
        """Return the range that was opened last of those that start there."""
        starts = [item for item in self._in_part(target, start >> _PART) if item.start == start]
        return max(starts, key=_row, default=None)

    def _in_part(self, target: int, part: int) -> list[Range]:
        items = self._parts.get((target, part), [])
        items[:] = [item for item in items if item.open]
        return items


def _row(item: Range) -> int:
    return item.row
