"""Write robust.html, .json and .csv (verdicts, and the settings that change them); print a summary."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.report import html_page
from base.text import printable_lines
from commitpath.charts.files import write_csv
from commitpath.papers.request import Request
from commitpath.papers.robust import ROBUST, Outcome, Row
from commitpath.papers.texts import number

COLUMNS = ("claim", "explanation", "axis", "value", "verdict", "ratio", "reason")


def ratios(outcome: Outcome) -> str:
    """Return the ratios of an outcome: one, or the lowest and the highest."""
    if not outcome.ratios:
        return "-"
    ends = dict.fromkeys(number(ratio) for ratio in (min(outcome.ratios), max(outcome.ratios)))
    return " to ".join(ends)


def write(request: Request, rows: Sequence[Row], folder: Path) -> int:
    """Write the page and the files; print a line for each claim. Return how many outcomes lack a run."""
    not_tried = request.load().robust.get("not_tried", {})
    environment = html_page.environment(Path(__file__).parent)
    environment.filters["ratios"] = ratios
    page = environment.get_template("robust.html.j2").render(
        rows=rows, command=f"{request.command} ROBUST=yes", not_tried=not_tried
    )
    (folder / "robust.html").write_text(page, encoding="utf-8")
    (folder / "robust.json").write_text(json.dumps([document(row) for row in rows], indent=2) + "\n")
    table: list[Sequence[str]] = [COLUMNS]
    for row in rows:
        for each in (*row.outcomes, *row.tried):
            settings = each.variation.settings
            place = (each.variation.label, ",".join(settings), ",".join(settings.values()))
            table.append([row.claim, *place, each.verdict, ratios(each), each.reason or ""])
    write_csv(folder / "robust.csv", table)
    print(printable_lines(terminal(rows, not_tried)))
    return sum(outcome.missing for row in rows for outcome in (*row.outcomes, *row.tried))


def document(row: Row) -> Mapping[str, Any]:
    """Return a claim's outcomes for robust.json."""
    return {
        "claim": row.claim,
        "verdict": row.verdict,
        "depends": row.words,
        "null_model_too": row.of_null,
        "outcomes": [each(outcome) for outcome in row.outcomes],
        "turned": row.explained,
        "tried": [{**each(outcome), "applies": outcome.applies} for outcome in row.tried],
    }


def each(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome for robust.json."""
    return {
        "setting": outcome.variation.name,
        "verdict": outcome.verdict,
        "ratios": outcome.ratios,
        "reason": outcome.reason,
    }


def terminal(rows: Sequence[Row], not_tried: Mapping[str, str]) -> list[str]:
    """Return a line for each claim, the number of robust ones, and what was not tried."""
    lines = []
    for row in rows:
        too = "the null model has this verdict, too" if row.of_null else ""
        text = "; ".join(filter(None, [row.words, too, row.explained]))
        lines.append(f"{row.claim}  {row.verdict.ljust(15)}  {text}".rstrip())
    decided = [row for row in rows if row.decided]
    steady = sum(row.words == ROBUST for row in decided)
    of_null = sum(row.of_null for row in decided)
    over = f"robust over {len(rows[0].outcomes) - 1} variations"
    lines.append(f"{len(decided)} verdicts: {steady} {over}; the null model has {of_null} of them, too")
    tried = [row for row in rows if row.explained]
    if tried:
        lines.append(f"{len(tried)} contradicted or not decided: {sum(bool(r.turned) for r in tried)} turned")
        lines += [f"not tried: {name}: {reason}" for name, reason in not_tried.items()]
    return lines
