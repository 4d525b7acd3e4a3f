"""Bring the database up to date with the run folders and a sweep's failures."""

import json
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from analysis import documents
from analysis.documents import UnfitError
from analysis.text import printable
from commitpath.cell import RESULTS, canonical, cell_id
from commitpath.database import rows, store
from commitpath.sweep import plan

COLUMNS = rows.COLUMNS["run"]


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


def stamp(folder: Path) -> str:
    """What changes when a run is analysed again."""
    path = folder / "summary.json"
    if not path.exists():
        return "not analysed"
    stat = path.stat()
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def read_run(folder: Path, lab: str) -> tuple[dict[str, Any], dict[str, str]]:
    """(row, hashes of raw files) of a stored run. Raises OSError, ValueError, KeyError or TypeError."""
    cell, host = (documents.parse((folder / f"{name}.json").read_text()) for name in ("cell", "host"))
    mark = stamp(folder)
    analysed = mark != "not analysed"
    summary, manifest = (
        documents.parse((folder / f"{name}.json").read_text()) if analysed else None
        for name in ("summary", "manifest")
    )
    hashes: dict[str, str] = {}
    if manifest:
        manifest.pop("cell")
        hashes = dict(manifest.get("raw_sha256", {}))
    row = {
        "lab": lab,
        "cell_id": cell_id(cell),
        "run_id": host["run_id"],
        "repeat": host.get("repeat"),
        "status": summary["status"] if summary else "failed",
        "reasons": json.dumps(summary["reasons"] if summary else ["stored, but not analysed: make analyse"]),
        "path": str(folder.relative_to(RESULTS)),
        "stamp": mark,
        "cell": canonical(cell),
        "summary": json.dumps(summary) if summary else None,
        "manifest": json.dumps(manifest) if manifest else None,
        "host": json.dumps(host),
    }
    if wrong := rows.fault("run", row):
        raise UnfitError(wrong)
    return row, hashes


def sync(connection: sqlite3.Connection) -> int:
    """Write what is new or changed; how many rows that were. Rows of other labs stay as they are.

    A row whose folder is gone keeps what it says and loses its path. A folder that
    cannot be read is named on stderr and left out.
    """
    lab = store.label(connection)
    have = {
        row["path"]: row["stamp"]
        for row in connection.execute("SELECT path, stamp FROM run WHERE lab = ? AND path NOT NULL", (lab,))
    }
    changed, seen = 0, set()
    for cell in sorted(RESULTS.glob("[!.]*/[!.]*/cell.json")):
        folder = cell.parent
        path = str(folder.relative_to(RESULTS))
        if folder.parent.is_symlink():
            continue
        seen.add(path)
        if have.get(path) == stamp(folder):
            continue
        try:
            row, hashes = read_run(folder, lab)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = error if isinstance(error, UnfitError | OSError) else repr(error)
            print(
                f"commitpath: {printable(path)}: left out of the database: {printable(why)}", file=sys.stderr
            )
            continue
        insert(connection, row)
        connection.executemany(
            "INSERT INTO file (lab, cell_id, run_id, name, sha256) VALUES (?, ?, ?, ?, ?)",
            [(lab, row["cell_id"], row["run_id"], name, digest) for name, digest in hashes.items()],
        )
        changed += 1
    gone = [(lab, path) for path in have if path not in seen]
    connection.executemany("UPDATE run SET path = NULL WHERE lab = ? AND path = ?", gone)
    return changed + len(gone) + sync_failures(connection, lab)


def sync_failures(connection: sqlite3.Connection, lab: str) -> int:
    """Rows for the runs that a sweep could not make, one each; how many changed."""
    folder = plan.STATE / "failed"
    records = {
        path.name: record
        for path in (folder.glob("[!.]*-*") if folder.is_dir() else [])
        if (record := plan.read_state(path))
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
            "cell_id": cell_id(record["cell"]),
            "run_id": f"failed-{record['repeat']}",
            "repeat": record["repeat"],
            "status": "failed",
            "reasons": reasons,
            "cell": canonical(record["cell"]),
        }
        insert(connection, row)
        changed += 1
    return changed


def write_grids(
    connection: sqlite3.Connection, runs: Iterable[plan.Planned], excluded: Iterable[Any]
) -> None:
    """Say which runs the swept grids ask for now, in place of what they asked for before."""
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
