"""Sectors of a file that came up and that neither the engine ever wrote there nor the file had before, as a
board counted them (workloads/trials/bytes.h): of zeros, or stale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

NAMES = ("zero", "stale")


def summary(found: pl.Series) -> dict[str, int] | None:
    """Return of how many cuts there were any, and how many at most; None where no board said."""
    known = found.drop_nulls().to_list()
    return {"cuts": sum(one > 0 for one in known), "max": max(known)} if known else None


def shown(row: Mapping[str, Any]) -> str:
    """Say how many a trial found, behind a blank; of none nothing."""
    found = [f"{row[name]} {name}" for name in NAMES if row.get(name)]
    return f" ({' and '.join(found)} sectors)" if found else ""
