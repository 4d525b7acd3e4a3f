"""The study of SQLiteKV: operations per second, memory, its claims and its cells."""

from dataclasses import replace
from typing import Any

import pytest
from test_ssl_paper import run

from base.errors import LabError
from commitpath.cells.from_variables import make_cell
from commitpath.results.metrics import number

CELL = make_cell({"ENGINE": "leveldb", "WORKLOAD": "kv"})


def made(**summary: Any) -> Any:
    """A run of single reads and of batches of ten updates."""
    plain = run(CELL, 100)
    return replace(plain, summary={"tps": {"read": 100.0, "batch": 40.0, "all": 60.0}, **summary})


def test_operations_per_second() -> None:
    """A batch counts with all its operations, in a mix too."""
    counted = made(operations_per_transaction={"read": 1.0, "batch": 10.0, "all": 5.5})
    assert [number(counted, "ops", op) for op in ("read", "batch", "all")] == [100, 400, 330]
    # three reads in 30 ms, one batch in 25 ms
    assert number(counted, "ops", "3:1") == pytest.approx(13 / 0.055)
    with pytest.raises(LabError, match="has no ops of insert"):
        number(counted, "ops", "insert")
    with pytest.raises(LabError, match="has no ops of all"):
        number(made(), "ops", "all")


def test_memory() -> None:
    """A number that the kernel does not have has no value."""
    counted = made(memory={"peak": 3 << 20, "resident": 2 << 20})
    assert [number(counted, name, "all") for name in ("rss_peak", "rss")] == [3, 2]
    for one, name in ((counted, "rss_mapped"), (made(), "rss")):
        with pytest.raises(LabError, match=f"has no {name} of all"):
            number(one, name, "all")
    with pytest.raises(LabError, match="has no rss of read"):
        number(counted, "rss", "read")
