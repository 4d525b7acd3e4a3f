"""Runs of shipped cells, made now, have the shipped numbers (experiments/reference.tar.xz)."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.database import archive

SHIPPED = Path(__file__).resolve().parents[2] / "experiments/reference.tar.xz"
# A board that is made again is another one (docs/measurements/repeatability.md).
SPREAD = 0.02
SIZES = {"ROWS": "1000", "N": "20", "DEVICE": "emmc-5.0", "CRASH": "power", "CUTS": "40"}
CELLS = [
    {**SIZES, "FS": "ext4-ordered", "MODE": "delete"},
    {**SIZES, "FS": "ext4-ordered", "MODE": "wal"},
    {**SIZES, "FS": "f2fs", "MODE": "wal"},
]


@pytest.mark.parametrize("variables", CELLS, ids=lambda variables: "-".join(variables.values()))
def test_a_run_has_the_shipped_numbers(
    variables: dict[str, str], run_cell: Callable[..., Path], tmp_path: Path
) -> None:
    archive.unpack(SHIPPED, tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / archive.DATABASE)) as connection:
        query = "SELECT summary FROM run WHERE cell_id = ?"
        ((text,),) = connection.execute(query, [cell_id(make_cell(variables))])
    shipped, made = json.loads(text), json.loads((run_cell(**variables) / "summary.json").read_text())
    assert made["status"] == "ok", made["reasons"]
    assert made["syncs"] == shipped["syncs"]
    assert made["tps"] == pytest.approx(shipped["tps"], rel=SPREAD)
    assert made["block"]["bytes_written"] == pytest.approx(shipped["block"]["bytes_written"], rel=SPREAD)
    losses = [summary["crash"]["lost_acknowledged"]["max"] for summary in (made, shipped)]
    assert losses[0] == losses[1]
