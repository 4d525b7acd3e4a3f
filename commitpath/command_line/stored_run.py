"""Return the folder of the stored run that a variable names, checked."""

from pathlib import Path

from base.errors import BadInputError
from base.paths import RESULTS, is_closed
from commitpath.command_line import variables as variables_table


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
    if not Path(run).is_dir():
        shown = RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS
        hint = f"there is no run in {shown} yet, make experiment makes one"
        if any(RESULTS.glob("*/*/cell.json")):
            hint = f"a run's is {shown}/<cell name>/<run id>"
        raise BadInputError(f"{name}={run}: no such folder; {hint}")
    return run
