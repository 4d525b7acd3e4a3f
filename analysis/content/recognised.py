"""Which of a command's files are an engine's: by what they begin with, as nobody logs its calls.

An engine's module may have HEADS: {role: what a file of it begins with}. A file, which is a number and when
that was its (analysis/ledger/lives.py), has the role of its last
first page that was written, or of the first that is written later; of one of which none was written what it
begins with after the run counts. A first page that begins with zeros says nothing by itself: so a rollback
journal is written before its header counts, and after it no more does; it has the role of the next one with
the rest of its header, else of the one before. What begins with anything else is no engine's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from analysis.content import units
from analysis.ledger import lives
from analysis.ledger.build import Ledger
from analysis.ledger.pieces import OF_ROLE
from analysis.observers import Content as Kept
from analysis.schemas.ledger import FILE, FILES, LABEL
from base.arrays import Ints, ints
from model import engines

# Bytes of a first page that are looked at, and of them those that may be zeros before the header counts.
HEAD, MARK = 28, 12
OTHER = "other"
_TABLE = {"inode": pl.Int64, "life": pl.Int64, "time_ns": pl.Int64, "head": pl.Binary}
_Roles = Mapping[tuple[int, int], tuple[Ints, list[str | None]]]


def role(head: bytes) -> str | None:
    """Return the role of a file by its first bytes; `other`: no engine's; None: zeros, or none are known."""
    for name in engines.names():
        heads: Mapping[str, tuple[bytes, ...]] = getattr(engines.of(name), "HEADS", {})
        for kind, begins in heads.items():
            if head.startswith(begins):
                return kind
    return None if not head[:MARK].strip(b"\0") else OTHER


def files(made: Ledger, kept: Kept, left: Mapping[int, bytes]) -> Ledger:
    """Return the ledger with the roles of files in its pieces and syncs. left: inode → its first bytes."""
    heads = _roles(_heads(made, kept))
    times = made.ledger.select("command", time_ns="queue_ns", seen_ns="issue_ns")
    pieces = made.pieces.join(times, on="command", how="left", maintain_order="left")
    found = _of(pieces, heads, left, made.given.lives)
    label = pl.Series(found, dtype=pl.String).replace_strict(OF_ROLE, default=None).cast(LABEL)
    changed = pl.Series(found, dtype=FILE).is_not_null() & (made.pieces["file"] == OTHER)
    is_copy = made.pieces["of"].is_not_null()
    columns = [
        pl.when(changed).then(pl.Series(found, dtype=FILE)).otherwise("file").alias("file"),
        pl.when(changed & ~is_copy).then(label).otherwise("label").alias("label"),
        pl.when(changed & is_copy).then(label).otherwise("of").alias("of"),
    ]
    ended = made.syncs.select("inode", "file", time_ns="end_ns", seen_ns="end_ns")
    synced = _of(ended, heads, left, made.given.lives)
    of_sync = pl.Series(synced, dtype=FILE)
    kinds = pl.when(pl.col("file") == OTHER).then(of_sync).otherwise("file").alias("file")
    label_of = made.ledger.select("command").join(
        made.pieces.with_columns(columns)
        .group_by("command", maintain_order=True)
        .agg(pl.col("label").first()),
        on="command",
        how="left",
        maintain_order="left",
    )["label"]
    kind = pl.col("kind").cast(pl.String)
    commands = made.ledger.with_columns(
        kind=pl.when(kind == OTHER)
        .then(label_of.cast(pl.String))
        .otherwise(kind)
        .cast(made.ledger["kind"].dtype)
    )
    return replace(
        made, ledger=commands, pieces=made.pieces.with_columns(columns), syncs=made.syncs.with_columns(kinds)
    )


def _heads(made: Ledger, kept: Kept) -> pl.DataFrame:
    """Return each writing of a file's first page whose bytes were kept: _TABLE."""
    write = units.writes(made.ledger)
    inside = kept.within(*made.given.window)
    rows = np.flatnonzero(inside.sectors > 0)
    commands = made.ledger.select("sector", pl.col("bytes") // 512).to_numpy()[write]
    if not np.array_equal(commands, np.stack([inside.sector, inside.sectors], axis=1)[rows]):
        return pl.DataFrame(schema=_TABLE)  # checks/witness.py says so
    place = np.full(made.ledger.height, -1)
    place[write] = inside.begin[rows]
    first = made.pieces.filter((pl.col("offset") == 0) & (pl.col("file") == OTHER))
    command = ints(first["command"])
    begin = place[command] + (ints(first["sector"]) - ints(made.ledger["sector"].fill_null(0))[command]) * 512
    there = place[command] >= 0
    heads = [kept.data[at : at + HEAD].tobytes() for at in begin[there].tolist()]
    time = ints(made.ledger["queue_ns"].fill_null(0))[command][there]
    inode, issued = ints(first["inode"])[there], ints(made.ledger["issue_ns"])[command][there]
    life = [lives.life(made.given.lives, *one) for one in zip(inode.tolist(), issued.tolist(), strict=True)]
    return pl.DataFrame({"inode": inode, "life": life, "time_ns": time, "head": heads}, schema=_TABLE)


def _roles(heads: pl.DataFrame) -> _Roles:
    """Return (inode, life) → the times of its first pages, and the role of each."""
    found = {}
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
        found[int(str(inode)), int(str(life))] = (ints(rows["time_ns"]), roles)
    return found


def _of(rows: pl.DataFrame, heads: _Roles, left: Mapping[int, bytes], of: lives.Lives) -> list[str | None]:
    """Return the role of each row's file at its time; rows: inode, time_ns, file, and when it had the number
    for certain, seen_ns: its command is issued behind the first page of all its bios, and its pages are not
    given back before it has ended."""
    found: list[str | None] = []
    columns = rows.select("inode", "time_ns", "seen_ns", pl.col("file").cast(pl.String))
    for inode, time, seen, file in columns.iter_rows():
        if file != OTHER or file not in FILES or inode is None:
            found.append(None)
            continue
        life = lives.life(of, inode, seen)
        if (inode, life) in heads:
            times, roles = heads[inode, life]
            place = max(int(np.searchsorted(times, time or 0, side="right")) - 1, 0)
            found.append(roles[place] or OTHER)
        else:
            is_left = life == lives.last(of, inode)
            found.append((role(left.get(inode, b"")) if is_left else None) or OTHER)
    return found
