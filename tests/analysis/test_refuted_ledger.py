"""A false cause is refuted: recorded runs with one kind of record changed throughout are rejected, or
the bytes are shown as unattributed.

A fault of one record is in test_ledger.py. The runs: `ext4-delete` and `f2fs-wal` have blktrace as a
second witness, `ext4-wal` the log of a flash device.
"""

from collections.abc import Callable
from pathlib import Path

import edited
import numpy as np
import polars as pl
import pytest

from analysis import audit, stages
from analysis.adapters.proberecords import HEADER, OWNERS, RECORD, TYPES
from analysis.checks import cross_check, ledger_consistency
from base.errors import FileError
from model.block_operations import FUA

SAMPLES = {"ext4-delete": "../bench/sample", "ext4-wal": "sample-flash-wal", "f2fs-wal": "sample-f2fs-wal"}
Spoil = Callable[[Path], None]
Change = Callable[[np.ndarray], np.ndarray]


def of(rows: np.ndarray, name: str) -> np.ndarray:
    """The places of a type's records."""
    return np.flatnonzero(rows["type"] == TYPES[name])


def records(change: Change) -> Spoil:
    """Change the records of probes.bin."""

    def spoil(folder: Path) -> None:
        path = folder / "raw/probes.bin"
        data = path.read_bytes()
        rows = np.frombuffer(data[HEADER.itemsize :], RECORD).copy()
        path.write_bytes(data[: HEADER.itemsize] + change(rows).tobytes())

    return spoil


def drop(name: str, share: float = 1) -> Spoil:
    """Drop the oldest records of a type."""

    def change(rows: np.ndarray) -> np.ndarray:
        places = of(rows, name)
        return np.delete(rows, places[: int(places.size * share)])

    return records(change)


def exchange_waits(rows: np.ndarray) -> np.ndarray:
    """Neighbours waited for each other's commits."""
    places = of(rows, "commit_wait")
    places = places[: places.size // 2 * 2]
    rows["a"][places] = rows["a"][places].reshape(-1, 2)[:, ::-1].ravel()
    return rows


def files(folder: Path) -> dict[str, int]:
    """The inode of each of SQLite's files by its role, the last there was."""
    opens = pl.read_csv(folder / "raw/driver/vfs.csv").filter(pl.col("op") == "open")
    return dict(opens.select("file", "inode").iter_rows())


def exchange_files(folder: Path) -> None:
    """Pages of the database are said to be the shm's, and the other way round."""
    inode = files(folder)

    def change(rows: np.ndarray) -> np.ndarray:
        places = of(rows, "pages")
        places = places[rows["flags"][places] == OWNERS.index("file")]
        was = rows["a"][places]
        rows["a"][places[was == inode["database"]]] = inode["shm"]
        rows["a"][places[was == inode["shm"]]] = inode["database"]
        return rows

    records(change)(folder)


def as_blocks(rows: np.ndarray) -> np.ndarray:
    """The last pages of files are said to be of the block device, at the place they are written to."""
    bios = of(rows, "bio")
    sector = dict(zip(rows["d"][bios].tolist(), rows["a"][bios].tolist(), strict=True))
    places = of(rows, "pages")
    places = places[rows["flags"][places] == OWNERS.index("file")]
    for place in places[-places.size // 4 :].tolist():
        rows["flags"][place] = OWNERS.index("device")
        rows["b"][place] = sector[int(rows["d"][place])] // 8
    return rows


def other_nodes(rows: np.ndarray) -> np.ndarray:
    """Pages of the node inode are said to be another's."""
    places = of(rows, "pages")
    rows["a"][places[(rows["flags"][places] == OWNERS.index("other")) & (rows["a"][places] == 1)]] = 5
    return rows


def all_moved(rows: np.ndarray) -> np.ndarray:
    places = of(rows, "pages")
    rows["flags"][places[rows["flags"][places] == OWNERS.index("file")]] = OWNERS.index("moved")
    return rows


def by_the_driver(rows: np.ndarray) -> np.ndarray:
    """What the journal's thread queued is said to be queued by the driver's."""
    bios, commits = of(rows, "bio"), of(rows, "commit")
    driver = rows["tid"][of(rows, "off_cpu")[0]]
    rows["tid"][bios[np.isin(rows["tid"][bios], rows["tid"][commits])]] = driver
    return rows


def later(nanoseconds: int, *operations: int) -> Change:
    """Commands of some operations end at another time."""

    def change(rows: np.ndarray) -> np.ndarray:
        places = of(rows, "block")
        places = places[np.isin(rows["b"][places] & 0xFF, operations)]
        rows["end_ns"][places] = rows["end_ns"][places].astype(np.int64) + nanoseconds
        return rows

    return change


def without_fua(rows: np.ndarray) -> np.ndarray:
    """Half of the writes with FUA are said to have none."""
    places = of(rows, "block")
    rows["b"][places[rows["b"][places] & FUA > 0][::2]] &= ~np.uint64(FUA)
    return rows


def stretch(name: str, factor: float) -> Change:
    """Records of a type last longer or shorter."""

    def change(rows: np.ndarray) -> np.ndarray:
        places = of(rows, name)
        span = (rows["end_ns"][places] - rows["begin_ns"][places]) * factor
        rows["end_ns"][places] = rows["begin_ns"][places] + span.astype(np.uint64)
        return rows

    return change


def edit(name: str, old: str, new: str) -> Spoil:
    """Change a text in what the board says of the filesystem."""
    return lambda folder: edited.replace(folder / "raw/board" / name, old, new, 1)


FAULTS: dict[str, tuple[str, Spoil, str]] = {
    "half the commits": ("ext4-delete", drop("commit", 0.5), "commands outside their commit"),
    "nearly all commits": ("ext4-delete", drop("commit", 0.9), "was waited for and has no record"),
    "exchanged waits": (
        "ext4-delete",
        records(exchange_waits),
        "waits for a commit end before it is written",
    ),
    "exchanged files": ("ext4-wal", exchange_files, "pages that the engine wrote and synced were not"),
    "files as blocks": ("ext4-delete", records(as_blocks), "of the bytes written are unattributed"),
    "another's nodes": ("f2fs-wal", records(other_nodes), "of the bytes written are unattributed"),
    "all pages moved": ("f2fs-wal", records(all_moved), "marked as moved that cannot have been moved"),
    "the journal by the driver": ("ext4-wal", records(by_the_driver), "from a thread that does not commit"),
    "late commands": ("ext4-delete", records(later(20_000_000, 1, 2)), "blktrace has completed at another"),
    "never off the CPU": ("ext4-delete", drop("off_cpu"), "flushes in which the waiting thread"),
    "no wait for a commit": ("ext4-delete", drop("commit_wait"), "waited for unrecorded events"),
    "no wait for data": ("ext4-wal", drop("data_wait"), "waited for unrecorded events"),
    "no wait for nodes": ("f2fs-wal", drop("node_wait"), "waited for unrecorded events"),
    "half off the CPU": ("ext4-wal", drop("off_cpu", 0.5), "waits for a commit in which the waiting thread"),
    "short waits for data": ("f2fs-wal", records(stretch("data_wait", 0.5)), "waited for unrecorded events"),
    "commits without FUA": ("ext4-wal", records(without_fua), "do not have one command with FUA"),
    "another inode table": ("ext4-delete", edit("groups.txt", ":289\n", ":294\n"), "contain block 801"),
    "another table's size": (
        "ext4-wal",
        edit("superblock.txt", "Inode blocks per group:   512", "Inode blocks per group:   500"),
        "groups.txt: the groups' tables and the journal have 25958 blocks; expected the superblock's 26150",
    ),
    "a directory in a table": ("ext4-wal", edit("inodes.txt", "(0):8615", "(0):290"), "contain block 290"),
    "another area": (
        "f2fs-wal",
        edit("superblock.txt", "[0x     600 : 1536]", "[0x     604 : 1540]"),
        "sit_blkaddr is 1540; expected 1536: ckpt has 1024 blocks",
    ),
}


def wrong(folder: Path) -> list[str]:
    """What the analysis finds wrong in a run's ledger."""
    try:
        run = stages.build(folder)
        return (
            cross_check.ledger_agrees(run) + ledger_consistency.commits_waited_for(run) + audit.reasons(run)
        )
    except FileError as error:
        return [str(error)]


def test_what_is_at_no_known_place_is_shown(copy_run: Callable[[str], Path]) -> None:
    """The block of a directory is written home once: too little to reject the run."""
    folder = copy_run(SAMPLES["ext4-delete"])
    edit("inodes.txt", "(0):8615", "(0):9999")(folder)
    # whose bytes were not kept, as they say what it is
    edited.edit(folder / "raw/run.json", observers=["blktrace", "probes"])
    made = stages.build(folder).ledger
    assert made is not None
    assert 0 < ledger_consistency.unattributed_share(made) < ledger_consistency.UNATTRIBUTED_LIMIT
    assert made.pieces.filter(pl.col("of") == "unattributed")["bytes"].sum() > 100_000


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_refuted(fault: str, copy_run: Callable[[str], Path]) -> None:
    name, spoil, reason = FAULTS[fault]
    folder = copy_run(SAMPLES[name])
    spoil(folder)
    found = wrong(folder)
    assert any(reason in one for one in found), found
