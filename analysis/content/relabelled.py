"""Correct the ledger's labels by the bytes: a watched command's files, and metadata where blocks were reused.

An engine's module may define HEADS: {role: first bytes of its files}. A file is an inode number and the time
when it had that number (analysis/ledger/files.py). The last first page before a write gives
its role, or else the next one. If none was written, its first bytes after the run count.

A first page that begins with zeros is ambiguous: a rollback journal has zeros before and after its header is
valid. It gets the role of the next first page if the rest of the header is equal, else of the previous one.
Files that begin with anything else are not an engine's.

The filesystem's layout is read after the run. By then a directory or an extent tree may be gone and its block
reused, so only the bytes show what it was: a filesystem's module here may have `kinds(pages) -> labels`.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from analysis.adapters.layouts import DATA
from analysis.content import blocks, find_reader, logged, units, with_kinds
from analysis.ledger import files as files_module
from analysis.ledger.build import Ledger
from analysis.ledger.pieces import OF_ROLE
from analysis.observers import Content as Kept
from analysis.schemas.ledger import FILE, FILES, LABEL, LABELS
from base.arrays import Ints, at, ints
from model import engines

# Bytes of a first page that are compared. The first MARK may be zeros while the header is not valid.
HEAD, MARK = 28, 12
OTHER = "other"
_TABLE = {"inode": pl.Int64, "life": pl.Int64, "time_ns": pl.Int64, "head": pl.Binary}
_Roles = Mapping[tuple[int, int], tuple[Ints, list[str | None]]]


def role(head: bytes) -> str | None:
    """Return a file's role by its first bytes; `other`: not an engine's; None: zeros or unknown."""
    for name in engines.names():
        for kind, begins in engines.by_name(name).HEADS.items():
            if head.startswith(begins):
                return kind
    return None if not head[:MARK].strip(b"\0") else OTHER


def files(made: Ledger, kept: Kept, left: Mapping[int, bytes]) -> Ledger:
    """Return the ledger with file roles in its pieces and syncs. left: inode → first bytes after the run."""
    heads = _roles(_heads(made, kept))
    times = made.ledger.select("command", time_ns="queue_ns", seen_ns="issue_ns")
    pieces = made.pieces.join(times, on="command", how="left", maintain_order="left")
    roles = _roles_at(pieces, heads, left, made.given.lives)
    label = pl.Series(roles, dtype=pl.String).replace_strict(OF_ROLE, default=None).cast(LABEL)
    changed = pl.Series(roles, dtype=FILE).is_not_null() & (made.pieces["file"] == OTHER)
    is_copy = made.pieces["of"].is_not_null()
    columns = [
        pl.when(changed).then(pl.Series(roles, dtype=FILE)).otherwise("file").alias("file"),
        pl.when(changed & ~is_copy).then(label).otherwise("label").alias("label"),
        pl.when(changed & is_copy).then(label).otherwise("of").alias("of"),
    ]
    ended = made.syncs.select("inode", "file", time_ns="end_ns", seen_ns="end_ns")
    synced = _roles_at(ended, heads, left, made.given.lives)
    of_sync = pl.Series(synced, dtype=FILE)
    kinds = pl.when(pl.col("file") == OTHER).then(of_sync).otherwise("file").alias("file")
    relabelled = made.pieces.with_columns(columns)
    first_labels = relabelled.group_by("command", maintain_order=True).agg(pl.col("label").first())
    commands = with_kinds(made.ledger, OTHER, first_labels)
    return replace(made, ledger=commands, pieces=relabelled, syncs=made.syncs.with_columns(kinds))


def _heads(made: Ledger, kept: Kept) -> pl.DataFrame:
    """Return each kept writing of a file's first page, as _TABLE."""
    log, record = logged(made, kept)
    if (record[units.writes(made.ledger)] < 0).any():
        return pl.DataFrame(schema=_TABLE)  # reported by checks/cross_check.py
    place = at(log.begin, record)
    first = made.pieces.filter((pl.col("offset") == 0) & (pl.col("file") == OTHER))
    command = ints(first["command"])
    begin = place[command] + (ints(first["sector"]) - ints(made.ledger["sector"].fill_null(0))[command]) * 512
    has_bytes = place[command] >= 0
    heads = [kept.data[byte : byte + HEAD].tobytes() for byte in begin[has_bytes].tolist()]
    time = ints(made.ledger["queue_ns"].fill_null(0))[command][has_bytes]
    inode, issued = ints(first["inode"])[has_bytes], ints(made.ledger["issue_ns"])[command][has_bytes]
    pairs = zip(inode.tolist(), issued.tolist(), strict=True)
    life = [files_module.life(made.given.lives, *pair) for pair in pairs]
    return pl.DataFrame({"inode": inode, "life": life, "time_ns": time, "head": heads}, schema=_TABLE)


def _roles(heads: pl.DataFrame) -> _Roles:
    """Return (inode, life) → times of its first pages, and the role of each."""
    result = {}
    in_time = heads.sort("time_ns", maintain_order=True)
    for (inode, life), rows in in_time.group_by("inode", "life", maintain_order=True):
        texts = rows["head"].to_list()
        roles = [role(text) for text in texts]
        for place in range(len(roles)):
            if roles[place] is not None:
                continue
            rest = texts[place][MARK:]
            later = (at for at in range(place + 1, len(roles)) if roles[at] is not None)
            following = next(later, None)
            if following is not None and rest.strip(b"\0") and texts[following][MARK:] == rest:
                roles[place] = roles[following]
            elif place and not rest.strip(b"\0"):
                roles[place] = roles[place - 1]
        result[int(str(inode)), int(str(life))] = (ints(rows["time_ns"]), roles)
    return result


def _roles_at(
    rows: pl.DataFrame, heads: _Roles, left: Mapping[int, bytes], inode_lives: files_module.Lives
) -> list[str | None]:
    """Return the role of each row's file at its time; rows: inode, time_ns, file, seen_ns.

    seen_ns: when the file certainly had the inode number. A command is issued after the first pages of all
    its bios, and its pages are not freed before it ended.
    """
    result: list[str | None] = []
    columns = rows.select("inode", "time_ns", "seen_ns", pl.col("file").cast(pl.String))
    for inode, time, seen, file in columns.iter_rows():
        if file != OTHER or file not in FILES or inode is None:
            result.append(None)
            continue
        life = files_module.life(inode_lives, inode, seen)
        if (inode, life) in heads:
            times, roles = heads[inode, life]
            place = max(int(np.searchsorted(times, time or 0, side="right")) - 1, 0)
            result.append(roles[place] or OTHER)
        else:
            is_left = life == files_module.last_life(inode_lives, inode)
            result.append((role(left.get(inode, b"")) if is_left else None) or OTHER)
    return result


_UNATTRIBUTED = "unattributed"


def metadata(made: Ledger, kept: Kept) -> Ledger:
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
    same = (low == high) & (low >= 0)  # all blocks of a piece are of one kind
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
    # a long stretch may reach over later, shorter ones: the greatest end so far
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
