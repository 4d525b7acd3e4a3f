"""Cut labelled pieces of writes at block boundaries into units; define the input of all readers of bytes.

Evidence has all that a content reader (analysis/content/<part>.py) may use.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.layouts import Layout
from analysis.content.blocks import BLOCK, SECTOR, SECTORS, Blocks, Places
from analysis.schemas.ledger import FILES, LABELS
from base.arrays import Ints, at, expand, ints

DEVICE = frozenset(("flush", "read", "discard"))  # kinds of commands that write nothing


@dataclass(frozen=True)
class Units:
    """One row per unit, in the order of the pieces; -1 is null."""

    piece: Ints
    row: Ints  # the writing, in Blocks; -1: its bytes are not completely known
    block: Ints  # number on the device
    bytes: Ints  # of the piece in the block
    label: Ints  # index in LABELS
    of: Ints
    file: Ints  # index in FILES
    inode: Ints
    offset: Ints  # of the block in the file; -1 for metadata
    home: Ints  # block where a journalled or device page belongs
    commit: Ints
    call: Ints  # row of `vfs`: the last xWrite of a file's page

    def labelled(self, label: str) -> Ints:
        """Return the units with known bytes and a label."""
        return np.flatnonzero((self.label == LABELS.index(label)) & (self.row >= 0))

    def of_file(self, role: str) -> Ints:
        """Return the units with known bytes of the files of a role, wherever they were written."""
        return np.flatnonzero((self.file == FILES.index(role)) & self.placed)

    @property
    def placed(self) -> np.ndarray:
        """Return which units have known bytes and a known place in a file."""
        return (self.row >= 0) & (self.offset >= 0)


@dataclass(frozen=True)
class Written:
    """When the units were written, and the engine's calls."""

    calls: pl.DataFrame  # vfs.csv
    queued: Ints  # ns, of each unit: first bio of its command
    done: Ints  # ns: completion of its command


@dataclass(frozen=True)
class Evidence:
    """Everything that a content reader may use."""

    blocks: Blocks
    units: Units
    board: Path  # raw/board/
    superblock: Mapping[str, str]  # fields of its superblock.txt
    layout: Layout
    settings: Mapping[str, str]  # of the engine, effective
    release: str  # of the engine
    sizes: tuple[Mapping[str, int], ...]  # for each database, bytes of its files after the run, by role
    written: Written


class Given(NamedTuple):
    """The ledger columns that units are made of, a row for each piece."""

    record: Ints  # of the log
    sector: Ints
    sectors: Ints
    columns: dict[str, Ints]  # label, of, file, inode, offset, home (a sector), commit, call


def given(ledger: pl.DataFrame, pieces: pl.DataFrame, record: Ints) -> Given:
    """Return the input for units; `record` has the log's record of each command, -1 for none."""
    command = ints(pieces["command"])
    words = {name: ints(pieces[name].to_physical().fill_null(-1)) for name in ("label", "of", "file")}
    numbers = {name: ints(pieces[name].fill_null(-1)) for name in ("inode", "offset", "home", "vfs_call")}
    numbers["call"] = numbers.pop("vfs_call")
    columns = words | numbers | {"commit": at(ints(ledger["commit"].fill_null(-1)), command)}
    return Given(record[command], ints(pieces["sector"]), ints(pieces["bytes"]) // SECTOR, columns)


def writes(ledger: pl.DataFrame) -> Ints:
    """Return the commands that write, in the order of issue."""
    return np.flatnonzero(~ledger["kind"].cast(pl.String).is_in(list(DEVICE)).to_numpy())


def units(made: Given, places: Places) -> Units:
    """Cut pieces at block boundaries."""
    first = made.sector // SECTORS
    piece, block = expand(first, (made.sector + made.sectors - 1) // SECTORS - first + 1)
    start, end = made.sector[piece], (made.sector + made.sectors)[piece]
    size = np.minimum(end, (block + 1) * SECTORS) - np.maximum(start, block * SECTORS)
    taken = {name: column[piece] for name, column in made.columns.items()}
    since = block * SECTORS - start  # negative where the piece begins within the block
    offset = taken["offset"] + since * SECTOR
    # a file's page that is not aligned to a block cannot be compared with one
    offset[(taken["offset"] < 0) | (offset % BLOCK != 0) | (offset < 0)] = -1
    home = np.where(taken["home"] < 0, -1, taken["home"] // SECTORS + block - start // SECTORS)
    record, row = made.record[piece], np.full(piece.size, -1, np.int64)
    kept = np.flatnonzero(record >= 0)
    row[kept] = places.find(record[kept], block[kept])
    return Units(
        piece=piece, row=row, block=block, bytes=size * SECTOR, **taken | {"offset": offset, "home": home}
    )
