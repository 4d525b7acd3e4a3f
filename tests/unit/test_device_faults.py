"""DEVICE_FAULTS: its grammar, and which command has a fault."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from some_cell import some_cell

from analysis.adapters.device_logs import ENTRY, DeviceLog
from analysis.crash import kills, verdicts
from base.errors import BadInputError
from base.schema import schema
from commitpath.cells.from_variables import make_cell
from commitpath.run import crash_trials
from model import engines
from model.block_operations import FLUSH, FUA, READ, WRITE
from model.crash_points import faults
from model.engines.survival import MOST_LOST
from model.expected_state import sampled
from model.requested import expected

ROOT = Path(__file__).resolve().parents[2]
FAULTY = {"DEVICE": "emmc-5.0", "CRASH": "fault"}
TORN = FAULTY | {"DEVICE_FAULTS": "torn:1"}


@pytest.mark.parametrize(
    "text", ["eio:1", "eio-write", "eio-write:0", "eio-write:1,", "torn:1,torn:1", "none,torn:1", ""]
)
def test_other_words_are_refused(text: str) -> None:
    allowed = (
        "DEVICE_FAULTS is none, or some of eio-write, eio-flush, eio-read, enospc, short-write, torn, "
        "corrupt, each"
    )
    with pytest.raises(BadInputError, match=re.escape(f"DEVICE_FAULTS={text}: {allowed}")) as error:
        make_cell(FAULTY | {"DEVICE_FAULTS": text})
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(("word", "near"), [("EIO-WRITE", "eio-write"), ("eio-wirte", "eio-write")])
def test_a_word_that_is_nearly_one_has_a_hint(word: str, near: str) -> None:
    text = f"torn:1,{word}:3"
    with pytest.raises(BadInputError, match=f"^DEVICE_FAULTS={text}: did you mean {near}[?] DEVICE_FAULTS"):
        make_cell(FAULTY | {"DEVICE_FAULTS": text})


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (FAULTY, "CRASH=fault: DEVICE_FAULTS is none, or some of"),
        (TORN | {"CUTS": "9"}, "CUTS=9: without effect with CRASH=fault; use CRASH=power or os or process"),
        (
            {"DEVICE_FAULTS": "torn:1"},
            "DEVICE_FAULTS=torn:1: without effect with CRASH=none; use CRASH=fault",
        ),
        (TORN | {"DEVICE": "constant"}, "DEVICE=constant keeps no past states and makes no faults"),
        (TORN | {"DEVICE": "emmc-5.0-ignores-flush"}, "ignores commands in CRASH=power only"),
        (TORN | {"ENGINE": "ssl", "LOG_MEDIUM": "pcm"}, "LOG_MEDIUM=pcm is in memory that no fault"),
    ],
)
def test_cells_without_such_faults_are_refused(variables: dict[str, str], message: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(message)):
        make_cell(variables)


@pytest.mark.parametrize("engine", engines.names())
def test_each_engine_has_faults(engine: str) -> None:
    log = {"LOG_MEDIUM": "fdatasync"} if engine in ("ssl", "ppl") else {}
    cell = make_cell(TORN | {"ENGINE": engine} | log)
    assert verdicts.promised(cell) in MOST_LOST


def test_a_board_does_the_run_once_with_the_fault() -> None:
    cell = make_cell(FAULTY | {"DEVICE_FAULTS": "eio-write:5,corrupt:12"})
    assert faults.requested(cell) == ["eio-write:5", "corrupt:12"]
    steps = ["watch", "set-timing", "settle", "fault", "stop-watching"]
    assert list(expected.steps(cell, trials=True)) == steps
    assert sampled.numbers(cell, 200) == []


def test_the_schema_has_the_kinds_of_the_device() -> None:
    source = (ROOT / "images/devices/flashsim/fault.c").read_text()
    of_device = dict(re.findall(r'\{"([a-z-]+)", REQ_OP_([A-Z]+),', source))
    assert list(schema()["properties"]["device_faults"]["x-values"]) == list(of_device)
    operations = {"READ": READ, "WRITE": WRITE, "FLUSH": FLUSH}
    for name, operation in of_device.items():
        assert faults.OPERATIONS.get(name, WRITE) == operations[operation]


# operation and sector; each begins 10 ns after the one before
LOG = [(WRITE, 1), (WRITE, 2), (READ, 3), (WRITE | FUA, 4), (FLUSH, 0), (WRITE, 5), (FLUSH, 0), (WRITE, 6)]
ENTRIES = np.array([(10 * n, 10 * n + 4, sector, 8, op) for n, (op, sector) in enumerate(LOG)], ENTRY)
RAN: Any = SimpleNamespace(window=(10, 70))


def test_commands_are_counted_in_the_timed_region() -> None:
    cell = some_cell(device_faults="eio-write:3,eio-flush:1,eio-read:1,corrupt:4")
    plan = faults.plan(cell, ENTRIES, RAN)
    assert [(fault.number, fault.command, fault.sector, fault.moment) for fault in plan] == [
        (0, 5, 5, 50),
        (1, 4, 0, 40),
        (2, 2, 3, 20),
    ]
    assert plan[0].line() == "0 eio-write:3\n"
    assert crash_trials.shares([*plan], boards=2) == [[fault] for fault in plan]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"fired": 0, "seen": 4}, "torn:2 did not fire: its board sent 4 such commands"),
        ({"sector": 9}, "torn:2 fired at sector 9, and the run's command is at sector 4: its board did not"),
    ],
)
def test_a_fault_that_did_not_fire_rejects_the_run(change: dict[str, int], reason: str | None) -> None:
    table = pl.DataFrame([{"trial": 0, "fired": 1, "seen": 3, "sector": 4} | change])
    log = DeviceLog(0, 0, ENTRIES)
    run: Any = SimpleNamespace(cell=some_cell(device_faults="torn:2"), timed_log=log, timing=RAN, kills=table)
    reasons = kills.faults_fired(run)
    assert reasons == [] if reason is None else reasons[0].startswith(reason)
