"""Build the block commands of a trace: times, type and submitting process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import blkflushes, blkowners, blkpairs, blkremaps
from analysis.adapters.blkcommands import codes, words
from analysis.adapters.blkevents import ERROR_UNKNOWN, Events
from analysis.adapters.blkrecords import ACTION, COMPLETE, FLUSH, ISSUE, PASSTHROUGH, QUEUE, REMAP, WRITE
from analysis.schemas import events as schema

_OPERATIONS = {"write metadata": "write", "write FUA": "write"}
_CSV = {
    **{"device": "dev", "operation": "operation", "flags": "rwbs", "sector": "place", "sectors": "sectors"},
    **{"queue_ns": "queue_ns", "issue_ns": "issue_ns", "complete_ns": "end_ns", "process": "comm"},
    **{"pid": "tid", "error": "result", "orphan": "orphan"},
}


class Traced(NamedTuple):
    """The commands of a trace."""

    commands: pl.DataFrame  # in the order of `begin_ns`: observers' columns, `queue_ns`, `issue_ns`
    orphans: pl.DataFrame  # completions of no command, with the same columns
    bios: list[str]  # devices that have no requests: their commands begin when they are queued
    passed: int  # SCSI and ATA passthrough commands, which are left out
    returned: int  # requeues of no command
    stacked: list[tuple[str, str]]  # (device, the one below it)


def commands(events: Events) -> Traced:
    """Return the commands of a trace."""
    is_passed = events.rows["action"] & PASSTHROUGH > 0
    rows = events.rows[~is_passed] if is_passed.any() else events.rows
    passed = np.bincount(events.rows["action"][is_passed] & ACTION, minlength=ACTION + 1)
    action, device = rows["action"] & ACTION, rows["device"]
    completed = set(np.unique(device[action == COMPLETE]).tolist())
    bios = sorted(set(np.unique(device[action == QUEUE]).tolist()) & completed - events.requests)
    whole = np.isin(device, bios)
    of_requests = _pairs(rows, ~whole)
    owner, of_orphan = blkowners.queued(rows, of_requests, whole)
    of_bios = _pairs(_as_requests(rows) if bios else rows, whole, parts=False)
    issue = np.concatenate([of_requests.issue, of_bios.issue])
    order = np.argsort(issue)
    queue = np.concatenate([owner, of_bios.issue])[order]
    done, error, size = (
        np.concatenate([getattr(of_requests, name), getattr(of_bios, name)])[order]
        for name in ("done", "error", "bytes")
    )
    orphans = np.concatenate([of_requests.orphans, of_bios.orphans])
    of_orphans = np.concatenate([of_orphan, np.full(of_bios.orphans.size, blkflushes.NOBODY)])
    issue = issue[order]
    nowhere = np.full(orphans.size, -1)
    above = blkremaps.origins(rows)
    by = _asked(above, issue, queue)
    return Traced(
        commands=_table(events, rows, issue, done, error, size, queue, by, whole[issue]),
        orphans=_table(
            events,
            rows,
            nowhere,
            orphans,
            rows["error"][orphans],
            rows["bytes"][orphans],
            of_orphans,
            _asked(above, nowhere, of_orphans),
            nowhere >= 0,
        ),
        bios=[schema.device_name(number) for number in bios],
        passed=int(passed[ISSUE] or passed[COMPLETE]),
        returned=of_requests.returned.size,
        stacked=_stacked(rows[action == REMAP], set(np.unique(device).tolist())),
    )


def _asked(above: dict[int, int], issue: np.ndarray, queue: np.ndarray) -> np.ndarray:
    """Return the row of who asked for each command: of the Q above, of its own, or else of its issue."""
    by = np.where(queue >= 0, queue, issue)
    if above:
        by = np.array([above.get(row, row) for row in by.tolist()], np.int64)
    return by


def _pairs(rows: np.ndarray, which: np.ndarray, *, parts: bool = True) -> blkpairs.Pairs:
    """Pair some of the rows, and return the rows of all."""
    at = np.flatnonzero(which)
    found = blkpairs.pair(rows[at] if at.size < len(rows) else rows, parts=parts)
    if at.size == len(rows):
        return found
    done = np.where(found.done >= 0, at[found.done] if at.size else found.done, -1)
    return found._replace(
        issue=at[found.issue], done=done, orphans=at[found.orphans], returned=at[found.returned]
    )


def _as_requests(rows: np.ndarray) -> np.ndarray:
    """Return bios as if they were issued when they are queued; an empty one that was completed is a flush."""
    found = rows.copy()
    action = found["action"]
    queued = action & ACTION == QUEUE
    action[queued] = action[queued] - QUEUE + ISSUE
    empty = (found["bytes"] == 0) & (action & WRITE > 0)
    action[empty] |= FLUSH
    return found


def _stacked(remaps: np.ndarray, devices: set[int]) -> list[tuple[str, str]]:
    pairs = set(zip(remaps["source"].tolist(), remaps["device"].tolist(), strict=True))
    above = sorted(pair for pair in pairs if pair[0] in devices and pair[0] != pair[1])
    return [(schema.device_name(one), schema.device_name(other)) for one, other in above]


def _table(
    events: Events,
    rows: np.ndarray,
    issue: np.ndarray,
    done: np.ndarray,
    error: np.ndarray,
    size: np.ndarray,
    queue: np.ndarray,
    by: np.ndarray,
    whole: np.ndarray,
) -> pl.DataFrame:
    """Return a row for each command: rows of its events, -1 where there is none; by: who asked."""
    known = np.where(issue >= 0, issue, done)
    operation = blkpairs.operations(rows, known)
    is_flush = np.isin(operation, (blkpairs.FLUSHES, blkpairs.WRITTEN_FLUSHES))
    which = words()[codes(rows["action"][known], rows["bytes"][known])]
    kinds = pl.Series(which["kind"]).to_numpy().copy()
    kinds[is_flush], kinds[operation == blkpairs.NOTHING] = "flush", "other"
    # one below 0 in 16 bits
    lacks_error = (done < 0) | (error == ERROR_UNKNOWN)
    errors = np.where(error > 1 << 15, (1 << 16) - error.astype(np.int64), error)

    def at(name: str, places: np.ndarray, there: np.ndarray) -> pl.Series:
        values = rows[name][places] if len(rows) else np.empty(0)
        return pl.Series(values.astype(np.int64)).set(pl.Series(~there), None)

    table = pl.DataFrame(
        {
            "begin_ns": at("time", known, known >= 0),
            "queue_ns": at("time", queue, queue >= 0),
            "issue_ns": at("time", issue, (issue >= 0) & ~whole),
            "end_ns": at("time", done, done >= 0),
            "tid": at("pid", by, by >= 0),
            "name": at("name", by, by >= 0),
            "number": rows["device"][known].astype(np.int64),
            "sector": np.where(is_flush, 0, rows["sector"][known].astype(np.int64)),
            "sectors": size.astype(np.int64) // 512,
            "rwbs": which["rwbs"],
            "kind": pl.Series(kinds, dtype=pl.String),
            "result": pl.Series(errors.astype(np.int64)).set(pl.Series(lacks_error), None),
        }
    )
    devices = {number: schema.device_name(number) for number in table["number"].unique().to_list()}
    named = [
        pl.col(column).replace_strict(names, default=None, return_dtype=pl.String) if names else pl.lit(None)
        for column, names in (("number", devices), ("name", dict(enumerate(events.names))))
    ]
    return table.with_columns(dev=named[0].cast(pl.String), comm=named[1].cast(pl.String)).drop(
        "number", "name"
    )


def csv(traced: Traced, place: Path) -> None:
    """Write all commands, and the completions of none, in the order of time."""
    orphan = pl.when(pl.col("end_ns").is_null()).then(pl.lit("no completion")).otherwise(None)
    rows = pl.concat(
        [
            traced.commands.with_columns(orphan=orphan),
            traced.orphans.with_columns(orphan=pl.lit("no issue")),
        ]
    ).sort("begin_ns", maintain_order=True)
    rows = rows.with_columns(
        operation=pl.col("kind").replace(_OPERATIONS),
        place=pl.when(pl.col("sectors") > 0).then("sector"),
    )
    rows.select(pl.col(column).alias(name) for name, column in _CSV.items()).write_csv(place)
