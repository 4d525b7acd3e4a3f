"""Check persistent memory: stores counted, cleaned from caches, given time; file existed before trials."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.adapters.drivertables import TICKS_NS
from analysis.ledger.sums import property_of
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import inside, ints
from model.crash_points import pmem_lines

# The engine's counts of all writes there.
_TOTALS = ("lines", "bytes")
# The bytes of log records, which are written in transactions only.
_LOGGED = "log bytes"
# The time waited. It differs between runs by some ns.
WAITED = "persistent_waited_ns"


def as_charged(run: Run) -> list[str]:
    """Check the engine's counts of transactions' writes, and that the baseline run wrote the same."""
    reasons = [f"persistent memory: {wrong}" for wrong in _wrong(run.driver)]
    if run.twin is None:
        return reasons
    own, twins = run.driver.persistent, run.twin.driver.persistent
    reasons += [f"the baseline run's persistent memory: {wrong}" for wrong in _wrong(run.twin.driver)]
    if (own is None) != (twins is None) or (own is not None and twins is not None and not own.equals(twins)):
        reasons.append("persistent memory: the baseline run wrote other lines or bytes to it")
    return reasons


def cleaned(run: Run) -> list[str]:
    """Check that no transaction was acknowledged before its lines were clean, where cleaning was logged."""
    reasons = []
    for who, ran in (("", run.driver), ("the baseline run's ", run.twin.driver if run.twin else None)):
        if ran is None:
            continue
        memories = pmem_lines.memories(ran)
        if not any(pmem_lines.CLEAN in memory.op for memory in memories):
            continue
        ends = ran.transactions["end_ns"].to_list()
        late = [
            number
            for number, end in enumerate(ends)
            if any(memory.losable(end + TICKS_NS) for memory in memories)
        ]
        if late:
            reasons.append(
                f"{who}persistent memory: {len(late)} transactions were acknowledged before their lines were "
                f"clean, first transaction {late[0]}"
            )
    return reasons


def as_made(run: Run) -> list[str]:
    """Check that the file in persistent memory existed before a run with crash trials.

    Crash states do not cover the filesystem's own bytes.
    """
    if not run.trials:
        return []
    reasons = []
    boards = ((f"board {board.name}", board.driver) for board in run.trials)
    for who, ran in (("the run", run.timing), *boards):
        if ran.persistent is None or ran.vfs is None or ran.persistent.is_empty():
            continue
        op = pl.col("op").cast(pl.String)
        made = op.is_in(["write", "truncate"]) | ((op == "open") & (pl.col("bytes") == 1))
        calls = ran.vfs.filter((pl.col("file") == ran.persistent["file"][0]) & made)
        if calls.height:
            reasons.append(
                f"persistent memory: {who} created, wrote or truncated its file, first in call "
                f"{calls['call'][0]}; crash states do not cover the filesystem there"
            )
    return reasons


def _wrong(driver: Driver) -> Iterator[str]:
    table = driver.persistent
    totals = {name: property_of(driver, name) for name in _TOTALS}
    if table is None:
        if any(totals.values()):
            yield "the engine counts writes to it, but persistent.csv is missing"
        return
    effective = driver.config["effective"]
    numbers = [*totals.values(), *(effective.get(name) for name in ("pcm_line", "pcm_write_ns"))]
    values = [number for number in (*numbers, driver.config.get(WAITED)) if isinstance(number, int)]
    if len(values) < len(numbers) + 1:
        yield "the engine does not report how many lines and bytes it wrote, the line size or the time"
        return
    lines, size, line, write_ns, waited = values
    if table["lines"].sum() > lines or table["bytes"].sum() > size:
        yield f"its transactions wrote more than the engine's total of {lines} lines and {size} bytes"
    if table.height != driver.transactions.height:
        yield f"it has {table.height} transactions, the run {driver.transactions.height}"
    if waited < lines * write_ns:
        yield f"{lines} lines of {write_ns} ns each were written, but only {waited} ns were waited"
    logged = str(driver.config[driver.engine.PROPERTIES].get(_LOGGED, ""))
    if logged.isascii() and logged.isdigit() and table["bytes"].sum() < int(logged):
        yield f"its transactions wrote {table['bytes'].sum()} bytes, but the engine logged {logged} in them"
    yield from _as_called(driver, line)


def _as_called(driver: Driver, line: int) -> Iterator[str]:
    """Yield a message if a transaction's lines or bytes differ from those its calls cleaned."""
    table = driver.persistent
    each = [cleans for memory in pmem_lines.memories(driver) if len(cleans := _cleans(memory))]
    if table is None or not each or line < 1:
        return
    calls = np.concatenate(each)
    of_call = (calls[:, 2] + calls[:, 3] - 1) // line - calls[:, 2] // line + 1
    row = inside(ints(calls[:, 0]), *edges(driver.transactions))
    for name, count in (("lines", of_call), ("bytes", calls[:, 3])):
        due = np.bincount(row[row >= 0], count[row >= 0], driver.transactions.height).astype(np.int64)
        counted = ints(table[name])
        if counted.shape != due.shape:
            return
        wrong = np.flatnonzero(counted != due)
        if wrong.size:
            first = int(wrong[0])
            yield f"transaction {first} wrote {counted[first]} {name}, but its calls cleaned {due[first]}"


def _cleans(memory: pmem_lines.Memory) -> np.ndarray:
    """Return begin, end, place and bytes of each call that cleaned lines."""
    is_clean = np.array([op == pmem_lines.CLEAN for op in memory.op], np.bool_)
    places = np.array(memory.places, np.int64).reshape(-1, 2)
    cleans: np.ndarray = np.column_stack([memory.begin, memory.end, places])[is_clean]
    return cleans
