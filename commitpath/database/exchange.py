"""`make export`, `make import`: a portable copy, and the merge of two labs' databases."""

import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from base import progress, scratch
from base.errors import BadInputError
from base.paths import RESULTS
from base.text import printable
from commitpath.database import evidence, process, rows, store
from commitpath.database.checked import copy_rows
from commitpath.database.files import IMPORTED, add_files, files_to_place, folder_below
from commitpath.database.store import LABEL, UNNAMED, DatabaseError
from commitpath.database.sync import Copies, insert

# What makes two rows the same run; where its files are is each lab's own affair.
CONTENT = tuple(name for name in rows.COLUMNS["run"] if name not in ("path", "stamp"))
CONFLICTS = ("stop", "mine", "theirs")
LABELLED = tuple(rows.COLUMNS)


def check_label(text: str) -> str:
    """A lab's label; BadInputError says what one is."""
    if not re.fullmatch(LABEL, text) or text == UNNAMED:
        raise BadInputError(
            f"LAB={text}: a label is 1 to 41 letters, digits, dots, dashes or underscores, and not {UNNAMED}"
        )
    return text


def name_lab(connection: sqlite3.Connection, label: str | None) -> str:
    """Give this database's own runs the label, if they have none yet; the label they have now."""
    old = store.label(connection)
    if label is None or label == old:
        return old
    if old != UNNAMED:
        raise BadInputError(
            f"LAB={label}: this lab is called {old}; whoever has imported its runs would have each of them "
            "twice; nothing was exported (leave LAB out)"
        )
    if has_label(connection, label):
        raise BadInputError(f"LAB={label}: another lab's runs in {store.DATABASE} have that label")
    relabel(connection, old, label)
    connection.execute("UPDATE lab SET label = ?", (label,))
    return label


def has_label(connection: sqlite3.Connection, label: str) -> bool:
    """Whether any table has a row of a lab."""
    queries = (f"SELECT 1 FROM {table} WHERE lab = ?" for table in LABELLED)
    return any(connection.execute(query, (label,)).fetchone() for query in queries)


def relabel(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Change a lab's label in every table."""
    connection.execute("PRAGMA defer_foreign_keys=ON")
    for table in LABELLED:
        connection.execute(f"UPDATE {table} SET lab = ? WHERE lab = ?", (new, old))


def export(target: Path, label: str | None, files: bool) -> str:
    """Write a portable copy, with the runs' raw files if asked; what was written.

    A damaged row is not in it, and named on stderr.
    """
    with store.opened() as connection:
        if name_lab(connection, label) == UNNAMED:
            raise BadInputError(
                "LAB=<label>: say what this lab is called, so that its runs can be told from others'"
            )
    # one that takes long, and SQLite's journal beside it: a kill may come
    with scratch.folder(target.resolve().parent, ".export") as work:
        part = work / "export.sqlite"
        with store.opened(write=False) as connection:
            told(store.DATABASE, copy_rows(connection, part))
        with store.opened(part) as copy:
            paths = list(rows.stored(copy, "run"))
            # where files are is no other lab's affair
            copy.execute("UPDATE run SET path = NULL, stamp = NULL")
            for row in paths:
                if files and row["path"] is not None:
                    add_files(copy, row)
        part.replace(target)
    with_files = ", with their raw files" if files else ""
    return f"{target}: {len(paths)} runs{with_files}, {target.stat().st_size} bytes"


def told(source: Path, lines: Sequence[str]) -> None:
    """Name on stderr what of a database was left out."""
    for line in lines:
        print(f"commitpath: {printable(source)}: {line}", file=sys.stderr)


def clean_copy(source: Path, folder: Path, refuse: bool = True) -> Path:
    """Another lab's rows in a new database, made by a process that may not use much (checked.py).

    refuse: refuse the file for a row that is not sound; else that row is left out, and named.
    Raises DatabaseError.
    """
    clean = folder / "clean.sqlite"
    with progress.counted(f"check {printable(source)}"):
        done = process.run(str(source), "checked", str(source), str(clean), "all" if refuse else "sound")
    told(source, done.stderr.splitlines())
    return clean


def import_(source: Path, label: str | None, conflict: str) -> str:
    """Merge another lab's database into this one; what was done.

    label: for the runs of a lab that has no label. conflict: what to do with a run that
    both have with different contents: stop (nothing is imported), mine, theirs.
    """
    with (
        scratch.folder(RESULTS, ".import") as part,
        store.opened(clean_copy(source, part), write=False) as theirs,
    ):
        with store.opened(write=False) as mine:
            taken = [
                (there, row)
                for what, there, row in judged(source, theirs, mine, label, conflict)
                if what in TAKEN and has_files(theirs, there, row)
            ]
        # takes seconds a run, in which others may write to this database
        for number, (there, row) in enumerate(taken, 1):
            name, begin = f"{rows.name('run', row)} ({number} of {len(taken)})", time.monotonic()
            with progress.counted(printable(f"analyse {name}")):
                evidence.check(source, theirs, part, there, row)
            progress.say(printable(f"analysed: {name}, {time.monotonic() - begin:.1f} s"))
        with files_to_place(part) as put, store.opened() as mine:
            done = merge(source, theirs, mine, part, label, conflict)
            put()
    return f"{source}: {done}"


def take_over(made: Path) -> str:
    """Take what is sound of the database, and not in one that was made anew; what was done.

    Other labs' runs, and those of this lab whose folders are not here. A damaged row is left out,
    and named.
    """
    with (
        scratch.folder(RESULTS, ".import") as part,
        store.opened(clean_copy(store.DATABASE, part, refuse=False), write=False) as theirs,
        store.opened(made) as mine,
    ):
        done = merge(store.DATABASE, theirs, mine, part, store.label(mine), "mine", own_too=True)
    return f"{store.DATABASE}: {done}"


# What becomes of a row of an import.
NEW, THERE, REPLACED, KEPT, NOT_OURS, COPY = KINDS = (
    "new",
    "there already",
    "replaced",
    "kept as they were here",
    "left out, of this lab and not here",
    "left out, copies of another run",
)
TAKEN = (NEW, REPLACED)


def judged(
    source: Path,
    theirs: sqlite3.Connection,
    mine: sqlite3.Connection,
    label: str | None,
    conflict: str,
    own_too: bool = False,
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(one of KINDS, its lab there, the row as it would be here) of each run of a checked database.

    Nothing is taken under the own label but if own_too: own runs come from their folders. Raises
    DatabaseError, BadInputError.
    """
    if not label and has_label(theirs, UNNAMED):
        raise BadInputError(f"{source}: runs of a lab without a label; say LAB=<label>")
    own = store.label(mine)
    query = f"SELECT {', '.join(rows.COLUMNS['run'])} FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?"
    for row in rows.stored(theirs, "run"):
        there = row["lab"]
        lab = label if there == UNNAMED else there
        # of an own run with a folder, the folder says whether it counts
        if lab == own and own_too and row["path"] is not None and (RESULTS / row["path"]).is_dir():
            continue
        fresh = {**row, "lab": lab, "path": None, "stamp": None}
        have = mine.execute(query, (lab, row["cell_id"], row["run_id"])).fetchone()
        different = [name for name in CONTENT if have and have[name] != fresh[name]]
        if have and not different:
            yield THERE, there, fresh
        elif conflict == "mine" and have:
            yield KEPT, there, fresh
        elif lab == own and not own_too:
            if conflict == "mine":
                yield NOT_OURS, there, fresh
                continue
            raise DatabaseError(
                f"{source}: {rows.name('run', fresh)} is one of this lab's, "
                f"{'and another ' + ', '.join(different) if have else 'and not'} here; own runs come from "
                f"{RESULTS} alone; nothing was imported (CONFLICT=mine leaves them as they are here)"
            )
        elif have and conflict == "stop":
            raise DatabaseError(
                f"{source}: {rows.name('run', fresh)} is in {store.DATABASE} with another "
                f"{', '.join(different)}; nothing was imported (CONFLICT=mine keeps ours, "
                "CONFLICT=theirs takes theirs)"
            )
        else:
            yield (REPLACED if have else NEW), there, fresh


def has_files(theirs: sqlite3.Connection, there: str, row: Mapping[str, Any]) -> bool:
    """Whether a run comes with its files, or they are here from an older import."""
    query = "SELECT 1 FROM file WHERE lab = ? AND cell_id = ? AND run_id = ? AND content NOT NULL"
    found = theirs.execute(query, (there, row["cell_id"], row["run_id"])).fetchone()
    return bool(found) or folder_below(IMPORTED, row).is_dir()


def merge(
    source: Path,
    theirs: sqlite3.Connection,
    mine: sqlite3.Connection,
    part: Path,
    label: str | None,
    conflict: str,
    own_too: bool = False,
) -> str:
    """Take over the rows of a checked database; how many of which kind. own_too: as of judged."""
    count = dict.fromkeys(KINDS, 0)
    passed_on, copies = set(), Copies(mine)
    for what, there, row in judged(source, theirs, mine, label, conflict, own_too):
        other = copies.of(row) if what in TAKEN else None
        count[COPY if other else what] += 1
        if other:
            shutil.rmtree(folder_below(part, row), ignore_errors=True)
            told(
                source, [f"left out: {rows.name('run', row)}: it is a copy of the {rows.name('run', other)}"]
            )
        if other or what not in TAKEN:
            continue
        if there != store.label(theirs):
            passed_on.add(there)
        if any(folder_below(place, row).is_dir() for place in (part, IMPORTED)):
            row["path"] = str(folder_below(IMPORTED, row).relative_to(RESULTS))
        insert(mine, row)
        copies.add(row)
        key = (row["cell_id"], row["run_id"])
        query = "SELECT name, sha256 FROM file WHERE lab = ? AND cell_id = ? AND run_id = ?"
        mine.executemany(
            "INSERT INTO file (lab, cell_id, run_id, name, sha256) VALUES (?, ?, ?, ?, ?)",
            ((row["lab"], *key, *file) for file in theirs.execute(query, (there, *key))),
        )
    own = store.label(mine)
    entries = dict.fromkeys((True, False), 0)
    for table in ("grid_run", "grid_excluded"):
        for entry in rows.stored(theirs, table):
            values = [entry[name] for name in rows.COLUMNS[table]]
            values[0] = label if entry["lab"] == UNNAMED else entry["lab"]
            taken = own_too or values[0] != own
            entries[taken] += 1
            if taken:
                marks = ", ".join("?" * len(values))
                mine.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)
    said = ", ".join(
        f"{number} {what}" for what, number in count.items() if number or what not in (NOT_OURS, COPY)
    )
    if any(entries.values()):
        said += f"; {entries[True]} rows of grids, {entries[False]} of this lab's left out"
    if passed_on and not own_too:
        said += f"; those of {', '.join(sorted(passed_on))} by {store.label(theirs)}'s word"
    return f"{sum(count.values())} runs: {said}"
