"""The probes' self-test by a known sequence: what its record must hold, by filesystem, cache, partition."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.adapters import known_sequence as adapter
from analysis.adapters.known_sequence import KnownSequence
from analysis.adapters.proberecords import RECORD, TYPES
from analysis.instrument import probe_selftest
from base.errors import FileError
from model.block_operations import PREFLUSH

DISK, OTHER = 1 << 20, 2 << 20


@pytest.mark.parametrize("journals_data", [True, False])
def test_where_data_is_journalled_a_bio_may_have_one_page(journals_data: bool) -> None:
    """As on Linux 6.1; else the probe must be seen to go from page to page."""
    rows = np.zeros(2, RECORD)
    rows["type"], rows["dev"] = [TYPES["bio"], TYPES["pages"]], DISK
    rows["b"][0], rows["n"], rows["flags"][0] = 1, [8, 1], 1
    one = KnownSequence([], {}, {}, DISK, DISK, rows, (0, 0), True)
    expected = [] if journals_data else ["bio: no bio with more than one page"]
    assert probe_selftest.wrong(one, ["bio"], "ext4", journals_data) == expected


def beside(writes: int, **changes: Any) -> KnownSequence:
    """Commands of a partition, DISK: writes, and a flush with its empty bio; between them another's."""
    block, bio = TYPES["block"], TYPES["bio"]
    kinds = [(block, DISK, 8, 1)] * writes + [(block, OTHER, 8, 1), (block, DISK, 0, 2)]
    kinds += [(bio, DISK, 8, 1)] * writes + [(bio, OTHER, 8, 1), (bio, DISK, 0, 1 | PREFLUSH)]
    kinds += [(TYPES["commit"], DISK, 0, 0), (TYPES["commit"], OTHER, 0, 0), (TYPES["flush"], DISK, 0, 0)]
    rows = np.zeros(len(kinds), RECORD)
    rows["type"], rows["dev"], rows["n"], rows["b"] = zip(*kinds, strict=True)
    for kind in (block, bio):
        rows["d"][rows["type"] == kind] = np.arange(writes + 2)
    # a partition's counter has no flush
    stat = {"write_ios": writes + 1, "write_sectors": 8 * writes, "flush_ios": 0}
    one = KnownSequence([], stat, {"commit": 1}, DISK, DISK, rows, (0, 0), True, flushes=(2, 1, 3))
    return dataclasses.replace(one, **changes)


def test_flushes_of_a_partitions_disk_are_in_a_bracket() -> None:
    assert list(probe_selftest._commands(beside(3, flushes=(4, 1, 3)))) == [
        "flushes: 1 to 3 recorded, 4 expected"
    ]
    # of a whole device they are its own
    assert list(probe_selftest._commands(beside(3, flushes=None))) == ["flushes: 1 recorded, 0 expected"]


@pytest.mark.parametrize(("mode", "cached"), [("write back", True), ("write through", False)])
def test_without_a_volatile_cache_no_flush_is_expected(tmp_path: Path, mode: str, cached: bool) -> None:
    (tmp_path / "queue.txt").write_text(f"write_cache={mode}\n")
    assert adapter._cached(tmp_path / "queue.txt") is cached
    (tmp_path / "queue.txt").write_text("write_cache=?\n")
    with pytest.raises(
        FileError, match=r"queue.txt: write_cache: '\?'; expected write back or write through"
    ):
        adapter._cached(tmp_path / "queue.txt")


def recorded(bios: list[tuple[int, int]]) -> KnownSequence:
    """Writes by (sectors, pages that were recorded), a run of pages each."""
    rows = np.zeros(2 * len(bios), RECORD)
    rows["dev"], rows["d"] = DISK, np.repeat(np.arange(len(bios)), 2)
    rows["type"] = [TYPES["bio"], TYPES["pages"]] * len(bios)
    rows["n"] = [number for bio in bios for number in bio]
    of_bio = rows["type"] == TYPES["bio"]
    rows["b"][of_bio], rows["flags"][of_bio] = 1, 1  # REQ_OP_WRITE; runs
    return KnownSequence([], {}, {}, DISK, DISK, rows, (0, 0), True)


@pytest.mark.parametrize(
    ("bios", "found"),
    [
        ([(8, 1), (16, 2)], []),
        # two log writes of 3 KiB: with their sectors added up these would be 1.5 pages
        ([(6, 1), (6, 1), (16, 2)], []),
        ([(12, 2), (16, 2)], []),
        ([(6, 1), (6, 0), (16, 2)], ["pages of writes: 3 recorded, 4 expected"]),
        ([(16, 1), (16, 2)], ["pages of writes: 3 recorded, 4 expected"]),
    ],
)
def test_a_page_that_is_written_in_part_is_one(bios: list[tuple[int, int]], found: list[str]) -> None:
    assert list(probe_selftest._bios(recorded(bios))) == found


def test_pages_of_reads_are_not_those_of_writes_and_each_read_has_some() -> None:
    ran = recorded([(8, 1), (8, 1)])
    of_bio = ran.rows["type"] == TYPES["bio"]
    ran.rows["b"][np.flatnonzero(of_bio)[0]] = 0  # REQ_OP_READ
    assert list(probe_selftest._bios(ran)) == []
    ran.rows["flags"][np.flatnonzero(of_bio)[0]] = 0
    unpaged = ran.rows[np.delete(np.arange(ran.rows.size), np.flatnonzero(~of_bio)[0])]
    ran = KnownSequence([], {}, {}, DISK, DISK, unpaged, (0, 0), True)
    assert list(probe_selftest._bios(ran)) == ["reads without pages: 1 recorded, 0 expected"]
