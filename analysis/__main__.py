"""python -m analysis RUN_DIR: analyse a run again, replace its tables, figures and report, print its summary.

Exit status: 0 the run is good, 1 it is rejected (reasons in summary.json), 2 wrong usage,
3 an input file cannot be read; earlier outputs are then left unchanged.
"""

import argparse
import sys
from pathlib import Path

from analysis import pipeline
from analysis.command import text
from analysis.report import terminal
from base.errors import FileError
from base.text import printable_lines


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis",
        description="Redo a run's tables, figures, summary and report from its raw files.",
        epilog="Exit status: 0 good, 1 rejected, 2 usage, 3 an input file cannot be read.",
    )
    parser.add_argument("run", type=Path, metavar="RUN_DIR", help="results/<cell>/<run>")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    options = parser.parse_args(arguments)
    try:
        summary = pipeline.analyse(options.run)
    except FileError as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    of_command = summary.get("command")
    if not options.quiet:
        table = text.table if of_command else terminal.table
        output = printable_lines(table(summary, options.run / "report.html").split("\n"))
        print(terminal.colored(output) if sys.stdout.isatty() else output)
    if of_command and of_command["failed"]:
        print(f"commitpath: {of_command['failed']} (kept in {options.run})", file=sys.stderr)
        return 1
    return 1 if summary["status"] == "rejected" else 0


if __name__ == "__main__":
    sys.exit(main())
