"""python -m analysis.diff RUN_A RUN_B [--force]: what changed from run A to run B.

Exit status: 0, 2 wrong usage, 3 the runs cannot be compared or read.
"""

import argparse
import sys
from pathlib import Path

from analysis import diff
from analysis.diff import page, terminal
from base.errors import FileError
from base.text import printable_lines


def main(arguments: list[str] | None = None) -> int:
    """Compare two runs; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m analysis.diff", description="Compare two runs.")
    parser.add_argument("a", type=Path, metavar="RUN_A")
    parser.add_argument("b", type=Path, metavar="RUN_B")
    parser.add_argument("--force", action="store_true", help="compare runs that are not comparable, marked")
    options = parser.parse_args(arguments)
    try:
        result = diff.compare(options.a, options.b, options.force)
        report = page.write(result)
    except FileError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    print(printable_lines([*terminal.table(result).split("\n"), "", f"report: {report}"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
