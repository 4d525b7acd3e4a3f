"""The text that blkparse and btrace print by default, as records of the kernel's block tracer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from analysis.adapters.blkrecords import (
    AHEAD,
    COMPLETE,
    DISCARD,
    FLUSH,
    FUA,
    ISSUE,
    META,
    QUEUE,
    RECORD,
    REQUEUE,
    SYNC,
    WRITE,
)

# `8,0    3        1     0.000000000   697  D  WS 223490 + 8 [kjournald]`: device, CPU, number, time, process,
# what happened, to what, and of what it is about the rest. Since release 1.3 a note names a control group
# behind the process: `252 1,0  m   N text`
_EVENT = re.compile(
    r"\s*(?P<major>[0-9]{1,4}),(?P<minor>[0-9]{1,7})\s+(?P<cpu>[0-9]{1,5})\s+(?P<number>[0-9]{1,18})"
    r"\s+(?P<s>[0-9]{1,9})\.(?P<ns>[0-9]{9})\s+(?P<pid>[0-9]{1,10})\s+(?:[0-9a-f]+,[0-9a-f]+\s+)?"
    r"(?P<action>[A-Za-z]{1,2})\s+(?P<rest>.*)"
)
_ABOUT = re.compile(
    r"(?P<rwbs>F?[WDRN][FASM]*)(?:\s+(?P<sector>[0-9]{1,19})(?:\s+\+\s+(?P<sectors>[0-9]{1,9}))?)?"
    r"(?:\s+\(\s*[0-9]+\))?\s+\[(?P<last>.*)\]"
)
# the last lines: sums of each CPU, and of all
_SUMS = re.compile(r"(CPU ?[0-9]+|Total) \(.*\):|Throughput|Events \(")
_PLACES = {"Q": QUEUE, "R": REQUEUE, "D": ISSUE, "C": COMPLETE}
_OPERATIONS = {"W": WRITE, "D": WRITE | DISCARD, "R": 0, "N": 0}
_LATER = {"F": FUA, "A": AHEAD, "S": SYNC, "M": META}
_NOTES = {"m", "P", "U", "UT"}


class NoBlkparseError(ValueError):
    """The text is not blkparse's; says which line of it."""


def records(lines: Iterable[str]) -> tuple[np.ndarray, dict[int, str]]:
    """Return (records of _PLACES alone, RECORD, in the order of the lines; names of processes by number).

    Raises NoBlkparseError.
    """
    names: dict[int, str] = {}
    found = np.array(list(_rows(lines, names)), RECORD)
    return found, names


def _rows(lines: Iterable[str], names: dict[int, str]) -> Iterator[tuple[int, ...]]:
    before = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("Input file ", "Trace started at ")):
            continue
        if before and _SUMS.match(line):
            return
        event = _EVENT.fullmatch(line.rstrip("\r\n"))
        if event is None:
            shown = line.strip()[:40]
            raise NoBlkparseError(f"line {number}: {shown!r} is no event as blkparse prints one by default")
        before = number
        if event["action"] in _NOTES or event["action"] not in _PLACES:
            continue
        about = _ABOUT.fullmatch(event["rest"].rstrip())
        if about is None:
            shown = event["rest"][:40]
            raise NoBlkparseError(f"line {number}: {shown!r} is no command as blkparse prints one by default")
        yield _record(event, about, names)


def _record(event: re.Match[str], about: re.Match[str], names: dict[int, str]) -> tuple[int, ...]:
    action, rwbs, error = _PLACES[event["action"]], about["rwbs"], 0
    flush = rwbs[0] == "F"
    bits = _OPERATIONS[rwbs[flush]] | (FLUSH if flush else 0)
    for letter in rwbs[flush + 1 :]:
        bits |= _LATER[letter]
    if action == COMPLETE:
        # one that failed: the number is below 0, or above 2^15
        error = abs(int(about["last"])) & 0xFFFF if re.fullmatch(r"-?[0-9]{1,9}", about["last"]) else 0
    else:
        names[int(event["pid"])] = about["last"]
    return (
        *(0, int(event["number"]) & 0xFFFFFFFF, int(event["s"]) * 10**9 + int(event["ns"])),
        *(int(about["sector"] or 0), (int(about["sectors"] or 0) << 9) & 0xFFFFFFFF, bits | action),
        *(int(event["pid"]) & 0xFFFFFFFF, int(event["major"]) << 20 | int(event["minor"])),
        *(int(event["cpu"]), error, 0),
    )
