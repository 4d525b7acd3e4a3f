"""`python -m commitpath.database.recomputed FOLDER [kept]`: what a run's files give, as JSON on stdout.

For files that came from another lab: the process is limited as the one that reads its database
(checked.py). With `kept` the analysis stays in FOLDER, as `make analyse` leaves it; else nothing is written.
"""

import json
import sys
from pathlib import Path

from analysis import pipeline
from analysis.files import read_json
from base.errors import BadInput
from base.text import printable
from commitpath.database.checked import limited
from commitpath.database.store import DatabaseError


def main() -> int:
    """Run the command line; every failure is one line."""
    try:
        with limited():
            folder = Path(sys.argv[1])
            if sys.argv[2:] == ["kept"]:
                pipeline.analyse(folder)
                manifest, summary = (read_json(folder / f"{name}.json") for name in ("manifest", "summary"))
            else:
                _, _, manifest, summary = pipeline.recompute(folder)
            print(json.dumps({"summary": summary, "manifest": manifest}))
    except (BadInput, DatabaseError) as error:
        print(printable(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
