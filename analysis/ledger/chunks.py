"""The ledger, a chunk of the records at a time, so that memory and cost per event stay flat.

A chunk of the file has commands that have completed in it; their bios stand before them. What
of a chunk cannot be settled yet (a bio whose commands have not all completed, and all that
shares a bio or a command with it) is held back and taken with the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from analysis.adapters.layout import Layout
from analysis.adapters.proberecords import joined, taken
from analysis.ledger import match, pieces, shares
from analysis.ledger.arrays import Bools, Ints, ints
from analysis.ledger.causes import Cause, Causes
from analysis.ledger.files import Inodes, Writers
from analysis.ledger.pieces import Pieces, Runs
from analysis.ledger.records import MANY, SLIM, Chunk
from analysis.ledger.shares import Carried, Shares


class Settled(NamedTuple):
    """The commands of a chunk (rows of `block`, by issue) and what is known of them."""

    block: np.ndarray
    first: Ints  # its first bio, -1 for none
    covered: Ints  # sectors that bios explain; of a flush, the bios it was sent for
    bio: np.ndarray
    unpaged: Bools  # bios that have not all their pages
    left: Bools  # bios that are in no command, or not wholly: only in the last chunk
    cause: Cause
    pieces: Pieces
    shares: Shares

    def bare(self) -> Ints:
        """The sectors of each write command that no bio explains."""
        written = (self.block["b"] & match.OP) == match.WRITE
        return np.where(written, ints(self.block["n"]) - self.covered, 0)


class Correlator:
    """Turns chunks of records into chunks of the ledger."""

    def __init__(self, layout: Layout, inodes: Inodes, writers: Writers, causes: Causes, calls: Ints) -> None:
        """`calls` has the transaction of each row of vfs, -1 for none."""
        self._layout, self._inodes, self._writers = layout, inodes, writers
        self._causes, self._calls = causes, calls

    def run(self, chunks: Iterator[Chunk], window: tuple[int, int]) -> Iterator[Settled]:
        """Settle all chunks: of the commands issued in the window, every one once.

        The next chunk is matched, and its bios' pages and causes found, by another thread
        meanwhile: NumPy lets both run.
        """
        empty = Chunk(*(np.empty(0, SLIM[name]) for name in MANY))

        def following(held: Chunk) -> tuple[_Matched, tuple[Runs, Bools], Cause]:
            chunk = next(chunks, None)
            rows = Chunk(*(joined(both) for both in zip(held, chunk or empty, strict=True)))
            matched = _match(rows, window, last=chunk is None)
            return matched, pieces.runs(matched.pages, matched.bio), self._causes.of(matched.bio)

        with ThreadPoolExecutor(1) as pool:
            matched, paged, cause = pool.submit(following, empty).result()
            while not matched.last:
                ahead = pool.submit(following, matched.held)
                yield self._settle(matched, paged, cause)
                matched, paged, cause = ahead.result()
        yield self._settle(matched, paged, cause)

    def _settle(self, found: _Matched, paged: tuple[Runs, Bools], cause: Cause) -> Settled:
        """Find what is in the commands, and for whom."""
        bio, carried = found.bio, found.carried
        if bio.size:
            self._writers.advance(int(bio["begin_ns"][0]), int(bio["begin_ns"][-1]))
        runs, unpaged = paged
        labelled = pieces.pieces(
            found.data, found.block, bio, runs, self._layout, self._inodes, self._writers
        )
        size = found.block.size
        first = np.full(size, -1, np.int64)
        first[carried.command[::-1]] = carried.bio[::-1]  # the first of each stays
        return Settled(
            block=found.block,
            first=first,
            covered=ints(np.bincount(carried.command, carried.weight, size)),
            bio=bio,
            unpaged=unpaged & found.done,
            left=found.left,
            cause=cause,
            pieces=labelled,
            shares=shares.shares(carried, labelled, cause, self._causes.groups, self._calls),
        )


class _Matched(NamedTuple):
    """The commands of a chunk that are settled, with all bios, and what is held back."""

    block: np.ndarray
    bio: np.ndarray
    pages: np.ndarray
    data: match.Parts
    carried: Carried
    done: Bools  # bios
    left: Bools
    held: Chunk
    last: bool


def _match(rows: Chunk, window: tuple[int, int], last: bool) -> _Matched:
    block, bio = _in_time(rows.block), _in_time(rows.bio)
    data = match.parts(block, bio)
    flush = match.flushed(block, bio, data)
    done, done_bio, left = *match.settled(block, bio, data, flush), np.zeros(bio.size, bool)
    inside = (bio["begin_ns"] >= window[0]) & (bio["begin_ns"] < window[1])
    if last:
        left, done, done_bio = ~done_bio & inside, np.ones(block.size, bool), np.ones(bio.size, bool)
    kept = done & (block["begin_ns"] >= window[0]) & (block["begin_ns"] < window[1])
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    data = match.Parts(*(column[kept[data.command]] for column in data))
    data = data._replace(command=number[data.command])
    command, flushed = (column[kept[flush[0]]] for column in flush)
    ones = np.ones(flushed.size, np.int64)
    held = Chunk(
        taken(block, ~done),
        taken(bio, ~done_bio),
        taken(rows.pages, np.isin(rows.pages["d"], bio["d"][~done_bio])),
    )
    return _Matched(
        block=taken(block, kept),
        bio=bio,
        pages=rows.pages,
        data=data,
        carried=Carried(
            np.r_[data.command, number[command]], np.r_[data.bio, flushed], np.r_[data.sectors, ones]
        ),
        done=done_bio,
        left=left,
        held=held,
        last=last,
    )


def _in_time(rows: np.ndarray) -> np.ndarray:
    """Sort rows by begin_ns; they mostly are."""
    begin = rows["begin_ns"]
    if (begin[1:] >= begin[:-1]).all():
        return rows
    return taken(rows, np.argsort(begin, kind="stable"))
