"""Waiting for what a board says on its console, and for the board itself."""

import subprocess
import time
from collections.abc import Callable

from base.errors import LabError
from images.qemu import Machine


def wait_until(
    what: str, limit: float, process: subprocess.Popen[bytes], machine: Machine, done: Callable[[], bool]
) -> None:
    """Poll done() until it is true; LabError when QEMU ends or `limit` wall seconds are over.

    what: the awaited, as in "the board is up".
    """
    deadline = time.monotonic() + limit
    while not done():
        if process.poll() is not None:
            log = (machine.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
            said = log[-1] if log else machine.serial_tail()
            raise LabError(f"the board ended before {what}; it said: {said}")
        if time.monotonic() > deadline:
            raise LabError(
                f"waited {limit:.0f} s in vain until {what}; the board's last line: {machine.serial_tail()}"
            )
        time.sleep(0.05)


def wait_for_line(machine: Machine, start: str, limit: float, process: subprocess.Popen[bytes]) -> str | None:
    """The console line that begins with `start`, None when QEMU ends first.

    LabError when neither comes within `limit` wall seconds.
    """
    log = machine.folder / "serial.log"
    deadline = time.monotonic() + limit
    seen = 0
    while True:
        ended = process.poll() is not None
        size = log.stat().st_size if log.exists() else 0
        # the boards need the CPU: it is read when it has grown, not fifty times a second
        for line in log.read_text(errors="replace").splitlines(keepends=True) if size > seen else []:
            # of a line that the board is still at, the rest may be what counts
            if line.startswith(start) and (ended or line.endswith(("\r", "\n"))):
                return line.rstrip("\r\n")
        seen = size
        if ended:
            return None
        if time.monotonic() > deadline:
            raise LabError(
                f"the board did not say '{start}' within {limit:.0f} s; "
                f"its last line: {machine.serial_tail()}"
            )
        time.sleep(0.02)
