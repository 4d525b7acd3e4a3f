"""Probes and the recorder as programs of the host, on kernel objects made here (native/)."""

import subprocess
from pathlib import Path

from analysis.observers import probes
from images.artifacts import ROOT

HERE = Path(__file__).parent / "native"


def run(name: str, folder: Path, *arguments: str | Path) -> str:
    """Compile and run native/NAME.c; return its output."""
    program = folder / name
    flags = ["-std=gnu17", "-O1", "-w", "-I", HERE, "-I", ROOT / "probes"]
    subprocess.run(["cc", *flags, "-o", program, HERE / f"{name}.c"], check=True)
    done = subprocess.run([program, *arguments], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def test_runs_that_the_kernel_skipped_are_lost(tmp_path: Path) -> None:
    """The recorder's kprobes missed 10 calls, and its programs 3 and 4."""
    run("skipped", tmp_path, "-r", "64", path := tmp_path / "probes.bin", "any.bpf.o")
    assert probes.read(path)[1] == probes.Losses(records=0, updates=17)


def test_the_rest_of_a_split_bio_has_its_own_pages(tmp_path: Path) -> None:
    """Fields: begin, end, owner, pages, inode, first index."""
    lines = [line.split()[2:] for line in run("split_bio", tmp_path).splitlines()]
    assert lines == [["0", "3", "5", "14"], ["0", "1", "5", "16"], ["0", "2", "5", "12"]]


def test_an_atomic_commit_is_not_a_later_syncs_wait(tmp_path: Path) -> None:
    """F2FS: nothing is lost, and the wait begins within its sync, which begins at 1001 ns."""
    lost, *waits = run("f2fs_atomic", tmp_path).splitlines()
    assert lost == "0" and [line.split()[:2] for line in waits] == [["1002", "1003"]]
