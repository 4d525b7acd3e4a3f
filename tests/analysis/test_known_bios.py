"""The pages of a known sequence's bios, where a log is written by sectors."""

import numpy as np
import pytest

from analysis.adapters.known_sequence import KnownSequence
from analysis.adapters.proberecords import RECORD, TYPES
from analysis.instrument import probe_selftest

DISK = 8 << 20


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
