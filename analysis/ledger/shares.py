"""Which transactions is each block command for, and in what parts?

A command belongs to the transaction of its bios. Where these differ, or where a bio was submitted
for several transactions, it is divided: by bytes, and equally among those one bio serves. What is for
no transaction is divided by reason.

That is who made the device write it. Whose content it is may be another's: of an earlier
transaction, whose pages a checkpoint or the flusher writes. That part is `deferred`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from analysis.ledger.causes import Cause, Groups
from analysis.ledger.nobody import COLLECTION
from analysis.ledger.pieces import Pieces
from analysis.schemas.ledger import NO_TRANSACTION
from base.arrays import Ints, at, expand

_TRANSACTIONS = 40  # bits of a key made of command and transaction, behind the reasons for none
_REASONS = len(NO_TRANSACTION)


class Shares(NamedTuple):
    """Who has which part of which command; sorted by command, then reason, then transaction."""

    command: Ints
    transaction: Ints  # -1: none
    nobody: Ints  # place in schema.NO_TRANSACTION, why none; else -1
    share: np.ndarray  # float64; those of a command add to 1


class Deferred(NamedTuple):
    """What one made the device write and an earlier transaction had written; a row of each command,
    writer and maker."""

    command: Ints
    transaction: Ints  # whose content it is
    made_by: Ints  # -1: no transaction
    nobody: Ints  # why none; else -1
    bytes: np.ndarray  # float64


class Carried(NamedTuple):
    """Row by row: a bio that a command carries or was sent for, and its weight in it."""

    command: Ints
    bio: Ints
    weight: Ints


def shares(carried: Carried, pieces: Pieces, causes: Cause, groups: Groups) -> Shares:
    """Divide every command."""
    none = causes.nobody >= 0
    # what is for nobody goes by its pieces, if it has any: of each the reason may be another
    by_piece = np.flatnonzero(none.take(pieces.bio))
    has_pieces = np.zeros(none.size, bool)
    has_pieces[pieces.bio.take(by_piece)] = True
    group = causes.group.take(carried.bio)
    alone = np.flatnonzero((group < 0) & ~has_pieces.take(carried.bio))
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
    """Why some of the pieces are for nobody."""
    reason = causes.nobody.take(pieces.bio.take(rows))
    return np.where(pieces.moved.take(rows), COLLECTION, reason)


def deferred(pieces: Pieces, causes: Cause, groups: Groups, contents: Ints) -> Deferred:
    """Find what is another's content than who made the device write it.

    `contents` has the transaction whose content each row of vfs wrote, -1 for none. Of what several
    made written, each has an equal part. What the garbage collector moved was on the device before.
    """
    writer = at(contents, pieces.vfs_call)
    late = (writer >= 0) & ~pieces.moved & (writer != causes.transaction.take(pieces.bio))
    rows = np.flatnonzero(late)
    if not rows.size:
        none = np.empty(0, np.int64)
        return Deferred(none, none, none, none, np.empty(0))
    group = causes.group.take(pieces.bio.take(rows))
    alone, many = rows.compress(group < 0), rows.compress(group >= 0)
    group = group.compress(group >= 0)
    counts = groups.counts.take(group)
    row, member = expand(groups.firsts.take(group), counts)
    piece = np.r_[alone, many.take(row)]
    bio = pieces.bio.take(piece)
    made_by = np.r_[causes.transaction.take(pieces.bio.take(alone)), groups.members.take(member)]
    size = pieces.sectors.take(piece) * 512 / np.r_[np.ones(alone.size), counts.take(row)]
    table = pl.DataFrame(
        {
            "command": pieces.command.take(piece),
            "transaction": writer.take(piece),
            "made_by": made_by,
            "nobody": np.where(made_by < 0, causes.nobody.take(bio), -1),
            "bytes": size,
        }
    )
    # of a commit that several share, each keeps its part of its own
    others = table.filter(pl.col("transaction") != pl.col("made_by"))
    sums = others.group_by(Deferred._fields[:-1], maintain_order=True).agg(pl.col("bytes").sum())
    return Deferred(*(column.to_numpy() for column in sums.sort("command", maintain_order=True)))


def single(of: Shares, number: int) -> tuple[Ints, Ints]:
    """Return for each of `number` commands its transaction (-1: none or several), and how many
    rows of `of` it has."""
    counts = np.bincount(of.command, minlength=number)
    transaction = np.full(number, -1, np.int64)
    transaction[of.command] = of.transaction
    return np.where(counts == 1, transaction, -1), counts
