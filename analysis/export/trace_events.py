"""Export a run to Perfetto (ui.perfetto.dev) and chrome://tracing: Chrome's Trace Event JSON.

Lanes are threads of three "processes": SQLite (transactions, file operations), the filesystem
(syncs, journal) and the block device (commands by kind, and how many are in flight). Slices of
one thread must nest in that format, so what overlaps in time gets a further thread of the same
name. A flow leads from each transaction to every block command done for it.

Times are microseconds with three decimals: the board's CLOCK_MONOTONIC to the nanosecond.
"""

import heapq
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analysis.run_files.stored import Stored

SQLITE, FILESYSTEM, DEVICE = 1, 2, 3
# columns of the ledger that a command's slice shows
_ARGS = ("command", "sector", "bytes", "comm", "transaction", "phase", "how", "vfs_call", "sync", "commit")
PROCESSES = {SQLITE: "SQLite", FILESYSTEM: "filesystem", DEVICE: "block device"}


class Slice(NamedTuple):
    """An interval on a lane; times in ns."""

    begin: int
    end: int
    name: str
    args: dict[str, Any]


def export(run: Stored, folder: Path) -> None:
    """Write the run's trace. Raises FileError if a table is missing."""
    header = {
        "displayTimeUnit": "ns",
        "otherData": {
            "run": f"{run.summary['cell_name']}/{run.summary['run_id']}",
            "clock": run.summary["clock"],
            "rejected": run.rejected,
        },
    }
    events = _events(run)
    with (folder / "trace.json").open("w", encoding="ascii") as file:
        file.write(json.dumps(header)[:-1] + ', "traceEvents": [\n' + next(events))
        file.writelines(",\n" + event for event in events)
        file.write("\n]}\n")


def _events(run: Stored) -> Iterator[str]:
    """Yield every event of the trace as JSON."""
    transactions = run.table("transactions", ("transaction", "op", "begin_ns", "end_ns"))
    ledger = run.table("ledger", ("command", "kind", "rwbs", "issue_ns", "complete_ns"))
    for pid, name in PROCESSES.items():
        yield _json(ph="M", name="process_name", pid=pid, args={"name": name})
        yield _json(ph="M", name="process_sort_index", pid=pid, args={"sort_index": pid})
    numbers = itertools.count(1)
    slices = _slices(transactions, "op", "transaction", "phase", "changes")
    yield from _lane(SQLITE, "transactions", slices, tids := _threads(slices, numbers))
    sql = dict(zip(transactions["transaction"], zip(slices, tids, strict=True), strict=True))
    for pid, name, slices in _calls(run):
        yield from _lane(pid, name, slices, _threads(slices, numbers))
    commands: dict[int, tuple[Slice, int]] = {}
    labels = _labels(run)
    for (kind,), rows in ledger.sort("kind", "issue_ns").group_by("kind", maintain_order=True):
        slices = _commands(rows, labels)
        yield from _lane(DEVICE, str(kind), slices, tids := _threads(slices, numbers))
        commands |= zip(rows["command"], zip(slices, tids, strict=True), strict=True)
    yield from _flows(run, sql, commands)
    yield from _in_flight(ledger)


def _calls(run: Stored) -> Iterator[tuple[int, str, list[Slice]]]:
    """Yield the lanes between transactions and block commands: (process, name, slices)."""
    vfs = run.table("vfs", ("call", "op", "file", "begin_ns", "end_ns"))
    vfs = vfs.with_columns(name=pl.concat_str("op", "file", separator=" "))
    yield SQLITE, "file operations", _slices(vfs, "name", "call", "transaction", "offset", "bytes")
    syncs = run.table("syncs", ("sync", "begin_ns", "end_ns", "file", "name"))
    syncs = syncs.with_columns(label=pl.concat_str(pl.lit("sync "), pl.col("name").fill_null("?")))
    slices = _slices(syncs, "label", "sync", "file", "inode", "datasync", "result", "vfs_call")
    yield FILESYSTEM, "syncs", slices
    journal = (("commits", "journal commit", "commit"), ("checkpoints", "checkpoint", "checkpoint"))
    for table, name, number in journal:
        rows = run.table(table, (number, "begin_ns", "end_ns")).with_columns(label=pl.lit(name))
        yield FILESYSTEM, name, _slices(rows, "label", number, "blocks", "sync_commit", "reason")


def _slices(table: pl.DataFrame, name: str, *args: str) -> list[Slice]:
    """Return a slice for each row of `table`, in order of begin, with its non-null `args`."""
    slices = []
    for row in table.sort("begin_ns", maintain_order=True).iter_rows(named=True):
        values = {arg: row[arg] for arg in args if row.get(arg) is not None}
        slices.append(Slice(row["begin_ns"], row["end_ns"], row[name], values))
    return slices


def _labels(run: Stored) -> dict[int, dict[str, int]]:
    """Return {command: {label: bytes}} of the writes."""
    labels: dict[int, dict[str, int]] = {}
    pieces = run.table("pieces", ("command", "label", "bytes"))
    for command, label, size in pieces.group_by("command", "label").agg(pl.col("bytes").sum()).iter_rows():
        labels.setdefault(command, {})[label] = size
    return labels


def _commands(rows: pl.DataFrame, labels: dict[int, dict[str, int]]) -> list[Slice]:
    """Return a slice for each block command, from issue to completion."""
    named = rows.with_columns(
        begin_ns="issue_ns",
        end_ns=pl.col("complete_ns").fill_null(pl.col("issue_ns")),
        name=pl.when(pl.col("bytes") > 0)
        .then(pl.concat_str("rwbs", pl.lit(" "), pl.col("bytes") // 1024, pl.lit("K")))
        .otherwise("rwbs"),
    )
    slices = _slices(named, "name", *_ARGS)
    return [s._replace(args=s.args | {"labels": labels.get(s.args["command"], {})}) for s in slices]


def _threads(slices: list[Slice], numbers: Iterator[int]) -> list[int]:
    """Return a thread for each slice, so that slices of a thread do not overlap."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # (end, thread)
    tids = []
    for slice_ in slices:
        while busy and busy[0][0] <= slice_.begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        tid = heapq.heappop(free) if free else next(numbers)
        # a slice without a length occupies its thread for 1 ns
        heapq.heappush(busy, (max(slice_.end, slice_.begin + 1), tid))
        tids.append(tid)
    return tids


def _lane(pid: int, name: str, slices: list[Slice], tids: list[int]) -> Iterator[str]:
    """Yield the threads of a lane, with the same name, and its slices."""
    for tid in sorted(set(tids)):
        yield _json(ph="M", name="thread_name", pid=pid, tid=tid, args={"name": name})
        yield _json(ph="M", name="thread_sort_index", pid=pid, tid=tid, args={"sort_index": tid})
    for s, tid in zip(slices, tids, strict=True):
        yield _json(
            ph="X", name=s.name, cat=name, pid=pid, tid=tid, ts=s.begin, dur=s.end - s.begin, args=s.args
        )


def _flows(
    run: Stored, sql: dict[int, tuple[Slice, int]], commands: dict[int, tuple[Slice, int]]
) -> Iterator[str]:
    """Yield an arrow from each transaction to each command attributed to it."""
    columns = ("command", "transaction")
    pairs = pl.concat([run.table(name, columns).select(columns) for name in ("ledger", "shares")])
    pairs = pairs.drop_nulls().unique(maintain_order=True)
    for number, (command, transaction) in enumerate(pairs.iter_rows(), 1):
        (cause, cause_tid), (effect, effect_tid) = sql[transaction], commands[command]
        # an arrow starts within its slice, not later than it ends
        start = min(max(cause.begin, effect.begin), max(cause.end - 1, cause.begin))
        ends = (("s", SQLITE, cause_tid, start), ("f", DEVICE, effect_tid, effect.begin))
        for ph, pid, tid, ts in ends:
            bind = {"bp": "e"} if ph == "f" else {}
            yield _json(ph=ph, name="causes", cat="flow", id=number, pid=pid, tid=tid, ts=ts, **bind)


def _in_flight(ledger: pl.DataFrame) -> Iterator[str]:
    """Yield the number of commands in flight, at each change."""
    edges = (("issue_ns", 1), ("complete_ns", -1))
    steps = pl.concat([ledger.select(ts=edge, step=pl.lit(step)) for edge, step in edges]).drop_nulls()
    depth = steps.group_by("ts").agg(pl.col("step").sum()).sort("ts").with_columns(pl.col("step").cum_sum())
    for ts, value in depth.iter_rows():
        yield _json(ph="C", name="in flight", pid=DEVICE, ts=ts, args={"commands": value})


def _json(**event: Any) -> str:
    """Return an event as JSON, with `ts` and `dur` converted from ns to microseconds."""
    times = {key: event.pop(key) for key in ("ts", "dur") if key in event}
    text = json.dumps(event, separators=(",", ":"))
    extra = "".join(f',"{key}":{ns // 1000}.{ns % 1000:03d}' for key, ns in times.items())
    return text[:-1] + extra + "}"
