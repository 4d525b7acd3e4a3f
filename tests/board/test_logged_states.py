"""What the device's history shows is what the kernel's dm-log-writes says that it held."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from commitpath.boards.prepared import ensure_snapshot, virtual_board
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.run.plan import make
from images import programs
from model.crash_points import cuts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import logged

CELL = {"DEVICE": "emmc-5.0", "ROWS": "1000", "N": "5", "PROBES": "none", "CRASH": "power"}


Ran = tuple[dict[str, Any], logged.Peer, Callable[[], logged.Compared]]


@pytest.fixture(scope="module")
def ran() -> Ran:
    return run("delete")


def run(mode: str) -> Ran:
    """A run over dm-log-writes: its cell, its states, and what compares them with the device's own."""
    cell, entry = make_cell(CELL | {"MODE": mode}), ansible.board("virtual")
    board, planned = virtual_board(cell), make(cell, entry)
    saved = ensure_snapshot(cell, programs.driver(cell), entry)
    peer = logged.peer(board, saved, planned)
    return cell, peer, lambda: logged.same(board, saved, cell, planned, peer)


def test_both_show_the_same(ran: Ran) -> None:
    told = ran[2]()
    assert not told.found, told.lines
    assert "of 24 states at 12 FLUSHes" in told.lines[0]


def test_a_state_of_another_flush_is_told(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    own = logged.states

    def next_one(log: Any, cell: Any, flushes: list[int]) -> list[tuple[int, cuts.Trial]]:
        found = own(log, cell, [flush + 1 for flush in flushes])
        return [(flush - 1, trial) for flush, trial in found]

    monkeypatch.setattr(logged, "states", next_one)
    told = ran[2]()
    assert told.found
    assert any(", nothing: byte " in line and ", of command " in line for line in told.lines)
    assert any(": hash is " in line for line in told.lines)


def test_a_state_without_what_was_acknowledged_is_told() -> None:
    cell, peer, _ = run("wal")
    assert logged.lost(cell, peer) == []
    begin = peer.trials["hash"][0]
    told = logged.lost(cell, replace(peer, trials=peer.trials.with_columns(hash=pl.lit(begin))))
    assert told and told[-1].endswith("acknowledged transactions its state holds 0")
