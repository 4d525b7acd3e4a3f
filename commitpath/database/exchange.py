"""Export the results database, with runs' files if wanted; import another lab's; set this lab's label."""

import json
import re
import sqlite3
import tarfile
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from analysis.run_files import derived, stored_files
from analysis.run_files.reading import read_json
from base import identity, progress, raw_files, scratch
from base.errors import BadInputError, FileError
from base.paths import RESULTS
from base.strict_json import UnfitError
from base.text import counted, printable
from commitpath.database import analyse_runs, archive, row_checks, store
from commitpath.database.archive import stored_hashes
from commitpath.database.merging import NEW, NOT_OURS, THERE, copy_rows, merge, summary
from commitpath.database.store import LABEL, UNNAMED
from commitpath.database.sync import IMPORTED, sync

LABELLED = tuple(row_checks.COLUMNS)
SQLITE = b"SQLite format 3\0"


def check_label(text: str) -> str:
    """Return a lab's label. Raises BadInputError."""
    if not re.fullmatch(LABEL, text) or text == UNNAMED:
        raise BadInputError(
            f"LAB={text}: a label is 1 to 41 letters, digits, dots, dashes or underscores, and not {UNNAMED}"
        )
    return text


def name_lab(connection: sqlite3.Connection, label: str | None) -> str:
    """Set the label of this lab's runs, if they have none; return the present one."""
    old = store.label(connection)
    if label in (None, old):
        return old
    if old != UNNAMED:
        raise BadInputError(
            f"LAB={label}: this lab is called {old}; whoever has imported its runs would have each of them "
            "twice; nothing was exported (leave LAB out)"
        )
    if has_label(connection, label):
        raise BadInputError(f"LAB={label}: another lab's runs in {store.DATABASE} have that label")
    for table in LABELLED:
        connection.execute(f"UPDATE {table} SET lab = ? WHERE lab = ?", (label, old))
    connection.execute("UPDATE lab SET label = ?", (label,))
    return label


def has_label(connection: sqlite3.Connection, label: str) -> bool:
    """Return whether any table has a row of a lab."""
    queries = (f"SELECT 1 FROM {table} WHERE lab = ?" for table in LABELLED)
    return any(connection.execute(query, (label,)).fetchone() for query in queries)


def export(target: Path, label: str | None, files: bool, only: Set[tuple[str, ...]] | None = None) -> str:
    """Write the database's sound rows, or an archive of it and the runs' files; return a summary.

    only: (cell id, run id) of each run to write; None for all. Damaged rows are left out and named on stderr.
    """
    with store.opened(write=False) as connection:
        new = label not in (None, store.label(connection))
    # in a scratch folder with SQLite's journal, as a kill may come
    with scratch.folder(target.resolve().parent, ".export") as work, ExitStack() as stack:
        part = work / archive.DATABASE
        connection = stack.enter_context(store.opened(write=new))
        if (name := name_lab(connection, label)) == UNNAMED:
            raise BadInputError("LAB=<label>: name this lab, to distinguish its runs from others'")
        store.create(part, name)
        with store.opened(part) as copy:
            runs = copy_rows(connection, copy, only)
        # a new label is kept only when the file is whole; else others may write while it is packed
        if not new:
            stack.close()
        if files:
            part = work / "runs.tar.gz"
            with tarfile.open(part, "w:gz", compresslevel=6) as made:
                made.add(work / archive.DATABASE, archive.DATABASE)
                for row in runs:
                    if row["path"] is not None:
                        archive.add(made, RESULTS / row["path"], name_of(row))
        stack.close()
        part.replace(target)
    held = sum(row["path"] is not None for row in runs)
    with_files = f", {held} of them with raw files" if files else ""
    return f"{target}: {counted(len(runs), 'run')}{with_files}, {target.stat().st_size} bytes"


def name_of(row: Mapping[str, Any]) -> str:
    """Return LAB/CELL NAME/RUN ID of a run, its name in an archive and below imported/."""
    return "/".join((row["lab"], identity.cell_name(json.loads(row["cell"])), row["run_id"]))


def import_(source: Path) -> str:
    """Merge another lab's export into this database; return a summary.

    Runs with files are analysed here, unless the same sources did that and no file changed since. Rows of
    this lab are left out: its runs come from their folders.
    """
    count: Counter[str] = Counter()
    with scratch.folder(RESULTS, ".import") as part, ExitStack() as stack:
        with source.open("rb") as file:
            is_database = file.read(len(SQLITE)) == SQLITE
        if not is_database:
            with progress.counted(f"unpack {printable(source)}"):
                archive.unpack(source, part)
        try:
            theirs = stack.enter_context(
                store.opened(source if is_database else part / archive.DATABASE, write=False)
            )
            if has_label(theirs, UNNAMED):
                raise UnfitError("runs of a lab without a label; its `make export LAB=…` gives one")
            folders = sorted(path.parent for path in part.glob("*/*/*/cell.json"))
            new = not_here(part, folders, count)
            analyse(part, [folder for folder in new if not keeps_analysis(folder)])
            place(part, new, count)
        except (FileError, UnfitError, store.DatabaseError) as error:
            if isinstance(error, store.DatabaseError) and (is_database or store.passes(error)):
                raise
            fault = str(error).replace(f"{part}/", "")
            raise BadInputError(f"{source}: {fault}; nothing was imported") from None
        with store.opened() as mine:
            sync(mine)
            with_files = {str(folder.relative_to(part)) for folder in folders}
            grids = merge(theirs, mine, count, lambda row: name_of(row) in with_files)
    return summary(count, grids)


def not_here(part: Path, folders: Sequence[Path], count: Counter[str]) -> list[Path]:
    """Return the folders of runs that are not here yet.

    Raises FileError or UnfitError at a wrong name, or at a run that is here with other files.
    """
    with store.opened(write=False) as mine:
        this_lab = store.label(mine)
    new = []
    for folder in folders:
        name = folder.relative_to(part)
        cell, host = (read_json(folder / f"{document}.json") for document in ("cell", "host"))
        hashes = stored_hashes(folder)
        try:
            wrong = identity.misnamed(folder, cell, host)
        except KeyError as error:
            wrong = f"cell.json has no {error}"
        if wrong:
            raise UnfitError(f"{name}: {wrong}")
        here = (IMPORTED / name).exists()
        if here and stored_hashes(IMPORTED / name) != hashes:
            raise UnfitError(f"{name} is in {IMPORTED} with other files")
        if name.parts[0] == this_lab or here:
            count[THERE if here else NOT_OURS] += 1
        else:
            new.append(folder)
    return new


def keeps_analysis(folder: Path) -> bool:
    """Return whether a run came with a whole analysis by the present sources.

    Raises FileError if its raw files changed.
    """
    if not derived.is_ours(folder):
        derived.remove(folder)
        return False
    stored_files.compare(folder, raw_files.hashes(folder), stored_hashes(folder))
    return True


def analyse(part: Path, folders: Sequence[Path]) -> None:
    """Analyse unpacked runs. Raises UnfitError at the first that cannot be analysed."""
    if not folders:
        return
    with progress.counted(f"analyse {len(folders)} runs"):
        for number, (folder, wrong) in enumerate(analyse_runs.analyse(folders), 1):
            if wrong:
                raise UnfitError(wrong)
            progress.say(printable(f"analysed: {folder.relative_to(part)} ({number} of {len(folders)})"))


def place(part: Path, folders: Sequence[Path], count: Counter[str]) -> None:
    """Move analysed runs below imported/."""
    for folder in folders:
        name = folder.relative_to(part)
        (IMPORTED / name).parent.mkdir(parents=True, exist_ok=True)
        folder.rename(IMPORTED / name)
        count[NEW] += 1
    if folders:
        # loads Markdown and Jinja
        from analysis.report import manual

        # reports link to the documentation
        for lab in {folder.relative_to(part).parts[0] for folder in folders}:
            manual.write(IMPORTED / lab)
