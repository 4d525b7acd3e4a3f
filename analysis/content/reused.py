"""Correct the labels of metadata blocks, by their bytes, where the place had another use during the run.

The filesystem's layout is read after the run. By then a directory or an extent tree may be gone and its block
reused, so only the bytes show what it was: a filesystem's module here may have `kinds(pages) -> labels`.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from analysis.adapters.layouts import DATA
from analysis.content import blocks, find_reader, logged, units, with_kinds
from analysis.ledger.build import Ledger
from analysis.observers import Content as Kept
from analysis.schemas.ledger import LABEL, LABELS
from base.arrays import Ints, ints

_UNATTRIBUTED = "unattributed"


def relabelled(made: Ledger, kept: Kept) -> Ledger:
    """Return the ledger with reused blocks labelled by their bytes, at home and in the journal."""
    kinds = getattr(find_reader(made.given.layout.filesystem), "kinds", None)
    rows = _pieces(made)
    if kinds is None or not rows.size:
        return made
    log, record = logged(made, kept)
    if (record[units.writes(made.ledger)] < 0).any():
        return made  # reported by checks/cross_check.py
    chosen = made.pieces[rows]
    distinct, place = np.unique(record[ints(chosen["command"])], return_inverse=True)
    whole, places = blocks.blocks(log.take(distinct))
    given = units.given(made.ledger, chosen, record)._replace(record=ints(place))
    judged = units.units(given, places)
    label = np.full(judged.piece.size, -1, np.int64)
    has_bytes = judged.row >= 0
    label[has_bytes] = kinds(whole.take(judged.row[has_bytes]))
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
    return np.asarray(rows[(layout.label(of) == DATA) | (layout.may_change(of) & was_file)])


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
    return replace(made, ledger=with_kinds(made.ledger, _UNATTRIBUTED, most), pieces=pieces)
