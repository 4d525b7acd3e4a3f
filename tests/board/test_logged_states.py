"""What the device's history shows is what the kernel's dm-log-writes says that it held."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.crash import cuts
from commitpath import ansible
from commitpath.cell import make_cell
from commitpath.plan import make
from commitpath.prepared import ensure_snapshot, virtual_board
from images import artifacts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import logged

CELL = {"DEVICE": "emmc-5.0", "ROWS": "1000", "N": "5", "PROBES": "none", "CRASH": "power"}


@pytest.fixture(scope="module")
def compare() -> Callable[[], logged.Compared]:
    """Compare both of one run's states."""
    cell, entry = make_cell(CELL), ansible.board("virtual")
    board, planned = virtual_board(cell), make(cell, entry)
    saved = ensure_snapshot(cell, artifacts.driver(cell), entry)
    peer = logged.peer(board, saved, planned)
    return lambda: logged.same(board, saved, cell, planned, peer)


def test_both_show_the_same(compare: Callable[[], logged.Compared]) -> None:
    told = compare()
    assert not told.found, told.lines
    assert "24 states at 12 FLUSHes" in told.lines[0]


def test_a_state_of_another_flush_is_told(
    compare: Callable[[], logged.Compared], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = logged.states

    def next_one(log: Any, cell: Any, flushes: list[int]) -> list[tuple[int, cuts.Trial]]:
        found = own(log, cell, [flush + 1 for flush in flushes])
        return [(flush - 1, trial) for flush, trial in found]

    monkeypatch.setattr(logged, "states", next_one)
    told = compare()
    assert told.found
    assert any(", nothing: byte " in line and ", of command " in line for line in told.lines)
    assert any(": hash is " in line for line in told.lines)
