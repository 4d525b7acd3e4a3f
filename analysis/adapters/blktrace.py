"""raw/blktrace/: block commands as the kernel's own tracer saw them, one file per CPU."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl

from analysis import events
from analysis.adapters.blkrecords import (
    ACTION,
    AHEAD,
    COMPLETE,
    DISCARD,
    FLUSH,
    FUA,
    ISSUE,
    META,
    NOTIFY,
    QUEUE,
    RECORD,
    REQUEUE,
    SYNC,
    WRITE,
    read_file,
)
from analysis.errors import BadInput
from analysis.files import read_text


def rwbs(records: np.ndarray) -> list[str]:
    """Return what kind of command each record is, in blkparse's letters."""
    flags = records["action"] & (WRITE | FLUSH | SYNC | AHEAD | META | DISCARD | FUA)
    codes, place = np.unique(flags | (records["bytes"] > 0), return_inverse=True)
    words = []
    for code in codes.tolist():
        operation = "D" if code & DISCARD else "W" if code & WRITE else "R" if code & 1 else "N"
        before = "F" if code & FLUSH else ""
        after = ((FUA, "F"), (AHEAD, "A"), (SYNC, "S"), (META, "M"))
        words.append(before + operation + "".join(c for bit, c in after if code & bit))
    return [words[i] for i in place.tolist()]


def read(folder: Path) -> tuple[pl.DataFrame, list[str]]:
    """Return the commands and bios of all CPU files as events, and the devices (major:minor).

    Events: `block` (issue to completion; end_ns null if it never completed), `queue` (a bio,
    which the flush machinery may answer without a command), `complete` (a completion with no
    command: the answer to an empty flush). Raises BadInput.
    """
    paths = sorted(folder.glob("*.blktrace.*"))
    if not paths:
        raise BadInput(folder, "", "no blktrace file", "<dev>.blktrace.<cpu>")
    loaded = [read_file(path) for path in paths]
    records = np.concatenate([records for records, _ in loaded])
    names = {pid: name for _, found in loaded for pid, name in found.items()}
    devices = sorted(set(_device_names(np.unique(records["device"]))))
    wanted = np.isin(records["action"] & ACTION, (QUEUE, REQUEUE, ISSUE, COMPLETE))
    records = records[wanted & (records["action"] & NOTIFY == 0)]
    records = records[np.argsort(records["time"], kind="stable")]
    device = records["device"].astype(np.int64)
    sectors = records["bytes"].astype(np.int64) // 512
    table = events.frame(
        {
            "source": "blktrace",
            "begin_ns": records["time"].astype(np.int64),
            "tid": records["pid"].astype(np.int64),
            "dev": _device_names(device),
            "sector": records["sector"].astype(np.int64),
            "sectors": sectors,
            "rwbs": rwbs(records),
            "result": records["error"].astype(np.int64),
        },
        len(records),
    ).with_columns(
        pl.Series("action", (records["action"] & ACTION).astype(np.int64)),
        pl.col("tid").replace_strict(names, default=None, return_dtype=pl.String).alias("comm"),
    )
    return _pair(table), devices


def _device_names(device: np.ndarray) -> list[str]:
    """Return `major:minor` of each device number."""
    known = {int(d): f"{int(d) >> 20}:{int(d) & 0xFFFFF}" for d in np.unique(device)}
    return [known[d] for d in device.tolist()]


def _pair(table: pl.DataFrame) -> pl.DataFrame:
    """Join each issue with its completion: the n-th of the same device, sector and flush-ness."""
    flush = (events.block_kind() == "flush").alias("flush")
    key = ["dev", "sector", "flush"]
    table = table.with_columns(flush)
    again = table.filter(pl.col("action") == REQUEUE).group_by(key).len("requeued")
    nth = pl.int_range(pl.len()).over(key).alias("nth")
    issued = (
        table.filter(pl.col("action") == ISSUE)
        .join(again, on=key, how="left", maintain_order="left")
        .with_columns(nth - pl.col("requeued").fill_null(0))
        .filter(pl.col("nth") >= 0)
    )
    is_answer = (pl.col("sectors") == 0) & ~pl.col("flush")
    completions = table.filter(pl.col("action") == COMPLETE)
    done = completions.filter(~is_answer).select(
        *key, nth, pl.col("begin_ns").alias("done_ns"), pl.col("result").alias("error")
    )
    block = issued.join(done, on=[*key, "nth"], how="left", maintain_order="left").with_columns(
        pl.lit("block").alias("event"),
        pl.col("done_ns").alias("end_ns"),
        pl.col("error").alias("result"),
    )
    point = pl.col("begin_ns").alias("end_ns")
    queued = table.filter(pl.col("action") == QUEUE).with_columns(pl.lit("queue").alias("event"))
    answers = completions.filter(is_answer).with_columns(pl.lit("complete").alias("event"))
    rest = [part.with_columns(point).select(*events.SCHEMA) for part in (queued, answers)]
    return events.merge([block.select(*events.SCHEMA), *rest])


def read_summary(path: Path) -> tuple[int, int]:
    """Return (events, dropped) of the `Total:` line of blktrace.out.

    blktrace does not count events: its number is the bytes of each CPU's file over 48, which
    `events_by_size` computes again. Raises BadInput.
    """
    found = re.findall(r"^\s*Total:\s+(\d+) events \(dropped (\d+)\)", read_text(path), re.M)
    if len(found) != 1:
        expected = "Total: <n> events (dropped <n>)"
        raise BadInput(path, "", f"{len(found)} lines with a total", expected)
    return int(found[0][0]), int(found[0][1])


def events_by_size(folder: Path) -> int:
    """Return the number of events blktrace's summary must show for the files in `folder`."""
    sizes = [path.stat().st_size for path in folder.glob("*.blktrace.*")]
    return sum(size // RECORD.itemsize for size in sizes)
