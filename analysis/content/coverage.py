"""How much the bytes confirm, as a summary has it and a terminal shows it."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import polars as pl

from analysis.content import Content
from analysis.content.verdicts import STATES

WITHOUT = "content not confirmed (recorded without it)"


def summary(found: Content | None) -> dict[str, Any] | None:
    """Return the share of the bytes written that is confirmed, and bytes by label and by rule; None where
    they were not kept."""
    if found is None:
        return None
    sums = [pl.col("bytes").filter(pl.col("state") == state).sum().alias(state) for state in STATES]
    labels = found.table.group_by("label", maintain_order=True).agg(*sums)
    rules = found.table.filter(pl.col("rule").is_not_null())
    total, confirmed = (int(table["bytes"].sum()) for table in (found.table, found.confirmed))
    return {
        "confirmed_share": confirmed / total if total else None,
        "by_label": {row.pop("label"): row for row in labels.iter_rows(named=True)},
        "by_rule": dict(rules.group_by("rule", maintain_order=True).agg(pl.col("bytes").sum()).iter_rows()),
    }


def share(label: dict[str, int]) -> float:
    """Return the share of a label's bytes that is confirmed."""
    return label["confirmed"] / sum(label.values())


def percent(of: float, digits: int = 2) -> str:
    """Return a share in percent, rounded down: 100 is all of it."""
    return f"{math.floor(of * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def lines(said: dict[str, Any] | None) -> list[str]:
    """Say it on a terminal, in lines of at most 80 columns."""
    if said is None:
        return [WITHOUT]
    if said["confirmed_share"] is None:
        return ["nothing was written: there is no content to confirm"]
    each = ", ".join(f"{name} {percent(share(row), 1)}%" for name, row in said["by_label"].items())
    text = f"content confirms {percent(said['confirmed_share'])}% of the bytes written: {each}"
    return textwrap.wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
