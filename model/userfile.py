"""Read a cell's stored transactions with the parser of their kind: SQL, trace or synthetic trace."""

from collections.abc import Callable, Mapping
from typing import Any

from model import synthetic
from model.statements import sqlfile, tracefile

# Kind → its reader; the first is the default.
KINDS: dict[str, Callable[[str], sqlfile.SqlFile]] = {
    "sql": sqlfile.read,
    "trace": tracefile.parts,
    "synthetic": synthetic.parts,
}

# Kinds of FILE with SQL.
USERS = ("sql", "trace")
# The kind of a FILE with operations, which any engine executes (model/workloads/requests.py).
REQUESTS = "requests"


def kind_of(workload: Mapping[str, Any]) -> str:
    """Return the kind of FILE that a workload takes, by its profile."""
    return next((kind for kind in (REQUESTS, "trace") if workload.get(kind)), "sql")


def text_of(profile: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind and the text of the transactions in `file` of a cell's profiles."""
    kind = next((name for name in KINDS if name in profile), next(iter(KINDS)))
    return kind, str(profile.get(kind))


def databases(profile: Mapping[str, Any]) -> int:
    """Return the number of databases that these transactions use."""
    return int(profile.get("databases", 1))


def parts(profile: Mapping[str, Any]) -> sqlfile.SqlFile:
    """Return the statements that make the databases, and the transactions. Raises SqlFileError."""
    kind, text = text_of(profile)
    return KINDS[kind](text)
