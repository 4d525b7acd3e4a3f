"""Summarize the zero and stale sectors that boards counted in recovered files (workloads/trials/bytes.h)."""

from collections.abc import Mapping
from typing import Any

import polars as pl

NAMES = ("zero", "stale")


def summary(counts: pl.Series) -> dict[str, int] | None:
    """Return the number of trials with any, and the maximum; None if no board counted them."""
    values = counts.drop_nulls().to_list()
    return {"cuts": sum(value > 0 for value in values), "max": max(values)} if values else None


def shown(row: Mapping[str, Any]) -> str:
    """Return a trial's counts in words, after a space; empty if there are none."""
    counts = [f"{row[name]} {name}" for name in NAMES if row.get(name)]
    return f" ({' and '.join(counts)} sectors)" if counts else ""
