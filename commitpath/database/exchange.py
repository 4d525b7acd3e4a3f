"""`make export`, `make import`: a portable copy, and the merge of two labs' databases."""

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.text import printable
from commitpath.cell import ROOT
from commitpath.database import limits, rows, store
from commitpath.database.checked import copy_rows
from commitpath.database.files import add_files, files_to_place, write_files
from commitpath.database.store import LABEL, UNNAMED, DatabaseError
from commitpath.database.sync import insert
from commitpath.errors import BadInputError

# What makes two rows the same run; where its files are is each lab's own affair.
CONTENT = tuple(name for name in rows.COLUMNS["run"] if name not in ("path", "stamp"))
CONFLICTS = ("stop", "mine", "theirs")


def check_label(text: str) -> str:
    """A lab's label; BadInputError says what one is."""
    if not re.fullmatch(LABEL, text) or text == UNNAMED:
        raise BadInputError(
            f"LAB={text}: a label is 1 to 41 letters, digits, dots, dashes or underscores, and not {UNNAMED}"
        )
    return text


def name_lab(connection: sqlite3.Connection, label: str | None) -> str:
    """Give this database's own runs the label, if one is given; the label they have now."""
    old = store.label(connection)
    if label is None or label == old:
        return old
    if connection.execute("SELECT 1 FROM run WHERE lab = ?", (label,)).fetchone():
        raise BadInputError(f"LAB={label}: another lab's runs in {store.DATABASE} have that label")
    relabel(connection, old, label)
    connection.execute("UPDATE lab SET label = ?", (label,))
    return label


def relabel(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Change a lab's label in every table."""
    connection.execute("PRAGMA defer_foreign_keys=ON")
    for table in ("run", "file", "grid_run", "grid_excluded"):
        connection.execute(f"UPDATE {table} SET lab = ? WHERE lab = ?", (new, old))


def export(target: Path, label: str | None, files: bool) -> str:
    """Write a portable copy, with the runs' raw files if asked; what was written.

    A damaged row is not in it, and named on stderr.
    """
    if target.exists():
        raise BadInputError(f"FILE={target}: it exists already; an export overwrites nothing")
    if not target.parent.is_dir():
        raise BadInputError(f"FILE={target}: there is no folder {target.parent}")
    with store.opened() as connection:
        if name_lab(connection, label) == UNNAMED:
            raise BadInputError(
                "LAB=<label>: say what this lab is called, so that its runs can be told from others'"
            )
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
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
    finally:
        part.unlink(missing_ok=True)
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
    command = [
        sys.executable,
        "-m",
        "commitpath.database.checked",
        str(source),
        str(clean),
        "all" if refuse else "sound",
    ]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limits.SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DatabaseError(f"{source}: not read within {limits.SECONDS} s; nothing was imported") from None
    said = done.stderr.splitlines()
    if done.returncode == -signal.SIGXCPU:
        raise DatabaseError(
            f"{source}: not read within {limits.CPU_SECONDS} s of a CPU; nothing was imported"
        )
    if done.returncode == 1 and len(said) == 1:
        raise DatabaseError(said[0])
    if done.returncode:
        why = said[-1] if said else f"status {done.returncode}"
        raise DatabaseError(f"{source}: it could not be checked ({why}); nothing was imported")
    told(source, said)
    return clean


def import_(source: Path, label: str | None, conflict: str, refuse: bool = True) -> str:
    """Merge another database into this one; what was done.

    label: for the runs of a lab that has no label. conflict: what to do with a run that
    both have with different contents: stop (nothing is imported), mine, theirs. refuse: as
    of clean_copy.
    """
    with (
        files_to_place() as part,
        store.opened(clean_copy(source, part, refuse), write=False) as theirs,
        store.opened() as mine,
    ):
        done = merge(source, theirs, mine, part, label, conflict)
    return f"{source}: {done}"


def merge(
    source: Path,
    theirs: sqlite3.Connection,
    mine: sqlite3.Connection,
    part: Path,
    label: str | None,
    conflict: str,
) -> str:
    """Take over the rows of a checked database; how many of which kind."""
    if not label and theirs.execute("SELECT 1 FROM run WHERE lab = ?", (UNNAMED,)).fetchone():
        raise BadInputError(f"{source}: runs of a lab without a label; say LAB=<label>")
    names = {UNNAMED: label}
    own = store.label(mine)
    count = dict.fromkeys(("new", "there already", "replaced", "kept as they were here"), 0)
    for row in rows.stored(theirs, "run"):
        old = {name: row[name] for name in rows.COLUMNS["run"]}
        fresh = old | {"lab": names.get(row["lab"]) or row["lab"], "path": None, "stamp": None}
        key = (fresh["lab"], fresh["cell_id"], fresh["run_id"])
        query = f"SELECT {', '.join(old)} FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?"
        have = mine.execute(query, key).fetchone()
        if have and all(have[name] == fresh[name] for name in CONTENT):
            count["there already"] += 1
            continue
        if have and conflict == "stop":
            different = [name for name in CONTENT if have[name] != fresh[name]]
            raise DatabaseError(
                f"{source}: run {'/'.join(key)} is in {store.DATABASE} with another "
                f"{', '.join(different)}; nothing was imported (CONFLICT=mine keeps ours, "
                "CONFLICT=theirs takes theirs)"
            )
        if have and conflict == "mine":
            count["kept as they were here"] += 1
            continue
        if have:
            # the own files stay linked; a later `make results` compares them again
            fresh |= {"path": have["path"], "stamp": have["stamp"]}
        count["replaced" if have else "new"] += 1
        insert(mine, fresh)
        query = "SELECT name, sha256, content FROM file WHERE lab = ? AND cell_id = ? AND run_id = ?"
        write_files(mine, part, fresh, theirs.execute(query, (old["lab"], *key[1:])), own)
    for table in ("grid_run", "grid_excluded"):
        for entry in rows.stored(theirs, table):
            values = [entry[name] for name in rows.COLUMNS[table]]
            values[0] = names.get(entry["lab"]) or entry["lab"]
            marks = ", ".join("?" * len(values))
            mine.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)
    return f"{sum(count.values())} runs: " + ", ".join(f"{number} {what}" for what, number in count.items())
