"""Entry of bin/commitpath: make streams and signals safe, then run a command of commands/dispatch.py."""

import fcntl
import gc
import os
import sys

from base import interrupts
from base.errors import EXIT_FAILED


def _open_streams() -> None:
    """Open closed standard streams to /dev/null: else the next opened file would take their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            # a shell's script may have the number of a closed stream
            unfit = number > 0 and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        except OSError:
            unfit = True
        if unfit:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    # as standard error: a terminal without UTF-8 lacks the marks of tables
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _run() -> int:
    """Run the named command; signals wait until its table is loaded, well below a second."""
    interrupts.block()
    from commitpath.commands import dispatch

    words = sys.argv[1:]
    if words[:1] == ["--folder"]:
        try:
            os.chdir(words[1])
        except OSError as error:
            dispatch.print_error(f"{words[1]}: the current folder cannot be entered: {error.strerror}")
            return dispatch.exit_code(words[2:], EXIT_FAILED)
        words = words[2:]
    interrupts.unblock()
    return dispatch.run(words)


def main() -> int:
    """Run the named command; SIGINT, SIGTERM and SIGHUP end it alike. bin/commitpath blocks SIGINT."""
    _open_streams()
    # Little of what a command allocates is cyclic garbage: looking for it takes an eighth of the imports.
    gc.set_threshold(100_000)
    return interrupts.run_command("commitpath", _run)


if __name__ == "__main__":
    sys.exit(main())
