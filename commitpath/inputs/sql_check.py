"""Refuse a FILE with SQL that fails: execute it on this host with the cell's SQLite, before a board runs it.

The board would refuse the same minutes later: invalid SQL, unknown tables, functions or modules, constraints
(docs/how-to/sql.md).
"""

import functools
import json
import signal
import subprocess
from pathlib import Path

from base.errors import LabError, UnfitFileError
from base.paths import PYTHON, ROOT
from commitpath.cells.profiles import load_profile
from commitpath.inputs import execute_sql
from images import artifacts, programs
from model import userfile
from model.cell import Cell

# CPU seconds. Longer texts would take hours on a board, and are not checked to their end.
SECONDS = 30
# Exit codes of a process that used all of its CPU time.
LIMITED = (-signal.SIGXCPU, -signal.SIGKILL)


def check(cell: Cell, file: str = "") -> None:
    """Refuse a FILE with a statement that the cell's SQLite cannot execute. file: the user's path."""
    profile = cell.profiles.get("file", {})
    if not any(kind in profile for kind in userfile.USERS):
        return
    version = cell.value(load_profile("engine", cell.engine)["release"])
    library = programs.release_library(programs.made_of(cell.engine)[-1], version)
    if error := _error(library, *userfile.text_of(profile)):
        raise UnfitFileError(f"FILE={file or cell.file}: {error} (SQLite {version})")


# cached: a sweep has many cells of a file
@functools.lru_cache(maxsize=64)
def _error(library: Path, kind: str, text: str) -> str:
    """Return the first error's line and SQLite's message, or empty, within limits of time and memory."""
    parts = userfile.parts({kind: text})
    given = {
        "library": str(library),
        "databases": parts.databases,
        "seconds": SECONDS,
        **{
            name: [(each.line, each.text, each.database) for each in statements]
            for name, statements in (("schema", parts.schema), ("transactions", parts.transactions))
        },
    }
    with artifacts.work_folder() as work:
        done = subprocess.run(
            [*PYTHON, "-m", execute_sql.__name__, str(work)],
            cwd=ROOT,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if done.returncode and done.returncode not in LIMITED:
        line = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        reason = signal.Signals(-done.returncode).name if done.returncode < 0 else line
        raise LabError(f"FILE cannot be executed on this host: {reason}")
    return done.stdout.rstrip("\n")
