"""Who made the device write, whose content it was, and why something is for no transaction."""

import dataclasses
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from traced import DRIVER, F2FS, FILE, FLUSH, FLUSHER, FUA, JBD2, MOVED, NONE, PREFLUSH, SYNC, WRITE, Trace

from analysis.adapters.partition import FOREIGN_SECTOR
from analysis.audit import page_writes
from analysis.checks import ledger_consistency as checks
from analysis.ledger import build, sums
from analysis.ledger.build import Ledger

CLOSE, DRAIN = 600, 1600  # us: where the phases of a trace that ends at 600 begin


def rows(table: pl.DataFrame, *columns: str) -> list[Any]:
    return table.select(columns).rows() if len(columns) > 1 else table[columns[0]].to_list()


def write(trace: Trace, time: int, block: int, pages: list[tuple[int, int, int, int]], tid: int) -> None:
    """One bio and its command."""
    trace.bio(time, block, pages, WRITE, tid)
    number = sum(run[3] for run in pages) * 8
    trace.command(time + 1, time + 2, time + 9, block * 8, number, WRITE)


def logged(trace: Trace, time: int, frame: int, page: int) -> None:
    """A frame of the WAL: its header, and the page."""
    offset = 32 + frame * (24 + 4096)
    trace.call("write", "wal", time, time + 1, 14, offset, 24, page)
    trace.call("write", "wal", time + 1, time + 2, 14, offset + 24, 4096)


def checkpointed() -> Trace:
    """Three transactions log pages; the third and the close write the database."""
    trace = Trace()
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.call("open", "wal", 3, 4, 14, None, 1)
    for number, pages in enumerate(([1, 2], [2, 3], [4])):
        begin = 100 * (number + 1)
        trace.transaction("insert", begin, begin + 90)
        for place, page in enumerate(pages):
            logged(trace, begin + 1 + 5 * place, 2 * number + place, page)
        write(trace, begin + 20, 300 + 10 * number, [(FILE, 14, 2 * number, 2)], DRIVER)
    for page in (1, 2, 4):
        trace.call("write", "database", 340 + page, 341 + page, 12, (page - 1) * 4096, 4096)
    write(trace, 350, 500, [(FILE, 12, 0, 2), (FILE, 12, 3, 1)], DRIVER)
    trace.call("write", "database", CLOSE + 5, CLOSE + 6, 12, 2 * 4096, 4096)
    write(trace, CLOSE + 10, 502, [(FILE, 12, 2, 1)], DRIVER)
    return trace


def test_a_checkpoint_writes_what_earlier_transactions_logged() -> None:
    made = build.build(checkpointed().input(CLOSE))
    assert rows(made.ledger, "transaction", "no_transaction") == [
        *((number, None) for number in (0, 1, 2, 2)),
        (None, "close"),
    ]
    # page 2 is the second's: it logged it last; page 4 is the third's own
    assert rows(made.deferred, "command", "transaction", "made_by", "no_transaction", "bytes") == [
        (3, 0, 2, None, 4096),
        (3, 1, 2, None, 4096),
        (4, 1, None, "close", 4096),
    ]
    assert rows(made.costs, "bytes", "for_others", "deferred") == [
        (8192, 0, 4096),
        (8192, 0, 8192),
        (8192 + 3 * 4096, 8192, 0),
    ]
    assert [reason for check in (checks.costs_add_up, page_writes.deferred) for reason in check(made)] == []
    assert sums.no_transaction(made) == {
        "bytes": 4096,
        "share": 4096 / (6 * 4096 + 4 * 4096),
        "by": dict.fromkeys(sums.WORDS, 0) | {"close": 4096},
        "per_transaction": 4096 / 3,
    }
    late = sums.deferred(made)
    assert late is not None
    assert (late["bytes"], late["by_transactions"], late["by"]["close"]) == (12288, 8192, 4096)
    assert late["per_transaction"]["insert"] == {"deferred": 4096, "for_others": 8192 / 3}


def test_what_several_share_is_taken_from_each() -> None:
    """jbd2 writes a file's data in a commit that two wait for: each has paid for half of it."""
    trace = Trace()
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 10, 100)
    trace.call("write", "database", 11, 12, 12, 0, 4096)
    trace.transaction("update", 100, 200)
    trace.add("commit_wait", 60, 110, words=(7,))
    trace.add("commit_wait", 105, 110, words=(7,))
    write(trace, 70, 300, [(FILE, 12, 0, 1)], JBD2)
    trace.add("commit", 65, 108, words=(7, 1000, 2000), tid=JBD2, n=1)
    made = build.build(trace.input(CLOSE))
    assert rows(made.shares, "transaction", "share") == [(0, 0.5), (1, 0.5)]
    assert rows(made.deferred, "transaction", "made_by", "bytes") == [(0, 1, 2048)]
    assert rows(made.costs, "bytes", "for_others", "deferred") == [(2048, 0, 2048), (2048, 2048, 0)]
    assert page_writes.deferred(made) == []


def in_round(trace: Trace, begin: int, end: int) -> None:
    trace.add("writeback", begin, end, tid=FLUSHER, flags=3)


def at_the_drain(trace: Trace) -> None:
    in_round(trace, DRAIN + 10, DRAIN + 30)
    write(trace, DRAIN + 15, 400, [(FILE, 12, 0, 1)], FLUSHER)


def by_the_flusher(trace: Trace) -> None:
    in_round(trace, 10, 30)
    write(trace, 15, 400, [(FILE, 12, 0, 1)], FLUSHER)


def by_the_flusher_without_a_device(trace: Trace) -> None:
    """On a filesystem with a device number of its own."""
    trace.add("writeback", 10, 30, tid=FLUSHER, flags=3, dev=0)
    write(trace, 15, 400, [(FILE, 12, 0, 1)], FLUSHER)


def by_nobody(trace: Trace) -> None:
    write(trace, 15, 400, [(FILE, 12, 0, 1)], FLUSHER)


def at_the_close(trace: Trace) -> None:
    write(trace, CLOSE + 15, 400, [(FILE, 12, 0, 1)], DRIVER)


def waited_for_at_the_close(trace: Trace) -> None:
    trace.add("commit_wait", CLOSE + 5, CLOSE + 40, words=(7,))
    write(trace, CLOSE + 15, 1000, [(NONE, 0, 0, 1)], JBD2)
    trace.add("commit", CLOSE + 10, CLOSE + 30, words=(7, 1000, 2000), tid=JBD2, n=1)


def a_commit_for_nobody(trace: Trace) -> None:
    write(trace, CLOSE + 15, 1000, [(NONE, 0, 0, 1)], JBD2)
    trace.add("commit", CLOSE + 10, CLOSE + 30, words=(7, 1000, 2000), tid=JBD2, n=1)


def between(trace: Trace) -> None:
    write(trace, 15, 400, [(FILE, 12, 0, 1)], DRIVER)


def moved(trace: Trace) -> None:
    write(trace, CLOSE + 15, 400, [(MOVED, 12, 0, 1)], DRIVER)


def collector(trace: Trace) -> None:
    trace.layout = F2FS
    trace.add("comm", 0, n=60, words=("f2fs_gc-", "253:0"))
    write(trace, 15, 400, [(FILE, 12, 0, 1)], 60)


def engine_thread(trace: Trace) -> None:
    trace.add("comm", 0, n=61, words=("engine", ""))
    write(trace, 15, 400, [(FILE, 12, 0, 1)], 61)


def flush_of_an_engine_thread(trace: Trace) -> None:
    """In its own sync, while a transaction runs."""
    trace.add("comm", 0, n=61, words=("engine", ""))
    trace.add("flush", 110, 140, tid=61)
    trace.bio(112, 0, [], WRITE | PREFLUSH, 61, sectors=0)
    trace.flush(112, 113, 130)


def flush_of_an_engine_thread_in_a_sync(trace: Trace) -> None:
    """The driver syncs meanwhile, which ends later."""
    flush_of_an_engine_thread(trace)
    trace.add("sync", 105, 150, words=(12,), flags=1 << 4)


def commit_for_an_engine_thread(trace: Trace) -> None:
    trace.add("comm", 0, n=61, words=("engine", ""))
    trace.add("commit_wait", 110, 145, words=(7,), tid=61)
    write(trace, 115, 1000, [(NONE, 0, 0, 1)], JBD2)
    trace.add("commit", 111, 140, words=(7, 1000, 2000), tid=JBD2, n=1)


REASONS: list[tuple[Callable[[Trace], None], str]] = [
    (at_the_close, "close"),
    (waited_for_at_the_close, "close"),
    (at_the_drain, "drain"),
    (between, "between transactions"),
    (moved, "garbage collection"),
    (collector, "garbage collection"),
    (by_the_flusher, "write back"),
    (by_the_flusher_without_a_device, "write back"),
    (a_commit_for_nobody, "journal"),
    (engine_thread, "engine job"),
    (flush_of_an_engine_thread, "engine job"),
    (flush_of_an_engine_thread_in_a_sync, "engine job"),
    (commit_for_an_engine_thread, "engine job"),
    (by_nobody, "unknown"),
]


@pytest.mark.parametrize(("cause", "reason"), REASONS, ids=lambda value: getattr(value, "__name__", None))
def test_each_reason_is_recognised(cause: Callable[[Trace], None], reason: str) -> None:
    trace = Trace()
    trace.transaction("insert", 100, 200)
    cause(trace)
    made = build.build(trace.input(CLOSE))
    assert rows(made.ledger, "transaction", "no_transaction") == [(None, reason)]
    assert sums.no_transaction(made)["by"][reason] == made.pieces["bytes"].sum()


def test_a_commit_that_the_driver_waits_for_too_is_its_transactions() -> None:
    trace = Trace()
    trace.transaction("insert", 100, 200)
    commit_for_an_engine_thread(trace)
    trace.add("commit_wait", 112, 150, words=(7,))
    made = build.build(trace.input(CLOSE))
    assert rows(made.ledger, "transaction", "how", "no_transaction") == [(0, "waited", None)]


def test_a_flush_that_others_of_the_disk_ask_for_is_nobodys() -> None:
    trace = Trace()
    trace.transaction("insert", 100, 200)
    for number, (time, place, thread) in enumerate(
        ((110, FOREIGN_SECTOR, 70), (120, FOREIGN_SECTOR, 70), (121, 0, DRIVER))
    ):
        trace.add("bio", time, tid=thread, words=(place, WRITE | PREFLUSH, 0, number))
    for number, time in enumerate((111, 122)):
        trace.add("block", time, time + 4, tid=70, words=(0, FLUSH | PREFLUSH, time * 1000, number))
    made = build.build(trace.input(CLOSE))
    assert rows(made.ledger, "transaction", "no_transaction") == [(None, "another partition"), (None, None)]
    assert rows(made.shares, "command", "transaction", "no_transaction", "share") == [
        (1, None, "another partition", 0.5),
        (1, 0, None, 0.5),
    ]


def test_reasons_of_one_command_are_parts_of_it() -> None:
    """Of a write at the close, one page was moved by the collector."""
    trace = Trace(F2FS)
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("insert", 100, 200)
    write(trace, CLOSE + 15, 400, [(MOVED, 12, 0, 1), (FILE, 12, 1, 3)], DRIVER)
    made = build.build(trace.input(CLOSE))
    assert rows(made.ledger, "transaction", "no_transaction") == [(None, None)]
    assert rows(made.shares, "transaction", "no_transaction", "share") == [
        (None, "close", 0.75),
        (None, "garbage collection", 0.25),
    ]
    assert checks.shares_add_up(made) == []
    by = sums.no_transaction(made)["by"]
    assert (by["close"], by["garbage collection"]) == (3 * 4096, 4096)


def spoil(made: Ledger, table: str, **values: pl.Expr) -> Ledger:
    return dataclasses.replace(made, **{table: getattr(made, table).with_columns(**values)})


SPOILED: dict[str, tuple[str, dict[str, pl.Expr], str]] = {
    "given to none": ("costs", {"deferred": pl.lit(0.0)}, "0 are given to transactions"),
    "too much": ("deferred", {"bytes": pl.col("bytes") * 9}, "commands with more deferred than written"),
    "too early": (
        "ledger",
        {"issue_ns": pl.when(pl.col("command") == 3).then(150_000).otherwise(pl.col("issue_ns"))},
        "1 deferred parts written before their transaction",
    ),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_a_view_that_does_not_agree_is_seen(fault: str) -> None:
    table, values, reason = SPOILED[fault]
    made = spoil(build.build(checkpointed().input(CLOSE)), table, **values)
    found = page_writes.deferred(made)
    assert any(reason in one for one in found), found


LEFT = "1 logged pages that no checkpoint wrote to the database"
UNLOGGED = "1 pages that a checkpoint wrote without a frame"


@pytest.mark.parametrize(
    ("frame", "page", "reasons"),
    [
        (8, 2, [UNLOGGED]),  # the only frame of page 3
        (8, 99, [LEFT, UNLOGGED]),
        (6, 99, [LEFT]),  # one of page 2, which has another
    ],
)
def test_a_frame_with_another_pages_number_is_seen(frame: int, page: int, reasons: list[str]) -> None:
    assert page_writes.written_home(build.build(checkpointed().input(CLOSE))) == []
    given = checkpointed().input(CLOSE)
    is_frame = pl.col("call") == frame
    assert given.vfs.filter(is_frame)["page"].null_count() == 0
    vfs = given.vfs.with_columns(page=pl.when(is_frame).then(page).otherwise("page"))
    found = page_writes.written_home(build.build(dataclasses.replace(given, vfs=vfs)))
    assert len(found) == len(reasons)
    assert all(one.startswith(reason) for one, reason in zip(found, reasons, strict=True)), found


def test_queue_time_is_that_of_the_first_bio() -> None:
    """Of merged bios the earliest; of a flush that of the first it was sent for."""
    trace = Trace()
    trace.transaction("insert", 10, 500)
    for time, place in ((22, 2), (20, 0), (21, 1)):
        trace.bio(time, 300 + place, [(FILE, 12, place, 1)])
    trace.command(25, 30, 40, 2400, 24)
    trace.bio(50, 0, [], WRITE | SYNC | PREFLUSH, sectors=0)
    trace.flush(55, 56, 120)
    trace.bio(160, 300, [(FILE, 12, 0, 1)], WRITE | SYNC | FUA)
    trace.command(165, 166, 170, 2400, 8)
    trace.command(200, 201, 210, 9600, 8)
    made = build.build(trace.input(CLOSE))
    assert rows(made.ledger, "queue_ns") == [20_000, 50_000, 160_000, None]
