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
from base.paths import ROOT
from base.progress import say, step
from commitpath.boards.payload import has_trials, provisioned_variables
from commitpath.boards.prepared import ensure_provisioned, virtual_board
from commitpath.host import ansible
from images import artifacts, programs
from images.qemu import die_with_parent
from model import cell as cells
from model.cell import Cell


def program(cell: Cell) -> Path:
    """Return the driver or command runner for a cell's board."""
    # both need it, so that only a first call is without it
    first = cell.clock == "virtual" and not artifacts.build_root_folder().exists()
    with provisioned_meanwhile(cell) if first else contextlib.nullcontext():
        if cell.load == identity.COMMAND:
            return programs.command()
        driver = programs.driver(cell)
        if has_trials(cell):
            programs.trials(cell)
        return driver


@contextlib.contextmanager
def provisioned_meanwhile(cell: Cell) -> Iterator[None]:
    """Provision a cell's virtual board in another process during the block, and wait for it at the end.

    Raises LabError with that process's error. An error of the block, or an interrupt, ends it.
    """
    command = [sys.executable, "-m", "commitpath.boards.first_board"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # the terminal's Ctrl-C ends this process, which then ends that one
        start_new_session=True,
        preexec_fn=lambda: die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - a system call, no locks
    )
    assert process.stdin and process.stdout and process.stderr
    lines, errors = process.stderr, process.stdout

    def show() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for line in lines:
            say(f"  {line.decode(errors='replace').rstrip()}")

    shown = threading.Thread(target=show, daemon=True)
    try:
        say("at the same time, in a second process, the board is made:")
        shown.start()
        process.stdin.write(json.dumps(cell.document()).encode())
        process.stdin.close()
        yield
        with step("wait for the board"):
            error = errors.read().decode(errors="replace").strip()
            if process.wait():
                raise LabError(error or "the process that provisions the board ended")
    except BaseException:
        artifacts.end_group(process)
        raise
    finally:
        shown.join()


def main() -> int:
    """Provision the board of the cell on stdin; an error is printed on stdout."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        cell = cells.from_document(json.load(sys.stdin))
        if cell.load == identity.DRIVER:
            # while the other makes the compiler's root
            programs.fetch(cell)
        ensure_provisioned(virtual_board(cell), provisioned_variables(cell, ansible.board(cell.board)))
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(error)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
