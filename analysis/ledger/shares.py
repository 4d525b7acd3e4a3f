"""Which transactions is each block command for, and in what parts?

A command belongs to the transaction of its bios. Where these differ, where a bio was submitted
for several transactions, or where nobody asked for it and only its pages tell who wrote them,
it is divided: by bytes, and equally among those one bio serves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.ledger.arrays import Ints, at, expand
from analysis.ledger.causes import BEHIND, Cause, Groups
from analysis.ledger.pieces import Pieces

_TRANSACTIONS = 40  # bits of a key made of command and transaction + 1


class Shares(NamedTuple):
    """Who has which part of which command; sorted by command, then transaction (-1: nobody)."""

    command: Ints
    transaction: Ints
    share: np.ndarray  # float64; those of a command add to 1


class Carried(NamedTuple):
    """Row by row: a bio that a command carries or was sent for, and its weight in it."""

    command: Ints
    bio: Ints
    weight: Ints


def shares(carried: Carried, pieces: Pieces, causes: Cause, groups: Groups, calls: Ints) -> Shares:
    """Divide every command. `calls` has the transaction of each row of vfs, -1 for none."""
    group = causes.group.take(carried.bio)
    # what nobody asked for goes by its pieces, if it has any
    behind = (causes.how == BEHIND) & (causes.transaction < 0) & (causes.group < 0)
    by_piece = np.flatnonzero(behind.take(pieces.bio))
    has_pieces = np.zeros(behind.size, bool)
    has_pieces[pieces.bio.take(by_piece)] = True
    alone = np.flatnonzero((group < 0) & ~has_pieces.take(carried.bio))
    many = np.flatnonzero(group >= 0)
    counts = groups.counts.take(group.take(many))
    row, member = expand(groups.firsts.take(group.take(many)), counts)
    call = pieces.vfs_call.take(by_piece)
    command = np.concatenate(
        [carried.command.take(alone), carried.command.take(many.take(row)), pieces.command.take(by_piece)]
    )
    transaction = np.concatenate(
        [causes.transaction.take(carried.bio.take(alone)), groups.members.take(member), at(calls, call)]
    )
    weight = np.concatenate(
        [
            carried.weight.take(alone),
            (carried.weight.take(many) / np.maximum(counts, 1)).take(row),
            pieces.sectors.take(by_piece),
        ]
    )
    key = (command << _TRANSACTIONS) | (transaction + 1)
    order = np.argsort(key, kind="stable")
    key, weight = key.take(order), weight.take(order)
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else np.empty(0, np.int64)
    weight = np.add.reduceat(weight, first) if key.size else weight
    key = key.take(first)
    command, transaction = key >> _TRANSACTIONS, (key & ((1 << _TRANSACTIONS) - 1)) - 1
    total = np.bincount(command, weight) if command.size else weight
    return Shares(command, transaction, weight / total.take(command))


def single(of: Shares, number: int) -> tuple[Ints, Ints]:
    """Return for each of `number` commands its transaction (-1: none or several), and how many
    rows of `of` it has."""
    counts = np.bincount(of.command, minlength=number)
    transaction = np.full(number, -1, np.int64)
    transaction[of.command] = of.transaction
    return np.where(counts == 1, transaction, -1), counts
