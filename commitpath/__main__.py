"""Command line behind bin/commitpath: python -m commitpath TARGET NAME=value…"""

import os
import sys

from base import interrupts


def _run() -> int:
    """Run the command that is named; signals wait until everything is loaded, well below a second."""
    interrupts.hold()
    from commitpath import commands

    words = sys.argv[1:]
    if words[:1] == ["--folder"]:
        os.chdir(words[1])
        words = words[2:]
    interrupts.let()
    return commands.run(words)


def main() -> int:
    """Run the command that is named; Ctrl-C and a terminate have one answer, from the first moment on.

    bin/commitpath blocks SIGINT.
    """
    return interrupts.answered("commitpath", _run)


if __name__ == "__main__":
    sys.exit(main())
