"""What was going on at each cut: held against the tables and logs by other means."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import pipeline
from analysis.adapters.device_logs import ENTRY
from analysis.adapters.device_logs.flashsim import HEADER
from analysis.run import Run
from model.block_operations import FLUSH, FUA, WRITE

OPERATIONS = {WRITE: "write", WRITE | FUA: "write FUA", FLUSH: "flush"}


WATCHED = "sample-crash-watched"


def trials(run: Run) -> list[dict[str, Any]]:
    found = run.judged
    assert found is not None
    return found.to_dicts()


def board_of(folder: Path, trial: int) -> Path:
    """raw/ of the board that had a trial."""
    return next(
        path.parent
        for path in folder.glob("crash/*/raw/trials.csv")
        if any(line.startswith(f"{trial},") for line in path.open())
    )


def log(raw: Path) -> np.ndarray:
    return np.frombuffer((raw / "device.bin").read_bytes()[HEADER.itemsize :], ENTRY)


def within(table: pl.DataFrame, moment: int) -> list[dict[str, Any]]:
    return table.filter((pl.col("begin_ns") <= moment) & (pl.col("end_ns") > moment)).to_dicts()


def numbers(ranges: str) -> list[int]:
    parts = [part.split("-") for part in ranges.split()]
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]


@pytest.mark.parametrize("sample", ["sample-crash", WATCHED])
def test_what_the_board_of_a_trial_says(built_run: Callable[[str], Run], sample: str) -> None:
    run = built_run(sample)
    for row in trials(run):
        raw = board_of(run.folder, row["trial"])
        assert row["operation"] == OPERATIONS[int(log(raw)[row["command"]]["operation"])]
        (phase,) = within(pl.read_csv(raw / "driver/phases.csv"), row["cut_ns"])
        assert row["phase"] == phase["phase"]
        ran = within(pl.read_csv(raw / "driver/transactions.csv"), row["cut_ns"])
        assert (row["under_way"], row["op"]) == (
            (ran[0]["transaction"], ran[0]["op"]) if ran else (None, None)
        )


@pytest.fixture(scope="module")
def watched(built_run: Callable[[str], Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DELETE with FULL, 30 cuts of 9 transactions, analysed."""
    folder = tmp_path_factory.mktemp("watched") / "run"
    shutil.copytree(built_run(WATCHED).folder, folder)
    result = pipeline.analyse(folder)
    assert result["status"] == "ok", result["reasons"]
    return folder


def test_the_ledger_says_the_rest(watched: Path, built_run: Callable[[str], Run]) -> None:
    ledger, vfs, commits = (
        pl.read_parquet(watched / f"tables/{name}.parquet") for name in ("ledger", "vfs", "commits")
    )
    rows = trials(built_run(WATCHED))
    for row in rows:
        logged = log(board_of(watched, row["trial"]))[row["command"]]
        command = ledger.row(row["ledger_command"], named=True)
        assert (command["sector"] or 0, command["bytes"] // 512) == (logged["sector"], logged["sectors"])
        assert row["kind"] == command["kind"]
        # where the device had it, within the time that the kernel did
        if row["where"] != "before":
            assert command["issue_ns"] < row["watched_ns"] < command["complete_ns"]
        else:
            assert abs(command["issue_ns"] - row["watched_ns"]) < 10_000
        calls = [f"{call['op']} {call['file']}" for call in within(vfs, row["watched_ns"])]
        assert row["engine_call"] == (calls[0] if calls else "nothing")
        work = [f"commit {commit['commit']}" for commit in within(commits, row["watched_ns"])]
        assert row["filesystem_work"] == (work[0] if work else "nothing")
        if row["commands_kept"] is None:
            # the last write before the window might be lost
            assert row["trial"] == 0 and row["losable"] == 1 and row["commands_gone"] is None
            continue
        kept, gone = numbers(row["commands_kept"]), numbers(row["commands_gone"])
        assert (len(kept) + len(gone), len(gone)) == (row["losable"], row["lost_commands"])
        assert not set(kept) & set(gone) and all(number <= row["ledger_command"] for number in [*kept, *gone])
    assert {"sync journal", "sync database", "nothing"} == {row["engine_call"] for row in rows}
    assert {"rollback journal", "filesystem journal", "flush"} < {row["kind"] for row in rows}


def test_lost_work_is_from_the_first_acknowledgement_that_did_not_hold(
    watched: Path, built_run: Callable[[str], Run]
) -> None:
    rows, work = trials(built_run(WATCHED)), []
    for row in rows:
        ends = pl.read_csv(board_of(watched, row["trial"]) / "driver/transactions.csv")["end_ns"]
        since = ends[row["transactions"]] if row["lost"] else row["cut_ns"]
        assert row["first_lost"] == (row["transactions"] if row["lost"] else None)
        work.append(row["cut_ns"] - since)
        assert row["lost_ns"] == work[-1]
    told = json.loads((watched / "summary.json").read_text())["crash"]["lost_ms"]
    assert told == {"max": pytest.approx(max(work) / 1e6), "mean": pytest.approx(sum(work) / len(work) / 1e6)}
    assert 0 < told["mean"] < told["max"] < 10
