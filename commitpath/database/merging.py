"""Copy valid rows from one results database to another: for export, import and rebuild."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Set

from commitpath.database import row_checks, store
from commitpath.database.sync import COLUMNS, KEY, insert

# Outcomes of an import for a run.
NEW, UNVERIFIED, THERE, NOT_OURS = (
    "new",
    "without files (unverified, ¶)",
    "there already",
    "left out, of this lab",
)


def summary(count: Mapping[str, int], grids: Mapping[bool, int]) -> str:
    """Return the counts of runs by result, and of grids' rows that were taken (True) and not, in words."""
    number = count[NEW] + count[UNVERIFIED]
    without = ("all" if not count[NEW] else f"{count[UNVERIFIED]} of them") + f" {UNVERIFIED}"
    runs = [
        f"{number or 'no'} run{'s' * (number > 1)} imported",
        *([without] if count[UNVERIFIED] else []),
        *(f"{count[kind]} {kind}" for kind in (THERE, NOT_OURS) if count[kind]),
    ]
    rows = [f"{grids[True]} rows of grids"] if grids[True] else []
    rows += [f"{grids[False]} of this lab's left out"] if grids[False] else []
    return ", ".join(runs) + "; " * bool(rows) + ", ".join(rows)


def copy_rows(
    connection: sqlite3.Connection, copy: sqlite3.Connection, only: Set[tuple[str, ...]] | None = None
) -> list[row_checks.Row]:
    """Write the sound rows of a database to another one; return those of runs. only: as for export."""
    runs: list[row_checks.Row] = []
    for table in row_checks.COLUMNS:
        for row in row_checks.sound(connection, table):
            if table == "run" and only is not None and (row["cell_id"], row["run_id"]) not in only:
                continue
            # places of files differ between labs
            insert(copy, {**row, "path": None, "stamp": None}, table)
            runs += [row] if table == "run" else []
    return runs


def merge(
    theirs: sqlite3.Connection,
    mine: sqlite3.Connection,
    count: Counter[str],
    has_files: Callable[[row_checks.Row], bool],
    this_lab_too: bool = False,
) -> Counter[bool]:
    """Copy the sound rows of runs without files, and of grids; return grids' counts, copied (True) or not.

    this_lab_too: also its rows. Rows of runs with files here stay; others are replaced by later ones.
    """
    this_lab, grids = store.label(mine), Counter[bool]()
    query = f"SELECT {', '.join(COLUMNS)} FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?"
    for row in row_checks.sound(theirs, "run"):
        if has_files(row):
            continue
        fresh = {**row, "path": None, "stamp": None}
        have = mine.execute(query, [row[name] for name in KEY]).fetchone()
        if row["lab"] == this_lab and not this_lab_too:
            count[NOT_OURS] += 1
        elif have and (have["path"] is not None or dict(have) == fresh):
            count[THERE] += 1
        else:
            insert(mine, fresh)
            count[UNVERIFIED] += 1
    for table in ("grid_run", "grid_excluded"):
        for entry in row_checks.sound(theirs, table):
            taken = this_lab_too or entry["lab"] != this_lab
            grids[taken] += 1
            if taken:
                insert(mine, entry, table)
    return grids
