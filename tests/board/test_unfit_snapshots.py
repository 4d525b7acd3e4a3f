"""Stored snapshots that are cut short, half written or of another QEMU."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from base import scratch
from commitpath.boards.payload import prepared_variables
from commitpath.boards.prepared import snapshot_folder, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from images import programs, snapshot

ROOT = Path(__file__).resolve().parents[2]
# A cell that no other test uses: its snapshot may be spoilt.
CELL = {"ROWS": "7", "N": "5", "FS": "ext4", "PROBES": "none"}


@pytest.fixture(scope="module")
def unfit() -> Iterator[tuple[Path, Path, Path]]:
    """Where CELL's snapshot belongs: a truncated one, a half-written one and one of another QEMU."""
    cell = make_cell(CELL)
    driver = programs.driver(cell)
    variables = prepared_variables(cell, driver, ansible.board("virtual"))
    folder, inputs = snapshot_folder(cell, virtual_board(cell), variables)
    half, other = folder.with_name(folder.name + "-0123abcd.commitpath.part"), folder.with_name("other-qemu")
    for path, qemu_version in ((folder, inputs["qemu"]), (half, inputs["qemu"]), (other, "QEMU 6.2")):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        (path / "ram").write_bytes(b"ram")
        (path / "state").write_bytes(b"state")
        snapshot.write(path, {**inputs, "qemu": qemu_version})
    (folder / "ram").write_bytes(b"r")
    (half / scratch.LOCK).touch()
    yield folder, half, other
    for path in (folder, half, other):
        shutil.rmtree(path, ignore_errors=True)


def test_unfit_snapshots_are_made_again(unfit: tuple[Path, Path, Path]) -> None:
    """The whole way, once: what is stored is refused with a line, and the cell runs on a new one."""
    folder, half, other = unfit
    done = subprocess.run(
        ["make", "-s", "-C", str(ROOT), "experiment", *(f"{k}={v}" for k, v in CELL.items())],
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
        env={k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))},
    )
    assert done.returncode == 0, done.stderr
    again = [line for line in done.stderr.splitlines() if "is made again" in line]
    assert again == [
        f"the snapshot {folder.name} is made again: its memory has another size than was saved",
        f"the snapshot {other.name} is made again: it was saved by QEMU 6.2",
    ]
    assert snapshot.fault(folder) is None and snapshot.ram_fault(folder) is None
    assert not half.exists() and not other.exists()
