"""Read commands are labelled, attributed and summed like writes: by hand, and in a recorded run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from traced import DEVICE, FILE, FLUSHER, NONE, READ, Trace

from analysis import pipeline
from analysis.checks import counts, cross_check, ledger_consistency
from analysis.ledger import build
from analysis.ledger.tables import reads_summary
from analysis.report import terminal
from analysis.run import Run

RAHEAD = 1 << 19


def traced() -> Trace:
    """A transaction that waits for a page and its readahead, and a command that it does not wait for; an
    inode that the flusher reads; and a read between transactions."""
    trace = Trace()
    trace.call("open", "database", 1, 2, 12, None, 0)
    trace.transaction("read", 10, 100)
    trace.bio(20, 500, [(FILE, 12, 3, 4)], READ | RAHEAD)
    trace.command(21, 22, 40, 4000, 32, READ | RAHEAD)
    trace.add("off_cpu", 23, 41, dev=0)
    trace.bio(50, 520, [(FILE, 12, 7, 2)], READ | RAHEAD)
    trace.command(51, 52, 70, 4160, 16, READ | RAHEAD)
    trace.add("writeback", 110, 160, tid=FLUSHER, flags=2)
    trace.bio(120, 21, [(DEVICE, 5, 21, 1)], READ, FLUSHER)
    trace.command(121, 122, 140, 168, 8, READ)
    trace.bio(170, 530, [(FILE, 99, 0, 1)], READ)
    trace.command(171, 172, 180, 4240, 8, READ)
    return trace


def test_each_part_has_its_label_file_and_transaction() -> None:
    made = build.build(traced().input(300))
    columns = ("bytes", "label", "file", "inode", "offset", "transaction", "no_transaction", "waited")
    assert made.reads.select(columns).rows() == [
        (16384, "database page", "database", 12, 12288, 0, None, True),
        (8192, "database page", "database", 12, 28672, 0, None, False),
        (4096, "inode/node", None, None, None, None, "write back", None),
        (4096, "unattributed", None, 99, 0, None, "between transactions", False),
    ]
    assert made.pieces.is_empty() and made.costs["bytes"].sum() == 0
    assert reads_summary(made.reads, made.costs) == {
        "bytes": 32768,
        "labels": {"database page": 24576, "inode/node": 4096, "unattributed": 4096},
        "files": {"database": 24576},
        "per_transaction": {"read": 24576},
        "hits": {"read": 0.0},
        "no_transaction": {"between transactions": 4096, "write back": 4096},
        "ahead_bytes": 12288,
    }
    assert ledger_consistency.attributed(made) == ["12.500% of the bytes read are unattributed"]
    assert ledger_consistency.bytes_add_up(made) == ledger_consistency.read_places(made) == []


def test_a_read_without_pages_is_unattributed_and_of_older_releases_left_out() -> None:
    trace = Trace()
    trace.bio(20, 500, [], READ, sectors=8)
    trace.command(21, 22, 40, 4000, 8, READ)
    made = build.build(trace.input(300))
    assert ledger_consistency.attributed(made) == ["100.000% of the bytes read are unattributed"]
    for recorded in (False, None):
        older = build.build(replace(trace.input(300), reads=recorded))
        assert older.reads.is_empty() and not older.has_reads
        assert (
            ledger_consistency.attributed(older)
            == ledger_consistency.bytes_add_up(older)
            == ledger_consistency.read_places(older)
            == []
        )


def test_parts_that_lack_or_exceed_their_command_are_seen() -> None:
    made = build.build(traced().input(300))
    for parts in (made.reads[1:], pl.concat([made.reads, made.reads[:1]])):
        (reason,) = ledger_consistency.bytes_add_up(replace(made, reads=parts))
        assert "read commands that are not the sum of their parts" in reason


def test_a_label_against_its_place_is_seen() -> None:
    trace = Trace()
    trace.bio(20, 21, [(FILE, 12, 0, 1)], READ)
    trace.command(21, 22, 40, 168, 8, READ)
    trace.call("open", "database", 1, 2, 12, None, 0)
    (reason,) = ledger_consistency.read_places(build.build(trace.input(300)))
    assert "parts of reads with another label than their region" in reason


def test_the_kernels_own_pages_have_the_label_of_their_region() -> None:
    trace = Trace()
    trace.bio(20, 3, [(NONE, 0, 0, 1)], READ)
    trace.command(21, 22, 40, 24, 8, READ)
    made = build.build(trace.input(300))
    assert made.reads["label"].to_list() == ["bitmap/SIT/NAT/superblock"]


@pytest.fixture(scope="module")
def cold(built_run: Callable[[str], Run]) -> Run:
    """make experiment FS=f2fs MODE=wal WORKLOAD=kv CACHE=cold ROWS=1000 N=20."""
    return built_run("sample-cold")


def test_a_cold_run_reads_and_all_sources_agree(cold: Run, copy_run: Callable[[str], Path]) -> None:
    folder = copy_run("sample-cold")
    found = pipeline.analyse(folder)
    assert (found["status"], found["reasons"]) == ("ok", [])
    read = found["ledger"]["reads"]
    told = counts.by_source(cold)
    assert {row["bytes_read"] for row in told.values()} == {read["bytes"]} and len(told) == 3
    assert sum(read["labels"].values()) == read["bytes"] > 100_000
    assert read["per_transaction"]["read"] > 0 and "unattributed" not in read["labels"]
    assert read["files"]["database"] > 0.5 * read["bytes"]
    table = pl.read_parquet(folder / "tables/reads.parquet")
    assert table["bytes"].sum() == read["bytes"]
    shown = terminal.table(found, folder / "report.html")
    assert f"KiB read: {read['bytes'] / 1024:,.1f} (" in shown
    assert 0 < read["hits"]["read"] < 1 and "without a device read" in " ".join(shown.split())
    assert "KiB were read:" in (folder / "report.html").read_text()


def test_bytes_read_that_the_kernel_did_not_count_are_rejected(cold: Run) -> None:
    assert cold.ledger is not None
    run = replace(cold, ledger=replace(cold.ledger, reads=cold.ledger.reads[1:]))
    assert any("bytes read: ledger" in reason for reason in cross_check.ledger_agrees(run))
