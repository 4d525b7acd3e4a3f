"""Read raw/blktrace/, the kernel block tracer's files: count and pair block commands, find lost events."""

import re
from pathlib import Path

import numpy as np
import polars as pl

from analysis.adapters import blkrecords as blk
from analysis.adapters.blkpairs import pair
from analysis.adapters.blkrecords import codes, words
from analysis.adapters.partition import Partition
from analysis.observers import Given, Observer, Seen, Witness
from analysis.run_files.reading import read_text
from analysis.schemas import events
from base.arrays import distinct
from base.errors import FileError

_COUNTED = (blk.QUEUE, blk.REQUEUE, blk.ISSUE, blk.COMPLETE)
_PLACE = np.full(blk.ACTION + 1, -1)  # of an action in _COUNTED, -1 for another
_PLACE[list(_COUNTED)] = range(len(_COUNTED))
_IS_COUNTED = _PLACE >= 0


def _paths(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("*.blktrace.*"))
    if not paths:
        raise FileError(folder, "", "no blktrace file", "<dev>.blktrace.<cpu>")
    return paths


def count(folder: Path, begin: int, end: int, partition: Partition | None = None) -> Witness:
    """Count the commands of all CPU files in [begin, end). Raises FileError.

    The device is idle at both times; a disk with other partitions may not be. A completion without sectors
    that is not a flush completes an empty flush request, not a command.
    """
    number = np.zeros((len(_COUNTED), len(words())), np.int64)  # by action and code
    sectors = np.zeros(number.shape)
    failed = 0
    devices: set[int] = set()
    for path in _paths(folder):
        for chunk in blk.chunks(path):
            devices.update(distinct(chunk.records["device"]))
            records = partition.assign_traced(chunk.records) if partition else chunk.records
            rows = _counted(records, begin, end)
            action, size, error = (records[name].take(rows) for name in ("action", "bytes", "error"))
            place = _PLACE.take(action & blk.ACTION) * number.shape[1] + codes(action, size)
            number += np.bincount(place, minlength=number.size).reshape(number.shape)
            sectors += np.bincount(place, size >> 9, number.size).reshape(number.shape)
            failed += int(np.count_nonzero((error > 0) & (action & blk.ACTION == blk.COMPLETE)))
    kinds = words()["kind"]
    is_answer = ((words()["sectors"] == 0) & (kinds != "flush")).to_numpy()
    queued_flush = words()["rwbs"].str.contains("^FW").to_numpy() & (words()["sectors"] == 0).to_numpy()

    def by_kind(found: np.ndarray) -> dict[str, int]:
        return {kind: int(found[(kinds == kind).to_numpy()].sum()) for kind in events.BLOCK_KINDS}

    of = {action: number[place] for place, action in enumerate(_COUNTED)}
    size_of = {action: sectors[place] for place, action in enumerate(_COUNTED)}
    if of[blk.REQUEUE].any():
        returned = _never_issued(folder, partition, begin, end)
        code = codes(returned["action"], returned["bytes"])
        np.subtract.at(of[blk.REQUEUE], code, 1)
        np.subtract.at(size_of[blk.REQUEUE], code, returned["bytes"] >> 9)
    issued, back, done = of[blk.ISSUE], of[blk.REQUEUE], of[blk.COMPLETE][~is_answer]
    sent = size_of[blk.ISSUE] - size_of[blk.REQUEUE]
    unfinished = int((issued - back).sum() - done.sum())
    # a command that completed in parts has several completions, which may hide a missing one
    if unfinished or sent.sum() != size_of[blk.COMPLETE].sum() or partition:
        unfinished = _never_completed(read(folder, partition), begin, end, partition)
    return Witness(
        commands=by_kind(issued - back),
        sectors=by_kind(sent),
        empty_flushes=int(of[blk.QUEUE][queued_flush].sum()),
        unfinished=unfinished,
        failed=failed,
        devices=[events.device_name(number) for number in sorted(devices)],
        read=lambda: read(folder, partition),
        queued=lambda: queued(folder, begin, end, partition),
    )


def _never_issued(folder: Path, partition: Partition | None, begin: int, end: int) -> np.ndarray:
    """Return the requeues in [begin, end) of commands that were not issued, as a busy driver returns them."""
    records, _ = _load(folder, partition)
    records = records[np.argsort(records["time"], kind="stable")]
    returned: np.ndarray = records[pair(records).returned]
    return returned[(returned["time"] >= begin) & (returned["time"] < end)]


def _never_completed(commands: pl.DataFrame, begin: int, end: int, partition: Partition | None) -> int:
    """Return how many commands (of `read`) were issued in [begin, end) and never completed.

    Flushes of a shared disk are left out: they may be for another partition and outlast the trace.
    """
    within = pl.col("begin_ns").is_between(begin, end, closed="left")
    own = within & (pl.col("kind") != "flush") if partition else within
    return commands.filter(own & pl.col("end_ns").is_null()).height


def _counted(records: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Return the rows of the records that are counted."""
    action, time = np.ascontiguousarray(records["action"]), records["time"]
    counted = _IS_COUNTED.take(action & blk.ACTION) & (action & (blk.NOTIFY | blk.PASSTHROUGH) == 0)
    return np.flatnonzero(counted & (time >= begin) & (time < end))


def queued(folder: Path, begin: int, end: int, partition: Partition | None = None) -> np.ndarray:
    """Return the bios queued in [begin, end) that are writes or flushes: pid, sector and bytes of each,
    by pid, then in the order in which that thread queued them. Raises FileError."""
    kept = np.dtype([(name, blk.RECORD[name]) for name in ("time", "pid", "sector", "bytes")])
    parts = [np.empty(0, kept)]
    for path in _paths(folder):
        for chunk in blk.chunks(path):
            rows = _counted(chunk.records, begin, end)
            action = chunk.records["action"].take(rows)
            bios = rows.compress((action & blk.ACTION == blk.QUEUE) & (action & blk.WRITE > 0))
            part = np.empty(bios.size, kept)
            for name in kept.names or ():
                part[name] = chunk.records[name].take(bios)
            parts.append(part)
    result = np.concatenate(parts)
    result = partition.assign_traced(result) if partition else result
    return result[np.lexsort((result["time"], result["pid"]))]


def read(folder: Path, partition: Partition | None = None) -> pl.DataFrame:
    """Return the commands of all CPU files, in the order of issue. Raises FileError.

    The columns are those of events.SCHEMA that blktrace knows, and `kind`; end_ns is null if a
    command never completed.
    """
    return commands(*_load(folder, partition))


def _load(folder: Path, partition: Partition | None) -> tuple[np.ndarray, dict[int, str]]:
    """Return the records that make commands, of all CPU files, and process names by number."""
    loaded = [blk.read_file(path, _wanted) for path in _paths(folder)]
    names = {pid: name for _, comms in loaded for pid, name in comms.items()}
    records = np.concatenate([records for records, _ in loaded])
    return partition.assign_traced(records) if partition else records, names


def commands(records: np.ndarray, names: dict[int, str]) -> pl.DataFrame:
    """Return the commands of records (RECORD, in any order) as `read` does.

    names: process names by number.
    """
    if (records["time"][1:] < records["time"][:-1]).any():
        records = records[np.argsort(records["time"], kind="stable")]
    pairs = pair(records)
    rows, ends, known = records[pairs.issue], records["time"][pairs.done].astype(np.int64), pairs.done >= 0
    selected = words()[codes(rows["action"], rows["bytes"])]
    table = pl.DataFrame(
        {
            "source": pl.repeat("blktrace", len(rows), eager=True),
            "event": pl.repeat("block", len(rows), eager=True),
            "begin_ns": rows["time"].astype(np.int64),
            "end_ns": pl.Series(ends).set(pl.Series(~known), None),
            "tid": rows["pid"].astype(np.int64),
            "dev": rows["device"].astype(np.int64),
            "sector": rows["sector"].astype(np.int64),
            "sectors": pairs.bytes // 512,
            "rwbs": selected["rwbs"],
            "kind": selected["kind"],
            "result": pl.Series(pairs.error).set(pl.Series(~known), None),
        }
    )
    devices = {number: events.device_name(number) for number in np.unique(rows["device"]).tolist()}
    return table.with_columns(
        pl.col("dev").replace_strict(devices, return_dtype=pl.String),
        pl.col("tid").replace_strict(names, default=None, return_dtype=pl.String).alias("comm"),
    )


def _wanted(action: np.ndarray) -> np.ndarray:
    bare = action & blk.ACTION
    return np.asarray(_IS_COUNTED[bare] & (bare != blk.QUEUE) & (action & blk.PASSTHROUGH == 0))


def read_summary(path: Path) -> tuple[int, int]:
    """Return (events, dropped) of the `Total:` line of blktrace.out.

    blktrace does not count events: its number is the size of each CPU's file divided by 48, in any version.
    `events_by_size` computes the same. Raises FileError.
    """
    result = re.findall(r"^\s*Total:\s+([0-9]{1,18}) events \(dropped ([0-9]{1,18})\)", read_text(path), re.M)
    if len(result) != 1:
        expected = "Total: <n> events (dropped <n>)"
        raise FileError(path, "", f"{len(result)} lines with a total", expected)
    return int(result[0][0]), int(result[0][1])


def events_by_size(folder: Path) -> int:
    """Return the number of events blktrace's summary must show for the files in `folder`."""
    sizes = [path.stat().st_size for path in folder.glob("*.blktrace.*")]
    return sum(size // blk.RECORD.itemsize for size in sizes)


def _seen(given: Given) -> Seen:
    folder, seen = given.raw / "blktrace", Seen()
    size_events = events_by_size(folder)
    if any(folder.glob("*.blktrace.*")):
        seen.witness = count(folder, *given.window, given.partition)
    else:
        seen.missing.append("raw/blktrace/<dev>.blktrace.<cpu>")
    if not (folder / "blktrace.out").is_file():
        seen.missing.append("raw/blktrace/blktrace.out")
        return seen
    number, seen.lost = read_summary(folder / "blktrace.out")
    seen.numbers = {"events": number, "dropped": seen.lost}
    if seen.lost:
        seen.losses.append(f"blktrace dropped {seen.lost} events")
    if number != size_events:
        seen.losses.append(
            f"raw/blktrace holds {size_events} records of 48 bytes, "
            f"blktrace wrote {number}: a file is cut short or missing"
        )
    return seen


OBSERVER = Observer(read=_seen, leaves=("blktrace/*",))
