"""A board's tar: no more is written than it has bytes, whatever its headers say."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from commitpath.boards import lab_board
from images import board_tar
from images.board_tar import BadTarError
from images.cellrun import RunOutput

LARGE = 3 << 30


def sparse(folder: Path, form: str, name: str = "raw/driver/large") -> bytes:
    """A tar of a file of 3 GiB, all of it a hole."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with path.open("r+b") as file:
        file.truncate(LARGE)
    command = ["tar", "-C", str(folder), f"--format={form}", "--sparse", "-c", name]
    done = subprocess.run(command, check=True, capture_output=True)
    assert len(done.stdout) <= 10240
    return done.stdout


@pytest.mark.parametrize("form", ["gnu", "posix"])
def test_a_sparse_file_is_refused(form: str, tmp_path: Path) -> None:
    sent = sparse(tmp_path / "from", form)
    with pytest.raises(BadTarError, match="a sparse file: 3221225472 bytes in a tar of 10240"):
        RunOutput(sent).extract(tmp_path / "to")
    assert sum(path.stat().st_size for path in tmp_path.glob("to/**/*") if path.is_file()) == 0
    # nor is it read: the end marker of a lab board, the log of a virtual one
    end = sparse(tmp_path / "end", form, "end")
    with pytest.raises(BadTarError, match="a sparse file"):
        RunOutput(end).tail("end")
    with pytest.raises(board_tar.LabError, match="end marker is not whole"):
        lab_board.check_end(RunOutput(end), "r1")


def test_a_file_larger_than_its_tar_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("raw/large")
    member.size = LARGE
    sent = member.tobuf() + bytes(10240)
    with pytest.raises(BadTarError, match="3221225472 bytes in a tar of"):
        RunOutput(sent).extract(tmp_path)
