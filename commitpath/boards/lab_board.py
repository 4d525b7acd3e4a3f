"""Lock a lab board, run its acquire, power-cycle, release hooks, tear it down; check that its run ended."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.host import ansible
from images import artifacts
from images.board_tar import BadTarError
from images.cellrun import RunOutput
from model.cell import Cell

HOOK_LIMIT_SECONDS = 600.0
# End of a hook's output in which its last line is looked for.
LAST_BYTES = 4096
# From a board's power-on to its first answer.
BOOT_LIMIT_SECONDS = 300.0
BOOT_POLL_SECONDS = 5.0
# A step of the host ends this long before the lease that it renewed.
LEASE_MARGIN_SECONDS = 60
# Scripts of playbooks/board for lab boards only: for the end of a lease, and for other activity.
SCRIPTS = ("lease.sh", "teardown.sh", "covariates.py", "readings.py", "noise.py")


def check_clock(cell: Cell, entry: Mapping[str, Any]) -> None:
    """Refuse another clock than its own for a lab board."""
    if cell.clock != "real" and entry["board_kind"] != "virtual":
        raise BadInputError(f"CLOCK={cell.clock}: BOARD={cell.board} has a clock of its own; use CLOCK=real")


def call_hook(entry: Mapping[str, Any], hook: str) -> None:
    """Run a hook without a shell, if the board has it; LabError has its last line.

    Its output is a file: a pipe would stay open as long as the hook's remaining children.
    """
    if hook not in entry:
        return
    with step(f"{hook}: {entry[hook]}"), tempfile.TemporaryFile() as output:
        command = shlex.split(entry[hook])
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=HOOK_LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{hook}: {entry[hook]}: no end within {HOOK_LIMIT_SECONDS:.0f} s") from error
        except OSError as error:
            raise LabError(f"{hook}: {command[0]}: {error.strerror}") from error
        if done.returncode:
            output.seek(-min(output.tell(), LAST_BYTES), os.SEEK_END)
            line = ansible.last_line(output.read().decode(errors="replace"))
            raise LabError(f"{hook}: {entry[hook]} failed with {done.returncode}: {line}")


@contextmanager
def held(name: str, entry: Mapping[str, Any]) -> Iterator[None]:
    """Lock a board on this host; call its hooks before and after."""
    with artifacts.locked(artifacts.CACHE / f"board-{name}"):
        call_hook(entry, ansible.ACQUIRE)
        with at_end(lambda: call_hook(entry, ansible.RELEASE), "was not given back"):
            yield


@contextmanager
def torn_down(variables: Mapping[str, Any]) -> Iterator[None]:
    """Restore a board's previous state at the end, after an error too."""

    def tear_down() -> None:
        with step("tear down"):
            ansible.play("teardown.yml", variables, artifacts.CACHE / "log/teardown.json")

    with at_end(tear_down, "could not be torn down"):
        yield


@contextmanager
def at_end(do: Callable[[], None], otherwise: str) -> Iterator[None]:
    """Call `do` at the end. After an error its own failure is only printed, with `otherwise`."""
    try:
        yield
    finally:
        failed = sys.exc_info()[0] is not None
        try:
            do()
        except LabError as error:
            if not failed:
                raise
            print(f"commitpath: the board {otherwise} either: {error}", file=sys.stderr)


def reached(entry: Mapping[str, Any], first: Callable[[], object]) -> None:
    """Call `first`, the first step on a board; if the board does not answer, power-cycle it once."""
    try:
        first()
    except ansible.UnreachableError as error:
        if ansible.POWER_CYCLE not in entry:
            raise
        print(f"commitpath: {error}; it is switched off and on", file=sys.stderr)
    else:
        return
    call_hook(entry, ansible.POWER_CYCLE)
    deadline = time.monotonic() + BOOT_LIMIT_SECONDS
    while True:
        try:
            first()
        except ansible.UnreachableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(BOOT_POLL_SECONDS)
        else:
            return


def check_end(output: RunOutput, run_id: str) -> None:
    """Raise LabError unless a board sent the run of this call, and was not rebooted."""
    try:
        words = output.text("end").split()
    except (KeyError, BadTarError):
        words = []
    # a tar ends with two blocks of zeros; without them it was cut short
    if len(words) != 3 or not output.tar.endswith(bytes(1024)):
        raise LabError("the board sent no run that has ended: its end marker is not whole")
    ended, taken, now = words
    if ended != run_id:
        raise LabError(f"the board sent the run {ended}, and {run_id} was begun")
    if taken != now:
        raise LabError("the board was booted anew since it was taken: its run does not count")
