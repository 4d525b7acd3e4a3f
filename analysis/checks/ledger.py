"""Is every byte accounted for, once, and does each link of the ledger hold?

Every check compares two things that were recorded apart: the commands and the bios, a bio and
its pages, SQLite's calls and the filesystem's syncs, a label and the place it was written to.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from analysis.adapters.layout import DATA, SECTOR
from analysis.checks import calls, synced_pages
from analysis.checks.calls import first
from analysis.ledger.build import Ledger
from analysis.ledger.files import PAGE_SECTORS
from analysis.ledger.files import pages as blocks
from analysis.ledger.pieces import OF_ROLE
from analysis.schemas.ledger import LABELS, WAITS
from base.arrays import Bools, Ints, LastBefore, at, ints
from model.filesystems import find

UNATTRIBUTED_LIMIT = 0.001


def unattributed_share(made: Ledger) -> float:
    """Return the bytes without a label over the bytes written; 0 where nothing was."""
    total = int(made.pieces["bytes"].sum())
    lost = int(made.pieces.filter(pl.col("label") == "unattributed")["bytes"].sum())
    return lost / total if total else 0.0


def attributed(made: Ledger) -> list[str]:
    """At most 0.1 % of the bytes written have no label."""
    share = unattributed_share(made)
    return [f"{share:.3%} of the bytes written are unattributed"] if share > UNATTRIBUTED_LIMIT else []


def bytes_add_up(made: Ledger) -> list[str]:
    """The pieces of each write command are its bytes, and no other command has any."""
    parts = made.pieces.group_by("command").agg(pl.col("bytes").sum().alias("parts"))
    is_write = ~pl.col("kind").is_in(["flush", "read", "discard"])
    wrong = (
        made.ledger.join(parts, on="command", how="left")
        .with_columns(pl.col("parts").fill_null(0), pl.when(is_write).then("bytes").otherwise(0).alias("due"))
        .filter(pl.col("parts") != pl.col("due"))
    )
    return first(wrong, "write commands are not the sum of their pieces", "command", "bytes", "parts")


def records_whole(made: Ledger) -> list[str]:
    """No bio's record is missing, and each has its pages."""
    lost = made.given.records.lost_bios
    return [
        *([f"{lost} bios are missing in the sequence of their numbers"] if lost else []),
        *first(made.faults.unpaged, "bios without all their pages", "serial"),
    ]


def commands_have_bios(made: Ledger) -> list[str]:
    """Each command is covered by bios, and each bio by commands."""
    return [
        *first(made.faults.commands, "commands without the bios they carry", "command", "sectors", "covered"),
        *first(made.faults.bios, "bios that were not wholly executed", "serial", "sectors"),
    ]


def places(made: Ledger) -> list[str]:
    """What is written to a region of the filesystem has that region's label.

    But for a file's page where a directory, a block of a file's map or the like came to be later: regions
    are as they are after the run.
    """
    layout, pieces = made.given.layout, made.pieces
    begin, size = ints(pieces["sector"]), ints(pieces["bytes"])
    across = np.flatnonzero(layout.region(begin) != layout.region(begin + size // SECTOR - 1))
    row, block = blocks((begin * SECTOR)[across], size[across])
    row = np.r_[np.arange(begin.size), across[row]]
    sector = np.maximum(np.r_[begin, block * PAGE_SECTORS], begin[row])
    region, label = layout.label(sector), ints(pieces["label"].to_physical())[row]
    # where no region is: files, and what a filesystem keeps in pages of an inode of its own
    own = [name for name in find(layout.filesystem).inodes.values() if name]
    in_data = np.isin(label, [LABELS.index(name) for name in (*OF_ROLE.values(), *own)])
    wrong = np.where(region == DATA, ~in_data, label != region) & (label != LABELS.index("unattributed"))
    # a block of the filesystem's own that is none any more, or another: its bytes say what it was
    is_block = (pieces["home"].is_not_null() & pieces["of"].is_null()).to_numpy()[row]
    wrong &= ~(is_block & ((region == DATA) | layout.may_change(sector)))
    later = np.flatnonzero(wrong & in_data & layout.may_change(sector))
    if later.size:
        wrong[later] = ~_before_metadata(made, sector[later], row[later])
    told = pieces[row[wrong]].with_columns(sector=pl.Series(sector[wrong], dtype=pl.Int64))
    found = first(told, "pieces labelled against their place", "sector", "label")
    return found + first(made.faults.misplaced, "pages of the device written out of place", "sector", "home")


def _before_metadata(made: Ledger, sector: Ints, row: Ints) -> Bools:
    """Return of each sector that a piece was written to whether the filesystem wrote a block of its own there
    later, or a copy of it into the journal. Where copies do not say what they are of it may have been so."""
    queued = ints(made.ledger["queue_ns"].fill_null(-1))
    metadata = made.faults.metadata
    of, home = blocks(ints(metadata["home"]) * SECTOR, ints(metadata["bytes"]))
    written = queued[ints(metadata["command"])[of]]
    end = np.full(sector.size, np.iinfo(np.int64).max)
    last = at(written, LastBefore(home, written).find(sector // PAGE_SECTORS, end))
    found: Bools = queued[ints(made.pieces["command"])[row]] < last
    if not find(made.given.layout.filesystem).copies_have_homes:
        found |= last < 0
    return found


def shares_add_up(made: Ledger) -> list[str]:
    """The shares of a command add to 1, and only a command without a transaction has any."""
    sums = made.shares.group_by("command").agg(pl.col("share").sum())
    wrong = sums.filter((pl.col("share") - 1).abs() > 1e-9)
    both = made.ledger.join(sums, on="command").filter(pl.col("transaction").is_not_null())
    return [
        *first(wrong, "commands whose shares do not add to 1", "command", "share"),
        *first(both, "commands with a transaction and shares", "command", "transaction"),
    ]


def costs_add_up(made: Ledger) -> list[str]:
    """Each transaction's time is its parts, where these were recorded, and all bytes are somebody's or
    nobody's, once."""
    parts = pl.sum_horizontal("cpu_ns", *WAITS)
    negative = pl.min_horizontal("cpu_ns", *WAITS) < 0
    is_known = pl.col("cpu_ns").is_not_null()
    wrong = made.costs.filter(is_known & ((parts != pl.col("latency_ns")) | negative))
    own = made.ledger.join(made.shares.select("command").unique(), on="command", how="anti")
    nobody = own.filter(pl.col("transaction").is_null()).select("command", share=pl.lit(1.0))
    rest = pl.concat([nobody, made.shares.filter(pl.col("transaction").is_null()).select("command", "share")])
    size = made.pieces.group_by("command").agg(pl.col("bytes").sum())
    left = rest.join(size, on="command").select((pl.col("share") * pl.col("bytes")).sum()).item()
    spent, total = float(made.costs["bytes"].sum()) + left, int(made.pieces["bytes"].sum())
    found = first(wrong, "transactions whose time is not its parts", "transaction", "latency_ns", "cpu_ns")
    if abs(spent - total) > 1e-6 * max(total, 1):
        found.append(f"transactions and the rest have {spent:.0f} of {total} bytes written")
    return found


CHECKS: tuple[Callable[[Ledger], list[str]], ...] = (
    attributed,
    bytes_add_up,
    records_whole,
    commands_have_bios,
    places,
    calls.files,
    calls.syncs_witnessed,
    synced_pages.written_out,
    shares_add_up,
    costs_add_up,
)


def reasons(made: Ledger) -> list[str]:
    """Return what is wrong with a ledger; empty if nothing is."""
    return [f"ledger: {reason}" for check in CHECKS for reason in check(made)]
