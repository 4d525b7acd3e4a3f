"""Wait for a line on a board's console or for a condition; an error if QEMU ends or time is up.

A limit is in wall seconds without those in which QEMU waited for a CPU of the host: a busy host is slow, but
its boards come up.
"""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from base.errors import LabError
from images.qemu import Machine


def starved(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds in which the most delayed thread of a process could run, but had no CPU."""
    delays = [0.0]
    for task in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread may end
            delays.append(int(task.read_text().split()[1]) / 1e9)
    return max(delays)


def wait_until(
    what: str, limit: float, process: subprocess.Popen[bytes], machine: Machine, done: Callable[[], bool]
) -> None:
    """Poll done() until it is true; LabError when QEMU ends or after `limit` seconds.

    what: the awaited event, as in "the board is up".
    """
    deadline = time.monotonic() + limit
    while not done():
        if process.poll() is not None:
            log = (machine.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
            last = log[-1] if log else machine.serial_tail()
            raise LabError(f"the board ended before {what}; it last: {last}")
        if time.monotonic() > deadline and time.monotonic() > deadline + starved(process):
            raise LabError(
                f"waited {limit:.0f} s in vain until {what}; the board's last line: {machine.serial_tail()}"
            )
        time.sleep(0.05)


def wait_for_line(machine: Machine, start: str, limit: float, process: subprocess.Popen[bytes]) -> str | None:
    """Return the console line that begins with `start`, None if QEMU ends first; LabError after `limit` s."""
    log = machine.folder / "serial.log"
    deadline = time.monotonic() + limit
    seen = 0
    while True:
        ended = process.poll() is not None
        size = log.stat().st_size if log.exists() else 0
        # read the log only when it has grown: the boards need the CPU
        for line in log.read_text(errors="replace").splitlines(keepends=True) if size > seen else []:
            # ignore an unfinished line: the rest may matter
            if line.startswith(start) and (ended or line.endswith(("\r", "\n"))):
                return line.rstrip("\r\n")
        seen = size
        if ended:
            return None
        if time.monotonic() > deadline and time.monotonic() > deadline + starved(process):
            raise LabError(
                f"the board did not say '{start}' within {limit:.0f} s; "
                f"its last line: {machine.serial_tail()}"
            )
        time.sleep(0.02)
