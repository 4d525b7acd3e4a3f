"""Collect rows of attributed commands, pieces, reads, shares and unmatched records in compact columns."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.adapters.layouts import SECTOR, Layout
from analysis.ledger.causes import SHARED, WAITED
from analysis.ledger.chunks import Settled
from analysis.ledger.pieces import DIRECTORY
from analysis.schemas.ledger import KINDS, LABELS
from base.arrays import Ints, at, ints
from model import block_operations

Columns = dict[str, np.ndarray]
# Narrow types of columns with small values in any run.
_SMALL = {
    **dict.fromkeys(("flags", "sectors"), np.uint32),
    **dict.fromkeys(("kind", "how", "label", "file", "of", "no_transaction"), np.int8),
    **dict.fromkeys(("tid", "transaction", "made_by", "op"), np.int32),
    **dict.fromkeys(("vfs_call", "sync", "commit", "checkpoint"), np.int32),
    "moved": np.bool_,
}
_UNATTRIBUTED = LABELS.index("unattributed")
_OPERATIONS = {
    block_operations.FLUSH: KINDS.index("flush"),
    block_operations.READ: KINDS.index("read"),
    block_operations.DISCARD: KINDS.index("discard"),
    block_operations.SECURE_ERASE: KINDS.index("discard"),
}


class Faults(NamedTuple):
    """Records of the window that could not be matched, and rows for checking labels against their places."""

    commands: pl.DataFrame  # command, sectors, covered: not fully covered by bios
    bios: pl.DataFrame  # serial, sectors: not fully in commands, or not flushed for
    unpaged: pl.DataFrame  # serial: some pages are missing
    misplaced: pl.DataFrame  # sector, home: pages of the device written elsewhere
    # command, home, bytes: filesystem blocks at places that may have had another use earlier
    metadata: pl.DataFrame


class Rows:
    """Collects chunks in compact columns, and makes tables of them one column at a time."""

    def __init__(self, transactions: pl.DataFrame, layout: Layout) -> None:
        self._layout = layout
        self.ops = transactions["op"].cast(pl.Categorical)
        self._op_codes = np.r_[ints(self.ops.to_physical()), -1]
        self._parts: dict[str, list[np.ndarray]] = defaultdict(list)
        self._size = 0

    def add(self, chunk: Settled) -> None:
        """Add the rows of a chunk."""
        of, size = chunk.shares, chunk.block.size
        operation, bare = chunk.block["b"] & block_operations.OP, chunk.bare()
        counts = np.bincount(of.command, minlength=size)
        several = np.flatnonzero(counts.take(of.command) > 1)
        self._put("ledger", self._ledger(chunk, operation, bare, counts))
        self._put("pieces", self._pieces(chunk, bare))
        self._put("reads", self._reads(chunk))
        shares = {
            "command": of.command.take(several) + self._size,
            "transaction": of.transaction.take(several),
            "no_transaction": of.nobody.take(several),
            "share": of.share.take(several),
        }
        self._put("shares", shares)
        late = chunk.deferred
        deferred = {
            "command": late.command + self._size,
            "transaction": late.transaction,
            "made_by": late.made_by,
            "no_transaction": late.nobody,
            "bytes": late.bytes,
        }
        self._put("deferred", deferred)
        for name, columns in self._faults(chunk, operation).items():
            self._put(name, columns)
        self._size += size

    def _put(self, table: str, columns: Columns) -> None:
        for name, values in columns.items():
            kind = _SMALL.get(name, values.dtype)
            self._parts[f"{table}.{name}"].append(np.ascontiguousarray(values, kind))

    def column(self, table: str, column: str) -> np.ndarray:
        """Return a column."""
        return np.concatenate(self._parts[f"{table}.{column}"])

    def take(self, table: str, column: str) -> np.ndarray:
        """Return a column and free its parts."""
        values = self.column(table, column)
        del self._parts[f"{table}.{column}"]
        return values

    def _ledger(self, chunk: Settled, operation: Ints, bare: Ints, counts: Ints) -> Columns:
        block, cause, of = chunk.block, chunk.cause, chunk.shares
        start = np.minimum(np.cumsum(counts) - counts, max(of.command.size - 1, 0))

        def caused(column: Ints) -> Ints:
            return at(column, chunk.first)

        how = caused(cause.how)
        return {
            "flags": block["b"],
            "kind": self._kinds(chunk, operation, bare),
            "sector": np.where(operation == block_operations.FLUSH, -1, block["a"]),
            "sectors": block["n"],
            "queue_ns": chunk.queued,
            "issue_ns": block["begin_ns"],
            "complete_ns": block["end_ns"],
            "tid": caused(chunk.bio["tid"]),
            "transaction": np.where(counts == 1, at(of.transaction, start), -1),
            "no_transaction": np.where(counts == 1, at(of.nobody, start), -1),
            "op": self._operations(chunk, counts, start),
            "how": np.where((how == WAITED) & (counts > 1), SHARED, how),
            "vfs_call": caused(cause.vfs_call),
            "sync": caused(cause.sync),
            "commit": caused(cause.commit),
            "checkpoint": caused(cause.checkpoint),
        }

    def _kinds(self, chunk: Settled, operation: Ints, bare: Ints) -> Ints:
        """Return the kind of each command: the label of most of its bytes, or its operation."""
        parts, size = chunk.pieces, operation.size
        kind, mixed = np.zeros(size, np.int64), bare > 0
        kind[parts.command] = parts.label
        mixed[parts.command.compress(kind.take(parts.command) != parts.label)] = True
        rows, of = np.flatnonzero(mixed), np.flatnonzero(mixed.take(parts.command))
        place = (np.cumsum(mixed) - 1).take(parts.command.take(of)) * len(LABELS) + parts.label.take(of)
        sectors = np.bincount(place, parts.sectors.take(of), rows.size * len(LABELS))
        sectors = sectors.reshape(rows.size, len(LABELS))
        sectors[:, _UNATTRIBUTED] += bare.take(rows)
        kind[rows] = sectors.argmax(axis=1)
        kind[operation != block_operations.WRITE] = KINDS.index("other")
        for code, other in _OPERATIONS.items():
            kind[operation == code] = other
        return kind

    def _operations(self, chunk: Settled, counts: Ints, start: Ints) -> Ints:
        """Return a transaction of each command that has its SQL operation, -1 if its transactions differ in
        it.
        """
        transaction = chunk.shares.transaction
        if not transaction.size:
            return np.full(counts.size, -1, np.int64)
        code = self._op_codes.take(transaction)
        first = code.take(start)
        command = chunk.shares.command
        differs = np.bincount(command, code != first.take(command), counts.size)
        transactions: Ints = np.where((counts > 0) & (differs == 0), transaction.take(start), -1)
        return transactions

    def _pieces(self, chunk: Settled, bare: Ints) -> Columns:
        """Return the pieces; write sectors without a bio are pieces, too, labelled unattributed."""
        parts, row = chunk.pieces, np.flatnonzero(bare > 0)
        names = ("sectors", "label", "file", "inode", "offset", "of", "vfs_call", "moved", "sector", "home")
        columns = {"command": parts.command + self._size} | {name: getattr(parts, name) for name in names}
        if not row.size:
            return columns
        more = dict.fromkeys(names, np.full(row.size, -1)) | {
            "command": row + self._size,
            "sectors": bare[row],
            "label": np.full(row.size, _UNATTRIBUTED),
            "moved": np.zeros(row.size, bool),
            "sector": chunk.block["a"][row],
        }
        columns = {name: np.concatenate([values, more[name]]) for name, values in columns.items()}
        order = np.argsort(columns["command"], kind="stable")
        return {name: values.take(order) for name, values in columns.items()}

    def _reads(self, chunk: Settled) -> Columns:
        """Return the parts of read commands."""
        parts = chunk.reads
        names = ("sectors", "label", "file", "inode", "offset", "sector")
        return {"command": parts.command + self._size} | {name: getattr(parts, name) for name in names}

    def _faults(self, chunk: Settled, operation: Ints) -> dict[str, Columns]:
        parts = chunk.pieces
        due = np.where(operation == block_operations.FLUSH, 1, chunk.block["n"])
        lone = np.flatnonzero(chunk.covered < due)
        journal = LABELS.index("filesystem journal")
        # a device page has its home sector, even in the journal; metadata without a page is written home
        place = np.where((parts.home < 0) & (parts.owner > DIRECTORY), parts.sector, parts.home)
        moves = np.flatnonzero(place >= 0)
        moves = moves.compress(self._layout.may_change(place.take(moves)))
        wrong = (parts.home >= 0) & (parts.label != journal) & (parts.home != parts.sector // 8 * 8)
        return {
            "commands": {
                "command": lone + self._size,
                "sectors": due[lone],
                "covered": chunk.covered[lone],
            },
            "bios": {"serial": chunk.bio["d"][chunk.left], "sectors": chunk.bio["n"][chunk.left]},
            "unpaged": {"serial": chunk.bio["d"][chunk.unpaged]},
            "misplaced": {"sector": parts.sector[wrong], "home": parts.home[wrong]},
            "metadata": {
                "command": parts.command[moves] + self._size,
                "home": place[moves],
                "bytes": parts.sectors[moves] * SECTOR,
            },
        }

    def faults(self, number: Ints | None) -> Faults:
        """Return the faults; number: each command's index in issue order, None if they are in it."""
        tables: dict[str, Columns] = {name: {} for name in Faults._fields}
        for key in [key for key in self._parts if key.partition(".")[0] in tables]:
            table, _, column = key.partition(".")
            values = self.take(table, column)
            if column == "command" and number is not None:
                values = number[values]
            tables[table][column] = values
        return Faults(*(pl.DataFrame(columns) for columns in tables.values()))
