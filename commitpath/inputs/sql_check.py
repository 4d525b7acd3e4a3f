"""Execute the SQL of FILE with the cell's SQLite before a board is prepared (docs/how-to/sql.md).

What SQLite refuses here it would refuse on the board, minutes later: a word that is no SQL, a table, function
or module that it does not have, a constraint.
"""

import functools
import json
import signal
import subprocess
import sys
from pathlib import Path

from base.errors import BadInputError, LabError
from base.paths import ROOT
from commitpath.cells.profiles import load_profile
from commitpath.inputs import execute_sql
from images import artifacts, programs
from model import userfile
from model.cell import Cell

# Of a CPU. What takes longer here takes hours on a board, and is not checked to its end.
SECONDS = 30
# How a process ends that had all of its CPU time.
LIMITED = (-signal.SIGXCPU, -signal.SIGKILL)


def check(cell: Cell, file: str = "") -> None:
    """Refuse a cell whose FILE has a statement that its SQLite fails to execute. file: the path given."""
    profile = cell.profiles.get("file", {})
    if not any(kind in profile for kind in userfile.USERS):
        return
    version = cell.value(load_profile("engine", cell.engine)["release"])
    library = programs.release_library(programs.made_of(cell.engine)[-1], version)
    if said := _error(library, *userfile.text_of(profile)):
        raise BadInputError(f"FILE={file or cell.file}: {said} (SQLite {version})")


# a sweep has many cells of a file
@functools.lru_cache(maxsize=64)
def _error(library: Path, kind: str, text: str) -> str:
    """Return the line and what SQLite says of it.

    Nothing of a text that it executes, or does not to its end within the time and memory that it has here.
    """
    parts = userfile.parts({kind: text})
    given = {
        "library": str(library),
        "databases": parts.databases,
        "seconds": SECONDS,
        **{
            name: [(one.line, one.text, one.database) for one in statements]
            for name, statements in (("schema", parts.schema), ("transactions", parts.transactions))
        },
    }
    with artifacts.work_folder() as work:
        done = subprocess.run(
            [sys.executable, "-m", execute_sql.__name__, str(work)],
            cwd=ROOT,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if done.returncode and done.returncode not in LIMITED:
        said = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        ended = signal.Signals(-done.returncode).name if done.returncode < 0 else said
        raise LabError(f"FILE cannot be executed on this host: {ended}")
    return done.stdout.rstrip("\n")
