"""Match block commands with the bios they carry, sector by sector; find those fully matched, and lost FUA.

The block layer merges bios into a request and splits a bio that is too long for one. So a command is
followed from its first sector to its last. The next part is the bio that begins there and was queued last
before the command's issue, or the rest of a longer bio that an earlier command left.

A flush command has no sectors; flushes.py matches it.
"""

from typing import NamedTuple

import numpy as np

from analysis.ledger.records import Columns
from base.arrays import Bools, Ints, preceding
from model.block_operations import FLUSH, FUA, OP, PREFLUSH

_RANK, _SECTOR = 26, 36  # bits of a composite key


class Parts(NamedTuple):
    """The parts of commands and the parts of bios they match, row by row, sorted by command."""

    command: Ints
    bio: Ints
    sector: Ints  # on the device
    sectors: Ints


class _Bios(NamedTuple):
    key: Ints  # operation, first sector, rank of the queue time; ascending
    bio: Ints
    end: Ints


def parts(block: Columns, bio: Columns) -> Parts:
    """Return the parts of all commands with sectors. Both are ordered by begin_ns.

    Sectors of a command without a bio are in no row; each sector of a bio is in at most one.
    """
    order = np.argsort(np.concatenate([bio["begin_ns"], block["begin_ns"]]), kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    rank_bio, rank_block = rank[: bio.size], rank[bio.size :]
    start, end = block["a"], block["a"] + block["n"]
    group = block["b"] & OP
    have = np.flatnonzero(bio["n"])
    ends = bio["a"] + bio["n"]
    key = _key((bio["b"] & OP).take(have), bio["a"].take(have), rank_bio.take(have))
    bios = _sorted(_Bios(key, have, ends.take(have)))
    left = np.flatnonzero(block["n"] * (group != FLUSH))
    at = start.copy()
    rounds: list[Parts] = []
    while left.size and bios.key.size:
        done, bios = _follow(left, at, end, group, rank_block, bios)
        if not done.command.size:
            break
        rounds.append(done)
        # the rest of a bio after a command's end is left for the next command
        upto = done.sector + done.sectors
        cut = upto < ends.take(done.bio)
        rest, begin = done.bio.compress(cut), upto.compress(cut)
        rests = _Bios(_key(bio["b"][rest] & OP, begin, rank_bio[rest]), rest, ends[rest])
        bios = _sorted(_Bios(*(np.concatenate(both) for both in zip(bios, rests, strict=True))))
        left = left.compress(at.take(left) < end.take(left))
        if not rest.size:
            break
    joined = Parts(*(np.concatenate(c) for c in zip(*rounds, strict=True))) if rounds else _NONE
    order = np.argsort((joined.command << _SECTOR) | (joined.sector - start.take(joined.command)))
    return Parts(*(column.take(order) for column in joined))


_NONE = Parts(*(np.empty(0, np.int64) for _ in range(4)))


def _key(operation: Ints, sector: Ints, rank: Ints) -> Ints:
    return (operation & 3) << (_RANK + _SECTOR) | sector << _RANK | rank


def _sorted(bios: _Bios) -> _Bios:
    order = np.argsort(bios.key)
    return _Bios(*(column.take(order) for column in bios))


def _follow(active: Ints, at: Ints, end: Ints, group: Ints, rank: Ints, bios: _Bios) -> tuple[Parts, _Bios]:
    """Advance `at` of the commands `active` as long as a bio begins where the last one ended.

    Return the parts, and the bios that were not taken.
    """
    free, claimed = np.ones(bios.key.size, bool), np.empty(bios.key.size, np.int64)
    steps: list[Parts] = [_NONE]
    while active.size:
        begin = at.take(active)
        key = _key(group.take(active), begin, rank.take(active))
        place = preceding(bios.key, key) - 1  # no bio has a command's rank
        bound = np.maximum(place, 0)
        fits = (place >= 0) & (bios.key.take(bound) >> _RANK == key >> _RANK) & free.take(bound)
        good = np.flatnonzero(fits)
        # of two commands that claim one bio, the first gets it
        claims = place.take(good)
        claimed[claims[::-1]] = good[::-1]
        good = good.compress(claimed.take(claims) == good)
        active, place, begin = active.take(good), place.take(good), begin.take(good)
        free[place] = False
        last = end.take(active)
        upto = np.minimum(bios.end.take(place), last)
        steps.append(Parts(active, bios.bio.take(place), begin, upto - begin))
        at[active] = upto
        active = active.compress(upto < last)
    joined = Parts(*(np.concatenate(columns) for columns in zip(*steps, strict=True)))
    return joined, _Bios(*(column.compress(free) for column in bios))


def lost_fua(block: Columns, bio: Columns, data: Parts) -> Bools:
    """Return which parts have a bio that requested FUA and a command without it."""
    return (bio["b"].take(data.bio) & ~block["b"].take(data.command) & FUA) > 0


def settled(
    block: Columns, bio: Columns, data: Parts, flush: tuple[Ints, Ints], unsure: Ints
) -> tuple[Bools, Bools]:
    """Return which commands and which bios are complete.

    These are fully matched, and so is every command and bio connected to them. Bios in `unsure` are not.
    """
    after = np.zeros(bio.size, bool)
    after[data.bio] = lost_fua(block, bio, data)
    due = (bio["b"] & PREFLUSH > 0).astype(np.int64) + after
    open_bio = np.bincount(data.bio, data.sectors, bio.size) < bio["n"]
    open_bio |= np.bincount(flush[1], minlength=bio.size) < due
    open_bio[unsure] = True
    covered = np.bincount(data.command, data.sectors, block.size) >= block["n"]
    is_flush = (block["b"] & OP) == FLUSH
    open_command = ~np.where(is_flush, np.bincount(flush[0], minlength=block.size) > 0, covered)
    command, number = np.r_[data.command, flush[0]], np.r_[data.bio, flush[1]]
    before = -1
    while (now := int(open_bio.sum()) + int(open_command.sum())) != before:
        before = now
        open_bio[number.compress(open_command.take(command))] = True
        open_command[command.compress(open_bio.take(number))] = True
    return ~open_command, ~open_bio
