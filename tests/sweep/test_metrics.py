"""Numbers of a run that `make figure` draws and papers claim."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
from lab import Lab, edit

from analysis.run_files import derived
from commitpath.results import metrics


def as_row(folder: Path, path: str | None) -> Any:
    """What the metrics read of a run."""
    summary, manifest = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("summary", "manifest")
    )
    return SimpleNamespace(summary=summary, document=lambda _: manifest, path=path)


def test_syncs_of_all_transactions_are_their_mean_where_operations_differ_in_number(lab: Lab) -> None:
    """A mix has more of some operations than of others: the mean of their means is another number."""
    folder = lab.run(WORKLOAD="ycsb-a")
    edit(folder / "manifest.json", transactions={"mix": 10})
    edit(folder / "summary.json", syncs={"read": 0.0, "update": 4.0})
    (folder / "tables").mkdir()
    counts = pl.DataFrame({"op": ["read", "update"], "transactions": [9, 1]})
    counts.write_parquet(folder / "tables/operations.parquet")
    derived.write(folder)
    run = as_row(folder, str(folder))
    assert (metrics.syncs(run, "all"), metrics.syncs(run, "update")) == (0.4, 4.0)
    # of another lab, without the files
    assert metrics.syncs(as_row(folder, None), "all") is None


def test_syncs_of_phases_need_no_files(lab: Lab) -> None:
    folder = lab.run()
    edit(folder / "manifest.json", transactions={"insert": 30, "update": 10, "delete": 10})
    edit(folder / "summary.json", syncs={"insert": 1.0, "update": 2.0, "delete": 3.0})
    assert metrics.syncs(as_row(folder, None), "all") == 1.6
