"""CACHE=cold: the device is read, each byte read has a label, the run is slower, and its SQL is the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CELL = {"MODE": "wal", "WORKLOAD": "kv", "ROWS": "1000", "N": "20", "DEVICE": "emmc-5.0"}


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_a_cold_run_reads_what_a_warm_one_has_in_memory(run_cell: Callable[..., Path], fs: str) -> None:
    found: dict[str, dict[str, Any]] = {}
    for cache in ("warm", "cold"):
        folder = run_cell(**CELL, FS=fs, CACHE=cache)
        found[cache] = json.loads((folder / "summary.json").read_text())
        assert found[cache]["status"] == "ok", found[cache]["reasons"]
    warm, cold = found["warm"], found["cold"]
    assert warm["block"]["reads"] == 0 and "reads" not in warm["ledger"]
    read = cold["ledger"]["reads"]
    assert cold["block"]["reads"] > 100 and sum(read["labels"].values()) == read["bytes"]
    assert read["labels"].get("unattributed", 0) == 0 and read["labels"]["database page"] > 1_000_000
    assert all(cold["tps"][op] < warm["tps"][op] for op in ("update", "read", "batch"))
    assert cold["sql_sha256"] == warm["sql_sha256"]
