"""Find the checkpoints of SQLite's WAL by its logged file calls: frames, pages, what started each.

A checkpoint syncs the log, copies the last frame of each page to the database and syncs that (walCheckpoint
of wal.c). In WAL mode nothing else writes the database. Calls of two connections are not logged.
"""

from typing import Any

import polars as pl

from analysis.ledger.timeline import edges
from base.arrays import inside, ints, preceding
from model.cell import Cell

_HEADER, _FRAME_HEADER = 32, 24  # bytes: of the log, and before the page of a frame
# What starts one: a commit that leaves wal_autocheckpoint frames, the driver between transactions, the close
# of the database, or a transaction that commits nothing to the log.
AUTOMATIC, REQUESTED, CLOSE, STATEMENT = "autocheckpoint", "CHECKPOINT_EVERY", "close", "a statement"
SCHEMA = {
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "phase": pl.String,
    "transaction": pl.Int64,  # null: in none
    "database": pl.Int64,  # as in VFS
    "frames": pl.Int64,  # in the log; null: the log was written before the window
    "pages": pl.Int64,  # copied to the database
    "trigger": pl.String,  # null: unknown
}
_KEYS = ["database", "phase", "transaction", "after"]


def has_log(cell: Cell) -> bool:
    """Return whether a cell's database has a WAL."""
    return cell.has("journal_mode") and cell.journal_mode == "wal"


def find(cell: Cell, vfs: pl.DataFrame, transactions: pl.DataFrame, phases: pl.DataFrame) -> pl.DataFrame:
    """Return SCHEMA, by begin. vfs: VFS of schemas/ledger.py; none are found in one without calls."""
    file, op = pl.col("file"), pl.col("op")
    copied, logged = (file == "database") & (op == "write"), (file == "wal") & (op == "write")
    if not has_log(cell) or vfs.filter(copied).is_empty():
        return pl.DataFrame(schema=SCHEMA)
    of_files = (file == "database") | (file == "wal")
    calls = vfs.filter(of_files & ((op == "write") | (op == "sync") | (op == "truncate")))
    begin = ints(calls["begin_ns"])
    names = pl.concat([phases["phase"].cast(pl.String), pl.Series([None], dtype=pl.String)])
    calls = calls.with_columns(
        phase=names.gather(inside(begin, *edges(phases))),
        after=preceding(ints(transactions["begin_ns"]), begin),
    )
    of_any = calls.filter(copied, pl.col("phase").is_not_null()).select(_KEYS).unique()
    first = pl.col("begin_ns").filter(copied).first()
    early = pl.col("begin_ns") < first
    made = (
        calls.join(of_any, on=_KEYS, nulls_equal=True, how="semi", maintain_order="left")
        .group_by(_KEYS, maintain_order=True)
        .agg(
            first=first,
            # the sync that begins it; without one if synchronous=off
            synced=pl.col("begin_ns").filter(early & (file == "wal") & (op == "sync")).last(),
            end_ns=pl.col("end_ns").filter(file == "database").max(),
            pages=pl.col("offset").filter(copied).n_unique().cast(pl.Int64),
            size=pl.col("bytes").filter(copied).max(),
            commits=(early & logged).any(),
        )
        .sort("first", maintain_order=True)
    )
    written = calls.filter(logged).select(
        pl.col("database").fill_null(0).alias("log"), first="begin_ns", end=pl.col("offset") + pl.col("bytes")
    )
    made = made.with_columns(pl.col("database").fill_null(0).alias("log"))
    written = written.sort("first", maintain_order=True)
    made = made.join_asof(written, on="first", by="log", check_sortedness=False)
    frame = _FRAME_HEADER + pl.col("size")
    at_commit = pl.col("transaction").is_not_null()
    trigger = (
        pl.when(pl.col("phase") == "close").then(pl.lit(CLOSE))
        .when(at_commit & pl.col("commits")).then(pl.lit(AUTOMATIC))
        .when(at_commit).then(pl.lit(STATEMENT))
        .when(pl.lit(cell.checkpoint_every > 0)).then(pl.lit(REQUESTED))
    )  # fmt: skip
    return made.with_columns(
        begin_ns=pl.coalesce("synced", "first"),
        # rounded up: a frame's header may be the last that is written (walRewriteChecksums)
        frames=(pl.col("end") - _HEADER + frame - 1) // frame,
        trigger=trigger,
    ).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def rows_of(found: pl.DataFrame, vfs: pl.DataFrame) -> pl.Series:
    """Return, for each call, the row of its checkpoint; null: in none. found: of `find`."""
    row = pl.Series(inside(ints(vfs["begin_ns"]), *edges(found)), dtype=pl.Int64)
    within = vfs["file"].cast(pl.String).is_in(["database", "wal"]) & (row >= 0)
    return row.set(~within, None)


def words(row: dict[str, Any]) -> str:
    """Return a checkpoint with its frames and pages and what started it; row: SCHEMA, or a part of it."""
    frames = "" if row["frames"] is None else f" of {row['frames']:,} frames"
    started = f" ({row['trigger']})" if row["trigger"] else ""
    return f"WAL checkpoint{frames}, {row['pages']:,} pages copied{started}"
