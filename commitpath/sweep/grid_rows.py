"""What the database says of grids: which runs each asks for, and which cells it leaves out."""

import json
import sqlite3
from collections.abc import Iterable

from commitpath.cells.identities import cell_id
from commitpath.database import store
from commitpath.sweep.grid import Excluded
from commitpath.sweep.sweep_plan import Planned


def write(connection: sqlite3.Connection, runs: Iterable[Planned], excluded: Iterable[Excluded]) -> None:
    """Write which runs the swept grids ask for now, in place of what they asked for before."""
    lab = store.label(connection)
    runs, excluded = list(runs), list(excluded)
    names = {name for run in runs for name in run.grids} | {entry.grid for entry in excluded}
    for name in names:
        for table in ("grid_run", "grid_excluded"):
            connection.execute(f"DELETE FROM {table} WHERE lab = ? AND grid = ?", (lab, name))
    connection.executemany(
        "INSERT INTO grid_run VALUES (?, ?, ?, ?)",
        [(lab, name, cell_id(run.cell), run.repeat) for run in runs for name in run.grids],
    )
    connection.executemany(
        "INSERT INTO grid_excluded VALUES (?, ?, ?, ?)",
        [(lab, entry.grid, json.dumps(entry.settings, sort_keys=True), entry.reason) for entry in excluded],
    )
