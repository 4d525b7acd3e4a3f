"""What a partition's disk did beside it: flushes, which are counted for the disk alone.

Who else uses the disk is not idle when the window begins or ends, so numbers of the disk are not equal
where two count: the kernel's counter, read before the driver began and after it ended, between two
readings of a clock of 10 ms, is no less than what the probes saw complete surely within, and no more than
what they saw that may have been.
"""

from __future__ import annotations

import re

import polars as pl

from analysis.checks import counts
from analysis.files import read_text
from analysis.run import Run
from base.errors import BadInput

FILE = "raw/board/disk_stat.txt"
# /proc/uptime, of which the readings are made, has 10 ms; playbooks/board/run-cell.sh
_CLOCK_NS = 10_000_000
# Two who note the same command do so at the same tracepoint (witness.py, _BESIDE).
_APART_NS = 100_000
_WRITES, _SECTORS, _FLUSHES = 4, 6, 15  # fields of Documentation/block/stat.rst


def flushes(run: Run) -> list[str]:
    """The disk's counter and each other observer have as many flushes as the probes saw, but for those at
    the edges."""
    if run.partition is None or not run.probes:
        return []
    seen = run.events.filter(
        (pl.col("source") == "probe") & (pl.col("event") == "block") & (pl.col("rwbs").str.starts_with("FF"))
    )
    found = []
    begin, end = run.driver.window
    for name, witness in run.witnesses.items():
        told = witness.commands["flush"]
        least = _within(seen, "begin_ns", begin + _APART_NS, end - _APART_NS)
        most = _within(seen, "begin_ns", begin - _APART_NS, end + _APART_NS)
        if not least <= told <= most:
            found.append(f"flushes of the disk in the window: {name} {told}, probe {least} to {most}")
    rows = stat(run)
    grew = rows["end"][1][_FLUSHES] - rows["begin"][1][_FLUSHES]
    (first, last), (first_of_end, last_of_end) = rows["begin"][0], rows["end"][0]
    least = _within(seen, "end_ns", last + _CLOCK_NS, first_of_end - _CLOCK_NS)
    most = _within(seen, "end_ns", first - _CLOCK_NS, last_of_end + _CLOCK_NS)
    if not least <= grew <= most:
        found.append(f"flushes of the disk while the driver ran: {counts.STAT} {grew}, probe {least} to {most}")
    return found


def foreign(run: Run) -> dict[str, int] | None:
    """Return what others did with the disk while the driver ran, by its counters less the partition's: write
    commands and bytes_written, each with empty flushes of any partition; None of a whole device."""
    if run.partition is None:
        return None
    rows, own = stat(run), run.driver.stat_difference()
    writes, sectors = (rows["end"][1][n] - rows["begin"][1][n] for n in (_WRITES, _SECTORS))
    return {"writes": writes - own["write_ios"], "bytes_written": (sectors - own["write_sectors"]) * 512}


def _within(seen: pl.DataFrame, column: str, begin: int, end: int) -> int:
    return seen.filter(pl.col(column).is_between(begin, end)).height


def stat(run: Run) -> dict[str, tuple[tuple[int, int], list[int]]]:
    """Return label → (ns before and after the reading, the disk's counters). Raises BadInput."""
    path = run.folder / FILE
    found = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not re.fullmatch(r"(begin|end)( [0-9]{1,18}){19,24}", " ".join(words)):
            expected = "begin|end, ns, the counters of /sys/block/<disk>/stat with flushes, ns"
            raise BadInput(path, f"line {number}", repr(line[:100]), expected)
        values = [int(word) for word in words[1:]]
        found[words[0]] = ((values[0], values[-1]), values[1:-1])
    if set(found) != {"begin", "end"}:
        raise BadInput(path, "", f"lines of {', '.join(found) or 'nothing'}", "one of begin, one of end")
    return found
