"""Label metadata blocks whose location was reused during the run.

The filesystem's layout is read after the run. By then a directory or an extent tree may be gone and its block
reused, so only the bytes show what it was: a filesystem's module here may have `kinds(pages) -> labels`.
"""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import polars as pl

from analysis.adapters.layout import DATA
from analysis.content import FOLDER, blocks, log_of, records_of, units
from analysis.ledger.build import Ledger
from analysis.observers import Content as Kept
from analysis.schemas.ledger import LABEL, LABELS
from base.arrays import Ints, ints

_UNATTRIBUTED = "unattributed"


def relabelled(made: Ledger, kept: Kept) -> Ledger:
    """Return the ledger with reused blocks labelled by their bytes, at home and in the journal."""
    name = made.given.layout.filesystem
    if not (FOLDER / f"{name}.py").is_file():
        return made
    kinds = getattr(importlib.import_module(f"analysis.content.{name}"), "kinds", None)
    rows = _pieces(made)
    if kinds is None or not rows.size:
        return made
    log, within = log_of(kept, made.given.window)
    records = records_of(made, log, within)
    if (records < 0).any():
        return made  # reported by checks/cross_check.py
    chosen = made.pieces[rows]
    of = np.full(made.ledger.height, -1, np.int64)
    of[units.writes(made.ledger)] = records
    some, place = np.unique(of[ints(chosen["command"])], return_inverse=True)
    few = log._replace(
        **{field: getattr(log, field)[some] for field in ("time", "sector", "sectors", "begin")}
    )
    whole, places = blocks.blocks(few)
    given = units.given(made.ledger, chosen, records)._replace(record=ints(place))
    judged = units.units(given, places)
    label = np.full(judged.piece.size, -1, np.int64)
    there = judged.row >= 0
    label[there] = kinds(whole.take(judged.row[there]))
    low, high = np.full(rows.size, len(LABELS)), np.full(rows.size, -1)
    np.minimum.at(low, judged.piece, label)
    np.maximum.at(high, judged.piece, label)
    same = (low == high) & (low >= 0)
    return _changed(made, rows[same], low[same])


def _pieces(made: Ledger) -> Ints:
    """Return the pieces that are metadata blocks at a place where a file was, too, or is."""
    layout, pieces = made.given.layout, made.pieces
    home, file = ints(pieces["home"].fill_null(-1)), pieces["inode"].is_not_null().to_numpy()
    places = ints(pieces["sector"])[file], ints(pieces["bytes"])[file] // blocks.SECTOR
    rows = np.flatnonzero(home >= 0)
    of = home[rows]
    starts = np.sort(places[0])
    ends = (places[0] + places[1])[np.argsort(places[0], kind="stable")]
    last = np.searchsorted(starts, of, side="right") - 1
    was_file = (last >= 0) & (of < np.maximum.accumulate(np.r_[ends, -1])[last])
    pieces_of_reused: Ints = rows[(layout.label(of) == DATA) | (layout.may_change(of) & was_file)]
    return pieces_of_reused


def _changed(made: Ledger, rows: Ints, labels: Ints) -> Ledger:
    """Return the ledger with other labels for some pieces; a journal copy gets the label of its block."""
    new = np.full(made.pieces.height, -1)
    new[rows] = labels
    label = pl.Series([*LABELS, None], dtype=LABEL).gather(np.where(new < 0, len(LABELS), new))
    is_copy = pl.col("of").is_not_null()
    pieces = made.pieces.with_columns(
        pl.when(is_copy).then(pl.coalesce(label, "of")).otherwise("of").alias("of"),
        pl.when(~is_copy).then(pl.coalesce(label, "label")).otherwise("label").alias("label"),
    )
    size = pieces.group_by("command", "label").agg(pl.col("bytes").sum())
    most = size.sort("bytes", descending=True).group_by("command", maintain_order=True).first()
    kinds = made.ledger.select("command").join(most, on="command", how="left", maintain_order="left")
    kind = pl.col("kind").cast(pl.String)
    commands = made.ledger.with_columns(
        kind=pl.when(kind == _UNATTRIBUTED)
        .then(kinds["label"].cast(pl.String))
        .otherwise(kind)
        .cast(made.ledger["kind"].dtype)
    )
    return replace(made, ledger=commands, pieces=pieces)
