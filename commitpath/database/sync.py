"""Bring the database up to date with the run folders and a sweep's failures."""

import contextlib
import hashlib
import json
import sqlite3
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from analysis.run_files import derived
from analysis.run_files import stored as analysed_runs
from analysis.run_files.reading import check_regular
from base import identity, scratch, strict_json
from base.errors import BadInput
from base.paths import RESULTS
from base.strict_json import UnfitError
from base.text import printable
from commitpath.cells.identities import cell_id, complete, stored
from commitpath.database import row_checks, store, sweep_state
from model import cell as cells

COLUMNS = row_checks.COLUMNS["run"]
# runs of other labs, below their labels
IMPORTED = RESULTS / "imported"
# what names a row
KEY = ("lab", "cell_id", "run_id")
# what of a row its stamp holds
ROW = tuple(name for name in COLUMNS if name not in ("lab", "stamp"))


def insert(connection: sqlite3.Connection, row: Mapping[str, Any]) -> None:
    """Write one run's row, in place of an older one of the same run."""
    connection.execute(
        "DELETE FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?",
        (row["lab"], row["cell_id"], row["run_id"]),
    )
    marks = ", ".join("?" * len(COLUMNS))
    connection.execute(
        f"INSERT INTO run ({', '.join(COLUMNS)}) VALUES ({marks})", [row[name] for name in COLUMNS]
    )


def stamp(folder: Path, row: Mapping[str, Any]) -> str:
    """What changes when a run is analysed again, or one of its documents or its row by hand."""
    files = [folder / name for name in (derived.NAME, *derived.DOCUMENTS)]
    stats = [path.stat() if path.exists() else None for path in files]
    told = [stat and (stat.st_size, stat.st_mtime_ns) for stat in stats]
    told += [row[name] for name in ROW]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def read_run(folder: Path, lab: str) -> dict[str, Any]:
    """The row of a stored run. Raises BadInput, OSError, ValueError, KeyError or TypeError."""
    for name in ("cell", "host"):
        check_regular(folder / f"{name}.json")
    cell, host = (strict_json.parse((folder / f"{name}.json").read_text()) for name in ("cell", "host"))
    if wrong := analysed_runs.misnamed(folder, cell, host):
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
    """The folders of the own runs and of other labs' that are here, oldest first."""
    found = [*RESULTS.glob("[!.]*/[!.]*/cell.json"), *IMPORTED.glob("[!.]*/[!.]*/[!.]*/cell.json")]
    here = [path.parent for path in found if not path.parent.parent.is_symlink()]
    return sorted(here, key=lambda folder: (folder.name, folder.parent.name))


def lab_of(folder: Path, own: str) -> str:
    """The label of the lab that made a run. own: that of this lab."""
    return folder.relative_to(IMPORTED).parts[0] if folder.is_relative_to(IMPORTED) else own


def changed(connection: sqlite3.Connection) -> list[Path]:
    """The folders whose run is not in the database as they have it."""
    query = f"SELECT {', '.join(COLUMNS)} FROM run WHERE path NOT NULL"
    have = {row["path"]: row for row in map(dict, connection.execute(query))}
    return [
        folder
        for folder in folders()
        if (row := have.get(str(folder.relative_to(RESULTS)))) is None or row["stamp"] != stamp(folder, row)
    ]


def up_to_date() -> int:
    """Write what is new or changed; how many rows that were. Rows of other labs stay as they are.

    A run whose documents are not as its analysis left them is analysed again at once, before the
    database is locked for writing. A row whose folder is gone keeps what it says and loses its path.
    A folder that cannot be read, or that is not what it says, is named on stderr and left out, and
    so is its row.
    """
    with store.opened(write=False) as connection:
        look = changed(connection)
    left_out = unfit(look)
    with store.opened() as connection:
        return sync(connection, left_out)


def unfit(look: Iterable[Path], again: bool = False) -> set[Path]:
    """Those of the runs that cannot be analysed, where that is due; `again`: it is of all."""
    return {folder for folder in look if not renewed(folder, again)}


def renewed(folder: Path, again: bool) -> bool:
    """Analyse a run again if that is due; False, and a line on stderr, if it cannot be."""
    path = printable(folder.relative_to(RESULTS))
    try:
        wrong = derived.fault(folder, *derived.DOCUMENTS) if (folder / "summary.json").exists() else None
        if not wrong and not again:
            return True
        # NumPy, Polars and Matplotlib: only who analyses needs them
        from analysis import pipeline

        print(f"commitpath: {path}: analysed again: {printable(wrong or 'REBUILD=yes')}", file=sys.stderr)
        pipeline.analyse(folder)
    except BadInput as error:
        # what an older analysis left does not count any more, until one succeeds; in a folder that is
        # closed to us it stays
        with contextlib.suppress(OSError):
            derived.remove(folder)
        left_out(folder, error)
        return False
    except OSError as error:
        # a full disk is everybody's affair, a folder that is closed to us is its own
        if error.errno in scratch.DISK:
            raise
        left_out(folder, error)
        return False
    return True


def left_out(folder: Path, why: object) -> None:
    """Name on stderr a folder that is not in the database."""
    path = printable(folder.relative_to(RESULTS))
    print(f"commitpath: {path}: left out of the database: {printable(why)}", file=sys.stderr)


def sync(connection: sqlite3.Connection, without: Container[Path] = ()) -> int:
    """Write the rows of folders that are new or changed; how many. without: folders to leave out."""
    own = store.label(connection)
    written = 0
    for folder in changed(connection):
        path, lab = str(folder.relative_to(RESULTS)), lab_of(folder, own)
        named = (folder.parent.name.rpartition("-")[2], folder.name)
        query = "DELETE FROM run WHERE lab = ? AND (path = ? OR (cell_id, run_id) = (?, ?))"
        connection.execute(query, (lab, path, *named))
        if folder in without:
            continue
        try:
            row = read_run(folder, lab)
        except (BadInput, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            left_out(folder, error if isinstance(error, BadInput | UnfitError | OSError) else repr(error))
            continue
        insert(connection, row)
        written += 1
    here = {str(folder.relative_to(RESULTS)) for folder in folders()}
    paths = connection.execute("SELECT path FROM run WHERE path NOT NULL")
    gone = [(path,) for (path,) in paths if path not in here]
    connection.executemany("UPDATE run SET path = NULL WHERE path = ?", gone)
    return written + len(gone) + sync_failures(connection, own)


def sync_failures(connection: sqlite3.Connection, lab: str) -> int:
    """Rows for the runs that a sweep could not make, one each; how many changed."""
    folder = sweep_state.STATE / "failed"
    records = {}
    for path in folder.glob("[!.]*-*") if folder.is_dir() else []:
        if record := sweep_state.read_state(path):
            # an older commitpath had fewer axes
            planned = complete(cells.from_document(record["cell"]))
            records[f"{cell_id(planned)}-{record['repeat']}"] = record | {
                "cell": identity.canonical(stored(planned))
            }
    before = {
        f"{row['cell_id']}-{row['repeat']}": row["reasons"]
        for row in connection.execute(
            "SELECT cell_id, repeat, reasons FROM run WHERE lab = ? AND run_id LIKE 'failed-%'", (lab,)
        )
    }
    for key in before.keys() - records.keys():
        cell, repeat = key.rsplit("-", 1)
        connection.execute(
            "DELETE FROM run WHERE lab = ? AND cell_id = ? AND run_id = ?", (lab, cell, f"failed-{repeat}")
        )
    changed = len(before.keys() - records.keys())
    for key, record in records.items():
        reasons = json.dumps([record["reason"]])
        if before.get(key) == reasons:
            continue
        row = dict.fromkeys(COLUMNS) | {
            "lab": lab,
            "cell_id": key.rpartition("-")[0],
            "run_id": f"failed-{record['repeat']}",
            "repeat": record["repeat"],
            "status": "failed",
            "reasons": reasons,
            "cell": record["cell"],
        }
        insert(connection, row)
        changed += 1
    return changed
