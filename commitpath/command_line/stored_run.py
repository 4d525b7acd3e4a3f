"""Find the stored run that RUN names by folder, id, cell, `latest` or `demo`; or say why it is not here."""

import contextlib
import errno
import os
import re
import sqlite3
from pathlib import Path

from base.errors import BadInputError
from base.paths import CACHE, RESULTS, is_closed
from commitpath.command_line import variables as variables_table

RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9]+")
CELL_ID = re.compile(r"v[0-9a-f]{17}")
# The lab of the runs in experiments/reference.tar.xz, and the grids of their cells.
SHIPPED = "reference"
SHIPPED_GRIDS = (SHIPPED, "ledger", "apsys17-fig1", "durability")
# `make demo` unpacks its run into the cache.
LATEST, DEMO = "latest", "demo"
IMPORT = "make import FILE=experiments/reference.tar.xz"
# For a command that finds nothing in an empty database.
NO_RUNS = f"no run is here; `{IMPORT}` brings the first ones"
NAMES = (
    "a run is named by its folder, its id, its cell's name or id (the newest of its runs), `latest`, or "
    "`demo` (that of make demo)"
)


def or_import(grid: str) -> str:
    """Return, for a grid of shipped runs that are not here, the command that brings them."""
    return f", or {IMPORT} for the shipped runs" if Path(grid).stem in SHIPPED_GRIDS else ""


def check_utf8(name: str, path: str) -> None:
    """Refuse a path that is not UTF-8: Polars and Matplotlib cannot open it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInputError(f"{name}={path}: a path that is not UTF-8 does not work") from None


def check_path(name: str, path: str) -> None:
    """Refuse a path that no file can have."""
    check_utf8(name, path)
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise BadInputError(f"{name}={path[:40]}…: {error.strerror}") from None


def folder(command: str, given: dict[str, str], name: str = "RUN") -> str:
    """Return the folder of the stored run that a variable names. Raises BadInputError."""
    run = given.get(name, "")
    if not run:
        raise variables_table.missing(command, [name])
    check_path(name, run)
    if is_closed(Path(run)):
        raise BadInputError(f"{name}={run}: this user may not read it")
    if (found := find(name, run)) is None:
        raise missing(name, run)
    return str(found)


def missing(name: str, run: str) -> BadInputError:
    """Return the error for a run that has no folder here."""
    if row := without_files(name, run):
        lab, run_id, own = row
        if own:
            use = "results, compare and table use them"
        elif lab == SHIPPED:
            use = "results, compare, table, figure, durability and advise use them"
        else:
            use = f"results and compare use them, table, figure, durability and advise with LAB={lab}"
        return BadInputError(
            f"{name}={run}: only the numbers of this run of lab {lab} are here, not its files, so it is "
            f"unverified; make {use}, make setup-text with WHERE='run={run_id}'; an export "
            "with FILES=yes has the files"
        )
    if run.casefold() == DEMO:
        raise BadInputError(f"{name}={run}: the demo run is not unpacked; make demo does it")
    shown = RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS
    hint = f"there is no run with its files in {shown} yet, make experiment makes one"
    if any(RESULTS.glob("*/*/cell.json")) or any(RESULTS.glob("imported/*/*/*/cell.json")):
        hint = f"{NAMES}; make results lists the runs of {shown}"
    return BadInputError(f"{name}={run}: no such run; {hint}")


def without_files(name: str, run: str) -> tuple[str, str, bool] | None:
    """Return lab, id and whether this lab made it, of the newest run so named without files, or None.

    An ok run comes before others. Raises BadInputError if several labs have one.
    Read here, as commitpath.database loads the analysis, which commands that plan a run do without.
    """
    path, last = RESULTS / "results.sqlite", Path(run).name
    if not path.is_file():
        return None
    query = (
        "SELECT lab, run_id, lab IN (SELECT label FROM lab) FROM run WHERE path IS NULL AND summary NOT NULL "
        "AND (run_id = ? OR cell_id = ?) ORDER BY status = 'ok' DESC, run_id DESC"
    )
    rows: list[tuple[str, str, int]] = []
    # the commands that use it report a damaged database
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        rows = connection.execute(query, (last, last.rpartition("-")[2])).fetchall()
    if len(labs := sorted({row[0] for row in rows})) > 1:
        raise BadInputError(f"{name}={run}: labs {', '.join(labs)} have runs of this name; give a run's id")
    return (rows[0][0], rows[0][1], bool(rows[0][2])) if rows else None


def find(name: str, run: str) -> Path | None:
    """Return the folder of a run: NAMES says how it may be named; None if there is none.

    A cell's newest run stands for the cell. Raises BadInputError if several runs have an id.
    """
    if Path(run).is_dir() and not any(Path(run).glob("*/cell.json")):
        return Path(run)
    # as results/latest too where COMMITPATH_RESULTS is another folder
    if run.casefold() in (LATEST, f"results/{LATEST}"):
        return RESULTS / LATEST if (RESULTS / LATEST).is_dir() else None
    if run.casefold() == DEMO:
        found = sorted(path.parent for path in CACHE.glob("demo/*/*/cell.json"))
    elif RUN_ID.fullmatch(run):
        places = (f"[!.]*/{run}", f"imported/*/*/{run}")
        found = sorted(path for place in places for path in RESULTS.glob(place))
        found = found or sorted(CACHE.glob(f"demo/*/{run}"))
        if len(found) > 1:
            raise BadInputError(f"{name}={run}: several runs have this id: {', '.join(map(str, found))}")
    else:
        if CELL_ID.fullmatch(run):
            run = next((path.name for path in RESULTS.glob(f"*-{run}")), run)
        cell = Path(run) if Path(run).is_dir() else RESULTS / Path(run).name
        found = sorted(
            path.parent for path in cell.glob("[!.]*/cell.json") if RUN_ID.fullmatch(path.parent.name)
        )
    return found[-1] if found else None
