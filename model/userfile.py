"""A file of transactions, as a cell has it in profiles.file: its kind and its text.

It is a user's (FILE), or what a synthetic trace is made from.
"""

from collections.abc import Callable, Mapping
from typing import Any

from model import synthetic
from model.statements import sqlfile, tracefile

# How each kind is read, SQL first: it is what a profile without one is taken for.
KINDS: dict[str, Callable[[str], sqlfile.SqlFile]] = {
    "sql": sqlfile.read,
    "trace": tracefile.parts,
    "synthetic": synthetic.parts,
}

# Those that FILE names.
USERS = ("sql", "trace")


def text_of(profile: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and text."""
    kind = next((name for name in KINDS if name in profile), next(iter(KINDS)))
    return kind, str(profile.get(kind))


def databases(profile: Mapping[str, Any]) -> int:
    """Return how many databases its transactions are of, as the cell says."""
    return int(profile.get("databases", 1))


def parts(profile: Mapping[str, Any]) -> sqlfile.SqlFile:
    """Return what makes its database, and its transactions. Raises SqlFileError."""
    kind, text = text_of(profile)
    return KINDS[kind](text)
