"""Runs' raw files in a portable copy: put in by `make export`, taken out by `make import`."""

import contextlib
import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

from commitpath import scratch
from commitpath.cell import RESULTS
from commitpath.errors import LabError

IMPORTED = RESULTS / "imported"


def add_files(copy: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Put a run's raw files into an export, compressed by zlib."""
    key = (row["lab"], row["cell_id"], row["run_id"])
    query = "SELECT name FROM file WHERE lab = ? AND cell_id = ? AND run_id = ?"
    for (name,) in copy.execute(query, key).fetchall():
        content = zlib.compress((RESULTS / row["path"] / name).read_bytes())
        update = "UPDATE file SET content = ? WHERE lab = ? AND cell_id = ? AND run_id = ? AND name = ?"
        copy.execute(update, (content, *key, name))


@contextlib.contextmanager
def files_to_place() -> Iterator[Path]:
    """A folder for LAB/CELL/RUN folders, which go below imported/ if the block ends well."""
    with scratch.folder(RESULTS, ".import") as part:
        yield part
        for folder in sorted(part.glob("*/*/*")):
            place = IMPORTED / folder.relative_to(part)
            if place.exists():
                shutil.rmtree(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(place)


def write_files(
    mine: sqlite3.Connection, part: Path, row: dict[str, object], files: list[sqlite3.Row], own: str
) -> None:
    """The hashes of an imported run's files; with contents, the files too, in PART."""
    key = (row["lab"], row["cell_id"], row["run_id"])
    mine.executemany(
        "INSERT INTO file (lab, cell_id, run_id, name, sha256) VALUES (?, ?, ?, ?, ?)",
        [(*key, file["name"], file["sha256"]) for file in files],
    )
    contents = {file["name"]: file["content"] for file in files if file["content"] is not None}
    if not contents or row["lab"] == own:
        return
    name_of_run = "/".join(map(str, key))
    folder = part / name_of_run
    digests = {file["name"]: file["sha256"] for file in files}
    for name, packed in contents.items():
        path = folder / name
        try:
            content = zlib.decompress(packed)
        except zlib.error as error:
            raise LabError(f"run {name_of_run}: {name} is damaged ({error}); nothing was imported") from error
        if hashlib.sha256(content).hexdigest() != digests[name]:
            raise LabError(f"run {name_of_run}: {name} is not what its hash says; nothing was imported")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise LabError(f"a file of run {name_of_run} would be written outside its folder: {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "cell.json").write_text(f"{row['cell']}\n")
    (folder / "host.json").write_text(
        json.dumps(json.loads(str(row["host"])), indent=2, sort_keys=True) + "\n"
    )
    mine.execute(
        "UPDATE run SET path = ? WHERE lab = ? AND cell_id = ? AND run_id = ?",
        (str((IMPORTED / name_of_run).relative_to(RESULTS)), *key),
    )
