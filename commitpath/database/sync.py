"""Bring results.sqlite up to date with run folders and a sweep's failed runs; analyse changed runs again."""

import contextlib
import hashlib
import json
import sqlite3
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from analysis.run_files import derived
from base import identity, scratch, strict_json
from base.errors import FileError
from base.paths import RESULTS
from base.raw_files import check_regular
from base.strict_json import UnfitError
from base.text import printable
from commitpath.cells.identities import cell_id, complete, stored
from commitpath.database import row_checks, store, sweep_state
from model import cell as cells

COLUMNS = row_checks.COLUMNS["run"]
# runs of other labs, below their labels
IMPORTED = RESULTS / "imported"
# primary key
KEY = ("lab", "cell_id", "run_id")
# columns that are part of a stamp
ROW = tuple(name for name in COLUMNS if name not in ("lab", "stamp"))


def insert(connection: sqlite3.Connection, row: Mapping[str, Any], table: str = "run") -> None:
    """Write a row, or replace the older one."""
    columns = row_checks.COLUMNS[table]
    query = f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    connection.execute(query, [row[name] for name in columns])


def stamp(folder: Path, row: Mapping[str, Any]) -> str:
    """Return a hash that changes with each analysis, and with each change of a document or the row."""
    files = [folder / name for name in (derived.NAME, *derived.DOCUMENTS)]
    stats = [path.stat() if path.exists() else None for path in files]
    parts = [stat and (stat.st_size, stat.st_mtime_ns) for stat in stats] + [row[name] for name in ROW]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read_run(folder: Path, lab: str) -> dict[str, Any]:
    """Return the row of a stored run. Raises FileError, OSError, ValueError, KeyError or TypeError."""
    for name in ("cell", "host"):
        check_regular(folder / f"{name}.json")
    cell, host = (strict_json.parse((folder / f"{name}.json").read_text()) for name in ("cell", "host"))
    if wrong := identity.misnamed(folder, cell, host):
        raise UnfitError(wrong)
    analysed = (folder / "summary.json").exists()
    if analysed and (wrong := derived.fault(folder, *derived.DOCUMENTS)):
        raise UnfitError(wrong)
    summary, manifest = (
        strict_json.parse((folder / f"{name}.json").read_text()) if analysed else None
        for name in ("summary", "manifest")
    )
    if manifest:
        manifest.pop("cell")
    row = {
        "lab": lab,
        "cell_id": identity.cell_id(cell),
        "run_id": host["run_id"],
        "repeat": host.get("repeat"),
        "status": summary["status"] if summary else "failed",
        "reasons": json.dumps(summary["reasons"] if summary else ["stored, but not analysed: make analyse"]),
        "path": str(folder.relative_to(RESULTS)),
        "cell": identity.canonical(cell),
        "summary": json.dumps(summary) if summary else None,
        "manifest": json.dumps(manifest) if manifest else None,
        "host": json.dumps(host),
    }
    row["stamp"] = stamp(folder, row)
    if wrong := row_checks.fault("run", row):
        raise UnfitError(wrong)
    return row


def folders() -> list[Path]:
    """Return the folders of all runs that are here, oldest first."""
    paths = [*RESULTS.glob("[!.]*/[!.]*/cell.json"), *IMPORTED.glob("[!.]*/[!.]*/[!.]*/cell.json")]
    here = [path.parent for path in paths if not path.parent.parent.is_symlink()]
    return sorted(here, key=lambda folder: (folder.name, folder.parent.name))


def is_running(folder: Path) -> bool:
    """Return whether a run's first analysis goes on: its numbers are not there yet."""
    return not (folder / "summary.json").exists() and derived.is_marked(folder)


def running() -> list[Path]:
    """Return the folders of runs that are being analysed for the first time."""
    return [folder for folder in folders() if is_running(folder)]


def changed(connection: sqlite3.Connection) -> list[Path]:
    """Return the folders that differ from their row, or have none; without those of running()."""
    query = f"SELECT {', '.join(COLUMNS)} FROM run WHERE path NOT NULL"
    have = {row["path"]: row for row in map(dict, connection.execute(query))}
    return [
        folder
        for folder in folders()
        if ((row := have.get(str(folder.relative_to(RESULTS)))) is None or row["stamp"] != stamp(folder, row))
        and not is_running(folder)
    ]


def up_to_date() -> int:
    """Write new and changed rows; return their number. Rows of other labs without files stay as they are.

    A run with changed documents is analysed again first, before the database is locked for writing. A row
    without a folder loses its path. An unreadable or misnamed folder is named on stderr and left out, with
    its row.
    """
    with store.opened(write=False) as connection:
        folders_changed = changed(connection)
    left_out = unfit(folders_changed)
    with store.opened() as connection:
        return sync(connection, left_out)


def unfit(runs: Iterable[Path], again: bool = False) -> set[Path]:
    """Analyse runs if needed, or all with `again`; return those that cannot be analysed."""
    return {folder for folder in runs if not renewed(folder, again)}


def renewed(folder: Path, again: bool) -> bool:
    """Analyse a run again if needed; return False, with a line on stderr, if that fails."""
    path = printable(folder.relative_to(RESULTS))
    try:
        wrong = derived.fault(folder, *derived.DOCUMENTS) if (folder / "summary.json").exists() else None
        if not wrong and not again:
            return True
        # loads NumPy, Polars and Matplotlib
        from analysis import pipeline

        print(f"commitpath: {path}: analysed again: {printable(wrong or 'REBUILD=yes')}", file=sys.stderr)
        pipeline.analyse(folder)
    except FileError as error:
        # results of an older analysis are invalid; in a read-only folder they stay
        with contextlib.suppress(OSError):
            derived.remove(folder)
        left_out(folder, error)
        return False
    except OSError as error:
        # a full disk ends the command, an unreadable folder does not
        if error.errno in scratch.DISK:
            raise
        left_out(folder, error)
        return False
    return True


def left_out(folder: Path, why: object) -> None:
    """Print on stderr that a folder is left out."""
    path = printable(folder.relative_to(RESULTS))
    print(f"commitpath: {path}: left out of the database: {printable(why)}", file=sys.stderr)


def sync(connection: sqlite3.Connection, without: Container[Path] = ()) -> int:
    """Write the rows of new and changed folders; return their number. without: folders to leave out."""
    this_lab = store.label(connection)
    written = 0
    for folder in changed(connection):
        path = str(folder.relative_to(RESULTS))
        lab = folder.relative_to(IMPORTED).parts[0] if folder.is_relative_to(IMPORTED) else this_lab
        named = (folder.parent.name.rpartition("-")[2], folder.name)
        query = "DELETE FROM run WHERE lab = ? AND (path = ? OR (cell_id, run_id) = (?, ?))"
        connection.execute(query, (lab, path, *named))
        if folder in without:
            continue
        try:
            row = read_run(folder, lab)
        except (FileError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            left_out(folder, error if isinstance(error, FileError | UnfitError | OSError) else repr(error))
            continue
        insert(connection, row)
        written += 1
    here = {str(folder.relative_to(RESULTS)) for folder in folders()}
    paths = connection.execute("SELECT path FROM run WHERE path NOT NULL")
    gone = [(path,) for (path,) in paths if path not in here]
    connection.executemany("UPDATE run SET path = NULL WHERE path = ?", gone)
    return written + len(gone) + sync_failures(connection, this_lab)


def sync_failures(connection: sqlite3.Connection, lab: str) -> int:
    """Write a row for each run that a sweep could not make; return the number of changes."""
    folder = sweep_state.STATE / "failed"
    records = {}
    for path in folder.glob("[!.]*-*") if folder.is_dir() else []:
        if record := sweep_state.read_state(path):
            # older documents have fewer axes
            planned = complete(cells.from_document(record["cell"]))
            records[f"{cell_id(planned)}-{record['repeat']}"] = record | {
                "cell": identity.canonical(stored(planned))
            }
    of_failures = "FROM run WHERE lab = ? AND run_id LIKE 'failed-%'"
    query = f"SELECT cell_id || '-' || repeat, reasons {of_failures}"
    before = dict(connection.execute(query, (lab,)))
    after = {key: json.dumps([record["reason"]]) for key, record in records.items()}
    if before == after:
        return 0
    connection.execute(f"DELETE {of_failures}", (lab,))
    for key, record in records.items():
        row = dict.fromkeys(COLUMNS) | {
            "lab": lab,
            "cell_id": key.rpartition("-")[0],
            "run_id": f"failed-{record['repeat']}",
            "repeat": record["repeat"],
            "status": "failed",
            "reasons": after[key],
            "cell": record["cell"],
        }
        insert(connection, row)
    return sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
