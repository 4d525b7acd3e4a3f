"""PACE: when transactions are due, and what a run that did not keep to it is told."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic
from some_cell import some_cell

from analysis import pipeline, stages
from analysis.checks import phases
from analysis.report import terminal
from analysis.stats import overhead
from base.arrays import ints
from base.errors import BadInputError
from commitpath.boards.payload import driver_env
from commitpath.cells.from_variables import make_cell
from model import pace

TRACE = """commitpath trace 1
file 1 "a.db"
make 1 "CREATE TABLE t(x)"
1.000000 1 "INSERT INTO t VALUES(1)"
1.500000 1 "BEGIN"
1.600000 1 "INSERT INTO t VALUES(2)"
1.700000 1 "COMMIT"
1.250000 1 "INSERT INTO t VALUES(3)"
"""


@pytest.mark.parametrize(("asked", "ns"), [("none", 0), ("trace", -1), ("1/s", 10**9), ("20/s", 50_000_000)])
def test_a_pace_is_an_interval(asked: str, ns: int) -> None:
    assert pace.interval_ns(asked) == ns


@pytest.mark.parametrize("asked", ["1s", "0/s", "1.5/s", "1000000/s"])
def test_what_is_no_pace_is_refused(asked: str) -> None:
    with pytest.raises(BadInputError, match=r"PACE is none, trace, or a rate such as 1/s, 20/s or 6/min"):
        make_cell({"PACE": asked})


def test_the_driver_is_given_the_interval() -> None:
    options = driver_env(make_cell({"PACE": "20/s"}), "/db")["DRIVER_OPTIONS"]
    assert " --pace-ns 50000000 " in f"{options} "
    assert " --pace-ns 0 " in f"{driver_env(make_cell({}), '/db')['DRIVER_OPTIONS']} "


def with_pace(folder: Path, asked: str) -> Path:
    """Let a run have asked for a pace."""
    synthetic.change_cell(folder, pace=asked)
    return folder


def test_a_run_that_starts_too_early_is_told(run_dir: Path) -> None:
    assert phases.due(stages.build(run_dir)) == []
    (reason,) = phases.due(stages.build(with_pace(run_dir, "1/h")))
    assert re.match(r"transaction 1 began [0-9]+ ns before it was due \(PACE=1/h\)", reason)


@pytest.mark.parametrize("lines", [3, 200])
def test_a_run_of_other_transactions_than_its_trace_is_rejected(run_dir: Path, lines: int) -> None:
    """One of a driver that stopped early, or did not end with the trace."""
    times = "".join(f'{number}.5 1 "INSERT INTO t VALUES({number})"\n' for number in range(lines))
    text = TRACE[: TRACE.index("1.000000")] + times
    profiles = json.loads((run_dir / "cell.json").read_text())["profiles"] | {"file": {"trace": text}}
    synthetic.change_cell(run_dir, pace="trace", profiles=profiles)
    result = pipeline.analyse(run_dir)
    number = stages.build(run_dir).driver.transactions.height
    assert result["status"] == "rejected"
    assert f"{number} transactions, but the trace has {lines} (PACE=trace)" in result["reasons"]


def test_the_rates_of_a_paced_run_are_named(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = stages.build(run_dir).driver
    begins, ends = (ints(ran.transactions[name]) for name in ("begin_ns", "end_ns"))
    # starts that are all due when they came, but one
    due = begins.copy()
    due[3] = ends[2] - 1
    monkeypatch.setattr(pace, "due_ns", lambda *_: due)
    found: Any = overhead.pacing(some_cell(pace="20/s"), ran)
    assert found["asked"] == "20/s"
    assert found["late"] == 1
    assert found["busy_tps"]["all"] == pytest.approx(begins.size * 1e9 / np.sum(ends - begins))
    said = " ".join(" ".join(terminal.pace(found)).split())
    assert said.startswith("PACE=20/s: TPS is the rate of the starts; transactions per second of the time in")
    assert "1 transaction started late, as the one before had not ended" in said
    assert terminal.pace(None) == []
