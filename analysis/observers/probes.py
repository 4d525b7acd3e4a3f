"""Convert raw/probes.bin, the kernel probes' records, to rows of the events table; report lost records."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from analysis.adapters import proberecords
from analysis.adapters.partition import Partition
from analysis.adapters.proberecords import CALLERS, RECORD, TYPES
from analysis.observers import Given, Observer, Seen
from analysis.schemas import events
from model.block_operations import rwbs
from model.filesystems import words

# enum wb_reason of linux/backing-dev-defs.h
_WRITEBACK = (
    *("background", "vmscan", "sync", "periodic", "laptop_timer", "fs_free_space"),
    *("forker_thread", "foreign_flush"),
)

# The same record, where it holds text padded with zeros.
_TEXT = np.dtype(
    {"names": ["name", "comm"], "formats": ["S24", "S16"], "offsets": [40, 32], "itemsize": RECORD.itemsize}
)


@dataclass(frozen=True)
class Losses:
    """The losses that the recorder reports."""

    records: int  # the ring was full
    # two threads had one place, a table was full, or a probe missed a call or its return
    updates: int


def read(
    path: Path, reasons: tuple[str, ...] = (), partition: Partition | None = None
) -> tuple[pl.DataFrame, Losses]:
    """Return the events of a file (analysis/schemas/events.py), and what was lost. Raises FileError.

    `reasons` are the names of the bits of a checkpoint's reason (Filesystem.checkpoint_reasons).
    """
    rows = proberecords.read(path)
    rows = partition.assign(rows) if partition else rows
    comms, signed = _comms(rows), pl.col("n").cast(pl.UInt32).reinterpret(signed=True)
    sync = _before(_before(_table(rows, "sync"), _names(rows), ["dev", "a"]), comms, ["tid"])
    frames = [
        _events("attached", _table(rows, "attached"), dev=pl.lit(None), tid=pl.lit(None)),
        _events("detached", _table(rows, "detached"), dev=pl.lit(None), tid=pl.lit(None)),
        _events(
            "sync",
            sync,
            inode=pl.col("a"),
            is_directory=pl.col("flags") & 2 != 0,
            datasync=pl.col("flags") & 1 != 0,
            result=signed,
            reason=_word("flags", lambda flags: CALLERS[flags >> 4]),
        ),
        _events(
            "block",
            _before(_table(rows, "block"), comms, ["tid"]),
            sector=pl.col("a"),
            sectors=pl.col("n"),
            rwbs=_word("b", rwbs),
            result=pl.col("flags"),
        ),
        _events("flush", _before(_table(rows, "flush"), comms, ["tid"])),
        _events("commit", _table(rows, "commit"), tid=pl.col("a"), result=pl.col("flags"), pages=pl.col("n")),
        _events(
            "checkpoint", _table(rows, "checkpoint"), reason=_word("n", lambda bits: words(bits, reasons))
        ),
        _events(
            "writeback",
            _before(_table(rows, "writeback"), comms, ["tid"]),
            pages=signed,
            reason=_word("flags", lambda reason: dict(enumerate(_WRITEBACK)).get(reason, "unknown")),
        ),
    ]
    last = rows[-1]
    return events.merge(frames), Losses(int(last["n"]), int(last["a"]))


def _seen(given: Given) -> Seen:
    path = given.raw / "probes.bin"
    if not path.is_file():
        return Seen(missing=["raw/probes.bin"])
    result, lost = read(path, given.checkpoint_reasons, given.partition)
    reasons = {
        "their ring was full": lost.records,
        "their begin was not kept, or a probe missed them": lost.updates,
    }
    losses = [f"the probes lost {number} events: {reason}" for reason, number in reasons.items() if number]
    return Seen(events=result, lost=lost.records + lost.updates, losses=losses)


OBSERVER = Observer(read=_seen, leaves=("probes.bin",))


def _table(rows: np.ndarray, name: str) -> pl.DataFrame:
    """Return the records of a type: `at`, their places in the file, and RECORD's fields as Int64."""
    at = np.flatnonzero(rows["type"] == TYPES[name])
    fields = [field for field in RECORD.names or () if field != "type"]
    return pl.DataFrame({"at": at} | {field: rows[field][at].astype(np.int64) for field in fields})


def _text(rows: np.ndarray, name: str) -> list[bytes]:
    result: list[bytes] = rows[rows["type"] == TYPES[name]].view(_TEXT)[name].tolist()
    return result


def _comms(rows: np.ndarray) -> pl.DataFrame:
    comms = [comm.decode(errors="replace") for comm in _text(rows, "comm")]
    return _table(rows, "comm").select("at", "tid", pl.Series("comm", comms, pl.String))


def _names(rows: np.ndarray) -> pl.DataFrame:
    """Return at, dev, a (the inode) and file of each name; its parts are joined."""
    parts = _table(rows, "name").with_columns(pl.Series("part", _text(rows, "name"), pl.Binary))
    whole = parts.group_by("dev", "a", "begin_ns", "tid", maintain_order=True).agg(
        pl.col("at").first(), pl.col("part").sort_by("n")
    )
    names = [b"".join(item).decode(errors="replace") for item in whole["part"].to_list()]
    return whole.select("at", "dev", "a", pl.Series("file", names, pl.String))


def _before(table: pl.DataFrame, names: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Join to each record the last name before it, in the file, of the same thread or inode."""
    return table.join_asof(names, on="at", by=by, strategy="backward", check_sortedness=False)


def _word(field: str, word: Callable[[int], str]) -> pl.Expr:
    """Return an expression for the word of each number of a field, called once per distinct number."""

    def words(numbers: pl.Series) -> pl.Series:
        known = {number: word(number) for number in numbers.unique().to_list()}
        return numbers.replace_strict(known, return_dtype=pl.String).cast(pl.String)  # also of none

    return pl.col(field).map_batches(words, return_dtype=pl.String)


def _events(name: str, table: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    """Return a table's rows in the schema of analysis.schemas.events, `columns` in place of its own."""
    dev = _word("dev", events.device_name)
    own = {"source": pl.lit("probe"), "event": pl.lit(name), "dev": dev} | columns
    kept = {field: pl.col(field) for field in ("begin_ns", "end_ns", "tid", "comm", "file") if field in table}
    values = dict.fromkeys(events.SCHEMA, pl.lit(None)) | kept | own
    return table.select(**{field: values[field].cast(kind) for field, kind in events.SCHEMA.items()})
