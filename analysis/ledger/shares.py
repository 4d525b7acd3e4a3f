"""Divide each block command among the transactions it was written for, and find data of earlier ones in it.

A write is divided by sectors among its bios, a flush equally among those that it serves. A bio of several
transactions counts equally for each. A part without a transaction goes to its reason.

Shares follow who made the device write. A checkpoint or the flusher may write the pages of an
earlier transaction: that part is `deferred`.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.ledger.background_io import COLLECTION
from analysis.ledger.causes import Cause, Groups
from analysis.ledger.contents import Owners
from analysis.ledger.pieces import Pieces
from analysis.schemas.ledger import NO_TRANSACTION
from base.arrays import Ints, expand

_TRANSACTIONS = 40  # bits of a key of command and transaction; the first numbers are the reasons
_REASONS = len(NO_TRANSACTION)


class Shares(NamedTuple):
    """The share of each transaction or reason in each command, sorted by command, reason, transaction."""

    command: Ints
    transaction: Ints  # -1: none
    nobody: Ints  # index in NO_TRANSACTION; -1: has a transaction
    share: np.ndarray  # float64; the shares of a command sum to 1


class Deferred(NamedTuple):
    """Bytes of an earlier transaction that another one made the device write.

    One row per command, writer and maker.
    """

    command: Ints
    transaction: Ints  # owner of the data
    made_by: Ints  # -1: no transaction
    nobody: Ints  # reason, without a transaction; else -1
    bytes: np.ndarray  # float64


class Carried(NamedTuple):
    """Bios that a command carries or was sent for, with their weights in it. One row per pair."""

    command: Ints
    bio: Ints
    weight: Ints


def shares(carried: Carried, pieces: Pieces, causes: Cause, groups: Groups) -> Shares:
    """Return the shares of all commands."""
    none = causes.nobody >= 0
    # a write of a bio without a transaction is divided by its pieces, as their reasons may differ; the flush
    # that such a bio requests has none
    by_piece = np.flatnonzero(none.take(pieces.bio))
    has_pieces = none.take(carried.bio)
    has_pieces[has_pieces] = np.isin(carried.command.compress(has_pieces), pieces.command.take(by_piece))
    group = causes.group.take(carried.bio)
    alone = np.flatnonzero((group < 0) & ~has_pieces)
    many = np.flatnonzero(group >= 0)
    counts = groups.counts.take(group.take(many))
    row, member = expand(groups.firsts.take(group.take(many)), counts)
    bio = carried.bio.take(alone)
    owner = np.where(none.take(bio), causes.nobody.take(bio), causes.transaction.take(bio) + _REASONS)
    command = np.concatenate(
        [carried.command.take(alone), carried.command.take(many.take(row)), pieces.command.take(by_piece)]
    )
    owner = np.concatenate(
        [owner, groups.members.take(member) + _REASONS, _reasons(pieces, causes, by_piece)]
    )
    weight = np.concatenate(
        [
            carried.weight.take(alone),
            (carried.weight.take(many) / np.maximum(counts, 1)).take(row),
            pieces.sectors.take(by_piece),
        ]
    )
    key = (command << _TRANSACTIONS) | owner
    order = np.argsort(key, kind="stable")
    key, weight = key.take(order), weight.take(order)
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else np.empty(0, np.int64)
    weight = np.add.reduceat(weight, first) if key.size else weight
    key = key.take(first)
    command, owner = key >> _TRANSACTIONS, key & ((1 << _TRANSACTIONS) - 1)
    total = np.bincount(command, weight) if command.size else weight
    return Shares(
        command=command,
        transaction=np.maximum(owner - _REASONS, -1),
        nobody=np.where(owner < _REASONS, owner, -1),
        share=weight / total.take(command),
    )


def _reasons(pieces: Pieces, causes: Cause, rows: Ints) -> Ints:
    """Return the reasons of pieces without a transaction."""
    reason = causes.nobody.take(pieces.bio.take(rows))
    return np.where(pieces.moved.take(rows), COLLECTION, reason)


def deferred(pieces: Pieces, causes: Cause, groups: Groups, owners: Owners) -> Deferred:
    """Return the bytes with data of another transaction than the one that made the device write them.

    owners: of the data that each row of vfs wrote. Several makers have equal parts. Pages moved by garbage
    collection are excluded: they were on the device before.
    """
    written = np.flatnonzero((pieces.vfs_call >= 0) & ~pieces.moved)
    call = pieces.vfs_call.take(written)
    row, member = expand(owners.firsts.take(call), owners.counts.take(call))
    owned = written.take(row)
    late = owners.transactions.take(member) != causes.transaction.take(pieces.bio.take(owned))
    rows, writer = owned.compress(late), owners.transactions.take(member.compress(late))
    part = owners.weights.take(member.compress(late))
    if not rows.size:
        none = np.empty(0, np.int64)
        return Deferred(none, none, none, none, np.empty(0))
    group = causes.group.take(pieces.bio.take(rows))
    alone, many = np.flatnonzero(group < 0), np.flatnonzero(group >= 0)
    group = group.take(many)
    counts = groups.counts.take(group)
    row, member = expand(groups.firsts.take(group), counts)
    late_row = np.r_[alone, many.take(row)]
    piece = rows.take(late_row)
    bio = pieces.bio.take(piece)
    made_by = np.r_[causes.transaction.take(pieces.bio.take(rows.take(alone))), groups.members.take(member)]
    size = (
        pieces.sectors.take(piece) * 512 * part.take(late_row) / np.r_[np.ones(alone.size), counts.take(row)]
    )
    table = pl.DataFrame(
        {
            "command": pieces.command.take(piece),
            "transaction": writer.take(late_row),
            "made_by": made_by,
            "nobody": np.where(made_by < 0, causes.nobody.take(bio), -1),
            "bytes": size,
        }
    )
    # a transaction's own part of a shared commit is not deferred
    others = table.filter(pl.col("transaction") != pl.col("made_by"))
    sums = others.group_by(Deferred._fields[:-1], maintain_order=True).agg(pl.col("bytes").sum())
    return Deferred(*(column.to_numpy() for column in sums.sort("command", maintain_order=True)))
