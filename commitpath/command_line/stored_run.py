"""Find the folder of the stored run that a variable names: by folder, run id, or a cell's name or id."""

import re
from pathlib import Path

from base.errors import BadInputError
from base.paths import RESULTS, is_closed
from commitpath.command_line import variables as variables_table

RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9]+")
CELL_ID = re.compile(r"v[0-9a-f]{17}")
NAMES = "a run is named by its folder, its id, its cell's name or id (the newest of its runs), or `latest`"


def check_utf8(name: str, path: str) -> None:
    """Refuse a path that is not UTF-8: Polars and Matplotlib cannot open it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInputError(f"{name}={path}: a path that is not UTF-8 does not work") from None


def folder(command: str, given: dict[str, str], name: str = "RUN") -> str:
    """Return the folder of the stored run that a variable names. Raises BadInputError."""
    run = given.get(name, "")
    if not run:
        raise BadInputError(f"{name}: missing; {variables_table.takes(command)}")
    check_utf8(name, run)
    if is_closed(Path(run)):
        raise BadInputError(f"{name}={run}: this user may not read it")
    if (found := find(name, run)) is None:
        shown = RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS
        hint = f"there is no run in {shown} yet, make experiment makes one"
        if any(RESULTS.glob("*/*/cell.json")):
            hint = f"{NAMES}; make results lists the runs of {shown}"
        raise BadInputError(f"{name}={run}: no such run; {hint}")
    return str(found)


def find(name: str, run: str) -> Path | None:
    """Return the folder of a run: NAMES says how it may be named; None if there is none.

    A cell's newest run stands for the cell. Raises BadInputError if several runs have an id.
    """
    if Path(run).is_dir() and not any(Path(run).glob("*/cell.json")):
        return Path(run)
    if run == "latest":
        return RESULTS / run if (RESULTS / run).is_dir() else None
    if RUN_ID.fullmatch(run):
        places = (f"[!.]*/{run}", f"imported/*/*/{run}")
        found = sorted(path for place in places for path in RESULTS.glob(place))
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
