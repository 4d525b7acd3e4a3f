"""Another kernel: it boots, and a cell runs on it, timed and with the device's own log, and watched; on one
that cannot be watched, as the kernel's counters have it."""

import json
from collections.abc import Callable
from pathlib import Path

import made_tree
import polars as pl
import pytest

from commitpath.cells.profiles import load_profile
from images import artifacts

# what /sys/block/<disk>/stat counts of writes, and no time
COUNTED = ("write_ios", "write_sectors", "flush_ios")


def grown(run: Path) -> list[tuple[int, ...]]:
    """What the counters grew by in each phase of a run."""
    table = pl.read_csv(run / "raw/driver/device_stat.csv")
    ends = table.filter(pl.col("label").str.contains("^(begin|end-.*)$"))
    return ends.select(*(pl.col(name).diff() for name in COUNTED)).drop_nulls().rows()


@pytest.mark.parametrize(("kernel", "begins"), [("6.1", "6.1"), ("7.x", "7")])
def test_a_cell_runs_on_another_kernel(run_cell: Callable[..., Path], kernel: str, begins: str) -> None:
    run = run_cell(FS="ext4", DEVICE="emmc-5.0", KERNEL=kernel, PROBES="none")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["board"]["kernel"].startswith(f"Linux board {begins}.")
    asked = {setting["name"]: setting for setting in manifest["settings"] if setting["group"] == "board"}
    assert asked["kernel"]["effective"] == begins
    assert manifest["window"]["counted"]["device log"]["bytes_written"] > 0
    # a filesystem that believes it to be a disk with heads places files otherwise
    assert "rotational=0\n" in (run / "raw/board/queue.txt").read_text()


# version: of blktrace's records, the first byte of each
@pytest.mark.parametrize(
    ("kernel", "fs", "by", "version"), [("6.1", "f2fs", "kprobe", 7), ("7.x", "ext4", "fentry", 8)]
)
def test_a_cell_is_watched_on_another_kernel(
    run_cell: Callable[..., Path], kernel: str, fs: str, by: str, version: int
) -> None:
    """No byte is without a label, all content is confirmed, and probes, blktrace and kernel agree."""
    run = run_cell(FS=fs, MODE="wal", KERNEL=kernel)
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    probes = json.loads((run / "raw/run.json").read_text())["probes"]
    assert probes["by"] == by and probes["attached"] == probes["expected"] > 0
    assert result["ledger"]["unattributed_share"] == 0 and result["content"]["confirmed_share"] == 1
    (trace,) = (run / "raw/blktrace").glob("*.blktrace.0")
    assert trace.read_bytes()[0] == version
    counted = json.loads((run / "manifest.json").read_text())["window"]["counted"]
    # the probes alone count those with FUA, of which a commit and a checkpoint have one
    assert counted["probe"].pop("fua") > 0
    assert counted["probe"] == counted["blktrace"] == counted["stat"]


def test_a_build_tree_is_booted_and_watched(run_cell: Callable[..., Path], tmp_path: Path) -> None:
    """With modules of ours that are built against it, for the device and what watches."""
    kernel = artifacts.kernel(load_profile("kernel", "6.12"))
    made_tree.make(kernel, tmp_path / "tree")
    run = run_cell(FS="ext4", MODE="wal", DEVICE="emmc-5.0", KERNEL=f"tree:{tmp_path / 'tree'}")
    result = json.loads((run / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    assert result["ledger"]["unattributed_share"] == 0 and result["content"]["confirmed_share"] == 1
    assert str(tmp_path) not in (run / "cell.json").read_text()
    manifest = json.loads((run / "manifest.json").read_text())
    (release,) = (path.name for path in (kernel / "lib/modules").iterdir())
    told = {setting["name"]: setting for setting in manifest["settings"] if setting["group"] == "board"}
    assert told["uname"]["requested"] == told["uname"]["effective"] == release


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_an_old_kernel_writes_the_same(run_cell: Callable[..., Path], fs: str) -> None:
    """All that is known of a run without probes, its SQL and what the kernel counts, is as on another one."""
    old, new = (run_cell(FS=fs, KERNEL=kernel, PROBES="none") for kernel in ("5.10", "6.12"))
    for run in (old, new):
        result = json.loads((run / "summary.json").read_text())
        assert result["status"] == "ok", result["reasons"]
        assert result["sql_sha256"] == json.loads((new / "summary.json").read_text())["sql_sha256"]
    manifest = json.loads((old / "manifest.json").read_text())
    assert manifest["board"]["kernel"].startswith("Linux board 5.10.")
    assert grown(old) == grown(new)
    # insert, update and delete have flushes; the close has none
    assert [flushes > 0 for _, _, flushes in grown(new)] == [True, True, True, False]
