"""Write a figure's numbers as JSON and CSV: value, cell and runs of each bar, and a watched run's counts."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath.cells.identities import cell_id
from commitpath.charts.files import write_csv
from commitpath.charts.model import Drawn, Stated, Value, values_of
from commitpath.database.select import Run
from commitpath.papers.paper import Paper
from commitpath.results.marks import transactions
from commitpath.results.query import Causes
from model import durability

SUFFIXES = (".json", ".csv")
INTERVAL = ("interval_low", "interval_high")
COLUMNS = (
    *("panel", "group", "series", "sqlite", "reading", "op", "board", "state", "tps", "low", "high"),
    *INTERVAL,
    *("runs", "transactions", "marks", "cell_id", "run_ids", "watched_run", "syncs", "flushes", "fua"),
    *("block_writes", "bytes_written", "reason"),
)


def document(figure: Mapping[str, Any], drawn: list[Drawn]) -> dict[str, Any]:
    """Return a figure as one JSON object; tps per second, counts and bytes per transaction."""
    grids = sorted({grid for value in values_of(drawn) for grid in value.found.grids})
    panels = [
        {
            "title": panel.panel.title,
            "bars": [value_of(value) for value in panel.values],
            "stated": [stated_of(stated) for stated in panel.stated],
            "authors": {group: [tps for tps, _ in runs] for group, runs in panel.panel.authors.items()},
        }
        for panel in drawn
    ]
    return {"title": figure["title"], "metric": figure.get("metric", "tps"), "grids": grids, "panels": panels}


def commands(paper: Paper, grids: list[str]) -> list[str]:
    """Return the commands that make a figure: the whole request, or only the sweep of its cells."""
    place = "".join(f" {name}={text}" for name, text in paper.overrides.items())
    given = place + "".join(f" {name}={shlex.quote(text)}" for name, text in paper.variables.items())
    # a sweep always runs whole grids
    sweep = [f"make sweep GRID='{' '.join(grids)}'{place}"] if grids and not paper.variables else []
    return [f"make reproduce PAPER={paper.name}{given}", *sweep]


def value_of(value: Value) -> dict[str, Any]:
    """Return a bar as JSON."""
    bar, found, number = value.bar, value.found, value.number
    return {
        **{"group": bar.group, "series": bar.series, "sqlite": bar.build, "reading": bar.reading},
        **{"op": bar.op, "board": bar.board, "state": found.state, "reason": found.reason or ""},
        **{"tps": number.value, "low": number.low, "high": number.high, "interval": number.interval},
        "transactions": value.transactions,
        "marks": list(value.marks),
        "survives": dict(durability.promised(bar.cell).rows()),
        "cell_id": cell_id(bar.cell),
        "cell": dict(bar.cell.axes()),
        "runs": [of_run(run) for run in found.runs or found.tried],
        "causes": causes_of(value.causes) if value.causes else None,
    }


def of_run(run: Run) -> dict[str, Any]:
    """Return the ids of a run, and its folder."""
    return {"cell_id": run.facts["cell"], "run_id": run.facts["run"], "path": run.path}


def causes_of(causes: Causes) -> dict[str, Any]:
    """Return the counts of a watched run with the same settings."""
    return {
        **of_run(causes.run),
        "sqlite": causes.run.settings["sqlite"],
        "n": causes.run.settings["n"],
        "transactions": transactions(causes.run),
        "per_transaction": dict(causes.counts),
        "bytes_by_label": dict(causes.bytes_by_label),
    }


def stated_of(stated: Stated) -> dict[str, Any]:
    """Return a number of the paper as JSON, with ours."""
    bar, over = stated.bar, stated.over
    return {
        **{"group": bar.group, "series": bar.series, "sqlite": bar.build, "reading": bar.reading},
        "board": bar.board,
        "over": over and {"group": over.group, "series": over.series, "reading": over.reading},
        **{"paper_ratio": stated.ratio, "our_ratio": stated.ours, "tps": stated.tps},
        **{"marks": list(stated.marks), "source": stated.source},
    }


def rows(drawn: list[Drawn]) -> list[list[Any]]:
    """Return a figure as a table: COLUMNS, then a row for each bar."""
    table: list[list[Any]] = [list(COLUMNS)]
    for title, value in [(panel.panel.title, value) for panel in drawn for value in panel.values]:
        document = value_of(value)
        causes = document["causes"] or {}
        special = {
            "panel": title,
            **dict(zip(INTERVAL, document["interval"] or (None, None), strict=True)),
            "runs": len(document["runs"]),
            "marks": "".join(document["marks"]),
            "run_ids": " ".join(run["run_id"] for run in document["runs"]),
            "watched_run": f"{causes['cell_id']}/{causes['run_id']}" if causes else None,
        }
        merged = {**document, **causes.get("per_transaction", {}), **special}
        table.append([merged.get(name) for name in COLUMNS])
    return table


def made_from(path: Path) -> str | None:
    """Return `made_from` of a figure's JSON file; None if it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content.get("made_from") if isinstance(content, dict) else None


def write(stem: Path, content: Mapping[str, Any], table: list[list[Any]]) -> list[Path]:
    """Write STEM.json and STEM.csv."""
    paths = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    paths[0].write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    write_csv(paths[1], table)
    return paths
