"""What of a disk's records is a partition's: its own placed in it, others' marked, its flushes bounded."""

from typing import Any

import numpy as np
import pytest

from analysis.adapters import blkrecords, partition
from analysis.adapters.partition import FOLLOWING_FLUSH, FOREIGN_SECTOR
from analysis.adapters.proberecords import RECORD, TYPES, split
from base.errors import FileError
from model.covariates import Covariates

DISK, OTHER, OWN = (254 << 20 | number for number in range(3))
PARTITION = partition.Partition(dev=OWN, disk=DISK, others=frozenset((OTHER,)), start=2048, sectors=800)
WRITE, FLUSH, FUA, PREFLUSH = 1, 2, 1 << 17, 1 << 18


def records(*rows: tuple[str, int, int, int, int]) -> np.ndarray:
    """Records of (type, dev, sector, sectors, operation), a ns apart, numbered."""
    found = np.zeros(len(rows), RECORD)
    for number, (kind, dev, sector, sectors, operation) in enumerate(rows):
        row = found[number]
        row["type"], row["dev"], row["a"], row["n"], row["b"] = TYPES[kind], dev, sector, sectors, operation
        row["begin_ns"], row["end_ns"], row["d"], row["flags"] = number, number + 100, number, 1
    return found


def told(rows: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(int(row[name]) for name in ("dev", "a", "n")) for row in rows]


def test_what_is_the_partitions_is_placed_in_it() -> None:
    rows = records(
        ("block", DISK, 2048, 8, WRITE),
        ("block", DISK, 2848, 8, WRITE),
        ("block", DISK, 2040, 8, WRITE),
        ("block", DISK, 0, 0, FLUSH | PREFLUSH),
        ("bio", OWN, 2056, 8, WRITE),
        ("bio", OWN, 0, 0, WRITE | PREFLUSH),
        ("bio", OTHER, 8, 8, WRITE),
        ("bio", OTHER, 8, 8, WRITE | PREFLUSH),
        ("bio", DISK, 0, 0, WRITE | PREFLUSH),
        ("pages", OWN, 12, 1, 0),
        ("writeback", DISK, 0, 3, 0),
        ("sync", OTHER, 12, 0, 0),
    )
    placed = PARTITION.assign(rows)
    assert told(placed) == [
        *((OWN, 0, 8), (DISK, 2848, 8), (DISK, 2040, 8), (OWN, 0, 0)),
        *((OWN, 8, 8), (OWN, 0, 0), (OTHER, 8, 8), (OWN, FOREIGN_SECTOR, 0), (OWN, FOREIGN_SECTOR, 0)),
        *((OWN, 12, 1), (OWN, 0, 3), (OTHER, 12, 0)),
    ]
    assert [int(placed["flags"][row]) for row in (4, 7)] == [1, 0]
    assert told(PARTITION.assign_own(rows)[7:9]) == [(DISK, FOREIGN_SECTOR, 0)] * 2


@pytest.mark.parametrize("knows_fua", [False, True])
def test_a_flush_follows_anothers_fua_where_the_disk_knows_none(knows_fua: bool) -> None:
    first = records(("bio", OTHER, 16, 8, WRITE | FUA | PREFLUSH), ("bio", OTHER, 64, 8, WRITE))
    then = records(
        ("block", DISK, 64, 8, WRITE),
        ("block", DISK, 16, 8, WRITE | FUA * knows_fua),
        # of the same place, and no FUA
        ("block", DISK, 16, 8, WRITE),
    )
    chunks = list(PARTITION.assign_chunks([split(first), split(then)]))
    after = chunks[1]["bio"]
    assert told(after) == ([] if knows_fua else [(OWN, FOREIGN_SECTOR, 0)])
    assert [(int(row["begin_ns"]), int(row["d"])) for row in after] == (
        [] if knows_fua else [(101, FOLLOWING_FLUSH)]
    )


def test_the_tracer_has_what_begins_behind_it() -> None:
    rows = np.zeros(4, blkrecords.RECORD)
    rows["sector"], rows["bytes"] = [2048, 2840, 2848, 0], [4096, 4096, 4096, 0]
    assert PARTITION.assign_traced(rows)["sector"].tolist() == [0, 792, 0]


def edge(flushes: int, begin: int, end: int) -> dict[str, Any]:
    """What is read at an end, in ms."""
    times = {"counted_from_ns": f"{begin}000000", "counted_until_ns": f"{end}000000"}
    return {"disk/flush_ios": str(flushes), **times}


def test_flushes_are_bracketed() -> None:
    ends = np.array([95, 105, 500, 895, 905, 950]) * 1_000_000
    told = Covariates(edge(10, 100, 110), edge(12, 900, 910), {})
    assert partition.flush_bounds(told, ends) == (2, 2, 4)
    assert partition.flush_bounds(None, ends) is None
    old = {name: value for name, value in edge(12, 900, 910).items() if name != "disk/flush_ios"}
    assert partition.flush_bounds(Covariates(told.begin, old, {}), ends) is None
    unread = {"disk": {"unreadable": "no"}}
    assert partition.flush_bounds(Covariates(told.begin, unread, {}), ends) is None


def test_where_it_is() -> None:
    told = {"dev": "254:2", "disk": "254:0", "others": "254:1", "start": "2048", "size": "800"}
    assert partition.read_partition(told) == PARTITION
    assert partition.read_partition({"dev": "254:2"}) is None
    for name, wrong in (
        ("disk", "vda"),
        ("others", "254:1 x"),
        ("start", ""),
        ("dev", ""),
        ("dev", "4096:0"),
        ("others", "254:1 " * 257),
        ("disk", "0:1048576"),
    ):
        with pytest.raises(FileError, match=name):
            partition.read_partition({**told, name: wrong})
