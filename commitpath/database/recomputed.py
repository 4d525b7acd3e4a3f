"""`python -m commitpath.database.recomputed FOLDER`: what a run's files give, as JSON on stdout.

For files that came from another lab: the process is limited as the one that reads its database
(checked.py), and writes nothing.
"""

import json
import sys
from pathlib import Path

from analysis import pipeline
from base.errors import BadInput
from base.text import printable
from commitpath.database.checked import limited
from commitpath.database.store import DatabaseError


def main() -> int:
    """Run the command line; every failure is one line."""
    try:
        with limited():
            _, _, manifest, summary = pipeline.recompute(Path(sys.argv[1]))
            print(json.dumps({"summary": summary, "manifest": manifest}))
    except (BadInput, DatabaseError) as error:
        print(printable(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
