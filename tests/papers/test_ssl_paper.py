"""The study of SQLite/SSL: its cells, a claim with a ratio for each trace, metrics of runs, lower numbers."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from analysis.report import manual
from base.errors import BadInputError, LabError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import at_most, expand
from commitpath.cells.identities import cell_id
from commitpath.database.select import Run
from commitpath.papers import document, figure_data, judge, page, paper
from commitpath.papers.readings import UNCHANGED
from commitpath.results import metrics
from commitpath.results.metrics import number
from commitpath.results.query import Results
from model.cell import Cell

TRACES = ["androbench", "gmail", "kakaotalk", "facebook", "browser", "twitter"]
# Table 4
LATENCY = [925, 11.5, 36.2, 4.7, 7.1, 17.1]


def run(cell: Cell, tps: float, **summary: Any) -> Run:
    """A run as the database has it, of one operation."""
    rates = {"tps": {"sql": tps, "all": tps / 2}, "virtual_seconds": 2 * cell.n / tps, "syncs": {}}
    facts = {"lab": "local", "commit": "abc", "uname": "6.12", "status": "ok", "cell": cell_id(cell)}
    settings = dict(cell.axes())
    engine = str(cell.engine)
    effective = {"journal_mode": "wal", "synchronous": "full", "log_medium": cell.log_medium}
    mount = {"mount": {"fs": "ext4", "options": ["rw"]}}
    manifest = {"engine": engine, engine: {"effective": effective}, "filesystem": mount}
    return Run(
        *(settings, {**facts, "run": "r1", "repeat": "1"}, frozenset(), "a/r1", (), cell, cell_id(cell)),
        {**rates, **summary},
        {"manifest": json.dumps(manifest)},
    )


def test_its_cells_are_swept_and_few() -> None:
    runs = expand(paper.load("ssl").grid).runs
    assert len({cell_id(one.cell) for one in runs}) == len(runs) <= 110
    watched = {one.grid for one in runs if one.cell.probes}
    assert watched == {"ssl-watched"}
    drawn_cells = {
        cell_id(bar.cell)
        for path in paper.load("ssl").figures
        for panel in figure_data.panels(paper.load("ssl"), path, figure_data.read(path))
        for bar in panel.bars
    }
    assert drawn_cells <= {cell_id(one.cell) for one in runs}


def test_each_trace_has_a_ratio_of_its_own() -> None:
    """Their order is that of the traces: the paper's own ratios are reproduced, and in another order not."""
    whole = paper.load("ssl")
    (claim,) = (one for one in whole.claims if one.id == "L-07")
    takes = [(pair.left.takes[0][0], pair.right.takes[0][0]) for pair in claim.readings[0].pairs]
    assert [left.workload for left, _ in takes] == [f"synthetic-{name}" for name in TRACES]
    for ratios, says in ((LATENCY, "reproduced"), (LATENCY[::-1], "direction only")):
        runs = [run(left, 10) for left, _ in takes]
        runs += [run(right, 10 * ratio) for (_, right), ratio in zip(takes, ratios, strict=True)]
        found = judge.judge_claim(whole, claim, Results(runs, "local"))
        assert found.verdict == says
        assert [pair.ratio for pair in found.readings[0].pairs] == pytest.approx(ratios)
    content = document.document(whole, [found], Results(runs, "local"))
    text = page.render(content)
    assert "925×, 11.5×, 36.2×, 4.7×, 7.1×, 17.1×" in text
    # what it names of docs/ is a link to the page that a report's link leads to
    assert (
        f'<a href="../../{manual.pages()}measurements/ssl-paper.html">docs/measurements/ssl-paper.md</a>'
        in text
    )


def test_a_claim_with_a_ratio_too_many_is_refused() -> None:
    row = {**dict.fromkeys(("source", "statement", "left", "right", "metric", "kind"), ""), "id": "L-07"}
    sides = {"left": {"journal_mode": "wal"}, "right": {"engine": "ssl"}}
    study = cast(
        paper.Paper,
        SimpleNamespace(
            words={}, builds=["3.46.1"], constants={}, overrides={}, most={}, artifact={}, change=UNCHANGED
        ),
    )
    for more in ({"each": {"n": [1, 2, 3]}}, {"each": {"n": [1, 2]}, "holds": "largest"}):
        ours = {"readings": [{"name": "each", **more, **sides}]}
        with pytest.raises(BadInputError, match=r"^each: [23] pairs, and claims.csv has 2 ratios$"):
            paper.claim({**row, "expected": "1|2"}, ours, study)


def test_a_recovery_is_the_longest_and_all_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = make_cell({"ENGINE": "ssl", "CRASH": "power", "DEVICE": "emmc-5.0"})
    trials = pl.DataFrame(
        {"mounted_ns": [10**9, 5 * 10**9], "looked_ns": [None, 10**8], "opened_ns": [2 * 10**9, 7 * 10**9]}
    )
    monkeypatch.setattr(
        metrics.stored, "read", lambda folder: SimpleNamespace(table=lambda name, columns: trials)
    )
    assert number(run(cell, 100, crash={"opened": 2, "cuts": 2}), "recovery_seconds", "all") == 1.9
    for without in ({}, {"crash": {"opened": 1, "cuts": 2}}):
        with pytest.raises(LabError, match="has no recovery_seconds of all"):
            number(run(cell, 100, **without), "recovery_seconds", "all")


def test_a_database_that_does_not_open_leaves_its_claim_without_a_verdict() -> None:
    whole = paper.load("ssl")
    (claim,) = (one for one in whole.claims if one.id == "L-13")
    pair = claim.readings[0].pairs[0]
    sides = [side.takes[0][0] for side in (pair.left, pair.right)]
    runs = [run(cell, 100, crash={"opened": 99, "cuts": 100}) for cell in sides]
    found = judge.judge_claim(whole, claim, Results(runs, "local"))
    assert found.verdict == "missing"
    assert "has no recovery_seconds of all" in str(found.readings[0].pairs[0].left.reason)


def test_what_is_told_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = make_cell({"ENGINE": "ssl", "WORKLOAD": "synthetic-gmail", "LOG_MEDIUM": "pcm"})
    timed = run(cell, 100)
    assert number(timed, "io_time", "all") == 2 * 984 / 100
    assert number(timed, "tx_latency", "sql") == 10
    with pytest.raises(LabError, match="has no io_time of sql"):
        number(timed, "io_time", "sql")
    for metric in ("pages", "os_pages", "checkpoints"):
        with pytest.raises(LabError, match=f"has no {metric} of all"):
            number(timed, metric, "all")
    written = {"statement log": 4096, "WAL": 8192, "database page": 8192, "other": 4096, "inode": 12288}
    watched = run(cell, 100, ledger={"bytes": {**written, "rollback journal": 0}})
    assert (number(watched, "pages", "all"), number(watched, "os_pages", "all")) == (5, 4)
    syncs = pl.DataFrame({"file": ["database", "wal", "statements", "database"]})
    monkeypatch.setattr(metrics.stored, "read", lambda folder: SimpleNamespace(syncs=lambda: syncs))
    assert number(watched, "checkpoints", "all") == 2
    # in other modes and with synchronous=off its syncs are not those of checkpoints
    for settings, known in (
        ({"MODE": "wal"}, True),
        ({"MODE": "delete"}, False),
        ({"MODE": "wal", "SYNC": "off"}, False),
        ({"ENGINE": "leveldb"}, False),
    ):
        other = run(make_cell(settings), 100, ledger={"bytes": {}})
        assert metrics.value(other, "checkpoints", "all") == (2 if known else None)
    # an engine syncs the database for other ends, too: its own count is taken where it has one
    manifest = json.loads(str(watched._documents["manifest"]))
    manifest["ssl"]["properties"] = {
        "checkpoints: log full": "3",
        "checkpoints: requested": "1",
        "log syncs": "9",
    }
    counting = replace(watched, _documents={"manifest": json.dumps(manifest)})
    assert number(counting, "checkpoints", "all") == 4


def test_a_traces_transactions_are_lowered_where_fewer_are_asked_for() -> None:
    settings = {"workload": "synthetic-gmail"}
    assert at_most(settings, {"n": 50, "rows": 10}) == {**settings, "n": "50"}
    assert at_most(settings, {"n": 5000})["n"] == "984"
    assert at_most(settings, {}) == settings
    runs = expand("ssl-traces", most={"n": 20}).runs
    assert {one.cell.n for one in runs} == {20}


def test_what_a_cell_has_by_default_is_lowered_where_less_is_asked_for() -> None:
    """But for what its workload fixes."""
    assert at_most({"workload": "query-random"}, {"rows": 1000}) == {
        "workload": "query-random",
        "rows": "1000",
    }
    assert at_most({"workload": "random-a"}, {"rows": 1000}) == {"workload": "random-a"}
    claims = paper.load("sqlitekv", most={"rows": 1000, "n": 50}).claims
    pairs = [pair for claim in claims for reading in claim.readings for pair in reading.pairs]
    cells = [cell for pair in pairs for side in (pair.left, pair.right) for cell, _ in side.takes]
    assert max(cell.rows for cell in cells) == 1000 and max(cell.n for cell in cells) == 50
    assert all(reading.unmeasured for claim in claims for reading in claim.readings)
