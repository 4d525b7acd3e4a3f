"""The interval of what watching cost, by a baseline run in real time; the report's phases are of that run."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from analysis.report import html_page
from analysis.run import Run
from analysis.stats import overhead, report_tables


def ran(latencies: np.ndarray) -> Any:
    ends = np.cumsum(latencies)
    rows = pl.DataFrame(
        {"phase": "insert", "op": "insert", "begin_ns": ends - latencies, "end_ns": ends}
    ).with_row_index("transaction")
    phases = pl.DataFrame({"phase": ["insert"], "begin_ns": [0], "end_ns": [int(ends[-1])]})
    return SimpleNamespace(transactions=rows, phases=phases, timed_seconds=ends[-1] / 1e9)


def pair(traced: np.ndarray, untraced: np.ndarray, clock: str = "real") -> Run:
    board = SimpleNamespace(run={"clock": clock})
    return cast(
        Run, SimpleNamespace(driver=ran(traced), twin=SimpleNamespace(driver=ran(untraced)), board=board)
    )


def test_the_interval_holds_the_cost_as_often_as_it_says() -> None:
    """Twins of a board whose times vary by a tenth; watching costs a twentieth of the rate."""
    random = np.random.default_rng(7)
    held, tries = 0, 300
    for _ in range(tries):
        untraced = random.normal(1e6, 1e5, 100).astype(np.int64)
        traced = (random.normal(1e6, 1e5, 100) / 0.95).astype(np.int64)
        limits = (overhead.interval(pair(traced, untraced)) or {})["insert"]
        assert limits
        held += limits[0] <= 0.05 <= limits[1]
    assert 0.92 < held / tries < 0.98, held / tries


def test_the_cost_lies_in_its_interval() -> None:
    random = np.random.default_rng(1)
    run = pair(*(random.integers(900_000, 1_100_000, (2, 60))))
    cost, limits = overhead.cost(run), overhead.interval(run)
    assert cost and limits
    assert set(limits) == {"insert", "all"}
    for op, ends in limits.items():
        assert ends and ends[0] < cast(float, cost[op]) < ends[1]


def test_a_phase_of_the_report_lasted_as_its_rate_says(built_run: Callable[[str], Run]) -> None:
    """Both are of the baseline run; the table of phases has the watched run's times."""
    run = built_run("sample-checkpoints")
    assert run.twin is not None
    tables = report_tables.build(run)
    lasted = {row["phase"]: row["duration_ns"] for row in html_page.phase_rows(run, tables)}
    for op, number, tps in tables.operations.select("op", "transactions", "tps").iter_rows():
        assert lasted[op] == pytest.approx(number * 1e9 / tps)
    watched = dict(tables.phases.select("phase", "duration_ns").iter_rows())
    assert lasted.keys() == watched.keys() and lasted["close"] != watched["close"]
