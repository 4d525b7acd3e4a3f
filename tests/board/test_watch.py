"""`make watch`: a Python program with two SQLite databases, and commands that fail."""

import json
from pathlib import Path

import pytest

from analysis import pipeline
from analysis.checks import counts
from analysis.inspect.__main__ import main as inspect
from commitpath.experiment import run_once
from commitpath.watch import command_cell

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/bench/programs/insert.py"


def watched(command: str, **variables: str) -> tuple[Path, dict]:
    """The run of a command that has PROGRAM beside it, and its summary."""
    folder = run_once(command_cell({"CMD": command, "FILES": str(PROGRAM), **variables}))
    return folder, pipeline.analyse(folder)


def test_a_program_with_two_databases(capsys: pytest.CaptureFixture[str]) -> None:
    folder, summary = watched("python3 insert.py")
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    assert summary["command"]["stdout"] == "done"
    # by rows: 20 inserts and a CREATE TABLE; the switch to WAL commits once
    syncs = {(one["name"], one["file"]): one["syncs"] for one in summary["syncs"]}
    assert syncs[("delete.db-journal", "journal")] == 42
    assert syncs[("delete.db", "database")] == 21
    assert syncs[("wal.db-wal", "wal")] >= 21
    assert syncs[("notes.txt", "other")] == 1
    assert {one["thread"] for one in summary["syncs"]} == {"python3"}
    # what is in the files that it left, by name and by what they begin with
    files = {(one["name"], one["file"]): one["bytes"] for one in summary["files"]}
    assert files[("notes.txt", "other")] == 102400
    assert {name: role for name, role in files if name.endswith(".db")} == dict.fromkeys(
        ("delete.db", "wal.db"), "database"
    )
    causes = {(one["thread"].split("/")[0], one["waited"]): one["bytes"] for one in summary["causes"]}
    assert causes[("jbd2", "python3")] > 0
    assert causes[("python3", "")] > 0
    assert "garbage" not in json.dumps(summary) + (folder / "report.html").read_text()
    assert sum(causes.values()) == summary["block"]["bytes_written"]
    assert sum(summary["labels"].values()) == summary["block"]["bytes_written"]
    assert summary["unattributed_share"] == 0
    counted = [[row[name] for name in counts.FIELDS] for row in summary["counted"].values()]
    assert len(counted) >= 3
    assert all(row == counted[0] for row in counted)
    assert summary["twin"]["same_counts"]
    assert inspect([str(folder)]) == 0
    assert (folder / "inspect.html").is_file()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nosuchprogram", "exit status 127: it was not found on the board"),
        ("echo no >&2; exit 3", "exit status 3"),
        ("kill -SEGV $$", "by signal 11"),
    ],
)
def test_a_command_that_fails_is_kept_and_told(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from analysis.__main__ import main as analyse

    folder = run_once(command_cell({"CMD": command, "FILES": str(PROGRAM)}))
    assert analyse([str(folder)]) == 1
    assert said in capsys.readouterr().err
    assert json.loads((folder / "summary.json").read_text())["status"] == "ok"


@pytest.mark.parametrize("fs", ["f2fs", "xfs", "ext4-journal"])
def test_a_program_on_each_filesystem(fs: str) -> None:
    folder, summary = watched("python3 insert.py", FS=fs)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    assert sum(one["syncs"] for one in summary["syncs"]) > 60
    assert sum(summary["labels"].values()) == summary["block"]["bytes_written"]
    files = {(one["name"], one["file"]) for one in summary["files"]}
    assert {("delete.db", "database"), ("wal.db", "database"), ("notes.txt", "other")} <= files
    assert ("garbage" in (folder / "report.html").read_text()) <= (fs == "f2fs")
