"""Compare TPS of a paper's own runs (artifact.csv) with ours: ratios, and how many are within a factor."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from base.errors import BadInputError
from commitpath.charts.model import Drawn, Value
from commitpath.papers.verdict import FACTOR


def table(figure: Mapping[str, Any], drawn: Sequence[Drawn]) -> dict[str, Any] | None:
    """Return the rows and their count for each group with `authors`; None for a figure without `predicted`.

    The reading: the series that `predicted` names, where a panel has it; the first meaning of each word of
    the paper, and the first release.
    """
    if "predicted" not in figure:
        return None
    wanted = figure["predicted"]
    if not any(wanted["series"] in shown.panel.series for shown in drawn):
        raise BadInputError(f"predicted: {wanted['series']!r} is not a series of a panel")
    cells = {group.get("authors") for content in figure["panels"] for group in content["groups"]}
    if unknown := wanted["used"].keys() - cells:
        raise BadInputError(
            f"predicted: used: {', '.join(sorted(unknown))}: no group has these authors' runs"
        )
    rows = [
        row(wanted, group, shown)
        for content, shown in zip(figure["panels"], drawn, strict=True)
        for group in content["groups"]
        if "authors" in group
    ]
    return {"reading": wanted["series"], "rows": rows, "count": count(rows, wanted["series"])}


def row(wanted: Mapping[str, Any], group: Mapping[str, Any], drawn: Drawn) -> dict[str, Any]:
    """Return one cell of the authors with our number and their ratio."""
    panel = drawn.panel
    series = wanted["series"] if wanted["series"] in panel.series else panel.series[0]
    value = next(v for v in drawn.values if v.bar.place == (group["label"], series) and is_first(v))
    authors, ours = median([tps for tps, _ in panel.authors[group["label"]]]), value.number.value
    ratio = None if ours is None else ours / authors
    return {
        "cell": group["authors"],
        "series": series,
        "reading": value.bar.reading,
        "authors": authors,
        "ours": ours,
        "ratio": ratio,
        "within": None if ratio is None else max(ratio, 1 / ratio) <= FACTOR,
        "used": wanted["used"].get(group["authors"]),
        "reason": value.found.reason,
    }


def is_first(value: Value) -> bool:
    """Return whether a bar is of the requested board, in the first reading and release."""
    return not (value.bar.outlined or value.bar.hatched or value.bar.light)


def count(rows: Sequence[Mapping[str, Any]], reading: str) -> str:
    """Return how many cells are within the factor, and how many of those that the fit did not use."""
    held = [row for row in rows if not row["used"]]
    within, of_held = (sum(bool(row["within"]) for row in some) for some in (rows, held))
    lacking = sum(row["ours"] is None for row in rows)
    text = f"{within} of {len(rows)} cells within a factor of {FACTOR}, {of_held} of the {len(held)} held out"
    text += f" (mixed loads: {reading})"
    return f"{text}; {lacking} without a run" if lacking else text


def of_file(path: Path) -> dict[str, Any] | None:
    """Return the table in a figure's JSON file; None without one."""
    content: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")).get("predicted")
    return content
