"""A watched command's run, recorded on the board (record-watch-sample.sh), and its faults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import edited
import markup
import pytest

from analysis import checks, pipeline, stages
from analysis.__main__ import main as analyse
from analysis.content.relabelled import role
from analysis.inspect.load import Loaded
from analysis.run_files import stored
from base.errors import FileError


@pytest.fixture
def folder(copy_run: Callable[[str], Path]) -> Path:
    return copy_run("watch-sample")


def test_the_sample_is_good(folder: Path) -> None:
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    files = {(one["name"], one["file"]) for one in summary["files"]}
    assert files == {
        *(("delete.db", "database"), ("delete.db-journal", "journal"), ("notes.txt", "other")),
        *(("wal.db", "database"), ("wal.db-journal", "journal"), ("wal.db-wal", "wal")),
    }
    assert sum(one["bytes"] for one in summary["causes"]) == summary["block"]["bytes_written"]
    assert stored.read(folder, any_load=True).cell.command == "python3 insert.py"
    for reader in (stored.read, Loaded):
        with pytest.raises(FileError, match="a watched command's"):
            reader(folder)
    known = summary["transactions"]
    rows = {(one["file"], one["op"]): one for one in known["rows"]}
    inserts = {file: rows[file, "insert"] for file in ("delete.db", "wal.db")}
    assert [(one["transactions"], one["syncs"]) for one in inserts.values()] == [(20, 4), (20, 1)]
    # one is at the checkpoint of the close, the WAL's and the database's
    assert known["syncs_in_none"] == 2
    loaded = Loaded(folder, any_load=True)
    assert loaded["transactions"].height == 43
    assert loaded["syncs"]["transaction"].drop_nulls().len() == 114 - 3
    assert loaded["ledger"]["transaction"].drop_nulls().len() == 293
    assert loaded["ledger"].height == 311
    assert loaded["costs"]["cpu_ns"].null_count() == 43


@pytest.mark.parametrize(
    ("place", "change", "said"),
    [
        ("raw", lambda config: config["command"].update(line="true"), "the command was 'true', expected"),
        (
            "twin/raw",
            lambda config: config["command"].update(line="true"),
            "the baseline run's command has another line",
        ),
        ("twin/raw", lambda config: config.update(status="?"), "baseline run: the runner's status is '?'"),
    ],
)
def test_another_command_is_noticed(folder: Path, place: str, change: Any, said: str) -> None:
    edited.change(folder / place / "driver/config.json", change)
    assert any(said in reason for reason in checks.reasons(stages.build(folder)))


def test_the_status_of_a_shell_whose_command_a_signal_ended_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("raw", "twin/raw"):
        edited.change(
            folder / place / "driver/config.json", lambda config: config["command"].update(exit_status=139)
        )
    assert analyse([str(folder)]) == 1
    assert "exit status 139: as a shell ends after signal 11" in capsys.readouterr().err


def test_a_transaction_that_is_not_in_the_command_is_noticed(folder: Path) -> None:
    path = folder / "raw/driver/transactions.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    assert "phases.csv has 43 transactions, transactions.csv 42" in "\n".join(
        checks.reasons(stages.build(folder))
    )
    last = lines[-1].split(",")
    last[4] = str(int(last[4]) + 10**9)
    path.write_text("\n".join([*lines[:-1], ",".join(last)]) + "\n")
    assert "transaction 42 is not within the command" in checks.reasons(stages.build(folder))


@pytest.mark.parametrize(
    ("counted", "noted", "said"),
    [
        ({}, True, "43 in 1 process"),
        ({"unseen_pages": 3}, True, "43 in 1 process; 3 pages written in calls that are not traced"),
        ({"processes": 0, "ended": 0}, False, "not known: it wrote files of SQLite (delete.db), but called"),
        (
            {"unfollowed": 2, "ended": 0},
            False,
            "not known: it called SQLite, but 2 calls could not be followed",
        ),
    ],
)
def test_what_is_known_of_transactions_is_said(
    folder: Path, counted: dict[str, int], noted: bool, said: str
) -> None:
    edited.change(folder / "raw/driver/config.json", lambda config: config["transactions"].update(counted))
    if not noted:
        path = folder / "raw/driver/transactions.csv"
        path.write_text(path.read_text().splitlines()[0] + "\n")
        phases = folder / "raw/driver/phases.csv"
        phases.write_text(phases.read_text().replace(",43\n", ",0\n"))
    summary = pipeline.analyse(folder)
    assert summary["transactions"]["said"].startswith(said)
    assert summary["transactions"]["count"] == (43 if noted else None)
    assert summary["reasons"] == []
    page = (folder / "report.html").read_text()
    assert said in page and markup.lacks(page) == []


def test_a_database_is_known_by_its_path_and_an_attached_one_is_called_so(folder: Path) -> None:
    path = folder / "raw/driver/transactions.csv"
    noted = path.read_text().replace("wal.db", r"/a\x20b/wal.db").replace("delete.db", "/other/wal.db")
    path.write_text(noted)
    edited.change(
        folder / "raw/driver/config.json",
        lambda config: config["transactions"].update(attached=["/a/delete.db", "/a/read.db", "/a/wal.db"]),
    )
    known = pipeline.analyse(folder)["transactions"]
    attached = "delete.db attached: its writes count for its connection's database"
    assert known["said"] == f"43 in 1 process; {attached}"
    assert {row["file"] for row in known["rows"]} == {"a b/wal.db", "other/wal.db"}
    # no name of its own: of a connection to a database in memory
    path.write_text(noted.replace("/other/wal.db", ""))
    assert {row["file"] for row in pipeline.analyse(folder)["transactions"]["rows"]} == {"wal.db", ""}


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"SQLite format 3\0", "database"),
        (bytes.fromhex("377f0682002de218"), "wal"),
        (bytes.fromhex("d9d505f920a163d7"), "journal"),
        (b"#!/bin/sh", "other"),
        (bytes(28), None),
    ],
)
def test_a_file_is_what_it_begins_with(head: bytes, is_one: str | None) -> None:
    assert role(head) == is_one
