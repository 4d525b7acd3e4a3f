"""A path that a variable gives is one of the folder that the command is called in."""

import re
from pathlib import Path

import commands
import pytest

from commitpath.command_line import variables

# Of a folder with the file `there`, which has no use, and the folder `folder`, which is empty: the command,
# and what it says when it has found them.
CALLS = {
    "plan WORKLOAD=sql FILE=there": "FILE=there: line 1: the statement",
    "experiment WORKLOAD=sql FILE=there": "FILE=there: line 1: the statement",
    "plan OBSERVERS=all,empty.bt": "empty.bt: the file is empty",
    "watch CMD=true FILES=there,absent": "absent",
    "trace-record CMD=true FILE=there": "FILE=there: it exists already",
    "trace-synthetic NAME=synthetic-facebook FILE=there": "FILE=there: it exists already",
    "experiment EXPECT=kib<1 REFERENCE=there": "REFERENCE=there, line 1, character 1",
    "experiment EXPECT=kib<1 REFERENCE=folder": "REFERENCE=folder: ",
    "watch CMD=true EXPECT=kib<1 REFERENCE=there": "REFERENCE=there, line 1, character 1",
    "sweep GRID=quick EXPECT=kib<1 REFERENCE=there": "REFERENCE=there, line 1, character 1",
    "compare A=fs=xfs B=fs=f2fs EXPECT=kib<1 REFERENCE=there": "REFERENCE=there, line 1, character 1",
    "artifact GRID=quick LAB=here FILE=there": "FILE=there: it exists already",
    "export LAB=here FILE=there": "FILE=there: it exists already",
    "import FILE=there": "there: not an export, or a damaged one",
    "compare A=mode=wal B=mode=delete FILE=there.csv": "FILE=there.csv: it exists already",
    "compare A=mode=wal B=mode=delete PAGE=there.html": "PAGE=there.html: it exists already",
    "report-card FILE=there.yml": "there.yml: ",
    "setup-text RUN=folder": "folder: ",
    "setup-text GRID=there.yml": "there.yml: ",
    "table GRID=there.yml": "there.yml: ",
    "sweep GRID=there.yml": "there.yml: ",
    "durability GRID=there.yml FIGURE=folder/x.svg": "there.yml: ",
    "crash-replay RUN=folder TRIAL=1": "folder",
    "calibrate DEVICE=emmc-5.0 RUN=folder": "folder",
    "analyse RUN=folder": "folder",
    "audit RUN=folder": "folder",
    "inspect RUN=folder": "folder",
    "inspect TRACE=there": "there",
    "inspect TRACE=there CSV=folder/x.csv": "TRACE=there: line 1",
    "tree RUN=folder": "folder",
    "diff RUN_A=folder RUN_B=other": "folder",
    "trace-export RUN=folder": "folder",
    "ledger FIGURE=folder/x.svg RUNS=folder": "folder: no accepted run",
}
# folders or files of the checkout by their names, and of programs that are called in the folder, too
OTHERS = {
    ("reproduce", "PAPER"),
    ("bench-sensitivity", "PAPER"),
    ("watch", "CMD"),
    ("crash-replay", "CMD"),
    ("bench-analysis", "RUN"),
}
OTHERS |= {
    ("mutations", "KIND"),
    ("mutations", "SAMPLE"),
    ("crash-replay", "CASE"),
    ("crash-replay", "TRIAL"),
}
OTHERS |= {("export", "FILES"), ("inspect", "TRIAL")}


def test_each_path_is_tried() -> None:
    tried = {
        (command, word.partition("=")[0])
        for command, *words in (call.split() for call in CALLS)
        for word in words
    }
    paths = {
        (command, name)
        for command in variables.commands()
        for name, entry in variables.without_axes(command).items()
        if entry and re.search(r"\b(files?|folders?|\.csv|\.html|prefix|export)\b", entry["what"])
    }
    assert paths - OTHERS <= tried


@pytest.mark.parametrize("call", CALLS)
def test_a_relative_path_is_found_where_the_command_is_called(call: str, tmp_path: Path) -> None:
    for name in ("there", "there.csv", "there.html", "there.yml"):
        (tmp_path / name).write_text(".mode csv\n")
    (tmp_path / "empty.bt").touch()
    for name in ("folder", "other"):
        (tmp_path / name).mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = commands.call(
        "--folder", str(tmp_path), *call.split(), COMMITPATH_RESULTS=str(tmp_path / "results")
    )
    assert done.returncode and len(done.stderr.splitlines()) == 1, done.stderr
    assert CALLS[call] in done.stderr
    for missing in ("no such f", "there is no folder"):
        assert missing not in done.stderr or "absent: no such" in done.stderr
    assert [path for path in sorted(tmp_path.rglob("*")) if "results" not in path.parts] == before


def test_a_folder_that_was_deleted_is_named(tmp_path: Path) -> None:
    done = commands.call("--folder", str(tmp_path / "gone"), "results")
    assert done.returncode == 1
    assert done.stderr == (
        f"commitpath: {tmp_path}/gone: the current folder cannot be entered: No such file or directory\n"
    )
