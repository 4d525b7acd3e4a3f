"""A lab board on the host's side: who holds it, the hooks of whoever manages it, and which runs count."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from base.errors import BadInputError, LabError
from base.progress import step
from commitpath.host import ansible
from images import artifacts
from images.board_tar import BadTarError
from images.cellrun import RunOutput
from model.cell import Cell

HOOK_LIMIT_SECONDS = 600.0
# Of what it says, the end that is looked at for its last line.
SAID_BYTES = 4096
# How long a board that was switched on may take until it answers.
BOOT_LIMIT_SECONDS = 300.0
BOOT_POLL_SECONDS = 5.0
# A step of the host ends before the lease that it has renewed does.
LEASE_MARGIN_SECONDS = 60
# What a lab board has of playbooks/board beside what every board has.
SCRIPTS = ("lease.sh", "teardown.sh", "covariates.py", "readings.py", "noise.py")


def check_clock(cell: Cell, entry: Mapping[str, Any]) -> None:
    """BadInputError where a lab board is to have another clock than its own."""
    if cell.clock != "real" and entry["board_kind"] != "virtual":
        raise BadInputError(f"CLOCK={cell.clock}: BOARD={cell.board} has a clock of its own; use CLOCK=real")


def call_hook(entry: Mapping[str, Any], hook: str) -> None:
    """Run a hook, if the board has it; LabError with its last words. No shell is between.

    What it says goes into a file: a pipe is open as long as anything that it started and left behind.
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
            output.seek(-min(output.tell(), SAID_BYTES), os.SEEK_END)
            said = ansible.last_line(output.read().decode(errors="replace"))
            raise LabError(f"{hook}: {entry[hook]} failed with {done.returncode}: {said}")


@contextmanager
def held(name: str, entry: Mapping[str, Any]) -> Iterator[None]:
    """Hold a board on this host, and between its hooks."""
    with artifacts.locked(artifacts.CACHE / f"board-{name}"):
        call_hook(entry, ansible.ACQUIRE)
        with at_last(lambda: call_hook(entry, ansible.RELEASE), "was not given back"):
            yield


@contextmanager
def torn_down(variables: Mapping[str, Any]) -> Iterator[None]:
    """Leave a board as it was found, whatever happened."""

    def tear_down() -> None:
        with step("tear down"):
            ansible.play("teardown.yml", variables, artifacts.CACHE / "log/teardown.json")

    with at_last(tear_down, "could not be torn down"):
        yield


@contextmanager
def at_last(do: Callable[[], None], otherwise: str) -> Iterator[None]:
    """DO at the end, whatever happened. What failed first is what the user must hear: OTHERWISE is told."""
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
    """Do FIRST, the first of all that is done with a board; where it does not answer, power it anew once."""
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
    """LabError unless what a board sent is the run that this call began, on a board that was not rebooted."""
    try:
        words = output.text("end").split()
    except (KeyError, BadTarError):
        words = []
    if len(words) != 3:
        raise LabError("the board sent no run that has ended: its end marker is not whole")
    ended, taken, now = words
    if ended != run_id:
        raise LabError(f"the board sent the run {ended}, and {run_id} was begun")
    if taken != now:
        raise LabError("the board was booted anew since it was taken: its run does not count")


def board_scripts() -> dict[str, bytes]:
    """What a lab board has beside what every board has: how it is left when its lease ends, and what it was
    like beside a run."""
    folder: Path = ansible.PLAYBOOKS / "board"
    return {name: (folder / name).read_bytes() for name in SCRIPTS}
