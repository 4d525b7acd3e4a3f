"""Draw a paper's figures again: python -m commitpath.papers PAPER DATABASE FOLDER [VARIABLE=value]…"""

from __future__ import annotations

import sys
from pathlib import Path

from base.errors import LabError
from commitpath.papers import asked
from commitpath.papers.figures import draw


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit status: 0; 2 for wrong usage; LabError's own."""
    given = [argument.partition("=") for argument in arguments[3:]]
    if len(arguments) < 3 or not all(equals for _, equals, _ in given):
        print("usage: python -m commitpath.papers PAPER DATABASE FOLDER [VARIABLE=value]…", file=sys.stderr)
        return 2
    paper, database, folder = arguments[0], Path(arguments[1]), Path(arguments[2])
    overrides = {name: text for name, _, text in given}
    if not folder.is_dir():
        print(f"analysis: {folder}: there is no such folder", file=sys.stderr)
        return 2
    try:
        for path in draw(asked.read({**overrides, "PAPER": paper}), database, folder):
            print(path)
    except LabError as error:
        print(f"analysis: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
