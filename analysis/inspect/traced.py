"""Build a table of block commands from a trace's events: times, type, sectors, process; write it as CSV."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.adapters import blkowners, blkpairs, blkrecords, blkremaps
from analysis.adapters.blkevents import ERROR_UNKNOWN, Events
from analysis.adapters.blkrecords import ACTION, COMPLETE, FLUSH, ISSUE, PASSTHROUGH, QUEUE, REMAP, WRITE
from analysis.schemas import events as schema

_OPERATIONS = {"write metadata": "write", "write FUA": "write"}


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
    of_orphans = np.concatenate([of_orphan, np.full(of_bios.orphans.size, blkowners.NOBODY)])
    issue, nowhere = issue[order], np.full(orphans.size, -1)
    above = blkremaps.origins(rows)
    no_issue = (nowhere, orphans, rows["error"][orphans], rows["bytes"][orphans], of_orphans)
    return Traced(
        commands=_table(events, rows, above, issue, done, error, size, queue, whole[issue]),
        orphans=_table(events, rows, above, *no_issue, nowhere >= 0),
        bios=[schema.device_name(number) for number in bios],
        passed=int(passed[ISSUE] or passed[COMPLETE]),
        returned=of_requests.returned.size,
        stacked=_stacked(rows[action == REMAP], set(np.unique(device).tolist())),
    )


def _pairs(rows: np.ndarray, chosen: np.ndarray, *, parts: bool = True) -> blkpairs.Pairs:
    """Pair the chosen rows; the result has positions in `rows`."""
    at = np.flatnonzero(chosen)
    if at.size == len(rows):
        return blkpairs.pair(rows, parts=parts)
    pairs = blkpairs.pair(rows[at], parts=parts)
    done = np.where(pairs.done >= 0, at[pairs.done] if at.size else pairs.done, -1)
    return pairs._replace(
        issue=at[pairs.issue], done=done, orphans=at[pairs.orphans], returned=at[pairs.returned]
    )


def _as_requests(rows: np.ndarray) -> np.ndarray:
    """Return bios as if they were issued when they are queued; an empty one that was completed is a flush."""
    requests = rows.copy()
    action = requests["action"]
    queued = action & ACTION == QUEUE
    action[queued] = action[queued] - QUEUE + ISSUE
    empty = (requests["bytes"] == 0) & (action & WRITE > 0)
    action[empty] |= FLUSH
    return requests


def _stacked(remaps: np.ndarray, devices: set[int]) -> list[tuple[str, str]]:
    pairs = set(zip(remaps["source"].tolist(), remaps["device"].tolist(), strict=True))
    stacked = sorted(pair for pair in pairs if pair[0] in devices and pair[0] != pair[1])
    return [(schema.device_name(above), schema.device_name(below)) for above, below in stacked]


def _table(
    events: Events,
    rows: np.ndarray,
    above: dict[int, int],
    issue: np.ndarray,
    done: np.ndarray,
    error: np.ndarray,
    size: np.ndarray,
    queue: np.ndarray,
    whole: np.ndarray,
) -> pl.DataFrame:
    """Return a row for each command, from the positions of its events in `rows`, -1 for a missing one.

    It is attributed to the process of the Q on the device above, else of its own Q, else of its issue.
    """
    first = np.where(issue >= 0, issue, done)
    by = np.where(queue >= 0, queue, issue)
    if above:
        by = np.array([above.get(row, row) for row in by.tolist()], np.int64)
    operation = blkpairs.operations(rows, first)
    is_flush = np.isin(operation, (blkpairs.FLUSHES, blkpairs.WRITTEN_FLUSHES))
    named = blkrecords.words()[blkrecords.codes(rows["action"][first], rows["bytes"][first])]
    kinds = pl.Series(named["kind"]).to_numpy().copy()
    kinds[is_flush], kinds[operation == blkpairs.NOTHING] = "flush", "other"
    # one below 0 in 16 bits
    lacks_error = (done < 0) | (error == ERROR_UNKNOWN)
    errors = np.where(error > 1 << 15, (1 << 16) - error.astype(np.int64), error)

    def at(name: str, places: np.ndarray, exists: np.ndarray) -> pl.Series:
        values = rows[name][places] if len(rows) else np.empty(0)
        return pl.Series(values.astype(np.int64)).set(pl.Series(~exists), None)

    table = pl.DataFrame(
        {
            "begin_ns": at("time", first, first >= 0),
            "queue_ns": at("time", queue, queue >= 0),
            "issue_ns": at("time", issue, (issue >= 0) & ~whole),
            "end_ns": at("time", done, done >= 0),
            "tid": at("pid", by, by >= 0),
            "name": at("name", by, by >= 0),
            "number": rows["device"][first].astype(np.int64),
            "sector": np.where(is_flush, 0, rows["sector"][first].astype(np.int64)),
            "sectors": size.astype(np.int64) // 512,
            "rwbs": named["rwbs"],
            "kind": pl.Series(kinds, dtype=pl.String),
            "result": pl.Series(errors.astype(np.int64)).set(pl.Series(lacks_error), None),
        }
    )
    devices = {number: schema.device_name(number) for number in table["number"].unique().to_list()}
    texts: dict[str, tuple[str, dict[int, Any]]] = {
        "dev": ("number", devices),
        "comm": ("name", dict(enumerate(events.names))),
    }
    return table.with_columns(
        pl.col(column).replace_strict(names, default=None, return_dtype=pl.String).alias(text)
        if names
        else pl.lit(None, pl.String).alias(text)
        for text, (column, names) in texts.items()
    ).drop("number", "name")


def csv(traced: Traced, place: Path) -> None:
    """Write all commands, and the completions of none, in the order of time."""
    orphan = pl.when(pl.col("end_ns").is_null()).then(pl.lit("no completion"))
    commands = traced.commands.with_columns(orphan=orphan)
    rows = pl.concat([commands, traced.orphans.with_columns(orphan=pl.lit("no issue"))])
    rows.sort("begin_ns", maintain_order=True).select(
        device="dev",
        operation=pl.col("kind").replace(_OPERATIONS),
        flags="rwbs",
        sector=pl.when(pl.col("sectors") > 0).then("sector"),
        sectors="sectors",
        queue_ns="queue_ns",
        issue_ns="issue_ns",
        complete_ns="end_ns",
        process="comm",
        pid="tid",
        error="result",
        orphan="orphan",
    ).write_csv(place)
