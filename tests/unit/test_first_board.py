"""A first call provisions its board in a second process; what becomes of errors there and here."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from base.errors import LabError
from commitpath.boards import first_board
from commitpath.boards.first_board import provisioned_meanwhile
from commitpath.cells.from_variables import make_cell


def test_an_error_of_the_second_process_is_the_calls(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        pytest.raises(LabError, match=r"^BOARD=gone: "),
        provisioned_meanwhile(replace(make_cell({}), board="gone")),
    ):
        pass
    assert "Traceback" not in capfd.readouterr().err


def test_a_second_process_that_ends_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its closed pipe is not taken for that of `| head`."""
    monkeypatch.setattr(first_board, "PYTHON", ("/bin/false",))
    with (
        pytest.raises(LabError, match="the second process ended with 1"),
        provisioned_meanwhile(make_cell({})),
    ):
        time.sleep(0.3)


def test_an_error_here_ends_the_second_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho working … >&2\necho $$ > {tmp_path}/id\nexec sleep 100\n")
    program.chmod(0o755)
    monkeypatch.setattr(first_board, "PYTHON", (str(program),))
    begin = time.monotonic()
    with pytest.raises(LabError, match="no compiler"), provisioned_meanwhile(make_cell({})):
        while not (tmp_path / "id").exists():
            time.sleep(0.01)
        raise LabError("no compiler")
    assert time.monotonic() - begin < 50
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "id").read_text()), 0)
