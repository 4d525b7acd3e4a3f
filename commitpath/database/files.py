"""Runs' raw files in a portable copy: put in by `make export`, taken out by `make import`."""

import contextlib
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis import stored_files
from analysis.documents import UnfitError
from base.errors import BadInput, LabError
from base.paths import RESULTS
from commitpath.database import limits

IMPORTED = RESULTS / "imported"
_PIECE = 2**20


def add_files(copy: sqlite3.Connection, row: Mapping[str, Any]) -> None:
    """Put a run's raw files into an export, compressed by zlib.

    LabError if one could not be imported, or is not the run's own.
    """
    key = (row["lab"], row["cell_id"], row["run_id"])
    query = "SELECT name, sha256 FROM file WHERE lab = ? AND cell_id = ? AND run_id = ?"
    for name, digest in copy.execute(query, key).fetchall():
        folder = RESULTS / row["path"]
        path = folder / name
        try:
            stored_files.check_own(folder, name)
        except BadInput as error:
            raise LabError(f"{error}; nothing was exported") from error
        if path.stat().st_size > limits.FILE_BYTES:
            raise LabError(f"{path}: more than {limits.FILE_BYTES} bytes: no import takes it")
        plain = path.read_bytes()
        if hashlib.sha256(plain).hexdigest() != digest:
            raise LabError(f"{path}: not as it was stored (raw_sha256); nothing was exported")
        content = zlib.compress(plain)
        update = "UPDATE file SET content = ? WHERE lab = ? AND cell_id = ? AND run_id = ? AND name = ?"
        copy.execute(update, (content, *key, name))


def inflated(packed: bytes) -> Iterator[bytes]:
    """A file's content in pieces, as far as an import takes it. Raises UnfitError."""
    inflate, size = zlib.decompressobj(), 0
    try:
        for at in range(0, len(packed), _PIECE):
            rest = packed[at : at + _PIECE]
            while rest:
                piece = inflate.decompress(rest, _PIECE)
                rest = inflate.unconsumed_tail
                size += len(piece)
                if size > limits.FILE_BYTES:
                    raise UnfitError(f"inflates to more than {limits.FILE_BYTES} bytes")
                yield piece
        yield inflate.flush()
    except zlib.error as error:
        raise UnfitError(f"is damaged ({error})") from None
    if not inflate.eof or inflate.unused_data:
        raise UnfitError("is damaged (it is cut short, or goes on after its end)")


class Unpacked:
    """The files of an import: is each what its hash says, and are all together not too much?"""

    def __init__(self) -> None:
        self.size = 0

    def fault(self, row: Mapping[str, Any]) -> str | None:
        """What is wrong with the content of a row of `file`; None if nothing is, or it has none."""
        if row["content"] is None:
            return None
        digest = hashlib.sha256()
        try:
            for piece in inflated(row["content"]):
                digest.update(piece)
                self.size += len(piece)
                if self.size > limits.ALL_FILES_BYTES:
                    return f"the files inflate to more than {limits.ALL_FILES_BYTES} bytes"
        except UnfitError as error:
            return f"content {error}"
        return None if digest.hexdigest() == row["sha256"] else "content is not what its hash says"


@contextlib.contextmanager
def files_to_place(part: Path) -> Iterator[Callable[[], None]]:
    """What puts the LAB/CELL/RUN folders of PART below imported/; they are taken back if the block fails.

    The block ends with the commit of their rows: after a kill there may be files without a row, which
    another import replaces, and no row without its files, which it would count as there already.
    """
    with contextlib.ExitStack() as undo:

        def put() -> None:
            for folder in sorted(part.glob("*/*/*")):
                place = IMPORTED / folder.relative_to(part)
                place.parent.mkdir(parents=True, exist_ok=True)
                if place.exists():
                    old = folder.with_name(f"{folder.name}.old")
                    place.rename(old)
                    undo.callback(old.rename, place)
                folder.rename(place)
                undo.callback(place.rename, folder)

        yield put
        undo.pop_all()


def folder_below(place: Path, row: Mapping[str, Any]) -> Path:
    """Where below imported/, or in the folder of an import, the files of another lab's run are."""
    return place / "/".join((row["lab"], row["cell_id"], row["run_id"]))


def unpack(part: Path, row: Mapping[str, Any], files: sqlite3.Cursor) -> Path | None:
    """Write an imported run's files to PART; the folder, None if the import has no contents.

    row: as it will be here; files: (name, content) of `file` that checked.py passed.
    """
    folder = folder_below(part, row)
    for name, content in files:
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.writelines(inflated(content))
    if not folder.exists():
        return None
    (folder / "cell.json").write_text(f"{row['cell']}\n")
    if row["host"] is not None:
        host = json.dumps(json.loads(row["host"]), indent=2, sort_keys=True)
        (folder / "host.json").write_text(host + "\n")
    return folder
