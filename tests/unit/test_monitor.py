"""QEMU's monitor: an interrupt in a command, and a QEMU that ends as it is greeted."""

import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from base.errors import LabError
from base.paths import ROOT
from images import qemu

# Asks a QEMU without a machine, until the interrupt that comes soon is answered.
ASKS = """
import os, signal, subprocess, sys, threading
from pathlib import Path
from types import SimpleNamespace
from base import interrupts
from images import qemu

folder = Path(sys.argv[1])

def run():
    line = [qemu.QEMU, "-M", "none", "-display", "none", "-nodefaults"]
    line += ["-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
    process = subprocess.Popen(line, start_new_session=True)
    try:
        with qemu.Monitor(SimpleNamespace(folder=folder), process) as monitor:
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            while True:
                monitor.command("query-status")
    finally:
        process.kill()
        process.wait()

sys.exit(interrupts.run_command("asks", run))
"""


def test_an_interrupt_in_a_command_is_one_line(tmp_path: Path) -> None:
    """It comes while the event loop waits for the answer, nearly always."""
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        line = [sys.executable, "-c", ASKS, str(folder)]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 130
        assert done.stderr == "asks: interrupted; nothing is left running\n"


@pytest.mark.parametrize("commands", [0, 1])
def test_a_qemu_that_ends_says_why(tmp_path: Path, commands: int) -> None:
    """It answers the greeting, and takes that many commands, before it is gone."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "qmp"))
    listening.listen()

    def greet() -> None:
        taken, _ = listening.accept()
        with taken:
            taken.sendall(b'{"QMP": {"version": {"qemu": {}, "package": ""}, "capabilities": []}}\n')
            taken.recv(4096)
            taken.sendall(b'{"return": {}}\n')
            for _ in range(commands):
                taken.recv(4096)
        listening.close()

    (tmp_path / "qemu.log").write_text("no memory\n")
    thread = threading.Thread(target=greet)
    thread.start()
    machine: Any = SimpleNamespace(folder=tmp_path)
    ended: Any = SimpleNamespace(poll=lambda: 1)
    # one that ends at once is noticed while connecting or by the command, whichever is first
    reason = "QEMU: quit: no memory" if commands else "QEMU(: quit| did not start): no memory"
    with pytest.raises(LabError, match=reason), qemu.Monitor(machine, ended) as monitor:
        monitor.command("quit")
    thread.join()
