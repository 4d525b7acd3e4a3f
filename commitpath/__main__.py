"""Command line behind the Makefile: python -m commitpath TARGET."""

import os
import sys

from base import interrupts


def _run() -> int:
    """Run the command that is named; signals wait until everything is loaded, well below a second."""
    interrupts.hold()
    from base.paths import ROOT
    from commitpath import commands

    os.chdir(ROOT)
    interrupts.let()
    return commands.run(sys.argv[1:])


def main() -> int:
    """Run the command that is named; Ctrl-C and a terminate have one answer, from the first moment on.

    The Makefile blocks SIGINT.
    """
    return interrupts.answered("commitpath", _run)


if __name__ == "__main__":
    sys.exit(main())
