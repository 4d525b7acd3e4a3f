"""The probes: what a recorded sample says, and that the board records as it did then."""

import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis.adapters import proberecords
from analysis.adapters.proberecords import OWNERS, TYPES
from analysis.observers import probes
from commitpath.boards.payload import all_probes, expected_probes
from images.board import RunOutput

HERE = Path(__file__).parent
EXT4, F2FS = 253 << 20 | 1, 253 << 20 | 2  # the devices of exercise.sh


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What exercise.sh left (record_sample.py)."""
    path = tmp_path_factory.mktemp("sample") / "probes.bin"
    path.write_bytes(lzma.decompress((HERE / "sample.bin.xz").read_bytes()))
    return path


@pytest.fixture(scope="module")
def rows(sample: Path) -> np.ndarray:
    return proberecords.read(sample)


def of(rows: np.ndarray, name: str, dev: int | None = None) -> np.ndarray:
    found: np.ndarray = rows[(rows["type"] == TYPES[name]) & ((rows["dev"] == dev) | (dev is None))]
    return found


def test_every_type_is_in_the_sample(rows: np.ndarray) -> None:
    assert set(rows["type"].tolist()) == set(TYPES.values())
    assert of(rows, "attached")["n"][0] == expected_probes(all_probes())


def test_each_way_to_ask_for_a_sync(sample: Path) -> None:
    found, losses = probes.read(sample)
    assert losses == probes.Losses(0, 0)
    long = "a-name-of-more-than-24-bytes.db"
    for dev in ("253:1", "253:2"):
        syncs = found.filter((pl.col("event") == "sync") & (pl.col("dev") == dev))
        asked = syncs.select("comm", "reason", "datasync", "is_directory", "file", "result").rows()
        wal = ("sync", "fdatasync", True, False, "fdatasync.db-wal", 0)
        dsync = ("dd", "kernel", True, False, "dsync.db", 0)
        moved = [(comm, "fsync", False, False, "moved.db", 0) for comm in ("dd", "dd", "sync")]
        assert [row for row in asked if row[1] != "io_uring"] == [
            ("dd", "fsync", False, False, long, 0),
            *(wal, wal, dsync, dsync),
            ("driver", "fsync", False, True, "/", 0),
            ("sync", "fsync", False, False, "holes.db", 0),
            ("dd", "fsync", False, False, "again.db", 0),
            *(moved if dev == "253:2" else []),
        ]
        rings = [row for row in asked if row[1] == "io_uring"]
        assert rings and all(row[4] == "ring.db" and row[0].startswith("iou-wrk") for row in rings)


def test_a_syncs_parts_lie_within_it(rows: np.ndarray) -> None:
    """Data, jbd2's commit or F2FS's nodes, and the flush: of the thread that syncs."""
    for name in ("data_wait", "commit_wait", "node_wait"):
        for dev in (EXT4, F2FS):
            syncs = of(rows, "sync", dev)
            for part in of(rows, name, dev):
                within = (syncs["begin_ns"] <= part["begin_ns"]) & (part["end_ns"] <= syncs["end_ns"])
                by_sync = syncs[within & (syncs["tid"] == part["tid"])]
                # jbd2 is waited for by umount and syncfs too
                assert by_sync.size == 1 or name == "commit_wait"
    assert of(rows, "node_wait", EXT4).size == 0 < of(rows, "node_wait", F2FS).size
    assert of(rows, "commit_wait", F2FS).size == 0 < of(rows, "commit_wait", EXT4).size


def test_commits_have_phases(rows: np.ndarray) -> None:
    commits = of(rows, "commit")
    assert (np.diff(commits["a"].astype(int)) == 1).all()
    took = commits["end_ns"] - commits["begin_ns"]
    assert (commits["b"] + commits["c"] <= took).all() and (commits["c"] > 2_000_000).all()
    assert (commits["n"] >= 3).all()


def test_bios_and_their_pages(rows: np.ndarray) -> None:
    """As many `pages` records as a bio says; of as many pages; and all of every write."""
    bios, pages = of(rows, "bio"), of(rows, "pages")
    assert bios["d"].tolist() == list(range(bios.size))
    runs = np.bincount(pages["d"].astype(int), minlength=bios.size)
    assert runs.tolist() == bios["flags"].tolist()
    sectors = np.bincount(pages["d"].astype(int), 8 * pages["n"], bios.size)
    is_write = (bios["b"] & 0xFF) == 1
    assert (sectors[is_write] == bios["n"][is_write]).all()
    assert bios["flags"].max() > 1  # one with pages of several runs


def test_owners(rows: np.ndarray) -> None:
    """ext4's metadata is its device's, F2FS's of inodes that are no files."""
    pages = of(rows, "pages")
    owned = {
        (int(page["dev"]), OWNERS[page["flags"]], int(page["a"])) for page in pages if page["flags"] != 0
    }
    assert (EXT4, "device", EXT4) in owned or any(d == EXT4 and o == "device" for d, o, _ in owned)
    assert {(F2FS, "other", 1), (F2FS, "other", 2)} <= owned  # nodes, and SIT, NAT, checkpoint
    assert (F2FS, "directory", 3) in owned
    files = pages[pages["flags"] == 0]
    synced = {(int(s["dev"]), int(s["a"]), int(s["b"])) for s in of(rows, "sync") if not s["flags"] & 2}
    assert synced <= {(int(p["dev"]), int(p["a"]), int(p["c"])) for p in files}


def test_pages_that_the_garbage_collector_moves(rows: np.ndarray) -> None:
    """What was valid in a segment: in the sync after it, of its file; at the umount, of the others."""
    pages, last = of(rows, "pages"), of(rows, "sync", F2FS)[-1]
    moved = pages[pages["flags"] == OWNERS.index("moved")]
    assert set(moved["dev"].tolist()) == {F2FS}
    assert 500 < moved["n"].sum() < 512
    assert (moved["begin_ns"] > last["begin_ns"]).all()
    synced = moved["begin_ns"] < last["end_ns"]
    assert set(moved["a"][synced].tolist()) == {last["a"]} and not (moved["a"][~synced] == last["a"]).any()


def test_commands(rows: np.ndarray) -> None:
    commands = np.sort(of(rows, "block"), order="d")
    assert commands["d"].tolist() == list(range(commands.size))
    assert (np.diff(commands["begin_ns"].astype(int)) >= 0).all()
    assert (commands["c"] <= commands["begin_ns"]).all() and not commands["flags"].any()
    # null_blk takes 2 ms
    assert ((commands["end_ns"] - commands["begin_ns"])[commands["dev"] == F2FS] >= 2_000_000).all()
    flushes = commands[(commands["b"] & 0xFF) == 2]
    assert flushes.size > 10 and not flushes["n"].any() and not flushes["a"].any()


def test_waiting_and_writeback(rows: np.ndarray) -> None:
    driver = of(rows, "comm")[of(rows, "comm")["a"] == int.from_bytes(b"driver", "little")]["tid"]
    off = of(rows, "off_cpu")
    assert off.size and set(off["tid"].tolist()) <= set(driver.tolist())
    assert off["flags"].any()
    assert {2, 3} <= set(of(rows, "writeback")["flags"].tolist())  # sync, periodic
    assert of(rows, "writeback", EXT4)["n"].max() >= 16  # what dirty.db had
    assert {1, 4} <= set(of(rows, "checkpoint")["n"].tolist())  # umount, sync


def test_the_sample_is_what_the_board_records(on_board: Callable[..., RunOutput], tmp_path: Path) -> None:
    """The types of a new recording; its times and numbers are those of another board."""
    output = on_board(HERE / "exercise.sh", FS="ext4")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    output.extract(tmp_path)
    assert set(proberecords.read(tmp_path / "raw/probes.bin")["type"].tolist()) == set(TYPES.values())
