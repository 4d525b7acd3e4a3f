"""Numbers of a run that `make figure` draws and papers claim."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from lab import Lab, edit

from analysis.run_files import derived
from base.paths import ROOT
from commitpath.reporting import differences
from commitpath.results import metrics
from commitpath.results.query import Found


@pytest.fixture
def golden() -> dict[str, Any]:
    """The summary of a recorded run."""
    return dict(json.loads((ROOT / "tests/analysis/golden/summary.json").read_text()))


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


def test_the_latency_of_a_files_syncs_is_a_metric_of_figures_and_of_compare(golden: dict[str, Any]) -> None:
    run = SimpleNamespace(summary=golden)
    assert metrics.METRICS["sync_p99"].read(run, "wal") == golden["sync_us"]["wal"]["p99"] / 1000
    assert metrics.METRICS["sync_max"].read(run, "all") == golden["sync_us"]["database"]["max"] / 1000
    # no such file, and a run of an earlier version
    for other, file in ((run, "journal"), (SimpleNamespace(summary={}), "all")):
        assert metrics.METRICS["sync_p50"].read(other, file) is None
    assert differences.flat(golden, "sync_us.wal.p99") == {"p99": golden["sync_us"]["wal"]["p99"]}


def test_syncs_of_phases_need_no_files(lab: Lab) -> None:
    folder = lab.run()
    edit(folder / "manifest.json", transactions={"insert": 30, "update": 10, "delete": 10})
    edit(folder / "summary.json", syncs={"insert": 1.0, "update": 2.0, "delete": 3.0})
    assert metrics.syncs(as_row(folder, None), "all") == 1.6


def test_operations_of_a_mixed_phase_have_no_rate_of_their_own() -> None:
    """Each has a part of the phase's rate: 50 of 100 transactions in 100 s are 0.5 a second, in 1 s each."""
    summary: dict[str, Any] = {"tps": {"insert": 0.5, "update": 0.5, "all": 1.0}}
    apart, mixed = (SimpleNamespace(summary=summary | more) for more in ({}, {"mixed": ["insert", "update"]}))
    assert (metrics.rate(apart, "1:1"), metrics.mean_latency(apart, "update")) == (0.5, 2000)
    assert (metrics.rate(mixed, "1:1"), metrics.mean_latency(mixed, "1:1")) == (None, None)
    assert (metrics.rate(mixed, "update"), metrics.mean_latency(mixed, "update")) == (0.5, None)
    assert metrics.mean_latency(mixed, "all") == 1000


def test_a_mean_latency_leaves_out_the_time_between_paced_transactions() -> None:
    busy = {"insert": 100.0, "update": 50.0, "all": 80.0}
    summary = {"tps": {"insert": 10.0, "update": 10.0, "all": 10.0}, "pace": {"busy_tps": busy}}
    paced = SimpleNamespace(summary=summary)
    latencies = [metrics.mean_latency(paced, op) for op in ("insert", "update", "all", "1:1")]
    assert latencies == pytest.approx([10, 20, 12.5, 15])
    # each transaction of a mixed phase is in its own operation's time
    mixed = SimpleNamespace(summary=summary | {"mixed": ["insert", "update"]})
    assert metrics.mean_latency(mixed, "update") == 20


def test_the_transactions_of_an_operation_are_those_of_the_run(lab: Lab) -> None:
    """Of a phase its number; of a mixed phase that of the files, and unknown without them."""
    folder = lab.run()
    edit(folder / "manifest.json", transactions={"insert": 30, "update": 10, "delete": 10})
    run = as_row(folder, None)
    assert Found("ok", None, [run]).transactions("insert") == 30
    edit(folder / "manifest.json", transactions={"mix": 50})
    (folder / "tables").mkdir()
    counts = pl.DataFrame({"op": ["insert", "update", "delete"], "transactions": [30, 15, 5]})
    counts.write_parquet(folder / "tables/operations.parquet")
    derived.write(folder)
    assert Found("ok", None, [as_row(folder, str(folder))]).transactions("update") == 15
    assert Found("ok", None, [as_row(folder, None)]).transactions("update") is None
