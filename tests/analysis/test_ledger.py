"""Each link of the chain from a block command to its causes, on small traces."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from traced import (
    DEVICE,
    DIRECTORY,
    EXT4,
    F2FS,
    FILE,
    FLUSHER,
    FUA,
    JBD2,
    JOURNAL,
    META,
    MOVED,
    NONE,
    OTHER,
    PREFLUSH,
    SYNC,
    WRITE,
    Trace,
)

from analysis import audit
from analysis.adapters import layouts
from analysis.adapters.proberecords import TYPES
from analysis.checks import ledger_consistency as checks
from analysis.ledger import build
from analysis.ledger.files import Writers


def rows(table: pl.DataFrame, *columns: str) -> list[Any]:
    return table.select(columns).rows() if len(columns) > 1 else table[columns[0]].to_list()


def commit(trace: Trace, tid: int, begin: int, copies: list[tuple[int, int, int, int]]) -> None:
    """A journal commit: copies and a descriptor, a flush, and the commit block with FUA."""
    block = JOURNAL + 10 * tid
    trace.bio(begin + 1, block, [(DEVICE, 5, block, 1)], WRITE | SYNC | META, JBD2)
    for place, copy in enumerate(copies, 1):
        trace.bio(begin + 1 + place, block + place, [copy], WRITE | SYNC | META, JBD2)
    number = 1 + len(copies)
    trace.command(begin + 2, begin + 8, begin + 20, block * 8, number * 8, WRITE | SYNC | META)
    last = block + number
    flags = WRITE | SYNC | META
    trace.bio(begin + 21, last, [(DEVICE, 5, last, 1)], flags | PREFLUSH | FUA, JBD2)
    trace.flush(begin + 21, begin + 22, begin + 30)
    trace.command(begin + 21, begin + 31, begin + 40, last * 8, 8, flags | FUA)
    trace.add("commit", begin, begin + 42, words=(tid, 1000, 2000), tid=JBD2, n=number + 1)


def synced() -> Trace:
    """One transaction that writes two pages of the database and syncs it through a commit."""
    trace = Trace()
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 200)
    trace.call("write", "database", 11, 12, 12, 4096, 4096)
    trace.call("write", "database", 13, 14, 12, 8192, 4096)
    trace.call("sync", "database", 20, 190, 12, None, 2)
    trace.bio(30, 500, [(FILE, 12, 1, 2)])
    trace.command(31, 33, 60, 4000, 16)
    commit(trace, 7, 70, [(DEVICE, 5, 25, 1), (DEVICE, 5, 3, 1), (DEVICE, 5, 100, 1), (NONE, 0, 0, 1)])
    trace.add("commit_wait", 65, 115, words=(7,))
    trace.add("sync", 25, 180, words=(12, 1), flags=0x21)
    trace.add("off_cpu", 34, 61, dev=0)
    trace.add("off_cpu", 66, 114, dev=0)
    return trace


def wrong(made: build.Ledger) -> list[str]:
    """What a run's checks and the audit say of a ledger."""
    return checks.reasons(made) + audit.ledger_reasons(made)


def test_a_sync_and_its_commit() -> None:
    made = build.build(synced().input(300))
    assert rows(made.ledger, "rwbs", "kind", "transaction", "how", "vfs_call", "sync", "commit") == [
        ("WS", "database page", 0, "in", 3, 0, None),
        ("WSM", "filesystem journal", 0, "waited", 3, 0, 7),
        ("FF", "flush", 0, "waited", 3, 0, 7),
        ("WFSM", "filesystem journal", 0, "waited", 3, 0, 7),
    ]
    assert rows(made.ledger, "comm")[:2] == ["driver", "jbd2/vdb-8"]
    assert rows(made.pieces, "command", "label", "of", "offset", "vfs_call") == [
        (0, "database page", None, 4096, 1),
        (0, "database page", None, 8192, 2),
        (1, "filesystem journal", None, None, None),
        (1, "filesystem journal", "inode/node", None, None),
        (1, "filesystem journal", "bitmap/SIT/NAT/superblock", None, None),
        (1, "filesystem journal", "directory", None, None),
        (1, "filesystem journal", None, None, None),
        (3, "filesystem journal", None, None, None),
    ]
    cost = made.costs.row(0, named=True)
    assert (cost["database page"], cost["filesystem journal"], cost["bytes"]) == (8192, 24576, 32768)
    assert (cost["flushes"], cost["fua"], cost["writes"], cost["syncs"], cost["vfs_syncs"]) == (1, 1, 3, 1, 1)
    # off the CPU 27 + 48 us: 8 of them in the flush, 40 in the wait for the journal, 26 + 1 in data
    assert (cost["flush_wait_ns"], cost["journal_wait_ns"]) == (8000, 40000)
    assert (cost["data_wait_ns"], cost["other_wait_ns"], cost["cpu_ns"]) == (26000, 1000, 115000)
    assert made.shares.is_empty()


def test_a_commit_that_two_wait_for_and_one_that_nobody_does() -> None:
    trace = Trace()
    trace.transaction("insert", 10, 100)
    trace.transaction("update", 100, 200)
    trace.transaction("update", 200, 300)
    trace.add("commit_wait", 60, 110, words=(7,))
    trace.add("commit_wait", 105, 110, words=(7,))
    commit(trace, 7, 65, [])
    commit(trace, 8, 220, [])
    made = build.build(trace.input(400))
    assert rows(made.ledger, "how") == ["shared"] * 3 + ["behind"] * 3
    assert rows(made.ledger, "transaction") == [None] * 6
    assert rows(made.ledger, "op") == [None] * 6
    by_command = made.shares.group_by("command", maintain_order=True).agg("transaction", "share")
    assert by_command["transaction"].to_list() == [[0, 1]] * 3 + [[0, 1, 2]] * 3
    assert by_command["share"].list.sum().to_list() == pytest.approx([1] * 6)
    assert made.costs["bytes"].sum() == pytest.approx(made.ledger["bytes"].sum())


def test_write_back_is_for_none_and_deferred_of_who_dirtied_the_pages() -> None:
    trace = Trace()
    trace.call("open", "wal", 1, 2, 14, None, 1)
    trace.transaction("insert", 10, 100)
    trace.call("write", "wal", 11, 12, 14, 0, 4096)
    trace.transaction("update", 100, 200)
    trace.call("write", "wal", 111, 112, 14, 4096, 8192)
    trace.add("writeback", 240, 300, tid=FLUSHER, flags=2)
    trace.bio(250, 600, [(FILE, 14, 0, 4)], WRITE, FLUSHER)
    trace.command(251, 255, 280, 4800, 32, WRITE)
    made = build.build(trace.input(400))
    assert rows(made.ledger, "kind", "how", "transaction", "no_transaction", "tid") == [
        ("WAL", "behind", None, "write back", FLUSHER)
    ]
    assert made.shares.is_empty()
    assert rows(made.deferred, "transaction", "made_by", "no_transaction", "bytes") == [
        (0, None, "write back", 4096),
        (1, None, "write back", 8192),
    ]
    assert rows(made.pieces, "vfs_call", "bytes") == [(1, 4096), (2, 8192), (None, 4096)]


def test_merged_and_split() -> None:
    """Three bios in one command, and one bio in three, cut in the middle of a page."""
    trace = Trace()
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 500)
    for place in (2, 0, 1):
        trace.bio(20 + place, 300 + place, [(FILE, 12, place, 1)])
    trace.command(21, 30, 40, 2400, 24)
    trace.bio(50, 700, [(FILE, 12, 100, 7)])
    trace.command(51, 60, 70, 5600, 20)
    trace.command(51, 61, 72, 5620, 20)
    trace.command(51, 62, 74, 5640, 16)
    made = build.build(trace.input(600))
    assert made.faults.bios.is_empty() and made.faults.commands.is_empty()
    per_command = made.pieces.group_by("command", maintain_order=True).agg(pl.col("bytes").sum())
    assert per_command.rows() == [(0, 12288), (1, 10240), (2, 10240), (3, 8192)]
    assert made.pieces.filter(pl.col("command") == 2)["offset"].to_list()[:1] == [102 * 4096 + 2048]
    assert set(rows(made.pieces, "label")) == {"database page"}


def test_flushes_are_shared_by_those_that_wait_for_them() -> None:
    trace = Trace()
    trace.transaction("insert", 10, 100)
    trace.transaction("update", 100, 300)
    trace.bio(50, 0, [], WRITE | SYNC | PREFLUSH, sectors=0)
    trace.flush(51, 52, 120)
    # queued while a flush is in flight: the next one
    trace.bio(110, 0, [], WRITE | SYNC | PREFLUSH, sectors=0)
    trace.bio(115, 0, [], WRITE | SYNC | PREFLUSH, FLUSHER, sectors=0)
    trace.flush(120, 121, 150)
    # FUA on a device that has none: a flush after the data
    trace.bio(160, 300, [(FILE, 12, 0, 1)], WRITE | SYNC | FUA)
    trace.command(161, 162, 170, 2400, 8)
    trace.flush(170, 171, 180)
    made = build.build(trace.input(400))
    assert rows(made.ledger, "rwbs", "transaction") == [("FF", 0), ("FF", None), ("WS", 1), ("FF", 1)]
    assert rows(made.shares, "command", "transaction", "share") == [(1, None, 0.5), (1, 1, 0.5)]


def test_files_of_an_engine_without_a_log_of_calls_have_their_names() -> None:
    """What the first sync of a file writes has the name that is said at its end."""
    trace = Trace()
    trace.transaction("insert", 10, 500)
    for begin, inode, name in ((20, 13, "000013.ldb"), (120, 14, "000014.log")):
        trace.bio(begin + 2, begin, [(FILE, inode, 0, 1)])
        trace.command(begin + 3, begin + 4, begin + 40, begin * 8, 8)
        parts = name.ljust(16, "\0")
        trace.add("name", begin + 45, words=(inode, parts[:8], parts[8:]), n=0)
        trace.add("sync", begin, begin + 50, words=(inode,), flags=1 << 4)
    given = dataclasses.replace(trace.input(600), calls=False)
    made = build.build(given)
    assert rows(made.pieces, "label", "file") == [("table", "table"), ("KV log", "log")]
    assert rows(made.syncs, "file", "name") == [("table", "000013.ldb"), ("log", "000014.log")]
    assert not [reason for reason in wrong(made) if "calls" in reason]


def test_a_journal_that_has_the_number_of_another_file() -> None:
    """The inode of a deleted rollback journal is the next WAL's."""
    trace = Trace()
    trace.transaction("insert", 10, 500)
    trace.call("open", "journal", 20, 21, 13, None, 1)
    trace.call("write", "journal", 22, 23, 13, 0, 512)
    trace.bio(30, 300, [(FILE, 13, 0, 1)])
    trace.command(31, 32, 40, 2400, 8)
    trace.call("close", "journal", 50, 51, 13)
    trace.call("delete", "journal", 52, 53, 0, None, 1)
    trace.call("open", "wal", 60, 61, 13, None, 1)
    trace.bio(70, 301, [(FILE, 13, 0, 1)])
    trace.command(71, 72, 80, 2408, 8)
    trace.bio(90, 302, [(FILE, 99, 0, 1)])
    trace.command(91, 92, 99, 2416, 8)
    made = build.build(trace.input(600))
    assert rows(made.pieces, "label", "file") == [
        ("rollback journal", "journal"),
        ("WAL", "wal"),
        ("unattributed", None),
    ]


def test_f2fs() -> None:
    trace = Trace(F2FS)
    trace.transaction("insert", 10, 500)
    trace.call("sync", "database", 20, 400, 12, None, 2)
    trace.add("sync", 25, 390, words=(12, 1), flags=0x11)
    trace.add("comm", 26, n=60, words=("f2fs_ckp", "t"))
    for time, block, page in ((30, 200, (OTHER, 1, 4, 1)), (31, 201, (DIRECTORY, 5, 0, 1))):
        trace.bio(time, block, [page])
    trace.command(33, 34, 50, 1600, 16)
    for block, page in ((10, (OTHER, 2, 10, 2)), (30, (OTHER, 2, 30, 1)), (0, (DEVICE, 5, 0, 1))):
        trace.bio(100 + block, block, [page], WRITE | SYNC | META, 60)
        trace.command(101 + block, 102 + block, 103 + block, block * 8, 8 * page[3])
    trace.add("checkpoint", 90, 200, words=(4,), tid=60)
    trace.bio(450, 202, [(OTHER, 2, 202, 1)], WRITE | META, FLUSHER)
    trace.command(451, 452, 460, 1616, 8)
    made = build.build(trace.input(600))
    assert rows(made.pieces, "label") == [
        *("inode/node", "directory", "bitmap/SIT/NAT/superblock", "checkpoint pack"),
        *("bitmap/SIT/NAT/superblock", "unattributed"),
    ]
    assert rows(made.ledger, "how", "transaction", "checkpoint", "sync", "vfs_call")[1:] == [
        *[("waited", 0, 0, 0, 0)] * 3,
        ("behind", None, None, None, None),
    ]


def collected(owner: int, written: int = FILE, moved: int = 3) -> Trace:
    """On F2FS a page that SQLite wrote, and some that it did not, in one bio of a sync."""
    trace = Trace(F2FS)
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 500)
    trace.call("write", "database", 11, 12, 12, 7 * 4096, 4096)
    trace.call("sync", "database", 20, 400, 12, None, 2)
    trace.add("sync", 25, 390, words=(12, 1), flags=0x11)
    trace.bio(30, 200, [(written, 12, 7, 1), (owner, 12, 8, moved)][: 1 + (moved > 0)])
    trace.command(33, 34, 50, 1600, 8 * (1 + moved))
    return trace


def test_what_the_garbage_collector_moves() -> None:
    made = build.build(collected(MOVED).input(600))
    assert rows(made.pieces, "label", "file", "vfs_call", "moved", "offset", "bytes") == [
        ("database page", "database", 1, False, 7 * 4096, 4096),
        ("database page", "database", None, True, 8 * 4096, 3 * 4096),
    ]
    assert not wrong(made)
    found = wrong(build.build(collected(FILE).input(600)))
    assert found == [
        "ledger: 1 pieces of SQLite's files that SQLite did not write: "
        "first sector 1608, file database, offset 32768"
    ]


def test_what_is_moved_may_have_been_written_too() -> None:
    """A page that the collector marked may be changed before it is written; but not all that are marked."""
    assert not wrong(build.build(collected(MOVED, MOVED).input(600)))
    assert wrong(build.build(collected(MOVED, MOVED, 0).input(600))) == [
        "ledger: 1 pieces marked as moved that cannot have been moved: first sector 1600, vfs_call 1"
    ]


def test_nothing_outside_the_workload_has_a_transaction() -> None:
    trace = Trace()
    trace.transaction("insert", 10, 100)
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.call("write", "database", 11, 12, 12, 0, 4096)
    trace.bio(310, 300, [(FILE, 12, 0, 1)])
    trace.command(311, 312, 320, 2400, 8)
    commit(trace, 7, 330, [])
    made = build.build(trace.input(300))
    assert set(rows(made.ledger, "phase")) == {"close"}
    assert rows(made.ledger, "transaction") == [None] * 4 and made.shares.is_empty()
    assert rows(made.ledger, "how") == ["in", "behind", "behind", "behind"]
    # the flush of the commit has the reason of the block that it comes before
    assert rows(made.ledger, "no_transaction") == ["close", "journal", "journal", "journal"]


def test_what_no_bio_explains_is_unattributed() -> None:
    trace = Trace()
    trace.transaction("insert", 10, 100)
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.bio(20, 300, [(FILE, 12, 0, 1)])
    trace.command(21, 22, 30, 2400, 16)
    trace.command(40, 41, 50, 8000, 8)
    trace.bio(60, 400, [(FILE, 12, 1, 1)], sectors=16)
    trace.command(61, 62, 70, 3200, 16)
    made = build.build(trace.input(300))
    assert rows(made.pieces, "command", "bytes", "label") == [
        (0, 4096, "database page"),
        (0, 4096, "unattributed"),
        (1, 4096, "unattributed"),
        (2, 8192, "unattributed"),
    ]
    assert made.ledger["kind"].to_list()[1:] == ["unattributed"] * 2


def test_the_checks_accept_what_is_whole() -> None:
    assert wrong(build.build(synced().input(300))) == []


def drop(name: str, place: int) -> Callable[[Trace], None]:
    def spoil(trace: Trace) -> None:
        found = [row for row in trace.rows if row[2] == TYPES[name]]
        trace.rows.remove(found[place])

    return spoil


def swap(name: str, one: int, other: int) -> Callable[[Trace], None]:
    """Exchange the sectors of two records."""

    def spoil(trace: Trace) -> None:
        places = [i for i, row in enumerate(trace.rows) if row[2] == TYPES[name]]
        i, j = places[one], places[other]
        first, second = list(trace.rows[i]), list(trace.rows[j])
        first[7], second[7] = second[7], first[7]
        trace.rows[i], trace.rows[j] = tuple(first), tuple(second)

    return spoil


def drop_call(place: int) -> Callable[[Trace], None]:
    return lambda trace: trace.calls.pop(place) and None


FAULTS: dict[str, tuple[Callable[[Trace], None], str]] = {
    "a lost command": (drop("block", 0), "1 bios that were not completely executed: first serial 0"),
    "a lost flush": (drop("block", 2), "1 bios that were not completely executed: first serial 6, sectors 8"),
    "a lost bio": (drop("bio", 3), "1 bios are missing in the sequence of serial numbers"),
    "lost pages": (drop("pages", 0), "1 bios without all their pages: first serial 0"),
    "a swapped command": (swap("block", 0, 1), "2 commands not covered by bios: first command 0"),
    "a lost sync": (drop("sync", 0), "1 SQLite calls with another number of filesystem syncs: first call 3"),
    "a lost commit": (drop("commit", 0), "commit 7 was waited for and has no record"),
    "a lost write": (drop_call(1), "1 pieces of SQLite's files that SQLite did not write: first sector 4000"),
    "a lost call": (drop_call(1), "vfs.csv has call 2 where call 1 is expected"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_link_is_seen(fault: str) -> None:
    spoil, reason = FAULTS[fault]
    trace = synced()
    spoil(trace)
    assert any(reason in found for found in wrong(build.build(trace.input(300))))


def relabel(table: str, column: str, place: int, value: Any) -> Callable[[build.Ledger], build.Ledger]:
    def spoil(made: build.Ledger) -> build.Ledger:
        frame: pl.DataFrame = getattr(made, table)
        values = frame[column].to_list()
        values[place] = value
        changed = frame.with_columns(pl.Series(column, values, dtype=frame.schema[column]))
        return dataclasses.replace(made, **{table: changed})

    return spoil


FLIPS: dict[str, tuple[Callable[[build.Ledger], build.Ledger], str]] = {
    "a file's label": (relabel("pieces", "label", 0, "WAL"), "1 pieces with another label than their file"),
    "a file": (relabel("pieces", "file", 0, "wal"), "1 pieces last written by a call to another file"),
    "a place's label": (
        relabel("pieces", "label", 2, "inode/node"),
        "1 pieces with another label than their region",
    ),
    "bytes": (relabel("pieces", "bytes", 3, 512), "1 write commands that are not the sum of their parts"),
    "time": (relabel("costs", "cpu_ns", 0, 1), "1 transactions with a time that is not the sum of its parts"),
    "cost": (
        relabel("costs", "bytes", 0, 1.0),
        "transactions and background activity have 1 bytes written, expected 32768",
    ),
}


@pytest.mark.parametrize("flip", FLIPS)
def test_a_flipped_value_is_seen(flip: str) -> None:
    spoil, reason = FLIPS[flip]
    assert any(reason in found for found in wrong(spoil(build.build(synced().input(300)))))


def grown(filesystem: str, label: int) -> layouts.Layout:
    """A block of the filesystem's own after 500, where a file's may have been."""
    labels = np.insert(EXT4.labels, 4, [label, layouts.DATA])
    changing = np.zeros(labels.size, bool)
    changing[4] = True
    return layouts.Layout(filesystem, np.insert(EXT4.starts, 4, [501 * 8, 502 * 8]), labels, changing)


AMISS = "1 pieces with another label than their region: first sector 4008, label database page"


@pytest.mark.parametrize(
    ("time", "copied", "said"),
    [
        (30, 501, []),
        # the block was there before, or nothing says that it is one
        (130, 501, [AMISS]),
        (30, 100, [AMISS]),
    ],
)
def test_a_file_may_have_been_where_the_filesystem_has_a_block(
    time: int, copied: int, said: list[str]
) -> None:
    """Of two pages that one call wrote the second is in a block that is a directory's after the run."""
    trace = Trace(grown("ext4", layouts.DIRECTORY))
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 200)
    trace.call("write", "database", 11, 12, 12, 4096, 8192)
    trace.bio(time, 500, [(FILE, 12, 1, 2)])
    trace.command(time + 1, time + 2, time + 20, 4000, 16)
    trace.add("commit_wait", 65, 115, words=(7,))
    commit(trace, 7, 70, [(DEVICE, 5, copied, 1)])
    assert checks.places(build.build(trace.input(300))) == said


@pytest.mark.parametrize(("written", "said"), [((), []), ((200,), []), ((20,), [AMISS]), ((20, 200), [])])
def test_where_a_log_does_not_say_what_is_copied_a_file_may_have_been(
    written: tuple[int, ...], said: list[str]
) -> None:
    """XFS's buffers are no pages of anything: that one was written home says that a block is its own."""
    trace = Trace(grown("xfs", layouts.INODE))
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 400)
    trace.call("write", "database", 11, 12, 12, 4096, 4096)
    trace.bio(130, 501, [(FILE, 12, 1, 1)])
    trace.command(131, 132, 140, 4008, 8)
    for time in written:
        trace.bio(time, 501, [(NONE, 0, 0, 1)], tid=FLUSHER)
        trace.command(time + 1, time + 2, time + 9, 4008, 8)
    assert checks.places(build.build(trace.input(500))) == said


def test_shares_that_do_not_add_up_are_seen() -> None:
    trace = Trace()
    trace.transaction("insert", 10, 100)
    trace.transaction("update", 100, 200)
    trace.add("commit_wait", 60, 110, words=(7,))
    trace.add("commit_wait", 105, 110, words=(7,))
    commit(trace, 7, 65, [])
    made = build.build(trace.input(400))
    assert wrong(made) == []
    found = wrong(relabel("shares", "share", 0, 0.4)(made))
    assert found[0] == "ledger: 1 commands with shares that do not sum to 1: first command 0, share 0.9"


def test_a_gap_in_the_commits_is_seen() -> None:
    trace = Trace()
    for tid in (7, 8, 9):
        commit(trace, tid, 100 * tid, [])
    drop("commit", 1)(trace)
    found = wrong(build.build(trace.input(2000)))
    assert found[0] == "ledger: 1 gaps in the journal's commits, first after 7"


def test_a_truncate_within_a_page_writes_it() -> None:
    """As a checkpoint's of pages of 1 KiB; an xWrite of the page comes before it."""
    vfs = pl.DataFrame(
        {
            "op": ["truncate", "write", "truncate", "truncate"],
            "begin_ns": [5, 20, 30, 40],
            "inode": [12, 12, 12, 13],
            "offset": [5120, 4096, 5120, 8192],
            "bytes": [None, 1024, None, None],
        }
    )
    writers = Writers(vfs)
    writers.advance(0, 50)
    inode, page, time = (np.array(column) for column in ([12, 12, 12, 13], [1, 1, 1, 2], [4, 10, 35, 45]))
    assert writers.last_calls(inode, page, time).tolist() == [-1, 0, 1, -1]
