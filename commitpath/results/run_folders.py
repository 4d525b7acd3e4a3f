"""Read a stored run's folder as class Run; give a run of `make watch` the numbers that a cell's run has.

A command's numbers are put where a cell's run has them: per transaction of the programs that it ran, which is
known where they use a shared SQLite library (docs/how-to/programs.md).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from analysis.run_files import derived, stored
from analysis.run_files.reading import read_json
from base import identity
from commitpath.cells.identities import complete, current_id
from commitpath.database.select import Run
from model import engines

# Metrics that a watched command has.
OF_COMMANDS = (
    *("tps", "tx_latency", "io_time", "kib", "bytes_written", "syncs", "flushes", "fua", "block_writes"),
    "unattributed",
)
# Columns of the table of costs, each with its name in a cell's summary.
_COSTS = {"writes": "block_writes", "bytes": "bytes_written", "flushes": "flushes", "fua": "fua"}


def read(folder: Path) -> Run:
    """Return the analysed run in a folder, wherever it is. Raises FileError if a file changed since."""
    # results/latest is another run's after the next run
    folder = folder.resolve()
    opened = stored.read(folder, any_load=True)
    derived.check(folder, "manifest.json")
    cell, summary, manifest = opened.cell, opened.summary, read_json(folder / "manifest.json")
    if cell.load == identity.COMMAND:
        costs = means(opened) if summary["unattributed_share"] is not None else []
        summary = of_command(summary, costs)
        manifest |= {"transactions": {row["op"]: row["transactions"] for row in costs}}
    else:
        cell = complete(cell)
    document = read_json(folder / identity.document(cell.document()))
    without = engines.unused_axes(cell.engine)
    return Run(
        settings={name: value for name, value in cell.axes() if name not in without},
        facts={"cell": summary["cell_id"], "run": summary["run_id"], "status": summary["status"]},
        grids=frozenset(),
        path=str(folder),
        reasons=tuple(summary["reasons"]),
        cell=cell,
        cell_id=current_id(document),
        summary=summary,
        _documents={"manifest": json.dumps(manifest), "host": json.dumps(read_json(folder / "host.json"))},
    )


def means(command: stored.Stored) -> list[dict[str, Any]]:
    """Return a row for each first word of a statement: op, transactions, and the mean costs of those."""
    names = ("syncs", *_COSTS)
    costs = command.table("costs", ("op", *names)).with_columns(pl.col("op").cast(pl.String))
    groups = costs.group_by("op", maintain_order=True)
    return groups.agg(pl.len().alias("transactions"), pl.col(names).mean()).to_dicts()


def of_command(summary: Mapping[str, Any], costs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a command's summary with the members of a cell's."""
    number, seconds = summary["transactions"]["count"], summary["seconds"]
    share = summary["unattributed_share"]
    return {
        **summary,
        "tps": {"all": number / seconds if number and seconds else None},
        "virtual_seconds": seconds,
        "syncs": {row["op"]: row["syncs"] for row in costs},
        "per_transaction": {row["op"]: {new: row[name] for name, new in _COSTS.items()} for row in costs},
        "ledger": None if share is None else {"unattributed_share": share, "bytes": summary["labels"]},
    }
