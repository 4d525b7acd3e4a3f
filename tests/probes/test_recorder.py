"""The recorder on the board: each probe alone, small rings, refusals, after a kill, while others sync."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.adapters import proberecords
from analysis.adapters.proberecords import TYPES
from analysis.observers import probes
from commitpath.boards.payload import all_probes, expected_probes
from images.board import RunOutput

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def alone(on_board: Callable[..., RunOutput]) -> RunOutput:
    """What refusals.sh left."""
    return on_board(HERE / "refusals.sh", FS="ext4")


def test_a_ring_too_small(alone: RunOutput, tmp_path: Path) -> None:
    """It is drained in time, and all is there; or what found no place is counted."""
    alone.extract(tmp_path)
    small, large = (proberecords.read(tmp_path / f"raw/{name}.bin") for name in ("small", "large"))
    begin, end = large[0]["end_ns"], large[-1]["begin_ns"]
    both = small[(small["begin_ns"] > begin) & (small["end_ns"] < end)]
    assert both.size > 4 * 256
    # each probe file counts its bios and commands for itself
    told = [name for name in large.dtype.names or () if name not in ("begin_ns", "end_ns", "c", "d")]
    kinds = [TYPES[name] for name in ("bio", "pages", "block", "commit_wait")]
    seen = [rows[np.isin(rows["type"], kinds)][told].tolist() for rows in (both, large)]
    assert seen[0] == seen[1]
    assert probes.read(tmp_path / "raw/small.bin")[1] == probes.Losses(0, 0)
    kept, losses = proberecords.read(tmp_path / "raw/lost.bin"), probes.read(tmp_path / "raw/lost.bin")[1]
    assert kept.size == 256 + 2 and losses.records > 800 and losses.updates == 0


def test_each_probe_attaches_and_the_recorder_refuses(alone: RunOutput) -> None:
    output = alone
    said = output.text("run-cell.log")
    assert output.text("run-cell.status").strip() == "0", said
    for name in all_probes():
        assert f"bin/{name}.bpf.o: attached {expected_probes([name])}\nby fentry\n" in said
    refusals = said[said.index("no arguments:") :].strip().splitlines()
    assert refusals[::2] == [
        *("no arguments:", "no power of two:", "no such folder:", "no such probe:", "a probe cut short:"),
        "no probe:",
        *("no such function:", "no such field:", "a probe twice:", "disk full:"),
    ]
    for words, line in zip(
        [
            *("usage: ", "-r 100: a ring has a power of two of records, 64 to 1048576"),
            *("none/probes.bin: No such file", "bin/none.bpf.o: No such file"),
            *("cut.bpf.o: BPF object format invalid", "bin/recorder: BPF object format invalid"),
            *("blkdev_issue_flusk", "the probes cannot be loaded", "ext4.bpf.o: it cannot be linked"),
            "write: No space left on device",
        ],
        refusals[1::2],
        strict=True,
    ):
        assert words in line


def test_what_a_killed_recorder_leaves_is_removed(on_board: Callable[..., RunOutput]) -> None:
    """Its kprobes, by the next one."""
    output = on_board(HERE / "killed.sh", FS="ext4", KERNEL="6.1")
    said = output.text("run-cell.log")
    assert said.split("\n") == ["attached 2", "by kprobe", "2", "2", "0", ""]


def test_what_has_begun_before_the_probes_is_not_lost(
    on_board: Callable[..., RunOutput], tmp_path: Path
) -> None:
    """While threads sync where it attaches: nothing is seen to begin whose end is not watched yet."""
    output = on_board(HERE / "busy.sh", FS="ext4", KERNEL="6.1")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    output.extract(tmp_path)
    for n in range(1, 11):
        rows, losses = proberecords.read(path := tmp_path / f"raw/{n}.bin"), probes.read(path)[1]
        assert (rows["type"] == TYPES["sync"]).sum() > 10
        assert losses == probes.Losses(0, 0), n
