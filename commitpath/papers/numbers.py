"""The numbers of a figure as JSON and CSV: value, cell, runs, and what a watched run says of each bar."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commitpath.cells.identities import cell_id
from commitpath.charts.model import Drawn, Stated, Value
from commitpath.database.select import Run
from commitpath.papers.study import Study
from commitpath.results.marks import transactions
from model import durability

SUFFIXES = (".json", ".csv")
COLUMNS = (
    *("panel", "group", "series", "sqlite", "reading", "op", "board", "state", "tps", "low", "high"),
    *(
        "interval_low",
        "interval_high",
        "runs",
        "transactions",
        "marks",
        "cell_id",
        "run_ids",
        "watched_run",
        "syncs",
        "flushes",
        "fua",
    ),
    *("block_writes", "bytes_written", "reason"),
)


def document(figure: Mapping[str, Any], drawn: list[Drawn]) -> dict[str, Any]:
    """A figure as one JSON object; tps per second, counts and bytes per transaction."""
    grids = sorted({grid for one in drawn for value in one.values for grid in value.found.grids})
    panels = [
        {
            "title": one.panel.title,
            "bars": [value_of(value) for value in one.values],
            "stated": [stated_of(stated) for stated in one.stated],
            "authors": {group: [tps for tps, _ in runs] for group, runs in one.panel.authors.items()},
        }
        for one in drawn
    ]
    return {"title": figure["title"], "grids": grids, "panels": panels}


def commands(study: Study, grids: list[str]) -> list[str]:
    """What makes a study's figure: all that was asked for, or its cells alone and then the drawing."""
    place = "".join(f" {name}={text}" for name, text in study.overrides.items())
    given = place + "".join(f" {name}={shlex.quote(text)}" for name, text in study.said.items())
    # what is less than a grid it cannot be asked for
    sweep = [f"make sweep GRID='{' '.join(grids)}'{place}"] if grids and not study.said else []
    draw = f".venv/bin/python -m commitpath.papers {study.name} results/results.sqlite FOLDER{given}"
    return [f"make reproduce PAPER={study.name}{given}", *sweep, draw]


def value_of(value: Value) -> dict[str, Any]:
    """A bar as JSON."""
    bar, found, number = value.bar, value.found, value.number
    return {
        **{"group": bar.group, "series": bar.series, "sqlite": bar.build, "reading": bar.reading},
        **{"op": bar.op, "board": bar.board, "state": found.state, "reason": found.reason or ""},
        **{"tps": number.value, "low": number.low, "high": number.high, "interval": number.interval},
        "transactions": value.transactions,
        "marks": list(value.marks),
        "survives": dict(durability.of(bar.cell).rows()),
        "cell_id": cell_id(bar.cell),
        "cell": dict(bar.cell.axes()),
        "runs": [of_run(run) for run in found.runs or found.tried],
        "causes": causes_of(value),
    }


def of_run(run: Run) -> dict[str, Any]:
    """What names a run, and where its files are."""
    return {"cell_id": run.facts["cell"], "run_id": run.facts["run"], "path": run.path}


def causes_of(value: Value) -> dict[str, Any] | None:
    """What a watched run of the same settings says."""
    if not (causes := value.causes):
        return None
    return {
        **of_run(causes.run),
        "sqlite": causes.run.settings["sqlite"],
        "n": causes.run.settings["n"],
        "transactions": transactions(causes.run),
        "per_transaction": dict(causes.counts),
        "bytes_by_label": dict(causes.bytes_by_label),
    }


def stated_of(stated: Stated) -> dict[str, Any]:
    """A number of the paper as JSON, with ours."""
    bar, over = stated.bar, stated.over
    return {
        **{"group": bar.group, "series": bar.series, "sqlite": bar.build, "reading": bar.reading},
        "board": bar.board,
        "over": over and {"group": over.group, "series": over.series, "reading": over.reading},
        **{"paper_ratio": stated.ratio, "our_ratio": stated.ours, "tps": stated.tps},
        **{"marks": list(stated.marks), "source": stated.source},
    }


def rows(drawn: list[Drawn]) -> list[list[Any]]:
    """A figure as a table: COLUMNS, a row a bar."""
    table: list[list[Any]] = [list(COLUMNS)]
    for one in drawn:
        for value in one.values:
            told = value_of(value)
            causes = told["causes"] or {}
            special = {
                "panel": one.panel.title,
                **dict(zip(("interval_low", "interval_high"), told["interval"] or (None, None), strict=True)),
                "runs": len(told["runs"]),
                "marks": "".join(told["marks"]),
                "run_ids": " ".join(run["run_id"] for run in told["runs"]),
                "watched_run": f"{causes['cell_id']}/{causes['run_id']}" if causes else None,
            }
            merged = {**told, **causes.get("per_transaction", {}), **special}
            table.append([merged.get(name) for name in COLUMNS])
    return table


def made_from(path: Path) -> str | None:
    """What a figure's JSON file says that it was made from; None if it is not one."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told.get("made_from") if isinstance(told, dict) else None


def write(stem: Path, told: Mapping[str, Any], table: list[list[Any]]) -> list[Path]:
    """Write STEM.json and STEM.csv."""
    paths = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    paths[0].write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with paths[1].open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    return paths
