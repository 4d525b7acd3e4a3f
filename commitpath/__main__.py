"""Command line behind bin/commitpath: python -m commitpath TARGET NAME=value…"""

import fcntl
import os
import sys

from base import interrupts


def _open_streams() -> None:
    """Open what was closed, to nobody: else a file that is opened takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            # a shell's own script may have the number of a stream that was closed
            unfit = number > 0 and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        except OSError:
            unfit = True
        if unfit:
            nobody = os.open(os.devnull, os.O_RDWR)
            if nobody != number:
                os.dup2(nobody, number)
                os.close(nobody)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _run() -> int:
    """Run the command that is named; signals wait until everything is loaded, well below a second."""
    interrupts.hold()
    from commitpath.commands import table

    words = sys.argv[1:]
    if words[:1] == ["--folder"]:
        os.chdir(words[1])
        words = words[2:]
    interrupts.let()
    return table.run(words)


def main() -> int:
    """Run the command that is named; Ctrl-C and a terminate have one answer, from the first moment on.

    bin/commitpath blocks SIGINT.
    """
    _open_streams()
    return interrupts.answered("commitpath", _run)


if __name__ == "__main__":
    sys.exit(main())
