"""Check the ledger: bios cover commands, sums add up, a byte has its place's label, a commit has a reason.

Every check compares two independent records: commands and bios, a bio and its pages, SQLite's calls and the
filesystem's syncs, a label and the place that was written, a journal commit and a waiting thread, a timer or
a full journal.
"""

import re
from collections.abc import Callable

import numpy as np
import polars as pl

from analysis.adapters.layouts import DATA, JOURNAL, SECTOR
from analysis.checks import file_calls
from analysis.checks.file_calls import fault
from analysis.ledger.build import Ledger
from analysis.ledger.files import PAGE_SECTORS
from analysis.ledger.files import pages as blocks
from analysis.ledger.pieces import OF_ROLE
from analysis.ledger.timeline import driver_tids
from analysis.run import Run
from analysis.schemas.ledger import LABELS, WAITS
from base.arrays import Bools, Intervals, Ints, LastBefore, at, inside, ints, union
from model import filesystems

UNATTRIBUTED_LIMIT = 0.001


def unattributed_share(made: Ledger, table: str = "pieces") -> float:
    """Return the share of bytes without a label in `pieces` or `reads`; 0 if there are no bytes."""
    parts: pl.DataFrame = getattr(made, table)
    total = int(parts["bytes"].sum())
    lost = int(parts.filter(pl.col("label") == "unattributed")["bytes"].sum())
    return lost / total if total else 0.0


def attributed(made: Ledger) -> list[str]:
    """Check that at most 0.1 % of the bytes written have no label, and of those read."""
    shares = {"written": unattributed_share(made), "read": unattributed_share(made, "reads")}
    return [
        f"{share:.3%} of the bytes {what} are unattributed"
        for what, share in shares.items()
        if share > UNATTRIBUTED_LIMIT
    ]


def bytes_add_up(made: Ledger) -> list[str]:
    """Check that each write and read command is the sum of its parts, and other commands have none."""
    kind = pl.col("kind")
    each = [("write", made.pieces, ~kind.is_in(["flush", "read", "discard"]))]
    each += [("read", made.reads, kind == "read")] if made.has_reads else []
    reasons = []
    for what, parts, is_due in each:
        sums = parts.group_by("command").agg(parts=pl.col("bytes").sum())
        both = made.ledger.join(sums, on="command", how="left").with_columns(pl.col("parts").fill_null(0))
        wrong = both.filter(pl.col("parts") != pl.when(is_due).then("bytes").otherwise(0))
        named = f"{what} commands that are not the sum of their parts"
        reasons += fault(wrong, named, "command", "bytes", "parts")
    return reasons


def records_whole(made: Ledger) -> list[str]:
    """Check that no bio record is missing, and each bio has all its pages."""
    lost = made.given.records.lost_bios
    return [
        *([f"{lost} bios are missing in the sequence of serial numbers"] if lost else []),
        *fault(made.faults.unpaged, "bios without all their pages", "serial"),
    ]


def commands_have_bios(made: Ledger) -> list[str]:
    """Check that bios cover each command, and commands cover each bio."""
    return [
        *fault(made.faults.commands, "commands not covered by bios", "command", "sectors", "covered"),
        *fault(made.faults.bios, "bios that were not completely executed", "serial", "sectors"),
    ]


def places(made: Ledger) -> list[str]:
    """Check that a piece written to a region of the filesystem has that region's label.

    Regions are read after the run. So a file's page may lie where a directory or a block of a file's map was
    allocated later.
    """
    layout, pieces = made.given.layout, made.pieces
    begin, size = ints(pieces["sector"]), ints(pieces["bytes"])
    across = np.flatnonzero(layout.region(begin) != layout.region(begin + size // SECTOR - 1))
    row, block = blocks((begin * SECTOR)[across], size[across])
    row = np.r_[np.arange(begin.size), across[row]]
    sector = np.maximum(np.r_[begin, block * PAGE_SECTORS], begin[row])
    region, label = layout.label(sector), ints(pieces["label"].to_physical())[row]
    wrong, in_data = _against_region(made, region, label)
    # a block of the filesystem that was freed or reused later: its content showed its type
    is_block = (pieces["home"].is_not_null() & pieces["of"].is_null()).to_numpy()[row]
    wrong &= ~(is_block & ((region == DATA) | layout.may_change(sector)))
    later = np.flatnonzero(wrong & in_data & layout.may_change(sector))
    if later.size:
        wrong[later] = ~_before_metadata(made, sector[later], row[later])
    shown = pieces[row[wrong]].with_columns(sector=pl.Series(sector[wrong], dtype=pl.Int64))
    reasons = fault(shown, "pieces with another label than their region", "sector", "label")
    return reasons + fault(
        made.faults.misplaced, "pages of the device written to the wrong place", "sector", "home"
    )


def read_places(made: Ledger) -> list[str]:
    """Check that a part read from a region of the filesystem has that region's label.

    Sectors that may have belonged to another region earlier in the run are left out.
    """
    sector, label = ints(made.reads["sector"]), ints(made.reads["label"].to_physical())
    layout = made.given.layout
    wrong = _against_region(made, layout.label(sector), label)[0] & ~layout.may_change(sector)
    shown = made.reads.filter(pl.Series(wrong))
    return fault(shown, "parts of reads with another label than their region", "sector", "label")


def _against_region(made: Ledger, region: Ints, label: Ints) -> tuple[Bools, Bools]:
    """Return which labels contradict their region, and which may be outside all regions.

    Outside are files, and metadata that a filesystem keeps in pages of its own inodes.
    """
    own_labels = [name for name in filesystems.by_name(made.given.layout.filesystem).inodes.values() if name]
    in_data = np.isin(label, [LABELS.index(name) for name in (*OF_ROLE.values(), *own_labels)])
    wrong = np.where(region == DATA, ~in_data, label != region) & (label != LABELS.index("unattributed"))
    return wrong, in_data


def _before_metadata(made: Ledger, sector: Ints, row: Ints) -> Bools:
    """Return for each written sector whether the filesystem may have written its own block there later.

    A later copy of such a block in the journal counts, too. Where copies do not record their
    home, any sector that no such block precedes may be one.
    """
    queued = ints(made.ledger["queue_ns"].fill_null(-1))
    metadata = made.faults.metadata
    of, home = blocks(ints(metadata["home"]) * SECTOR, ints(metadata["bytes"]))
    written = queued[ints(metadata["command"])[of]]
    end = np.full(sector.size, np.iinfo(np.int64).max)
    last = at(written, LastBefore(home, written).event(sector // PAGE_SECTORS, end))
    before: Bools = queued[ints(made.pieces["command"])[row]] < last
    if not filesystems.by_name(made.given.layout.filesystem).copies_have_homes:
        before |= last < 0
    return before


def shares_add_up(made: Ledger) -> list[str]:
    """Check that the shares of a command sum to 1, and no command has a transaction and shares."""
    sums = made.shares.group_by("command").agg(pl.col("share").sum())
    wrong = sums.filter((pl.col("share") - 1).abs() > 1e-9)
    both = made.ledger.join(sums, on="command").filter(pl.col("transaction").is_not_null())
    return [
        *fault(wrong, "commands with shares that do not sum to 1", "command", "share"),
        *fault(both, "commands with both a transaction and shares", "command", "transaction"),
    ]


def costs_add_up(made: Ledger) -> list[str]:
    """Check that each transaction's time is the sum of its parts, and each byte is counted once.

    A byte belongs to a transaction or to none. Times are checked where their parts were recorded.
    """
    parts = pl.sum_horizontal("cpu_ns", *WAITS)
    negative = pl.min_horizontal("cpu_ns", *WAITS) < 0
    has_parts = pl.col("cpu_ns").is_not_null()
    wrong = made.costs.filter(has_parts & ((parts != pl.col("latency_ns")) | negative))
    unshared = made.ledger.join(made.shares.select("command").unique(), on="command", how="anti")
    nobody = unshared.filter(pl.col("transaction").is_null()).select("command", share=pl.lit(1.0))
    rest = pl.concat([nobody, made.shares.filter(pl.col("transaction").is_null()).select("command", "share")])
    size = made.pieces.group_by("command").agg(pl.col("bytes").sum())
    left = rest.join(size, on="command").select((pl.col("share") * pl.col("bytes")).sum()).item()
    spent, total = float(made.costs["bytes"].sum()) + left, int(made.pieces["bytes"].sum())
    reasons = fault(
        wrong,
        "transactions with a time that is not the sum of its parts",
        "transaction",
        "latency_ns",
        "cpu_ns",
    )
    if abs(spent - total) > 1e-6 * max(total, 1):
        reasons.append(
            f"transactions and background activity have {spent:.0f} bytes written, expected {total}"
        )
    return reasons


CHECKS: tuple[Callable[[Ledger], list[str]], ...] = (
    attributed,
    bytes_add_up,
    records_whole,
    commands_have_bios,
    places,
    read_places,
    file_calls.files,
    file_calls.syncs_witnessed,
    file_calls.written_out,
    shares_add_up,
    costs_add_up,
)


def reasons(made: Ledger) -> list[str]:
    """Return the reasons to reject a ledger; empty if it is valid."""
    return [f"ledger: {reason}" for check in CHECKS for reason in check(made)]


# The kernel rounds commit times to jiffies of 4 ms.
_ROUNDED = 0.99
# A transaction that fills a fourth of the journal is committed at once. An eighth leaves a margin.
_FULL = 1 / 8


def commits_waited_for(run: Run) -> list[str]:
    """Check that journal commits that began in a sync of the driver have a reason.

    A reason is a thread that waits for the commit, its timer, or an eighth of the journal.
    """
    made, options = run.ledger, run.board.mount.options if run.board.mount else ()
    if made is None or not (filesystem := filesystems.by_name(made.given.layout.filesystem)).commits:
        return []
    few = made.few
    intervals = [
        int(option.removeprefix("commit=")) for option in options if re.fullmatch("commit=[0-9]{1,9}", option)
    ]
    interval = next((seconds for seconds in intervals if seconds), filesystem.commit_seconds) * 1_000_000_000
    drains = made.given.phases.filter(pl.col("phase") == "drain")["begin_ns"]
    synced = few["sync"][np.isin(few["sync"]["tid"], driver_tids(few))]
    begins = ints(made.commits["begin_ns"])
    within = inside(begins, *union([Intervals(ints(synced["begin_ns"]), ints(synced["end_ns"]))])) >= 0
    alone = within & ~np.isin(ints(made.commits["commit"]), few["commit_wait"]["a"])
    alone &= (begins >= made.given.window[0]) & (begins < min(drains, default=made.given.window[1]))
    early = np.diff(begins, prepend=begins[:1] - 2 * interval) < interval * _ROUNDED
    layout = made.given.layout
    size = np.diff(layout.starts, append=layout.starts[-1:])[layout.labels == JOURNAL].sum() // 8
    wrong = made.commits.filter(pl.Series(alone & early) & (pl.col("blocks") < int(size) * _FULL))
    found = fault(wrong, "commits that began in a sync that did not wait for them", "commit", "begin_ns")
    return [f"ledger: {text}" for text in found]
