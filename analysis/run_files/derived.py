"""Write hashes of an analysis's files and sources to derived.json; detect changes; mark a run being analysed.

A run's folder is marked as being analysed by a lock on the folder, which ends with the process. Where a
filesystem has no locks of folders, as NFS, nothing is marked.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.run_files.reading import read_json
from base.errors import FileError
from base.paths import EXPERIMENTS, ROOT
from base.raw_files import sha256

NAME = "derived.json"
# Files and folders that an analysis writes.
OUTPUTS = ("tables", "figures", "manifest.json", "report.html", "summary.json", NAME)
DOCUMENTS = ("cell.json", "watch.json", "host.json", "manifest.json", "summary.json")


@functools.cache
def sources() -> str:
    """Return the SHA-256 of all code and data that decide an analysis."""
    code = (path for part in ("analysis", "base", "model") for path in (ROOT / part).rglob("*.*"))
    data = (path for axis in ("engine", "kernel", "workload") for path in (EXPERIMENTS / axis).glob("*.yml"))
    single = (EXPERIMENTS / "schema.yml", ROOT / "workloads/operations.yml", ROOT / "CITATION.cff")
    made = hashlib.sha256()
    for path in sorted((*code, *data, *single)):
        # compiled files, and what editors leave
        if "__pycache__" not in path.parts and not path.name.startswith("."):
            made.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def content(*folders: Path) -> dict[str, Any]:
    """Return the content of derived.json for `folders`: `sources` and `files` {name: SHA-256}.

    Of a file in several folders, the last counts. Missing files are left out.
    """
    hashes = {}
    for folder in folders:
        paths = [folder / name for name in DOCUMENTS] + sorted((folder / "tables").glob("*"))
        for path in paths:
            if path.is_file():
                hashes[str(path.relative_to(folder))] = sha256(path)
    return {"sources": sources(), "files": hashes}


def fault(folder: Path, *names: str) -> str | None:
    """Return the first of `names` that changed since the analysis, or why that is unknown.

    Return None if no file changed.
    """
    try:
        files = read_json(folder / NAME).get("files")
    except FileError as error:
        return str(error) if (folder / NAME).exists() else f"{NAME} is missing"
    if not isinstance(files, dict):
        return f"{NAME} has no object 'files'"
    for name in names:
        path = folder / name
        if (sha256(path) if path.is_file() else None) != files.get(name):
            return f"{name} is not as `make analyse` left it"
    return None


def whole_fault(folder: Path) -> str | None:
    """Return why a run's analysis cannot be kept, as fault() does for each of its files; None if it can."""
    try:
        files = read_json(folder / NAME).get("files")
    except FileError:
        files = None
    written = [str(path.relative_to(folder)) for path in (folder / "tables").glob("*")]
    return fault(folder, *dict.fromkeys(("summary.json", *written, *(files or {}))))


def is_ours(folder: Path) -> bool:
    """Return whether an analysis is whole and by the present sources."""
    return whole_fault(folder) is None and read_json(folder / NAME).get("sources") == sources()


def check(folder: Path, *names: str) -> None:
    """Raise FileError if a file changed since `make analyse`."""
    if wrong := fault(folder, *names):
        raise FileError(folder, "", wrong, f"an analysed run: make analyse RUN={folder}")


def write(folder: Path, *sources: Path) -> None:
    """Write derived.json to `folder`, with the files in `sources`."""
    text = json.dumps(content(*(sources or (folder,))), indent=2, sort_keys=True)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def remove(folder: Path) -> None:
    """Remove derived.json, so that the run must be analysed again."""
    path = folder / NAME
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def marked(folder: Path) -> Iterator[None]:
    """Mark a folder during a `with` block; several processes may mark it at a time."""
    with _opened_folder(folder) as descriptor:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def is_marked(folder: Path) -> bool:
    """Return whether a process marks the folder."""
    with _opened_folder(folder) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


@contextlib.contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    """Open a folder during a `with` block."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
