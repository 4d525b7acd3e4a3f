"""What was going on at each cut: held against the tables and logs by other means."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import pipeline, stages
from analysis.adapters.devicelog import ENTRY
from analysis.block_operations import FLUSH, FUA, WRITE
from analysis.crash import going_on, prefixes, verdicts
from analysis.crash.hashes import Held
from analysis.device_logs.flashsim import HEADER

HERE = Path(__file__).parent
OPERATIONS = {WRITE: "write", WRITE | FUA: "write FUA", FLUSH: "flush"}


def unpacked(sample: str, folder: Path) -> Path:
    shutil.unpack_archive(HERE / sample, folder)
    return folder / "run"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DELETE with FULL, 30 cuts of 9 transactions, analysed."""
    folder = unpacked("sample-crash-watched.tar.xz", tmp_path_factory.mktemp("watched"))
    result = pipeline.analyse(folder)
    assert result["status"] == "ok", result["reasons"]
    return folder


def trials(folder: Path) -> list[dict[str, Any]]:
    found = stages.build(folder).judged
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


@pytest.mark.parametrize("sample", ["sample-crash.tar.xz", "sample-crash-watched.tar.xz"])
def test_what_the_board_of_a_trial_says(tmp_path: Path, sample: str) -> None:
    folder = unpacked(sample, tmp_path)
    for row in trials(folder):
        raw = board_of(folder, row["trial"])
        assert row["operation"] == OPERATIONS[int(log(raw)[row["command"]]["operation"])]
        (phase,) = within(pl.read_csv(raw / "driver/phases.csv"), row["cut_ns"])
        assert row["phase"] == phase["phase"]
        ran = within(pl.read_csv(raw / "driver/transactions.csv"), row["cut_ns"])
        assert (row["under_way"], row["op"]) == (
            (ran[0]["transaction"], ran[0]["op"]) if ran else (None, None)
        )


def test_of_a_run_that_nobody_watched_nothing_more_is_known(tmp_path: Path) -> None:
    rows = trials(unpacked("sample-crash.tar.xz", tmp_path))
    assert all(row[name] is None for row in rows for name in going_on.LEDGER)
    assert going_on.told(rows[0]) == "write, insert 0"


def test_the_ledger_says_the_rest(watched: Path) -> None:
    ledger, vfs, commits = (
        pl.read_parquet(watched / f"tables/{name}.parquet") for name in ("ledger", "vfs", "commits")
    )
    rows = trials(watched)
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


def test_a_deletion_is_lost_until_the_commit_that_has_it_is_there(watched: Path) -> None:
    """DELETE with FULL, docs/explanation/durability.md: the last transaction is lost if and only if no commit
    block of the filesystem's journal was written since it was acknowledged."""
    ledger, ran = (pl.read_parquet(watched / f"tables/{name}.parquet") for name in ("ledger", "transactions"))
    rows = [row for row in trials(watched) if row["acknowledged"]]
    for row in rows:
        since = ran["end_ns"][row["acknowledged"] - 1]
        fua = ledger.filter(
            pl.col("rwbs").cast(pl.String).str.contains("^F?W.*F") & (pl.col("issue_ns") > since)
        )
        done = [
            number
            for number in fua["command"]
            if number < row["ledger_command"] or (number == row["ledger_command"] and row["where"] == "after")
        ]
        assert (row["verdict"] == verdicts.LOST) == (not done), row["trial"]
    assert {row["verdict"] for row in rows} == {verdicts.LOST, verdicts.WHOLE}


def test_lost_work_is_from_the_first_acknowledgement_that_did_not_hold(watched: Path) -> None:
    rows, work = trials(watched), []
    for row in rows:
        ends = pl.read_csv(board_of(watched, row["trial"]) / "driver/transactions.csv")["end_ns"]
        since = ends[row["transactions"]] if row["lost"] else row["cut_ns"]
        assert row["first_lost"] == (row["transactions"] if row["lost"] else None)
        work.append(row["cut_ns"] - since)
        assert row["lost_ns"] == work[-1]
    told = pipeline.analyse(watched)["crash"]["lost_ms"]
    assert told == {"max": pytest.approx(max(work) / 1e6), "mean": pytest.approx(sum(work) / len(work) / 1e6)}
    assert 0 < told["mean"] < told["max"] < 10


def test_which_is_the_first_that_is_lost() -> None:
    known = prefixes.Known({number: Held(1, total) for number, total in enumerate([7, 8, 8, 9, 7])})
    assert [known.first_between(1, last) for last in range(5)] == [None, None, None, 2, 2]
    assert known.first_between(0, 4) == 0 and known.first_between(None, 4) is None


def spoil(raw: Path, place: int) -> None:
    """Have a device have got another command."""
    entries = log(raw).copy()
    entries["sector"][place] += 8
    path = raw / "device.bin"
    path.write_bytes(path.read_bytes()[: HEADER.itemsize] + entries.tobytes())


def unhashed(folder: Path) -> None:
    host = folder / "host.json"
    host.write_text(host.read_text().replace('"raw_sha256"', '"raw"'))


@pytest.mark.parametrize(
    "what",
    [
        lambda folder, place: spoil(folder / "crash/1/raw", place),
        # the twin is as before, the run no longer what its ledger says
        lambda folder, place: spoil(folder / "raw", place),
    ],
)
def test_what_another_device_got_has_no_place(tmp_path: Path, what: Callable[[Path, int], None]) -> None:
    folder = unpacked("sample-crash-watched.tar.xz", tmp_path)
    before = trials(folder)
    unhashed(folder)
    of_board = [row for row in before if board_of(folder, row["trial"]) == folder / "crash/1/raw"]
    writes = [row for row in of_board if row["operation"] == "write"]
    place = writes[len(writes) // 2]["command"]
    what(folder, place)
    after = trials(folder)
    for row, was in zip(after, before, strict=True):
        assert row["operation"] == was["operation"] and row["under_way"] == was["under_way"]
        known = {row[name] is not None for name in going_on.LEDGER}
        if was in of_board and was["command"] >= place:
            assert known == {False}
        elif was not in of_board and known == {True}:
            assert row == was
    assert any(row["kind"] is None for row in after)


def test_ranges_of_numbers() -> None:
    assert going_on.ranges([]) == "" and going_on.ranges([7]) == "7"
    assert going_on.ranges([9, 3, 5, 6, 7]) == "3 5-7 9"
