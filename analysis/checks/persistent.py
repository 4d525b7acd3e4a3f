"""Was what the engine wrote to persistent memory charged and cleaned, and does its account of it hold?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.adapters.drivertables import TICKS_NS
from analysis.ledger.persistent_memory import property_of
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import inside, ints
from model.crash_points import lines

# What the engine counts of all it wrote there.
_TOTALS = ("lines", "bytes")
# What of it are records, which are written in transactions alone.
_LOGGED = "log bytes"
# And in what time, which no two runs have to the nanosecond.
WAITED = "persistent_waited_ns"


def as_charged(run: Run) -> list[str]:
    """The engine counts what its transactions wrote; and the twin wrote the same."""
    found = [f"persistent memory: {wrong}" for wrong in _wrong(run.driver)]
    if run.twin is None:
        return found
    own, twins = run.driver.persistent, run.twin.driver.persistent
    found += [f"the twin's persistent memory: {wrong}" for wrong in _wrong(run.twin.driver)]
    if (own is None) != (twins is None) or (own is not None and twins is not None and not own.equals(twins)):
        found.append("persistent memory: the untraced twin wrote other lines or bytes to it")
    return found


def cleaned(run: Run) -> list[str]:
    """Where the cleaning of lines was noted, no transaction was acknowledged before its lines were clean."""
    found = []
    for who, ran in (("", run.driver), ("the twin's ", run.twin.driver if run.twin else None)):
        if ran is None:
            continue
        noted = lines.of_each(ran)
        if not any(lines.CLEAN in memory.op for memory in noted):
            continue
        ends = ran.transactions["end_ns"].to_list()
        late = [
            number
            for number, end in enumerate(ends)
            if any(memory.losable(end + TICKS_NS) for memory in noted)
        ]
        if late:
            found.append(
                f"{who}persistent memory: {len(late)} transactions were acknowledged before their lines were "
                f"clean, the first {late[0]}"
            )
    return found


def as_made(run: Run) -> list[str]:
    """Of a run whose cuts say what the memory keeps, the file there was made before it: the filesystem's own
    bytes are in no cut."""
    if not run.trials:
        return []
    found = []
    for who, ran in (("the run", run.timing), *((f"board {one.name}", one.driver) for one in run.trials)):
        if ran.persistent is None or ran.vfs is None or ran.persistent.is_empty():
            continue
        op = pl.col("op").cast(pl.String)
        made = op.is_in(["write", "truncate"]) | ((op == "open") & (pl.col("bytes") == 1))
        calls = ran.vfs.filter((pl.col("file") == ran.persistent["file"][0]) & made)
        if calls.height:
            found.append(
                f"persistent memory: in {who} its file was made, written or truncated, first by call "
                f"{calls['call'][0]}, and no cut knows what the filesystem there keeps"
            )
    return found


def _wrong(driver: Driver) -> Iterator[str]:
    table = driver.persistent
    said = {name: property_of(driver, name) for name in _TOTALS}
    if table is None:
        if any(said.values()):
            yield "the engine says that it wrote to it, and of no transaction what (persistent.csv)"
        return
    effective = driver.config["effective"]
    numbers = [*said.values(), *(effective.get(name) for name in ("pcm_line", "pcm_write_ns"))]
    found = [number for number in (*numbers, driver.config.get(WAITED)) if isinstance(number, int)]
    if len(found) < len(numbers) + 1:
        yield "the engine does not say how much it wrote to it, by what lines and in what time"
        return
    lines, size, line, write_ns, waited = found
    if table["lines"].sum() > lines or table["bytes"].sum() > size:
        yield f"its transactions wrote more than {lines} lines and {size} bytes, which is all that there were"
    if table.height != driver.transactions.height:
        yield f"it has {table.height} transactions, the run {driver.transactions.height}"
    if waited < lines * write_ns:
        yield f"{lines} lines of {write_ns} ns each were written, and {waited} ns were waited"
    logged = str(driver.config[driver.engine.PROPERTIES].get(_LOGGED, ""))
    if logged.isascii() and logged.isdigit() and table["bytes"].sum() < int(logged):
        yield f"its transactions wrote {table['bytes'].sum()} bytes, and the engine logged {logged} in them"
    yield from _as_called(driver, line)


def _as_called(driver: Driver, line: int) -> Iterator[str]:
    """Where the cleaning of lines was noted, a transaction's are those that it is said to have written."""
    table, each = driver.persistent, [cleans for one in lines.of_each(driver) if len(cleans := _cleans(one))]
    if table is None or not each or line < 1:
        return
    calls = np.concatenate(each)
    of_call = (calls[:, 2] + calls[:, 3] - 1) // line - calls[:, 2] // line + 1
    row = inside(ints(calls[:, 0]), *edges(driver.transactions))
    for name, count in (("lines", of_call), ("bytes", calls[:, 3])):
        due = np.bincount(row[row >= 0], count[row >= 0], driver.transactions.height).astype(np.int64)
        said = ints(table[name])
        if said.shape != due.shape:
            return
        wrong = np.flatnonzero(said != due)
        if wrong.size:
            first = int(wrong[0])
            yield f"transaction {first} wrote {said[first]} {name}, and its calls cleaned {due[first]}"


def _cleans(memory: lines.Memory) -> np.ndarray:
    """Return of each call that cleaned when it began and ended, where, and how many bytes."""
    is_clean = np.array([op == lines.CLEAN for op in memory.op], np.bool_)
    places = np.array(memory.places, np.int64).reshape(-1, 2)
    found: np.ndarray = np.column_stack([memory.begin, memory.end, places])[is_clean]
    return found
