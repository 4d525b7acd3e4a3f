"""A watched command's run, recorded on the board (record-watch-sample.sh), and what a forged one gets."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import checks, pipeline, stages, stored
from analysis.__main__ import main as analyse
from analysis.adapters import command
from analysis.command.tables import NAMELESS, file_names
from analysis.content import recognised
from analysis.content.recognised import role
from analysis.inspect.load import Loaded
from analysis.ledger.schema import FILE
from base.errors import BadInput

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the run, as if it had been stored without hashes: what is forged is told by its checks."""
    shutil.unpack_archive(HERE / "watch-sample.tar.xz", tmp_path / "run")
    host = json.loads((tmp_path / "run/host.json").read_text())
    del host["raw_sha256"]
    (tmp_path / "run/host.json").write_text(json.dumps(host))
    return tmp_path / "run"


def edited(path: Path, change: Any) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_the_sample_is_good(folder: Path) -> None:
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    files = {(one["name"], one["file"]) for one in summary["files"]}
    assert files == {
        *(("delete.db", "database"), ("delete.db-journal", "journal"), ("notes.txt", "other")),
        *(("wal.db", "database"), ("wal.db-journal", "journal"), ("wal.db-wal", "wal")),
    }
    assert sum(one["bytes"] for one in summary["causes"]) == summary["block"]["bytes_written"]
    assert stored.read(folder, any_load=True).cell["command"] == "python3 insert.py"


def test_a_file_with_the_number_of_one_that_is_gone_is_not_it(folder: Path) -> None:
    read = stages.build(folder)
    made, kept = read.ledger, next(iter(read.contents.values()))
    assert made is not None
    # notes.txt has the inode of the journal and the WAL of wal.db; say that it begins with zeros, as a file
    # with a hole, or one that is yet to be written, does
    (inode,) = made.syncs.filter(pl.col("name").cast(pl.String) == "notes.txt")["inode"].unique()
    assert [len(made.given.lives[number]) for number in (15, inode)] == [1, 3]
    head = made.pieces.filter((pl.col("inode") == inode) & (pl.col("offset") == 0))["sector"].to_list()[-1]
    place = np.flatnonzero(kept.sector == head)
    data = kept.data.copy()
    data[kept.begin[place[0]] : kept.begin[place[0]] + 4096] = 0
    unknown = replace(
        made,
        pieces=made.pieces.with_columns(
            file=pl.when(pl.col("inode") == inode).then(pl.lit("other")).otherwise("file").cast(FILE)
        ),
        syncs=made.syncs.with_columns(
            file=pl.when(pl.col("inode") == inode).then(pl.lit("other")).otherwise("file").cast(FILE)
        ),
    )
    found = recognised.files(unknown, replace(kept, data=data), {})
    assert (found.syncs["file"] == made.syncs["file"]).all()
    assert (found.pieces["file"] == made.pieces["file"]).fill_null(True).all()
    # and without a sync of its own it has no name of the others'
    rows = pl.DataFrame({"inode": [inode] * 2, "time_ns": [made.given.lives[inode][-1] - 1, 2**62]})
    assert file_names(made, rows) == ["wal.db-wal", "notes.txt"]
    alone = replace(made, syncs=made.syncs.filter(pl.col("name").cast(pl.String) != "wal.db-wal"))
    assert file_names(alone, rows)[0] == NAMELESS


def test_what_asks_for_transactions_refuses_it(folder: Path) -> None:
    pipeline.analyse(folder)
    for reader in (stored.read, Loaded):
        with pytest.raises(BadInput, match="a watched command's"):
            reader(folder)


@pytest.mark.parametrize(
    ("place", "change", "said"),
    [
        (
            "raw",
            lambda config: config["command"].update(line="true"),
            "the command was 'true', and was to be",
        ),
        ("raw", lambda config: config.update(status="?"), "the runner's status is '?'"),
        (
            "twin/raw",
            lambda config: config["command"].update(line="true"),
            "the untraced twin ran another line",
        ),
        ("twin/raw", lambda config: config.update(status="?"), "untraced twin: the runner's status is '?'"),
    ],
)
def test_another_command_is_noticed(folder: Path, place: str, change: Any, said: str) -> None:
    edited(folder / place / "driver/config.json", change)
    assert any(said in reason for reason in checks.reasons(stages.build(folder)))


def test_another_phase_is_noticed(folder: Path) -> None:
    path = folder / "raw/driver/phases.csv"
    path.write_text(path.read_text().replace("drain", "close"))
    assert "phases.csv has the phases command, close" in "\n".join(checks.reasons(stages.build(folder)))


def test_what_was_printed_and_not_kept_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(folder / "raw/driver/config.json", lambda config: config["command"].update(stdout_bytes=10**9))
    reason = "raw/driver/stdout has 5 bytes; 1000000000 were printed, of which 16777216 are kept"
    assert checks.reasons(stages.build(folder)) == [reason]
    (folder / "raw/driver/stdout").write_bytes(b"\n" * (command.KEPT - 5) + b"done\n")
    summary = pipeline.analyse(folder)
    assert summary["reasons"] == []
    cut = "[stdout: 1000000000 bytes, of which the first 16777216 are kept]"
    assert summary["command"]["stdout"].endswith(f"done\n{cut}")
    assert cut in (folder / "report.html").read_text()


def test_the_status_of_a_shell_whose_command_a_signal_ended_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("raw", "twin/raw"):
        edited(
            folder / place / "driver/config.json", lambda config: config["command"].update(exit_status=139)
        )
    assert analyse([str(folder)]) == 1
    assert "exit status 139: as a shell's when signal 11 ended what it ran" in capsys.readouterr().err


def test_a_transaction_that_is_not_in_the_command_is_noticed(folder: Path) -> None:
    path = folder / "raw/driver/transactions.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    assert "43 transactions were noted" in "\n".join(checks.reasons(stages.build(folder)))
    last = lines[-1].split(",")
    last[4] = str(int(last[4]) + 10**9)
    path.write_text("\n".join([*lines[:-1], ",".join(last)]) + "\n")
    assert "transaction 42 is not within the command" in checks.reasons(stages.build(folder))


def test_how_often_a_database_was_locked_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = {"busy": 3, "sleeps": 1, "slept_ns": 12_300_000}
    edited(folder / "raw/driver/config.json", lambda config: config["transactions"].update(counted))
    assert analyse([str(folder)]) == 0
    said = "3 calls returned SQLITE_BUSY; SQLite slept 1 time for a lock, 12.3 ms in all threads"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in (folder / "report.html").read_text()


@pytest.mark.parametrize("counted", [{"ended": 42}, {"processes": 0}])
def test_more_transactions_than_ended_are_noticed(folder: Path, counted: dict[str, int]) -> None:
    edited(folder / "raw/driver/config.json", lambda config: config["transactions"].update(counted))
    (reason,) = checks.reasons(stages.build(folder))
    assert reason.startswith("transactions.csv has 43; by config.json ")


@pytest.mark.parametrize(
    ("counted", "noted", "said"),
    [
        ({}, True, "43 in 1 process"),
        ({"unseen_pages": 3}, True, "43 in 1 process; 3 pages written in calls that nothing watches"),
        ({"ended": 50}, True, "43 in 1 process; 7 more found no place"),
        ({"unfollowed": 2}, True, "43 in 1 process; 2 calls could not be followed"),
        ({"processes": 0, "ended": 0}, False, "not known: it wrote files of SQLite (delete.db), and called"),
        ({"ended": 0}, False, "none: it called SQLite, and no transaction ended in which it wrote"),
        (
            {"unfollowed": 2, "ended": 0},
            False,
            "not known: it called SQLite, and 2 calls could not be followed",
        ),
        (None, False, "not known: nothing notes them in a run that is not watched"),
    ],
)
def test_what_is_known_of_transactions_is_said(
    folder: Path, counted: dict[str, int] | None, noted: bool, said: str
) -> None:
    def change(config: dict[str, Any]) -> None:
        if counted is None:
            del config["transactions"]
        else:
            config["transactions"].update(counted)

    edited(folder / "raw/driver/config.json", change)
    if not noted:
        path = folder / "raw/driver/transactions.csv"
        path.write_text(path.read_text().splitlines()[0] + "\n")
        phases = folder / "raw/driver/phases.csv"
        phases.write_text(phases.read_text().replace(",43\n", ",0\n"))
    summary = pipeline.analyse(folder)
    assert summary["transactions"]["said"].startswith(said)
    assert summary["transactions"]["count"] == (43 if noted else None)
    assert summary["reasons"] == []
    assert said in (folder / "report.html").read_text()


def test_a_database_of_which_nothing_was_noted_is_named(folder: Path) -> None:
    path = folder / "raw/driver/transactions.csv"
    path.write_text(path.read_text().replace("wal.db", "another.db"))
    said = pipeline.analyse(folder)["transactions"]["said"]
    assert said == "43 in 1 process; not known of wal.db, which no transaction that was noted wrote"


def test_a_database_is_known_by_its_path_and_an_attached_one_is_called_so(folder: Path) -> None:
    path = folder / "raw/driver/transactions.csv"
    noted = path.read_text().replace("wal.db", r"/a\x20b/wal.db").replace("delete.db", "/other/wal.db")
    path.write_text(noted)
    edited(
        folder / "raw/driver/config.json",
        lambda config: config["transactions"].update(attached=["/a/delete.db", "/a/read.db", "/a/wal.db"]),
    )
    known = pipeline.analyse(folder)["transactions"]
    attached = "delete.db attached: what is written there is of its connection's database"
    assert known["said"] == f"43 in 1 process; {attached}"
    assert {row["file"] for row in known["rows"]} == {"a b/wal.db", "other/wal.db"}
    # no name of its own: of a connection to a database in memory
    path.write_text(noted.replace("/other/wal.db", ""))
    assert {row["file"] for row in pipeline.analyse(folder)["transactions"]["rows"]} == {"wal.db", ""}


def test_syncs_and_commands_are_tied_to_transactions(folder: Path) -> None:
    known = pipeline.analyse(folder)["transactions"]
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


def test_a_kernel_that_counted_otherwise_is_noticed(folder: Path) -> None:
    path = folder / "raw/driver/device_stat.csv"
    lines = path.read_text().splitlines()
    columns, end = lines[0].split(","), lines[-1].split(",")
    end[columns.index("write_sectors")] = str(int(end[columns.index("write_sectors")]) + 8)
    path.write_text("\n".join([*lines[:-1], ",".join(end)]) + "\n")
    assert any(
        reason.startswith("bytes_written in the window") for reason in checks.reasons(stages.build(folder))
    )


def test_how_it_ended_is_told_and_rejects_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("raw", "twin/raw"):
        edited(
            folder / place / "driver/config.json", lambda config: config["command"].update(exit_status=127)
        )
    assert analyse([str(folder)]) == 1
    assert "exit status 127: it was not found on the board" in capsys.readouterr().err
    assert json.loads((folder / "summary.json").read_text())["status"] == "ok"


@pytest.mark.parametrize(
    ("path", "text"),
    [("raw/driver/config.json", "{}"), ("raw/board/heads.txt", "1 2 zz\n"), ("watch.json", "{}")],
)
def test_a_file_that_is_none_is_refused(folder: Path, path: str, text: str) -> None:
    (folder / path).write_text(text)
    with pytest.raises(BadInput):
        stages.build(folder)


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"SQLite format 3\0", "database"),
        (bytes.fromhex("377f0682002de218"), "wal"),
        (bytes.fromhex("d9d505f920a163d7"), "journal"),
        (b"SQLite format 4\0", "other"),
        (b"#!/bin/sh", "other"),
        (bytes(28), None),
        (b"", None),
    ],
)
def test_a_file_is_what_it_begins_with(head: bytes, is_one: str | None) -> None:
    assert role(head) == is_one
