"""`make bench-cuts` compares two runs over dm-log-writes as far as both had to do the same."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.device_logs import ENTRY, DeviceLog
from model.block_operations import FLUSH, WRITE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import logged

# pairs of a write and its FLUSH; those behind the first 10 are the drain's
PAIRS, DRAIN = 12, 10
GEOMETRY = {"cache_kib": 512, "cache_reorder": 0, "block_bytes": 512, "program_bytes": 4096}
CELL = some_cell(profiles={"device": {"geometry": GEOMETRY}})


def log(exchanged: tuple[int, int] = (0, 0)) -> DeviceLog:
    """The commands of a run, two of them in each other's place."""
    kinds = [(8 * n, 8, WRITE) if half == 0 else (0, 0, FLUSH) for n in range(PAIRS) for half in range(2)]
    first, second = exchanged
    kinds[first], kinds[second] = kinds[second], kinds[first]
    rows = [(100 * n, 100 * n + 50, *kind) for n, kind in enumerate(kinds)]
    return DeviceLog(0, 0, np.array(rows, dtype=ENTRY))


@pytest.mark.parametrize(("exchanged", "same"), [((0, 0), 24), ((2 * DRAIN, 2 * DRAIN + 2), 20)])
def test_states_are_compared_until_the_drain_comes_in_another_order(
    exchanged: tuple[int, int], same: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    holds = dict.fromkeys(logged.HOLDS, 0)
    phases = pl.DataFrame({"phase": ["insert", "drain"], "begin_ns": [0, 200 * DRAIN]})
    ran: Any = SimpleNamespace(phases=phases, window=(0, 200 * PAIRS))
    states = pl.DataFrame([{"trial": n, **holds} for n in range(PAIRS)])
    peer = logged.Peer(states, pl.DataFrame(), logged.Parts(), log(), ran)
    (tmp_path / "same.csv").write_text("first_difference\n" + "-1\n" * 2 * PAIRS)
    own = pl.DataFrame([{"trial": n, **holds} for n in range(2 * PAIRS)])
    for name, stands_in in {
        "sent": lambda *_: {},
        "at_once": lambda *_: ([None], []),
        "device_log": lambda *_: log(exchanged),
        "member": lambda _, name, __: tmp_path / name,
        "written": lambda _: "",
    }.items():
        monkeypatch.setattr(logged, name, stands_in)
    monkeypatch.setattr(logged.trials, "read_table", lambda *_: own)
    nothing: Any = None
    compared = logged.same(nothing, Path(), CELL, nothing, peer)
    assert not compared.found and f"{same} of 24 states at 12 FLUSHes" in compared.lines[0]
