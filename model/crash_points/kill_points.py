"""Which moments the driver is killed at, where the process alone fails: kernel and device go on.

What had reached the kernel stays, so only three things differ from moment to moment: which of the engine's
calls that change a file have returned, what the one under way has done, and which transactions are
acknowledged. A moment is once a call has returned (`after`), within a write (`during`), or once a transaction
is acknowledged (`acknowledged`); before a call is after the one before, or what was acknowledged between.
Where CUTS is fewer they are drawn by splitmix64 from CUT_SEED, and else each is tried.

A write that is killed ends between two pages of the kernel's: generic_perform_write (mm/filemap.c) looks
for a fatal signal before each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.cell import Cell
from model.crash_points import cuts
from model.crash_points.ran import Ran
from model.workloads import Random

AFTER, DURING, ACKNOWLEDGED = "after", "during", "acknowledged"
# of the kernel's page cache on a virtual board
_PAGE = 4096
_NOTHING = -1
_CHANGING = ("write", "sync", "truncate", "delete", "copy", "msync")


@dataclass(frozen=True)
class Kill:
    """One moment. call, offset and bytes: of vfs.csv, None of an acknowledgement; kept: bytes of a write that
    were done, None: it has returned."""

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
        """What a board says of its line."""
        return cuts.digest(self.line())

    def line(self) -> str:
        """Its line of the board's plan (workloads/trials/kill.h)."""
        if self.where == ACKNOWLEDGED:
            return f"{self.number} acknowledged {self.transaction}\n"
        words = [_NOTHING if one is None else one for one in (self.call, self.offset, self.bytes)]
        words += [] if self.kept is None else [self.kept]
        return f"{self.number} call {' '.join(map(str, words))}\n"


def plan(cell: Cell, ran: Ran) -> list[Kill]:
    """Return the trials of a run whose calls were noted, in the order of their moments.

    The first is before anything was done and the last as all is: what they find is known.
    """
    if ran.vfs is None or ran.vfs.is_empty():
        return []
    random = Random(cell.cut_seed, cuts.STREAM)
    begin, *calls = ran.vfs.iter_rows(named=True)
    end = calls.pop() if calls else begin
    moments = [one for call in calls for one in _of_call(call, random)]
    moments += [
        Kill(0, ACKNOWLEDGED, row["end_ns"], transaction=row["transaction"])
        for row in ran.transactions.iter_rows(named=True)
    ]
    moments = cuts.drawn(moments, min(len(moments), cell.cuts - 2), random)
    moments.sort(key=lambda one: (one.moment, one.call or 0, one.where))
    every = [_after(begin), *moments, _after(end)]
    return [Kill(**vars(one) | {"number": number}) for number, one in enumerate(every)]


def _of_call(call: Mapping[str, Any], random: Random) -> list[Kill]:
    """Return the moments of a call, none of one that changes no file."""
    # one that an engine opens to make it, and whose folder its first sync syncs (docs/reference/formats.md)
    made = call["op"] == "open" and call["bytes"] == 1
    if call["op"] not in _CHANGING and not made:
        return []
    found = [_after(call)]
    if call["op"] == "write" and (pages := _boundaries(call["offset"], call["bytes"])):
        kept = pages[random.below(len(pages))]
        within = (call["begin_ns"] + call["end_ns"]) // 2
        found.append(Kill(**vars(found[0]) | {"where": DURING, "moment": within, "kept": kept}))
    return found


def _after(call: Mapping[str, Any]) -> Kill:
    of_call = {name: call[name] for name in ("call", "offset", "bytes")}
    return Kill(0, AFTER, call["end_ns"], **of_call)


def _boundaries(offset: int, size: int) -> list[int]:
    """Return after how many bytes of a write another page begins."""
    return list(range(_PAGE - offset % _PAGE, size, _PAGE))
