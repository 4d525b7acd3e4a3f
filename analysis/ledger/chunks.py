"""Attribute block commands to transactions chunk by chunk, in flat memory; carry unfinished bios over.

A chunk holds the commands that completed in it; their bios come earlier in the file. A bio whose commands
have not all completed is carried over to the next chunk, with every command and bio connected to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from analysis.adapters.layouts import Layout
from analysis.ledger import match, pieces, shares
from analysis.ledger.causes import Cause, Causes
from analysis.ledger.contents import Owners
from analysis.ledger.files import Inodes, Writers
from analysis.ledger.flushes import flushed
from analysis.ledger.pieces import Pieces, Runs
from analysis.ledger.records import MANY, Chunk, Columns
from analysis.ledger.shares import Carried, Deferred, Shares
from base.arrays import Bools, Ints, ints
from model import block_operations


class Batch(NamedTuple):
    """The rows that are correlated at once."""

    block: Columns
    bio: Columns
    pages: Columns


class Settled(NamedTuple):
    """The attributed commands of a chunk (rows of `block`, by issue)."""

    block: Columns
    first: Ints  # its first bio, -1 for none
    queued: Ints  # when its earliest bio was queued, -1 for none
    covered: Ints  # sectors covered by bios; for a flush, the number of bios it was sent for
    bio: Columns
    unpaged: Bools  # bios with missing pages
    left: Bools  # bios not fully covered by commands; set in the last chunk only
    cause: Cause
    pieces: Pieces
    reads: Pieces
    shares: Shares
    deferred: Deferred

    def bare(self) -> Ints:
        """Return how many sectors of each write command no bio covers."""
        written = (self.block["b"] & block_operations.OP) == block_operations.WRITE
        return np.where(written, self.block["n"] - self.covered, 0)


class Correlator:
    """Turns chunks of records into chunks of the ledger."""

    def __init__(
        self, layout: Layout, inodes: Inodes, writers: Writers, causes: Causes, owners: Owners
    ) -> None:
        """owners: of the data that each row of vfs wrote."""
        self._layout, self._inodes, self._writers = layout, inodes, writers
        self._causes, self._owners = causes, owners

    def run(self, chunks: Iterator[list[Chunk]], window: tuple[int, int]) -> Iterator[Settled]:
        """Yield the commands issued in the window, each once.

        Another thread matches the next chunk meanwhile; NumPy releases the GIL.
        """

        def following(held: Batch) -> tuple[_Matched, tuple[Runs, Bools], Cause]:
            parts = next(chunks, [])
            rows = Batch(*map(Columns.of, MANY, zip(held, *parts, strict=True)))
            matched = _match(rows, self._causes, window, last=not parts)
            return matched, pieces.runs(matched.pages, matched.bio), self._causes.attribute(matched.bio)

        with ThreadPoolExecutor(1) as pool:
            matched, paged, cause = pool.submit(
                following, Batch(*map(Columns.of, MANY, ((), (), ())))
            ).result()
            while not matched.last:
                ahead = pool.submit(following, matched.held)
                yield self._settle(matched, paged, cause)
                matched, paged, cause = ahead.result()
        yield self._settle(matched, paged, cause)

    def _settle(self, matched: _Matched, paged: tuple[Runs, Bools], cause: Cause) -> Settled:
        """Attribute the contents of the commands."""
        bio, carried = matched.bio, matched.carried
        if bio.size:
            self._writers.advance(int(bio["begin_ns"][0]), int(bio["begin_ns"][-1]))
        laid, unpaged = paged
        labelled = pieces.pieces(
            matched.data, matched.block, bio, laid, self._layout, self._inodes, self._writers
        )
        size = matched.block.size
        first = np.full(size, -1, np.int64)
        first[carried.command[::-1]] = carried.bio[::-1]  # the first bio of each command wins
        earliest = np.full(size, bio.size)
        np.minimum.at(earliest, carried.command, carried.bio)
        return Settled(
            block=matched.block,
            first=first,
            queued=np.r_[bio["begin_ns"], -1].take(earliest),
            covered=ints(np.bincount(carried.command, carried.weight, size)),
            bio=bio,
            unpaged=unpaged & matched.done,
            left=matched.left,
            cause=cause,
            pieces=labelled,
            reads=pieces.pieces(matched.data, matched.block, bio, laid, self._layout, self._inodes, None),
            shares=shares.shares(carried, labelled, cause, self._causes.groups),
            deferred=shares.deferred(labelled, cause, self._causes.groups, self._owners),
        )


class _Matched(NamedTuple):
    """The completed commands of a chunk with their bios, and the rows that are carried over."""

    block: Columns
    bio: Columns
    pages: Columns
    data: match.Parts
    carried: Carried
    done: Bools  # bios
    left: Bools
    held: Batch
    last: bool


def _match(rows: Batch, causes: Causes, window: tuple[int, int], last: bool) -> _Matched:
    block, bio = rows.block.in_time(), rows.bio.in_time()
    data = match.parts(block, bio)
    flush = flushed(block, bio, data, causes.flush_returned(bio))
    unsure = flush.unsure[: 0 if last else None]
    done, done_bio = match.settled(block, bio, data, (flush.command, flush.bio), unsure)
    left = np.zeros(bio.size, bool)
    inside = (bio["begin_ns"] >= window[0]) & (bio["begin_ns"] < window[1])
    if last:
        left, done, done_bio = ~done_bio & inside, np.ones(block.size, bool), np.ones(bio.size, bool)
    kept = done & (block["begin_ns"] >= window[0]) & (block["begin_ns"] < window[1])
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    ours = np.flatnonzero(kept.take(data.command))
    data = match.Parts(*(column.take(ours) for column in data))
    data = data._replace(command=number.take(data.command))
    command, served = (column.compress(kept.take(flush.command)) for column in flush[:2])
    ones = np.ones(served.size, np.int64)
    held = Batch(
        block.take(np.flatnonzero(~done)),
        bio.take(np.flatnonzero(~done_bio)),
        rows.pages.take(np.flatnonzero(np.isin(rows.pages["d"], bio["d"][~done_bio]))),
    )
    return _Matched(
        block=block.take(np.flatnonzero(kept)),
        bio=bio,
        pages=rows.pages,
        data=data,
        carried=Carried(
            np.r_[data.command, number[command]], np.r_[data.bio, served], np.r_[data.sectors, ones]
        ),
        done=done_bio,
        left=left,
        held=held,
        last=last,
    )
