"""`make export`, `make import`: a portable copy, and the merge of two labs' databases."""

import json
import re
import sqlite3
from pathlib import Path

from commitpath.cell import cell_id
from commitpath.database import store
from commitpath.database.files import add_files, files_to_place, write_files
from commitpath.database.store import UNNAMED, DatabaseError
from commitpath.database.sync import COLUMNS, insert
from commitpath.errors import BadInputError

# What makes two rows the same run; where its files are is each lab's own affair.
CONTENT = tuple(name for name in COLUMNS if name not in ("path", "stamp"))
CONFLICTS = ("stop", "mine", "theirs")


def check_label(text: str) -> str:
    """A lab's label; BadInputError says what one is."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}", text) or text == UNNAMED:
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
    """Write a portable copy, with the runs' raw files if asked; what was written."""
    if target.exists():
        raise BadInputError(f"FILE={target}: it exists already; an export overwrites nothing")
    if not target.parent.is_dir():
        raise BadInputError(f"FILE={target}: there is no folder {target.parent}")
    with store.opened() as connection:
        if name_lab(connection, label) == UNNAMED:
            raise BadInputError(
                "LAB=<label>: say what this lab is called, so that its runs can be told from others'"
            )
        paths = connection.execute("SELECT * FROM run WHERE path NOT NULL").fetchall()
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        with store.opened(write=False) as connection:
            # VACUUM INTO wants no transaction; it takes a consistent copy by itself
            connection.execute("COMMIT")
            connection.execute("VACUUM INTO ?", (str(part),))
            connection.execute("BEGIN")
        with store.opened(part) as copy:
            # where files are is no other lab's affair
            copy.execute("UPDATE run SET path = NULL, stamp = NULL")
            if files:
                for row in paths:
                    add_files(copy, row)
            runs = copy.execute("SELECT count(*) FROM run").fetchone()[0]
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return f"{target}: {runs} runs{', with their raw files' if files else ''}, {target.stat().st_size} bytes"


def import_(source: Path, label: str | None, conflict: str) -> str:
    """Merge another database into this one; what was done.

    label: for the runs of a lab that has no label. conflict: what to do with a run that
    both have with different contents: stop (nothing is imported), mine, theirs.
    """
    with store.opened(source, write=False) as other:
        theirs = other.execute("SELECT * FROM run").fetchall()
        their_files = other.execute("SELECT * FROM file").fetchall()
        grids = other.execute("SELECT * FROM grid_run").fetchall()
        excluded = other.execute("SELECT * FROM grid_excluded").fetchall()
        for row in theirs:
            check_row(source, row)
    files_of: dict[tuple[str, ...], list[sqlite3.Row]] = {}
    for file in their_files:
        files_of.setdefault(tuple(file)[:3], []).append(file)
    names = {UNNAMED: label}
    if any(row["lab"] == UNNAMED for row in theirs) and not label:
        raise BadInputError(f"{source}: runs of a lab without a label; say LAB=<label>")
    added = same = replaced = kept = 0
    with files_to_place() as part, store.opened() as mine:
        own = store.label(mine)
        for row in theirs:
            fresh = dict(row) | {"lab": names.get(row["lab"]) or row["lab"], "path": None, "stamp": None}
            key = (fresh["lab"], fresh["cell_id"], fresh["run_id"])
            query = "SELECT * FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?"
            have = mine.execute(query, key).fetchone()
            if have and all(have[name] == fresh[name] for name in CONTENT):
                same += 1
                continue
            if have and conflict == "stop":
                different = [name for name in CONTENT if have[name] != fresh[name]]
                raise DatabaseError(
                    f"{source}: run {'/'.join(key)} is in {store.DATABASE} with another "
                    f"{', '.join(different)}; nothing was imported (CONFLICT=mine keeps ours, "
                    "CONFLICT=theirs takes theirs)"
                )
            if have and conflict == "mine":
                kept += 1
                continue
            if have:
                # the own files stay linked; a later `make results` compares them again
                fresh |= {"path": have["path"], "stamp": have["stamp"]}
                replaced += 1
            else:
                added += 1
            insert(mine, fresh)
            write_files(mine, part, fresh, files_of.get(tuple(row)[:3], []), own)
        for table, rows in (("grid_run", grids), ("grid_excluded", excluded)):
            for entry in rows:
                values = [names.get(entry["lab"]) or entry["lab"], *list(entry)[1:]]
                marks = ", ".join("?" * len(values))
                mine.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)
    return (
        f"{source}: {len(theirs)} runs: {added} new, {same} there already, "
        f"{replaced} replaced, {kept} kept as they were here"
    )


def check_row(source: Path, row: sqlite3.Row) -> None:
    """Refuse a run that is not what its key says; its key also becomes a folder's name."""
    key = f"{row['lab']}/{row['cell_id']}/{row['run_id']}"
    if not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", part) for part in key.split("/")):
        raise DatabaseError(f"{source}: run {key!r}: not a run's name; nothing was imported")
    if cell_id(json.loads(row["cell"])) != row["cell_id"]:
        raise DatabaseError(f"{source}: run {key}: its cell has another id; nothing was imported")
