"""A lab board's partition that somebody uses, or may want to use again, is not formatted."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import lab_board
import pytest

from images import artifacts
from images.ssh import Login


@pytest.fixture(scope="module")
def bench() -> Iterator[Login]:
    """A board with the inventory's name `bench`."""
    with lab_board.board() as login:
        yield login


def storage_tools() -> Path:
    """LVM, md, LUKS and btrfs for the board, of which its image has the kernel's part only."""
    script = Path(__file__).with_name("build-storage-tools.sh")
    folder = artifacts.CACHE / f"storage-tools-{artifacts.hash_of(files=[script])}"
    command = [str(script), str(folder)]
    what = "fetch LVM, md, LUKS and btrfs for the board"
    artifacts.ensure(folder, what, lambda: artifacts.run(command, "storage-tools"), mib=500)
    return folder / "tools.tar"


def test_no_partition_in_use_is_formatted(bench: Login) -> None:
    unpack = "tar -x -C / --skip-old-files --warning=no-timestamp"
    subprocess.run(bench.ssh(unpack), input=storage_tools().read_bytes(), check=True)
    lab_board.hold_guard(bench, "guard-users.sh", 36)
