"""`make watch` on Python programs: databases, threads, ways to sync, filesystems; and commands that fail."""

import json
import re
from pathlib import Path

import pytest
from sync_table import TABLE

from analysis import pipeline
from analysis.checks import counts
from analysis.inspect import write
from commitpath.run.experiment import run_once
from commitpath.run.watch import command_cell

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/bench/programs"


NAMES = ("insert.py", "modes.py", "ways.py", "concurrent.py", "extents.py", "fsync_bench.py", "writers.py")


def files() -> str:
    """What the commands are given, one for all of them so that they start from one snapshot."""
    return ",".join(str(PROGRAMS / name) for name in NAMES)


def watched(command: str, **variables: str) -> tuple[Path, dict]:
    """The run of a command that has PROGRAMS beside it, and its summary."""
    folder = run_once(command_cell({"CMD": command, "FILES": files(), **variables}))
    return folder, pipeline.analyse(folder)


def has_done_as_its_twin(summary: dict) -> None:
    ours, twins = summary["twin"]["run"], summary["twin"]["twin"]
    assert (ours["write_sectors"], ours["flush_ios"]) == (twins["write_sectors"], twins["flush_ios"])
    # whether two requests merge depends on when they are queued: the watched program is slower by 0.7 %
    assert abs(ours["write_ios"] - twins["write_ios"]) <= 2


def test_a_program_with_two_databases_and_one_with_a_database_for_each_mode() -> None:
    folder, summary = watched("python3 insert.py && python3 modes.py")
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    assert summary["command"]["stdout"] == "done\ndone"
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
    assert {name: role for name, role in files if name in ("delete.db", "wal.db")} == {
        "delete.db": "database",
        "wal.db": "database",
    }
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
    has_done_as_its_twin(summary)
    kinds = {(one["file"], one["op"]): one for one in summary["transactions"]["rows"]}
    of_two = {kind: row["transactions"] for kind, row in kinds.items() if "-" not in kind[0]}
    assert of_two == {
        **{("delete.db", "insert"): 20, ("wal.db", "insert"): 20, ("wal.db", "pragma"): 1},
        **{("delete.db", "create"): 1, ("wal.db", "create"): 1},
    }
    # At the close of wal.db and of three of modes.py a checkpoint syncs the log and the database. A rollback
    # syncs the journal that PERSIST zeroes above OFF and that TRUNCATE empties above NORMAL.
    assert summary["transactions"]["syncs_in_none"] == 2 * 4 + 3 + 2
    assert write.of_run(str(folder)) == 0
    assert (folder / "inspect.html").is_file()
    have_the_syncs_of_sqlite(summary)


def have_the_syncs_of_sqlite(summary: dict) -> None:
    """The transactions of modes.py in each mode."""
    of_two = 2 * 20 + 2 + 1  # inserts, CREATE TABLE, the switch to WAL
    assert summary["transactions"]["said"] == f"{24 * 4 + 24 + 4 + of_two} in 2 processes"
    found = {
        one["file"]: (one["transactions"], one["syncs"], one["rolled_back"])
        for one in summary["transactions"]["rows"]
        if one["op"] == "insert" and "-" in one["file"]
    }
    levels = ("off", "normal", "full", "extra")
    assert found == {
        f"{mode}-{level}.db": (4, syncs, 0)
        for mode, row in TABLE.items()
        for level, syncs in zip(levels, row, strict=True)
    }
    has_done_as_its_twin(summary)


def test_threads_and_processes_at_once() -> None:
    """Files and databases of their own, one database for all, DELETE and WAL; and a file of many extents."""
    own = "mkdir $one && cd $one && python3 ../writers.py $one 5 3 15 && cd .. || exit 1"
    _, summary = watched(
        f"python3 concurrent.py && python3 fsync_bench.py && python3 extents.py && "
        f"for one in delete wal; do {own}; done"
    )
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    printed = summary["command"]["stdout"]
    assert printed.count("rows 45") == 2
    syncs: dict[str, int] = {}
    for one in summary["syncs"]:
        syncs[one["name"]] = syncs.get(one["name"], 0) + one["syncs"]
    assert {syncs[f"{kind}-{number}.txt"] for kind in ("thread", "process") for number in range(3)} == {6}
    assert {syncs[f"many{number}"] for number in range(4)} == {50}
    assert (syncs["one"], syncs["long"]) == (100, 40)
    inserts: dict[str, int] = {}
    for row in summary["transactions"]["rows"]:
        if row["op"] == "insert":
            inserts[row["file"]] = row["transactions"] - row["rolled_back"]
    assert inserts == {
        **{"delete/queue.db": 45, "wal/queue.db": 45, "extents.db": 36},
        **{f"{kind}-{mode}-shared.db": 18 for kind in ("thread", "process") for mode in ("delete", "wal")},
        **{
            f"{kind}-{mode}-{number}.db": 6
            for kind in ("thread", "process")
            for mode in ("delete", "wal")
            for number in range(3)
        },
    }
    assert " in 22 processes" in summary["transactions"]["said"]
    locks, busy = summary["transactions"]["locks"], re.findall(r"busy (\d+)", printed)
    assert [locks["busy"]] == [int(number) for number in busy]
    assert (locks["busy"] > 0, locks["sleeps"] > 0, locks["slept_ns"] > 0) == (True, True, True)
    assert all(one["reason"] != "not in a sync" or not one["flushes"] for one in summary["causes"])


# What is no sync of a file, and who makes it
NO_SYNC = ("sync", "syncfs", "range")


def test_each_way_to_make_a_file_durable_is_seen() -> None:
    """And a process that goes on when its command has ended; and directories where files were before."""
    _, summary = watched("python3 ways.py")
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    found: dict[str, tuple[int, str]] = {}
    for one in summary["syncs"]:
        assert one["name"] not in found and one["file"] == "other" and one["failed"] == 0
        found[one["name"]] = one["syncs"], one["caller"]
    kernel = dict.fromkeys(("mapped", "o_sync", "o_dsync", "rwf"), (8, "kernel"))
    assert found == {"uring": (8, "io_uring"), **kernel, "gone": (8, "fsync"), "outlives": (8, "fsync")}
    written = {one["name"]: one["bytes"] for one in summary["files"] if one["file"] == "other"}
    assert written["gone"] == 8 * 16384
    assert {written[name] for name in (*found.keys() - {"gone"}, *NO_SYNC)} == {8 * 4096}
    assert sum(summary["labels"].values()) == summary["block"]["bytes_written"]
    has_done_as_its_twin(summary)


def test_what_goes_past_the_page_cache_is_of_no_file() -> None:
    _, summary = watched("dd if=/dev/zero of=past bs=64k count=4 oflag=direct conv=fsync 2>&1")
    assert summary["labels"]["unattributed"] == 4 << 16
    (reason,) = summary["reasons"]
    assert re.search(r"of the bytes written are unattributed$", reason)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo no >&2; exit 3", "exit status 3"),
        ("sh -c 'kill -SEGV $$'; exit $?", "exit status 139: as a shell ends after signal 11"),
    ],
)
def test_a_command_that_fails_is_kept_and_told(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from analysis.__main__ import main as analyse

    folder = run_once(command_cell({"CMD": command, "FILES": files()}))
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
