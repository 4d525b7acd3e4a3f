"""Parse one line of a text block trace (blkparse's default format, ftrace, trace-cmd or perf) as an event."""

import re
from collections.abc import Callable, Mapping

from analysis.adapters import blkrecords as blk
from analysis.adapters.blkevents import ERROR_UNKNOWN, SECTORS, UNKNOWN

Row = tuple[int, ...]  # in the order of blkevents.EVENT
Number = Callable[[str | None], int]  # of a process's name
Reader = Callable[[str, Number], Row | None]  # None: the line is about something else

ACTIONS = {
    **{"Q": blk.QUEUE, "M": blk.BACK_MERGE, "F": blk.FRONT_MERGE, "G": blk.GET_REQUEST, "I": blk.INSERT},
    **{"R": blk.REQUEUE, "D": blk.ISSUE, "C": blk.COMPLETE, "X": blk.SPLIT, "A": blk.REMAP},
}
# `8,0    3        1     0.000000000   697  D  WS 223490 + 8 [kjournald]`: device, CPU, number, time, process,
# action, and the rest: operation, sectors and name. Since release 1.3 a note names a control group behind
# the process: `252 1,0  m   N text`
PARSED = re.compile(
    r"\s*(?P<major>[0-9]{1,4}),(?P<minor>[0-9]{1,7})\s+(?P<cpu>[0-9]{1,5})\s+(?P<number>[0-9]{1,18})"
    r"\s+(?P<s>[0-9]{1,9})\.(?P<ns>[0-9]{9})\s+(?P<pid>[0-9]{1,10})\s+(?:[0-9a-f]+,[0-9a-f]+\s+)?"
    r"(?P<action>[A-Za-z]{1,2})\s+(?P<rest>.*)"
)
_ABOUT = re.compile(
    r"(?P<rwbs>[A-Z]{1,8})(?:\s+(?P<sector>[0-9]{1,20})(?:\s+(?P<sign>[+/])\s+(?P<n>[0-9]{1,20}))?)?"
    r"(?:\s+<-\s+\((?P<smajor>[0-9]{1,4}),(?P<sminor>[0-9]{1,7})\)\s+(?P<other>[0-9]{1,20}))?"
    r"(?:\s+\((?P<inside>[^()]*)\))?(?:\s+\[(?P<last>.*)\])?\s*"
)
_COMMAND = re.compile(r"[0-9a-f]{2}( [0-9a-f]{2})*( ?\.\.)? ?")
# before 2.6.37 a barrier stood where a flush stands now, behind the operation
_RWBS = re.compile(r"(F?)(WZ|ZRA|Z[ARFOC]|[WDRNF])([FBASMU]*)")
# the E of a secure erase is behind the D, before 4.8 behind all letters
_SECURE = re.compile(r"(F?D[FBASM]*)E([FBASMU]*)")
_OPERATIONS = {"W": blk.WRITE, "D": blk.WRITE | blk.DISCARD, "R": 0, "N": 0, "F": blk.FLUSH}
# zeroes and zones have letters since Linux 6.19, and were N before; the tracer's records call them writes
_OPERATIONS |= dict.fromkeys(("WZ", "ZA", "ZR", "ZRA", "ZF", "ZO", "ZC"), blk.WRITE)
_LATER = {"F": blk.FUA, "A": blk.AHEAD, "S": blk.SYNC, "M": blk.META, "B": blk.FLUSH, "U": 0}

# `mydb-912 [001] d..1 101.000100: block_rq_issue: 179,0 WS 4096 () 2048 + 8 none,0,0 [mydb]`, of ftrace and
# trace-cmd. perf has a blank before the number of the process, and `block:` before the event; the CPU may be
# missing. ftrace's tracer `blk` prints what blkparse does: `fio-7 [001] ..... 101.000100:   8,0    Q  WS 64 +
# 8 [fio]`; trace-cmd names that event blktrace
BLK = "blktrace"
TRACED = re.compile(
    r"\s*(?P<task>.{1,64}?)(?:-|\s+)(?P<pid>[0-9]{1,10})(?:/[0-9]+)?\s+(?:\(\s*[-0-9]+\)\s+)?"
    r"(?:\[[0-9]+\]\s+(?:[^\s:]+\s+)?)?(?P<s>[0-9]{1,9})\.(?P<fraction>[0-9]{6,9}):\s+"
    r"(?:(?:[0-9]+\s+)?(?:\w+:)?(?P<event>\w+):|(?=[0-9]{1,4},))\s*(?P<rest>.*)"
)
# with the control group's number, or its path (option blk_cgname)
_BLK = re.compile(
    r"(?P<major>[0-9]{1,4}),(?P<minor>[0-9]{1,7})\s+(?:[0-9a-f]+,[0-9a-f]+\s+|/\S*\s+)?"
    r"(?P<action>[A-Za-z]{1,2})\s+(?P<rest>.*)"
)
# a line of a stack, as perf and trace-cmd print it below an event
_STACK = re.compile(r"\s+[0-9a-f]{2,16}\s.*\)|\s*=> .*|.*<stack trace.*>")
_TRACED_ABOUT = re.compile(
    r"(?P<major>[0-9]{1,4}),(?P<minor>[0-9]{1,7}) (?P<rwbs>[A-Z]{1,8})"
    r"(?: [0-9]+(?= \())?(?: \((?P<inside>.*?)\))?"
    r" (?P<sector>[0-9]{1,20}) (?P<sign>[+/]) (?P<n>[0-9]{1,20})"
    r"(?: <- \((?P<smajor>[0-9]{1,4}),(?P<sminor>[0-9]{1,7})\) (?P<other>[0-9]{1,20})(?: [0-9]+)?)?"
    r"(?: [^\[]*?)?(?: \[(?P<last>.*)\])?\s*"
)
TRACED_ACTIONS = {
    **{"block_bio_queue": blk.QUEUE, "block_bio_backmerge": blk.BACK_MERGE, "block_rq_merge": blk.BACK_MERGE},
    **{"block_bio_frontmerge": blk.FRONT_MERGE, "block_getrq": blk.GET_REQUEST},
    **{"block_rq_insert": blk.INSERT, "block_rq_issue": blk.ISSUE, "block_rq_requeue": blk.REQUEUE},
    **{"block_rq_complete": blk.COMPLETE, "block_bio_complete": blk.COMPLETE, "block_split": blk.SPLIT},
    **{"block_bio_remap": blk.REMAP, "block_rq_remap": blk.REMAP},
}
NOWHERE = (1 << 64) - 1  # of a flush


class LineError(ValueError):
    """The line is not a valid event; the message names what was expected."""


def parsed(line: str, number: Number) -> Row | None:
    """Return the event of a line as blkparse prints it by default. Raises LineError."""
    event = PARSED.fullmatch(line)
    if event is None:
        raise LineError(f"{line.strip()[:40]!r} is not an event in blkparse's default format")
    time = int(event["s"]) * 10**9 + int(event["ns"])
    return _row_of_action(event.groupdict(), time, number)


def _row_of_action(event: Mapping[str, str], time: int, number: Number) -> Row | None:
    """Return the event of blkparse's `action` and the text behind it (`rest`). Raises LineError."""
    action = ACTIONS.get(event["action"])
    if action is None:
        return None
    about = _ABOUT.fullmatch(event["rest"].rstrip())
    if about is None:
        raise LineError(f"{event['rest'][:40]!r} is not a command in blkparse's default format")
    passthrough = _COMMAND.fullmatch(about["inside"] or "") is not None
    if action in (blk.COMPLETE, blk.REQUEUE):
        passthrough |= about["sector"] is None
    elif action in (blk.ISSUE, blk.INSERT, blk.QUEUE):
        passthrough |= about["sector"] is not None and about["sign"] is None
    return row({**event, **about.groupdict()}, action, time, number, passthrough=passthrough)


def traced(line: str, number: Number) -> Row | None:
    """Return the event of a line as ftrace, trace-cmd or `perf script` print it. Raises LineError."""
    event = TRACED.fullmatch(line)
    if event is None and _STACK.fullmatch(line.rstrip()):
        return None
    if event is None:
        raise LineError(f"{line.strip()[:40]!r} is not an event in the format of ftrace, trace-cmd or perf")
    time = int(event["s"]) * 10**9 + int(event["fraction"].ljust(9, "0"))
    if event["event"] in (None, BLK):
        blk = _BLK.fullmatch(event["rest"])
        if blk is None:
            raise LineError(f"{event['rest'][:40]!r} is not an event of the tracer blk")
        return _row_of_action({**event.groupdict(), **blk.groupdict()}, time, number)
    action = TRACED_ACTIONS.get(event["event"])
    if action is None:
        return None
    about = _TRACED_ABOUT.fullmatch(event["rest"].rstrip())
    if about is None:
        raise LineError(f"{event['rest'][:40]!r} is not a {event['event']} as the kernel prints it")
    fields = {**event.groupdict(), **about.groupdict()}
    passthrough = about["rwbs"].startswith("N") and int(about["n"]) == 0
    if about["rwbs"].startswith("N") and not passthrough:
        fields["rwbs"] = about["rwbs"].replace("N", "WZ", 1)
    return row(fields, action, time, number, passthrough=passthrough)


def row(
    fields: Mapping[str, str | None], action: int, time: int, number: Number, *, passthrough: bool
) -> Row:
    """Return the event with these fields, which are text: `major`, `minor`, `pid`, `rwbs`, `sector`, `n`,
    `other`, `last`, … A passthrough command (SCSI, NVMe) has no place. Raises LineError."""
    get = {name: text for name, text in fields.items() if text}
    sector, count = int(get.get("sector", 0)), int(get.get("n", 0))
    if "bytes" in get:
        count = -(-int(get["bytes"]) // 512)
        passthrough &= count < SECTORS
    if passthrough:
        sector = count = 0
    other, size = int(get.get("other", 0)), count * 512
    if action == blk.SPLIT:
        other, size = count, max(count - sector, 1) * 512
    elif "bytes" in get and not passthrough:
        size = int(get["bytes"])
    if sector == NOWHERE:
        sector = 0
    if sector + count >= SECTORS or other >= SECTORS:
        raise LineError(f"{count} sectors from {max(sector, other)} on: a device has at most 2^54")
    last, failed, name = get.get("last"), 0, UNKNOWN
    if action == blk.COMPLETE:
        failed = 0 if passthrough else error(last or "")
    elif action != blk.REQUEUE:
        name = number(process(last))
    bits = flags(get.get("rwbs", ""), has_data=size > 0) | action | (blk.PASSTHROUGH if passthrough else 0)
    source = device(get["smajor"], get["sminor"]) if "smajor" in get else 0
    of, pid = device(get["major"], get["minor"]), int(get["pid"])
    if pid >> 32:
        raise LineError(f"{pid} is not the number of a process (32 bits)")
    return (time, sector, size, other, bits, pid, of, source, name, failed)


def error(text: str) -> int:
    """Return the error of a completion as the kernel's records have it, or ERROR_UNKNOWN if not a number.

    blkparse prints it as 16 bits without a sign, ftrace and perf as a number below 0. Raises LineError.
    """
    if not re.fullmatch(r"-?[0-9]{1,20}", text):
        return ERROR_UNKNOWN
    number = abs(int(text))
    if number >> 16:
        raise LineError(f"{text} is not an error of a command (16 bits)")
    return number


def process(name: str | None) -> str | None:
    """Return a process's name as it is printed, None if it is not known."""
    return None if name in ("(null)", "") else name


def flags(rwbs: str, *, has_data: bool) -> int:
    """Return the bits of an action that blkparse's letters stand for. Raises LineError."""
    secure = _SECURE.fullmatch(rwbs)
    match = _RWBS.fullmatch(secure[1] + secure[2] if secure else rwbs)
    if match is None or (match[2] == "F" and has_data):
        raise LineError(f"{rwbs!r} is not an operation (expected letters such as WS or FWFSM)")
    bits = _OPERATIONS[match[2]] | (blk.FLUSH if match[1] else 0)
    for letter in match[3]:
        bits |= _LATER[letter]
    return bits


def device(major: str, minor: str) -> int:
    """Return a device number as the kernel's records have it. Raises LineError."""
    if int(major) >> 12 or int(minor) >> 20:
        raise LineError(f"{major},{minor} is not a device number (12 and 20 bits)")
    return int(major) << 20 | int(minor)
