"""`make results REBUILD=yes`: rebuild the database from run folders and others' rows; set the old aside."""

import contextlib
import os
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

from base import scratch
from base.paths import RESULTS
from base.text import printable
from commitpath.database import merging, row_checks, select, store, sync


def rebuild() -> int:
    """Make the database again and set the old one aside; return the number of rows from folders.

    Sound rows of other labs, and of this lab's runs without folders, are copied; the latter are named on
    stderr. The old database stays in place until the new one is whole.
    """
    left_out = sync.unfit(sync.folders(), again=True)
    if not os.path.lexists(store.DATABASE):
        with store.opened() as connection:
            return sync.sync(connection, left_out)
    with scratch.folder(RESULTS, ".rebuild") as work, contextlib.ExitStack() as stack:
        made = work / store.DATABASE.name
        label = label_of_old(stack)
        store.create(made, label or store.UNNAMED)
        with store.opened(made) as connection:
            changed = sync.sync(connection, left_out)
        if label:
            take_over(made)
        put(made, readable=label is not None)
    if label:
        with store.opened(write=False) as connection:
            runs = [run for run in select.load(connection) if run.facts["lab"] == label]
        for run in runs:
            for mark in {*run.marks} & {select.UNVERIFIED, select.CLOSED}:
                name = "/".join(run.facts[key] for key in ("lab", "cell", "run"))
                print(f"commitpath: run {printable(name)}: {mark}", file=sys.stderr)
    return changed


def label_of_old(stack: contextlib.ExitStack) -> str | None:
    """Lock the old database for writing and return this lab's label; None if it is unreadable."""
    try:
        return store.label(stack.enter_context(store.opened()))
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return None


def take_over(made: Path) -> None:
    """Copy the rows that no folder gives; if the old database is unreadable, print that they are lost."""
    count: Counter[str] = Counter()

    def has_folder(row: row_checks.Row) -> bool:
        return row["path"] is not None and (RESULTS / row["path"]).is_dir()

    try:
        with store.opened(write=False) as old, store.opened(made) as mine:
            grids = merging.merge(old, mine, count, has_folder, this_lab_too=True)
        print(printable(f"{store.DATABASE}: {merging.summary(count, grids)}"), file=sys.stderr)
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        print(f"commitpath: other labs' runs are lost here: {printable(error)}", file=sys.stderr)


def put(made: Path, readable: bool) -> None:
    """Put the new database in place of the old one, which is set aside."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = store.DATABASE.with_name(f"results-{now}-{secrets.randbelow(10**7)}.sqlite.old")
    if readable:
        # a second name, so that there is always a database
        aside.hardlink_to(store.DATABASE)
    else:
        # it may be a folder
        store.DATABASE.rename(aside)
    made.replace(store.DATABASE)
    print(f"set aside: {aside}", file=sys.stderr)
