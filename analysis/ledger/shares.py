"""Which transactions is each block command for, and in what parts?

A command belongs to the transaction of its bios. Where these differ, where a bio was submitted
for several transactions, or where nobody asked for it and only its pages tell who wrote them,
it is divided: by bytes, and equally among those one bio serves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.ledger.arrays import Ints, expand
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
    group = causes.group[carried.bio]
    # what nobody asked for goes by its pieces, if it has any
    behind = (causes.how == BEHIND) & (causes.transaction < 0) & (causes.group < 0)
    by_piece = np.flatnonzero(behind[pieces.bio])
    has_pieces = np.zeros(behind.size, bool)
    has_pieces[pieces.bio[by_piece]] = True
    alone = np.flatnonzero((group < 0) & ~has_pieces[carried.bio])
    many = np.flatnonzero(group >= 0)
    counts = groups.counts[group[many]]
    row, member = expand(groups.firsts[group[many]], counts)
    call = pieces.vfs_call[by_piece]
    command = np.r_[carried.command[alone], carried.command[many][row], pieces.command[by_piece]]
    transaction = np.r_[
        causes.transaction[carried.bio[alone]],
        groups.members[member],
        np.where(call >= 0, np.r_[calls, -1][call], -1),
    ]
    weight = np.r_[
        carried.weight[alone],
        (carried.weight[many] / np.maximum(counts, 1))[row],
        pieces.sectors[by_piece],
    ]
    key = (command << _TRANSACTIONS) | (transaction + 1)
    order = np.argsort(key, kind="stable")
    key, weight = key[order], weight[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else np.empty(0, np.int64)
    weight = np.add.reduceat(weight, first) if key.size else weight
    command, transaction = key[first] >> _TRANSACTIONS, (key[first] & ((1 << _TRANSACTIONS) - 1)) - 1
    total = np.bincount(command, weight) if command.size else weight
    return Shares(command, transaction, weight / total[command])


def single(of: Shares, number: int) -> tuple[Ints, Ints]:
    """Return for each of `number` commands its transaction (-1: none or several), and how many
    rows of `of` it has."""
    counts = np.bincount(of.command, minlength=number)
    transaction = np.full(number, -1, np.int64)
    transaction[of.command] = of.transaction
    return np.where(counts == 1, transaction, -1), counts
