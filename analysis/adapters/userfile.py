"""A user's file of transactions (FILE), as a cell has it in profiles.file: its kind and its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.adapters import sqlfile, tracefile

# How each kind is read, SQL first: it is what a profile without one is taken for.
KINDS = {"sql": sqlfile.read, "trace": tracefile.parts}


def text_of(profile: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and text."""
    kind = next((name for name in KINDS if name in profile), next(iter(KINDS)))
    return kind, str(profile.get(kind))


def parts(profile: Mapping[str, Any]) -> sqlfile.SqlFile:
    """Return what makes its database, and its transactions. Raises SqlFileError."""
    kind, text = text_of(profile)
    return KINDS[kind](text)
