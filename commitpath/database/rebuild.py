"""`make results REBUILD=yes`: the database made again from the runs' folders, all of it or nothing."""

import contextlib
import os
import sys
import time
from pathlib import Path

from base import scratch
from base.paths import RESULTS
from base.text import printable
from commitpath.database import exchange, select, store, sync


def rebuild() -> int:
    """Make the database again and set the old one aside; how many rows the folders gave.

    What is sound of other labs' rows is taken over, and of own runs whose folders are not here; these
    are named on stderr. Until the new one is whole the old one stays where it is.
    """
    left_out = sync.unfit(sync.folders(), again=True)
    if not os.path.lexists(store.DATABASE):
        with store.opened() as connection:
            return sync.sync(connection, left_out)
    with scratch.folder(RESULTS, ".rebuild") as work, contextlib.ExitStack() as stack:
        made = work / store.DATABASE.name
        own = label_of_old(stack)
        store.create(made, own or store.UNNAMED)
        with store.opened(made) as connection:
            changed = sync.sync(connection, left_out)
        if own:
            take_over(made)
        put(made, readable=own is not None)
    if own:
        with store.opened(write=False) as connection:
            for run in select.load(connection):
                for mark in (
                    {*run.marks} & {select.UNVERIFIED, select.CLOSED} if run.facts["lab"] == own else ()
                ):
                    name = "/".join(run.facts[key] for key in ("lab", "cell", "run"))
                    print(f"commitpath: run {printable(name)}: {mark}", file=sys.stderr)
    return changed


def label_of_old(stack: contextlib.ExitStack) -> str | None:
    """The own label, with the database locked for writing; None, and a line, if it cannot be read."""
    try:
        return store.label(stack.enter_context(store.opened()))
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return None


def take_over(made: Path) -> None:
    """Take over what no folder gives; where the old database does not let go of it that is told."""
    try:
        print(printable(exchange.take_over(made)), file=sys.stderr)
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        # what can be made again is
        print(f"commitpath: other labs' runs are lost here: {printable(error)}", file=sys.stderr)


def put(made: Path, readable: bool) -> None:
    """Put the new database in place of the old one, which is set aside."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = store.DATABASE.with_name(f"results-{now}-{os.getpid()}.sqlite.old")
    if readable:
        # a second name, so that there is a database at every moment
        aside.hardlink_to(store.DATABASE)
    else:
        # it may be a folder
        store.DATABASE.rename(aside)
    made.replace(store.DATABASE)
    print(f"set aside: {aside}", file=sys.stderr)
