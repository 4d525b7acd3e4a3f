"""Lines of a board's console are read whole, however they come."""

import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from base.errors import LabError
from images.console import starved, wait_for_line, wait_until


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


def test_time_without_a_cpu_of_the_host_does_not_count(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = time.monotonic()
    with subprocess.Popen(["sleep", "60"]) as process:
        assert 0 <= starved(process) < 60
        monkeypatch.setattr("images.console.starved", lambda _: 0.5)
        with pytest.raises(LabError, match="did not say"):
            wait_for_line(machine, "await-cell: armed", 0, process)
        with pytest.raises(LabError, match="waited 0 s in vain until the board is up"):
            wait_until("the board is up", 0, process, machine, lambda: False)
        process.kill()
    assert time.monotonic() - begin > 1
