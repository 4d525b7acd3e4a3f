"""Read and check FILE=… (SQL, trace or requests) or a synthetic trace; add its transactions to a cell."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from base.errors import BadInputError, UnfitFileError
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from model import synthetic, userfile
from model.cell import Cell
from model.statements import sqlfile
from model.workloads import requests

Parsed = TypeVar("Parsed")
# Largest FILE: each run stores it (cell.json).
MOST_BYTES = 2**20
# Largest script: it is sent with the cell (images/qemu.py, CELL_ITEM_BYTES).
MOST_SCRIPT_BYTES = 32 * 2**10


def text_of(path: Path, variable: str) -> str:
    """Return the text of a user's file. variable: for messages. Raises BadInputError."""
    if not path.is_file():
        raise BadInputError(f"{variable}{path}: {'not a file' if path.exists() else 'no such file'}")
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise BadInputError(f"{variable}{path}: {size} bytes; a file has at most {MOST_BYTES}")
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{variable}{path}: {error.strerror}") from error
    if not content.strip():
        raise UnfitFileError(f"{variable}{path}: the file is empty")
    if (place := content.find(0)) >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise UnfitFileError(f"{variable}{path}: line {line}: a NUL byte; the file is to be text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnfitFileError(f"{variable}{path}: line {line}: not UTF-8") from None


def script(path: Path) -> str:
    """Return the text of the script that OBSERVERS names. Raises BadInputError."""
    text = text_of(path, "OBSERVERS=all,")
    if (size := len(text.encode())) > MOST_SCRIPT_BYTES:
        raise BadInputError(f"OBSERVERS=all,{path}: {size} bytes; a script has at most {MOST_SCRIPT_BYTES}")
    return text


def parsed(path: Path, parse: Callable[[str], Parsed]) -> tuple[str, Parsed]:
    """Return the text that FILE names, and what `parse` makes of it. Raises BadInputError."""
    text = text_of(path, "FILE=")
    try:
        return text, parse(text)
    except sqlfile.SqlFileError as error:
        raise UnfitFileError(f"FILE={path}: {error}") from None


def transactions(path: Path, kind: str) -> tuple[str, sqlfile.SqlFile]:
    """Return the text that FILE names and its parts. kind: of model/userfile.py. Raises BadInputError."""
    return parsed(path, lambda text: userfile.parts({kind: text}))


def content(path: Path, kind: str) -> str:
    """Return the text of a checked FILE. kind: of model/userfile.py. Raises BadInputError."""
    return (parsed(path, requests.read) if kind == userfile.REQUESTS else transactions(path, kind))[0]


def with_file(cell: Cell, variables: Mapping[str, str]) -> Cell:
    """Return a cell with the content of FILE, if its workload's transactions come from there.

    Then `file` is the name of the content, and n the number of its transactions. A trace of requests also
    sets rows and value_size.
    """
    profile = cell.profiles["workload"]
    path, takes = cell.file, is_of_file(profile)
    kind = userfile.kind_of(profile)
    if bool(path) != takes:
        names = [name for name in axes()["workload"].files() if is_of_file(load_profile("workload", name))]
        raise BadInputError(
            f"FILE={path}: WORKLOAD={cell.workload} has transactions of its own; it is for "
            f"WORKLOAD={' or '.join(names)}"
            if path
            else f"WORKLOAD={cell.workload} takes FILE=<your {'SQL' if kind == 'sql' else 'trace'}> "
            f"(docs/how-to/{'sql' if kind == 'sql' else 'trace'}.md)"
        )
    if "synthetic" in profile:
        return with_synthetic(cell, variables)
    if not path:
        return cell
    if kind == userfile.REQUESTS:
        return with_requests(cell, variables)
    text, parts = transactions(Path(path), kind)
    if cell.journal_mode == "wal" and (line := sqlfile.vacuum(parts.transactions)):
        raise BadInputError(
            f"FILE={path}: line {line}: VACUUM in MODE=wal logs pages that no checkpoint writes home, which "
            "the checks do not know; use another MODE"
        )
    count = len(parts.transactions)
    if "N" in variables and cell.n != count:
        raise BadInputError(
            f"N={cell.n}: with FILE it is the number of the file's transactions, {count}; leave it out"
        )
    return replace(
        cell,
        file=sqlfile.name(text),
        n=count,
        profiles={**cell.profiles, "file": {kind: text, **of_several(parts.databases)}},
    )


def with_requests(cell: Cell, variables: Mapping[str, str]) -> Cell:
    """Return a cell with its trace of requests."""
    text, made = parsed(Path(cell.file), requests.read)
    rows, n, size = len(made.rows), len(made.transactions), made.value_size
    for name, value in {"rows": rows, "n": n, "value_size": size}.items():
        if (variable := axes()[name].among(variables)) and cell.value(name) != value:
            raise BadInputError(f"{variable}={cell.value(name)}: FILE={cell.file} has {value}; leave it out")
    profiles = {
        **cell.profiles,
        "workload": {**cell.profiles["workload"], "fixed": {"rows": rows, "value_size": size}},
        "file": {userfile.REQUESTS: text},
    }
    return replace(cell, file=sqlfile.name(text), rows=rows, n=n, value_size=size, profiles=profiles)


def of_several(databases: int) -> dict[str, int]:
    """Return the number of databases of a file's transactions, for a cell's profile; empty for one."""
    return {"databases": databases} if databases > 1 else {}


def is_of_file(profile: Mapping[str, Any]) -> bool:
    """Return whether a workload's transactions come from a user's file."""
    return bool(profile.get("file")) and "synthetic" not in profile


def with_synthetic(cell: Cell, variables: Mapping[str, str]) -> Cell:
    """Return a cell with the parameters of its synthetic trace; N may be less than its transactions."""
    measures = cell.profiles["workload"]["synthetic"]
    try:
        synthetic.check(spec := synthetic.from_profile(measures))
    except sqlfile.SqlFileError as error:
        raise BadInputError(f"experiments/workload/{cell.workload}.yml: synthetic: {error}") from None
    count = spec.transactions
    n = cell.n if "N" in variables else count
    if n > count:
        raise BadInputError(f"N={n}: the trace of WORKLOAD={cell.workload} has {count} transactions")
    text = synthetic.text_of(measures, cell.seed, n if n < count else None)
    made = {"synthetic": text, **of_several(spec.databases)}
    return replace(cell, n=n, profiles={**cell.profiles, "file": made})
