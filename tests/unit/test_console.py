"""Lines of a board's console are read whole, however they come."""

import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from base.errors import LabError
from images.console import wait_for_line


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """What wait_for_line needs of a board."""
    return SimpleNamespace(folder=tmp_path, serial_tail=lambda: "its last line")


def test_a_line_is_not_taken_before_its_end(machine: Any) -> None:
    log = machine.folder / "serial.log"
    log.write_bytes(b"board: up\r\nawait-cell: armed: ye")
    with subprocess.Popen(["sleep", "60"]) as process:
        threading.Timer(0.3, lambda: log.write_bytes(log.read_bytes() + b"s\r\n")).start()
        assert wait_for_line(machine, "await-cell: armed", 30, process) == "await-cell: armed: yes"
        log.write_bytes(b"await-cell: armed: ye")
        with pytest.raises(LabError, match="did not say 'await-cell: armed' within 0 s; its last line"):
            wait_for_line(machine, "await-cell: armed", 0.2, process)
        process.kill()
        process.wait()
        assert wait_for_line(machine, "await-cell: armed", 30, process) == "await-cell: armed: ye"
        assert wait_for_line(machine, "another", 30, process) is None
