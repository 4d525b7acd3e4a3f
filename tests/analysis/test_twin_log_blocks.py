"""A run's log of calls grows by blocks, which takes time in a transaction each; its baseline has none."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.checks import twin_times

COUNT, BLOCK_NS = 150, 500_000


def apart(calls: int, slow: list[int], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said of a run of 150 transactions with so many calls, of which some took 0.5 ms longer."""
    monkeypatch.setattr(twin_times, "driver_tids", lambda _: np.array([1]))
    monkeypatch.setattr(twin_times, "_by_the_clock", lambda *_: 0)
    rows = pl.DataFrame({"end_ns": range(COUNT)})
    driver = SimpleNamespace(
        vfs=pl.DataFrame({"call": range(calls)}), transactions=rows, workload_phases=rows
    )
    run: Any = SimpleNamespace(
        ledger=SimpleNamespace(few=None, given=SimpleNamespace(slower=1)), driver=driver
    )
    twins = np.full(COUNT, 1_400_000)
    took = twins + BLOCK_NS * np.isin(np.arange(COUNT), slow)
    return twin_times._apart(run, took, twins, np.full(COUNT, 100_000), None)


def test_each_block_of_the_log_is_a_slower_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 rows a transaction make 70 calls; 32 are foreseen."""
    assert apart(70 * COUNT, [73, 130], monkeypatch) == []
    assert apart(70 * COUNT, [73, 100, 120, 130], monkeypatch) != []


def test_without_another_block_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert apart(20 * COUNT, [73, 130], monkeypatch) != []
