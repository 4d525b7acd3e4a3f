"""Define columns of events of all sources (syncs, block commands, …); merge by time; classify block commands.

A row is an event from `begin_ns` to `end_ns` (CLOCK_MONOTONIC of the board; equal
for a point in time). Columns that a source lacks are null.
"""

from collections.abc import Collection
from typing import Any

import polars as pl

from model import engines

SCHEMA: dict[str, type[pl.DataType]] = {
    "source": pl.String,  # driver, probe, another observer
    "event": pl.String,  # transaction, phase, sync, block, flush, commit, checkpoint, writeback, ...
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "transaction": pl.Int64,
    "phase": pl.String,
    "op": pl.String,  # operations.py; null for events without one
    "tid": pl.Int64,
    "comm": pl.String,
    "dev": pl.String,  # major:minor
    "inode": pl.Int64,
    "is_directory": pl.Boolean,
    "datasync": pl.Boolean,
    "file": pl.String,
    "sector": pl.Int64,  # 512 bytes each
    "sectors": pl.Int64,
    "rwbs": pl.String,  # as the kernel's blk_fill_rwbs writes it
    "pages": pl.Int64,  # 4 KiB pages of writeback; logged blocks of a commit
    "result": pl.Int64,  # of a sync; the error of a block command; changes of a transaction
    "reason": pl.String,  # of a checkpoint or writeback; the caller of a sync
}

BLOCK_KINDS = ("read", "write", "write metadata", "write FUA", "flush", "discard", "other")

_RWBS = r"^(F?)(DE|[WDRFN])(F?)"


def device_name(number: int) -> str:
    """Return a kernel dev_t (major << 20 | minor) as major:minor."""
    return f"{number >> 20}:{number & 0xFFFFF}"


def frame(columns: dict[str, Any], height: int) -> pl.DataFrame:
    """Return `height` rows in SCHEMA; values are sequences or one value for all rows."""
    return pl.DataFrame(
        [
            pl.Series(name, value, dtype=dtype, strict=False)
            if (value := columns.get(name)) is not None and not isinstance(value, str | int)
            else pl.Series(name, [value] * height, dtype=dtype)
            for name, dtype in SCHEMA.items()
        ]
    )


def merge(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Return all rows of `frames` in the order of their begin."""
    empty = pl.DataFrame(schema=SCHEMA)
    return pl.concat([empty, *frames]).sort("begin_ns", maintain_order=True)


def block_kind(sectors: str = "sectors") -> pl.Expr:
    """Return an expression for the kind (one of BLOCK_KINDS) of a block command.

    A flush is REQ_OP_FLUSH: `FF` in the kernel's tracepoints, `FN` in blkparse's text.
    """
    operation = pl.col("rwbs").str.extract(_RWBS, 2)
    fua = pl.col("rwbs").str.extract(_RWBS, 3) == "F"
    return (
        pl.when(operation.is_in(["F", "N"]) & (pl.col(sectors) == 0))
        .then(pl.lit("flush"))
        .when((operation == "W") & fua)
        .then(pl.lit("write FUA"))
        .when((operation == "W") & pl.col("rwbs").str.contains("M", literal=True))
        .then(pl.lit("write metadata"))
        .when(operation == "W")
        .then(pl.lit("write"))
        .when(operation == "R")
        .then(pl.lit("read"))
        .when(operation.is_in(["D", "DE"]))
        .then(pl.lit("discard"))
        .otherwise(pl.lit("other"))
        .alias("kind")
    )


def file_kind(name: str | None, is_directory: bool | None, databases: Collection[str]) -> str:
    """Return which of an engine's files `name` is; `databases` are the base names of the databases."""
    return "directory" if is_directory else engines.role(name or "", databases)
