"""python -m analysis.audit RUN_DIR: check the correlation of a run's records.

Prints a line per fault. Exit status: 0 none, 1 some, 2 wrong usage, 3 a file cannot be read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from analysis import audit, stages
from base.errors import BadInput
from base.text import printable


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m analysis.audit RUN_DIR", file=sys.stderr)
        return 2
    try:
        faults = audit.reasons(stages.build(Path(given[0])))
    except BadInput as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 3
    for fault in faults:
        print(printable(fault))
    if not faults:
        print("no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
