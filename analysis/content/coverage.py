"""Summarize the share of written bytes that content readers confirmed, for summary.json and the terminal."""

import textwrap
from typing import Any

import polars as pl

from analysis.content import Content
from analysis.content.findings import STATES
from base.text import percent

WITHOUT = "content not confirmed (recorded without it)"


def summary(content: Content | None) -> dict[str, Any] | None:
    """Return the confirmed share of the bytes written, and bytes by label and rule; None if not kept."""
    if content is None:
        return None
    sums = [pl.col("bytes").filter(pl.col("state") == state).sum().alias(state) for state in STATES]
    labels = content.table.group_by("label", maintain_order=True).agg(*sums)
    rules = content.table.filter(pl.col("rule").is_not_null())
    total, confirmed = (int(table["bytes"].sum()) for table in (content.table, content.confirmed))
    return {
        "confirmed_share": confirmed / total if total else None,
        "by_label": {row.pop("label"): row for row in labels.iter_rows(named=True)},
        "by_rule": dict(rules.group_by("rule", maintain_order=True).agg(pl.col("bytes").sum()).iter_rows()),
    }


def share(label: dict[str, int]) -> float:
    """Return the confirmed share of a label's bytes."""
    return label["confirmed"] / sum(label.values())


def lines(content: dict[str, Any] | None) -> list[str]:
    """Return a summary's content as text lines of at most 80 columns."""
    if content is None:
        return [WITHOUT]
    if content["confirmed_share"] is None:
        return ["nothing was written: there is no content to confirm"]
    labels = ", ".join(f"{name} {percent(share(row), 1)}%" for name, row in content["by_label"].items())
    text = f"content confirms {percent(content['confirmed_share'])}% of the bytes written: {labels}"
    return textwrap.wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False)
