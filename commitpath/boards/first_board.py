"""Build the program that a board runs; on a first call, provision the board meanwhile, in a second process.

`python -m commitpath.boards.first_board` is that process: it reads the cell on stdin.
"""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from base import identity
from base.errors import LabError
from base.paths import PYTHON, ROOT
from base.progress import say, step
from commitpath.boards.payload import has_trials, provisioned_variables
from commitpath.boards.prepared import ensure_provisioned, virtual_board
from commitpath.cells.profiles import kernel_profile
from commitpath.host import ansible
from images import artifacts, given, programs
from images.qemu import die_with_parent
from model import cell as cells
from model.cell import Cell

# Before the second process's error, on its last line.
ERROR = "commitpath: "


def program(cell: Cell) -> Path:
    """Return the driver or command runner for a cell's board."""
    if cell.load == identity.COMMAND:
        return programs.command()
    # only this process knows the path of a user's own kernel
    both = cell.clock == "virtual" and not given.kind_of(kernel_profile(cell))
    # every driver needs it, so that only a first call is without it
    first = not artifacts.build_root_folder().exists()
    with provisioned_meanwhile(cell) if both and first else contextlib.nullcontext():
        driver = programs.driver(cell)
        # the prepared board has it, too
        if has_trials(cell):
            programs.trials(cell)
        return driver


@contextlib.contextmanager
def provisioned_meanwhile(cell: Cell) -> Iterator[None]:
    """Provision a cell's virtual board in another process during the block, and wait for it at the end.

    Raises LabError with that process's error. An error of the block, or an interrupt, ends it.
    """
    process = subprocess.Popen(
        [*PYTHON, "-m", "commitpath.boards.first_board"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # the terminal's Ctrl-C ends this process, which then ends that one
        start_new_session=True,
        preexec_fn=lambda: die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - a system call, no locks
    )
    assert process.stdin and process.stderr
    lines, last = process.stderr, [""]

    def show() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for line in lines:
            last[0] = line.decode(errors="replace").rstrip()
            say(f"  {last[0]}")

    shown = threading.Thread(target=show, daemon=True)
    try:
        say("at the same time, in a second process, the board is made:")
        shown.start()
        # it may have ended
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(cell.document()).encode())
            process.stdin.close()
        yield
        with step("wait for the board"):
            if code := process.wait():
                shown.join(artifacts.TIDY_UP_SECONDS)
                _, marked, error = last[0].partition(ERROR)
                raise LabError(error if marked else f"the second process ended with {code}: {last[0]}")
    except BaseException:
        artifacts.end_group(process)
        raise
    finally:
        shown.join(artifacts.TIDY_UP_SECONDS)


def main() -> int:
    """Provision the board of the cell on stdin."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        cell = cells.from_document(json.load(sys.stdin))
        # while the other makes the compiler's root
        programs.fetch(cell)
        ensure_provisioned(virtual_board(cell), provisioned_variables(cell, ansible.board(cell.board)))
    except (LabError, OSError, subprocess.SubprocessError) as error:
        say(f"{ERROR}{error}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
