"""python -m analysis.tree RUN_DIR TRANSACTION: print the ledger of one transaction as a tree.

TRANSACTION is its number or `slowest`. Exit status: 0 done, 2 wrong usage, 3 a table cannot be read.
"""

import re
import sys
from pathlib import Path

from analysis.inspect.load import Loaded
from analysis.run_files.reading import shown
from analysis.tree import terminal
from base.errors import FileError


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 2:
        print("usage: python -m analysis.tree RUN_DIR <number>|slowest", file=sys.stderr)
        return 2
    try:
        run = Loaded(Path(given[0]))
    except FileError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    count = run["transactions"].height
    wanted = given[1]
    if wanted != "slowest" and not (re.fullmatch("[0-9]{1,18}", wanted) and int(wanted) < count):
        allowed = f"0 to {count - 1}, or slowest" if count else "slowest: the run has none"
        print(
            f"commitpath: TRANSACTION={shown(wanted)}: no such transaction; expected {allowed}",
            file=sys.stderr,
        )
        return 2
    slowest = run["costs"]["latency_ns"].arg_max()
    terminal.show(run, slowest if wanted == "slowest" else int(wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
