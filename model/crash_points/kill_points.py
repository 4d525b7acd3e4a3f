"""Choose the kill points of CRASH=process: after or within the driver's file calls, at acknowledgements.

Only the process fails: what has reached the kernel stays. So crash points differ only in the calls that
changed a file and have returned, the progress of the current call, and the acknowledged transactions. A crash
point is when a call has returned (`after`), within a write (`during`), or when a transaction is acknowledged
(`acknowledged`). If CUTS is fewer, they are drawn by splitmix64 from CUT_SEED.

A killed write ends between two pages: generic_perform_write (mm/filemap.c) checks for a fatal signal before
each.

Without a log of the engine's calls, the crash points are the acknowledgements, and the begin of the first
transaction (`begun`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from model.cell import Cell
from model.crash_points import cuts
from model.crash_points.recorded_run import Ran
from model.workloads import Random

AFTER, DURING, ACKNOWLEDGED, BEGUN = "after", "during", "acknowledged", "begun"
# bytes, in the page cache of a virtual board
_PAGE = 4096
_NOTHING = -1
_CHANGING = ("write", "sync", "truncate", "delete", "copy", "msync")


@dataclass(frozen=True)
class Kill:
    """One crash point. call, offset, bytes: as in vfs.csv; None at a transaction. kept: bytes that the write
    had done; None: it has returned."""

    number: int
    where: str
    moment: int  # ns, in the run that was timed
    transaction: int | None = None
    call: int | None = None
    offset: int | None = None
    bytes: int | None = None
    kept: int | None = None

    @property
    def digest(self) -> str:
        """Return the board's digest of its line."""
        return cuts.digest(self.line())

    def line(self) -> str:
        """Return its line of the board's plan (workloads/trials/kill.h)."""
        if self.where in (ACKNOWLEDGED, BEGUN):
            return f"{self.number} {self.where} {self.transaction}\n"
        words = [_NOTHING if value is None else value for value in (self.call, self.offset, self.bytes)]
        words += [] if self.kept is None else [self.kept]
        return f"{self.number} call {' '.join(map(str, words))}\n"


def plan(cell: Cell, ran: Ran) -> list[Kill]:
    """Return the trials of a run in order of time; none without a transaction.

    The first is before all calls and the last after them: their outcome is known.
    """
    random = Random(cell.cut_seed, cuts.STREAM)
    transactions = ran.transactions.rows(named=True)
    points = [Kill(0, ACKNOWLEDGED, row["end_ns"], transaction=row["transaction"]) for row in transactions]
    if ran.vfs is not None and not ran.vfs.is_empty():
        begin, *calls = ran.vfs.iter_rows(named=True)
        end = calls.pop() if calls else begin
        points = [point for call in calls for point in _of_call(call, random)] + points
        first, last = _after(begin), _after(end)
    elif points:
        last = points.pop()
        first = Kill(0, BEGUN, transactions[0]["begin_ns"] - 1, transaction=0)
    else:
        return []
    points = cuts.drawn(points, cell.cuts - 2, random)
    points.sort(key=lambda point: (point.moment, point.call or 0, point.where))
    return [replace(point, number=number) for number, point in enumerate([first, *points, last])]


def _of_call(call: Mapping[str, Any], random: Random) -> list[Kill]:
    """Return the crash points of a call; none if it changes no file."""
    # an open that makes the file (docs/reference/formats.md)
    made = call["op"] == "open" and call["bytes"] == 1
    if call["op"] not in _CHANGING and not made:
        return []
    found = [_after(call)]
    if call["op"] == "write" and (pages := range(_PAGE - call["offset"] % _PAGE, call["bytes"], _PAGE)):
        # where another page begins
        kept = pages[random.below(len(pages))]
        within = (call["begin_ns"] + call["end_ns"]) // 2
        found.append(replace(found[0], where=DURING, moment=within, kept=kept))
    return found


def _after(call: Mapping[str, Any]) -> Kill:
    of_call = {name: call[name] for name in ("call", "offset", "bytes")}
    return Kill(0, AFTER, call["end_ns"], **of_call)
