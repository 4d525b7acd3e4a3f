"""A recorded run with power cuts (record-sample.sh): verdicts, broken promises, and what rejects it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import markup
import numpy as np
import polars as pl
import pytest
from edited import device_log, edit_trial, lose_a_trial, table

from analysis import checks, pipeline, stages
from analysis.crash import verdicts
from analysis.report import terminal
from analysis.run import Run
from model import cell as cells
from model.engines import survival
from model.expected_state import oracle


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """DELETE with FULL, 40 cuts of 15 transactions."""
    return copy_run("sample-crash")


def judged(folder: Path) -> pl.DataFrame:
    found = stages.build(folder).judged
    assert found is not None
    return found


def row(folder: Path, trial: int) -> dict[str, Any]:
    return judged(folder).row(trial, named=True)


def test_the_recorded_run_holds(run_dir: Path) -> None:
    """Each database is whole or without its last transaction, as SQLite says of DELETE without EXTRA."""
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["cuts"], crash["mounted"], crash["opened"]) == (40, 40, 40)
    assert (crash["corrupt"], crash["not_a_prefix"], crash["broken"]) == (0, 0, 0)
    assert crash["lost_acknowledged"]["max"] == 1 and crash["lost_acknowledged"]["cuts"] > 0
    assert crash["promised"] == survival.LAST
    table = pl.read_csv(run_dir / "tables/trials.csv")
    assert table.height == 40 and set(table["verdict"]) == {verdicts.LOST, verdicts.WHOLE}
    assert (table["recovery_ns"] > 0).all() and (table["unacknowledged"] <= 1).all()
    text = terminal.table(result, run_dir / "report.html")
    assert "40 cuts (power): 40 mounted, 40 opened, 0 corrupt" in text and terminal.BROKEN not in text
    page = (run_dir / "report.html").read_text()
    assert markup.lacks(page) == []
    # what it was run for comes first
    assert page.index('<h2 id="part-0">What came up after each cut') < page.index("What was run</h2>")


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"mount_error": 117, "opened": 0, "is_read": 0, "is_whole": 0}, verdicts.UNMOUNTED),
        ({"is_whole": 0, "said": "row 5 missing"}, verdicts.CORRUPT),
        ({"hash": "0123456789abcdef"}, verdicts.NO_PREFIX),
    ],
)
def test_what_a_board_says_is_a_verdict(run_dir: Path, said: dict[str, Any], verdict: str) -> None:
    edit_trial(run_dir, 7, **said)
    assert row(run_dir, 7)["verdict"] == verdict
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok" and result["crash"]["broken"] == 1
    assert result["crash"]["first_broken"].startswith("trial 7, power cut ")
    text = terminal.table(result, run_dir / "report.html")
    assert f"{terminal.BROKEN} by 1 cuts" in text
    assert "\x1b[31mPROMISE BROKEN" in terminal.colored(text) and terminal.colored(text).count("\x1b[0m") == 1
    assert "Promise broken by 1 cuts" in (run_dir / "report.html").read_text()


def test_rows_that_no_cut_left_are_the_drivers_or_the_engines(run_dir: Path) -> None:
    """At the run's end all is there that the device was given: a driver that acknowledges what it does not
    execute leaves rows as after no number of transactions."""
    edit_trial(run_dir, 39, hash="0123456789abcdef")
    result = pipeline.analyse(run_dir)
    (reason,) = [one for one in result["reasons"] if "trial 39" in one]
    assert reason.endswith(
        "but has: not a prefix: its rows match the state after no number of transactions. No crash causes "
        "this: suspect the driver, which may acknowledge what it does not execute, or the engine"
    )


def test_what_is_gone_is_counted_from_what_was_acknowledged(run_dir: Path) -> None:
    """A database that is as it was five transactions before breaks the promise of DELETE with FULL."""
    cell = cells.from_document(json.loads((run_dir / "cell.json").read_text()))
    states = oracle.after_each(cell, ["insert", "update", "delete"])
    last = judged(run_dir)["trial"].max()
    where = row(run_dir, last - 1)
    held, acknowledged = where["acknowledged"] - 5, where["acknowledged"]
    edit_trial(run_dir, last - 1, hash=f"{states[held][1]:016x}")
    found = row(run_dir, last - 1)
    # a deletion of a row that is gone has nothing to lose
    lost = sum(states[n] != states[n + 1] for n in range(found["transactions"], acknowledged))
    assert (found["verdict"], found["lost"]) == (verdicts.LOST, lost) and 2 <= lost <= 5
    crash = pipeline.analyse(run_dir)["crash"]
    assert crash["broken"] == 1 and crash["lost_acknowledged"]["max"] == lost
    assert (
        f"{lost} of " in crash["first_broken"]
        and "acknowledged transactions are gone" in crash["first_broken"]
    )


def test_a_hole_breaks_the_promise(run_dir: Path) -> None:
    """Insert 2 is gone, and a later one is there."""
    cell = cells.from_document(json.loads((run_dir / "cell.json").read_text()))
    content, transactions = oracle.changes(cell, ["insert", "update", "delete"])
    before = next(row for row in judged(run_dir).iter_rows(named=True) if row["acknowledged"] == 5)
    for number, transaction in zip(range(5), transactions, strict=False):
        content.apply(transaction if number != 2 else ())
    edit_trial(run_dir, before["trial"], hash=f"{content.total:016x}")
    assert row(run_dir, before["trial"])["verdict"] == verdicts.HOLE
    result = pipeline.analyse(run_dir)
    assert (result["crash"]["not_a_prefix"], result["crash"]["holes"], result["crash"]["broken"]) == (1, 1, 1)
    assert result["crash"]["first_broken"].endswith(": hole: transaction 2 is gone, and 4 is there")
    text = " ".join(terminal.table(result, run_dir / "report.html").split())
    assert "1 no prefix of the transactions, 1 of them with a hole" in text


def test_a_trial_that_ended_its_board_is_a_result(run_dir: Path) -> None:
    lose_a_trial(run_dir)  # the last, which is then missed at the end
    for path in run_dir.glob("crash/*/raw/trials.csv"):
        path.write_text("".join(line for line in path.open() if not line.startswith("20,")))
    host = json.loads((run_dir / "host.json").read_text())
    (run_dir / "host.json").write_text(
        json.dumps(host | {"trials_died": {"20": "Kernel panic", "39": "hung"}})
    )
    found = row(run_dir, 20)
    assert (found["verdict"], found["said"], found["lost"]) == (verdicts.DIED, "Kernel panic", None)
    result = pipeline.analyse(run_dir)
    crash = result["crash"]
    assert (crash["died"], crash["mounted"], crash["opened"], crash["broken"]) == (2, 38, 38, 2)
    assert "2 ended the board, 38 mounted" in terminal.table(result, run_dir / "report.html")
    # the run's end must come up
    assert any("transactions intact, but has: board died" in reason for reason in result["reasons"])


def other_sector(entries: np.ndarray) -> None:
    place = np.flatnonzero(entries["sectors"] > 0)[60]
    entries["sector"][place] += 8


def repeat_a_trial(folder: Path) -> None:
    table(folder / "crash/2/raw/trials.csv", lambda rows: rows.append(rows[-1]))


def behind_at_the_end(folder: Path) -> None:
    cell = cells.from_document(json.loads((folder / "cell.json").read_text()))
    states = oracle.after_each(cell, ["insert", "update", "delete"])
    edit_trial(folder, 39, hash=f"{states[3][1]:016x}")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lose_a_trial, "1 of 40 trials were not run, first trial 39"),
        (repeat_a_trial, "there are 41 trials; the cell requests 40"),
        (
            lambda folder: device_log(folder / "crash/1/raw", other_sector),
            "trial board 1 did not repeat the run",
        ),
        (behind_at_the_end, "trial 39, at the run's end, must hold 15 transactions intact, but has: lost, 3"),
    ],
)
def test_a_fault_rejects_the_run(run_dir: Path, spoil: Callable[[Path], None], reason: str) -> None:
    spoil(run_dir)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"journal_mode": "wal"}, 0),
        ({"journal_mode": "delete"}, 1),
        ({"journal_mode": "delete", "synchronous": "extra"}, 0),
        ({"journal_mode": "wal", "synchronous": "normal"}, None),
        ({"journal_mode": "wal", "mount_options": "nobarrier"}, "nothing"),
    ],
)
def test_what_is_promised(
    built_run: Callable[[str], Run], settings: dict[str, str], most: int | str | None
) -> None:
    run = built_run("sample-crash")
    cell = cells.from_document(json.loads((run.folder / "cell.json").read_text()) | settings)
    assert survival.MOST_LOST.get(verdicts.promised(cell), "nothing") == most
    assert run.judged is not None
    table = run.judged.with_columns(lost=pl.lit(5), verdict=pl.lit(verdicts.LOST))
    assert verdicts.broken(cell, table).height == (40 if most in (0, 1) else 0)
    bad = table.with_columns(verdict=pl.lit(verdicts.CORRUPT), lost=pl.lit(0))
    assert verdicts.broken(cell, bad).height == (0 if most == "nothing" else 40)
