"""Observers as parts: found by name, run by scripts that know none; what a user's bpftrace script printed."""

import json
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from base.errors import BadInputError, FileError
from base.paths import ROOT
from commitpath.boards.payload import observer_scripts, payload
from commitpath.cells import from_variables as cells
from commitpath.cells import identities, observers, profiles
from model.cell import Cell

# Counts what the device has done when the watching begins and ends.
COUNTER = """
check() { [ -r /proc/diskstats ] || lack "there is no /proc/diskstats"; }
start() { mkdir "$RAW/diskstats" && cp /proc/diskstats "$RAW/diskstats/begin"; }
ready() { [ -s "$RAW/diskstats/begin" ]; }
stop() { cp /proc/diskstats "$RAW/diskstats/end"; }
said() { ls "$RAW/diskstats"; }
"""
# A program that goes on while the run does, and can be told to fail.
SLEEPER = """
check() { needs_program python3; }
start() { observe python3 sleeper.py; }
ready() { [ -e asleep ]; }
stop() { ended; }
said() { echo "the sleeper said so"; }
"""
SLEEPS = """
import signal, sys
from pathlib import Path

# a shell's background job ignores it
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
Path("asleep").touch()
signal.sigwait([signal.SIGINT])
sys.exit(int(Path("code").read_text()))
"""


def board(folder: Path, names: str) -> None:
    """What a board has of the observers, with a cell.env that names some."""
    for name in ("watch.sh", "observer.sh", "needs.sh"):
        shutil.copy(ROOT / "playbooks/board" / name, folder)
    # this machine's kernel log is nobody's to write to
    watch = folder / "watch.sh"
    watch.write_text(watch.read_text().replace("/dev/kmsg", "kmsg").replace("/sys/block/vda/stat", "none"))
    shutil.copytree(ROOT / "playbooks/observers", folder / "observers")
    (folder / "cell.env").write_text(f"OBSERVERS='{names}'\nDEVICE_NAME=target\n")


def sh(folder: Path, *words: str) -> tuple[int, str]:
    """(exit code, what it said): in a file, which those that it leaves running do not hold open."""
    with (folder / "said").open("w+") as said:
        code = subprocess.run(["sh", *words], cwd=folder, stdout=said, stderr=said, check=False).returncode
        said.seek(0)
        return code, said.read()


def test_it_is_checked_started_and_stopped(tmp_path: Path) -> None:
    board(tmp_path, "diskstats")
    (tmp_path / "observers/diskstats.sh").write_text(COUNTER)
    assert sh(tmp_path, "observer.sh", "diskstats", "check") == (0, "")
    assert sh(tmp_path, "watch.sh", "start") == (0, "")
    assert "watching='diskstats'\n" in (tmp_path / "watch.env").read_text()
    assert [path.name for path in (tmp_path / "raw/diskstats").iterdir()] == ["begin"]
    assert sh(tmp_path, "watch.sh", "stop") == (0, "")
    assert sorted(path.name for path in (tmp_path / "raw/diskstats").iterdir()) == ["begin", "end"]


def test_a_program_is_waited_for_and_its_end_counts(tmp_path: Path) -> None:
    board(tmp_path, "first sleeper")
    (tmp_path / "observers/sleeper.sh").write_text(SLEEPER)
    (tmp_path / "sleeper.py").write_text(SLEEPS)
    order = "".join(
        f"{what}() {{ echo first {what} >> order; }}\n" for what in ("start", "ready", "stop", "said")
    )
    (tmp_path / "observers/first.sh").write_text(order)
    for code in (0, 3):
        (tmp_path / "code").write_text(f"{code}\n")
        (tmp_path / "asleep").unlink(missing_ok=True)
        assert sh(tmp_path, "watch.sh", "start") == (0, "")
        assert (tmp_path / "sleeper.pid").is_file()
        assert sh(tmp_path, "watch.sh", "stop") == ((1, "the sleeper said so\n") if code else (0, ""))
        assert not (tmp_path / "sleeper.pid").exists()
    assert (tmp_path / "order").read_text().split("\n")[:3] == ["first start", "first ready", "first stop"]


def test_one_that_ends_before_it_is_told_to_fails_the_stop(tmp_path: Path) -> None:
    """As a script that calls exit() does, or one that the load ended: it did not watch to the end."""
    board(tmp_path, "sleeper")
    text = "start() { observe sleep 0.2; }\nready() { :; }\nstop() { ended; }\nsaid() { :; }\n"
    (tmp_path / "observers/sleeper.sh").write_text(text)
    assert sh(tmp_path, "watch.sh", "start") == (0, "")
    time.sleep(1)
    assert sh(tmp_path, "watch.sh", "stop") == (1, "observer: sleeper ended before it was stopped\n")


def test_who_watched_is_what_the_run_says() -> None:
    from analysis import observers as read

    assert read.check_names(["probes"]) == ["probes"]
    for said in ([1], "probes"):
        with pytest.raises(FileError, match="a list of names"):
            read.check_names(said)
    with pytest.raises(FileError, match="no observer 'nobody'"):
        read.load("nobody")


def test_an_observer_is_whole() -> None:
    """Each has a file in every stage."""
    from analysis import observers as read

    assert read.names() == tuple(observers.names())
    there = dict.fromkeys(path.stem for path in observer_scripts(observers.names()))
    assert list(there) == list(observers.names())


def test_a_profile_says_when_it_watches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "often.yml").write_text("description: d\npackages: []\nwatches: often\n")
    monkeypatch.setattr(observers, "FOLDER", tmp_path)
    observers.profiles.cache_clear()
    try:
        with pytest.raises(BadInputError, match=r"often.yml: watches: 'often' is not one of"):
            observers.names()
    finally:
        observers.profiles.cache_clear()


SCRIPT = 'kprobe:vfs_fsync_range { printf("%llu %s\\n", nsecs(monotonic), comm); }\n'


def of_script(folder: Path, text: str = SCRIPT, **variables: str) -> Cell:
    """The cell of a bpftrace script of that content."""
    (folder / "mine.bt").write_text(text)
    return cells.make_cell({"OBSERVERS": f"all,{folder / 'mine.bt'}", **variables})


def test_a_users_script_is_the_cells_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    cell, same, other = of_script(tmp_path), of_script(tmp_path / "other"), of_script(tmp_path, SCRIPT * 2)
    assert cell == same and identities.cell_id(cell) != identities.cell_id(other)
    assert str(tmp_path) not in json.dumps(identities.stored(cell))
    assert profiles.watching(cell) == ["blktrace", "content", "probes", "bpftrace"]
    sent = payload(cell)
    assert sent["observers/bpftrace.bt"].decode() == SCRIPT
    # the twin has neither
    assert not [name for name in payload(replace(cell, probes="")) if "bpftrace" in name]


def test_a_script_goes_with_the_probes_and_its_observer_with_a_script(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="a script needs probes, and PROBES is none"):
        of_script(tmp_path, PROBES="none")
    with pytest.raises(
        BadInputError, match=r"^PROBES=all,bpftrace: did you mean blktrace\? PROBES is all, none, or some of "
    ):
        cells.make_cell({"PROBES": "all,bpftrace"})


def test_what_a_script_printed_is_read(tmp_path: Path) -> None:
    from analysis.observers import Given, bpftrace

    for name in bpftrace.OUTPUTS:
        (tmp_path / name).write_text("")
    text = "Attaching 2 probes...\n120 jbd2 commit\n 90\tdriver: fsync\n\n@ws: 5\n[1, 2)  3 |@@ |\n7 no end"
    (tmp_path / bpftrace.TEXT).write_text(text)
    seen = bpftrace.OBSERVER.read(Given(tmp_path, (0, 200)))
    assert (seen.missing, seen.losses, seen.notes) == ([], [], [])
    assert seen.numbers == {"lines": 6, "timed_lines": 3, "other_numbers": 0, "lost": 0}
    assert bpftrace.script_lines(tmp_path).rows() == [
        (7, "no end"),
        (90, "driver: fsync"),
        (120, "jbd2 commit"),
    ]
    (tmp_path / bpftrace.OUTPUTS[1]).write_text("Lost 12 events\nWARNING: Lost 3 events\n")
    seen = bpftrace.OBSERVER.read(Given(tmp_path, (0, 200)))
    assert (seen.lost, seen.losses) == (15, ["the bpftrace script lost 15 events"])
    # of bpftrace 0.23 and later
    full = (
        "x.bt:44:3-25: WARNING: Map full; can't update element.\nAdditional Info - helper: map_update_elem\n"
    )
    (tmp_path / bpftrace.OUTPUTS[1]).write_text(full * 2)
    seen = bpftrace.OBSERVER.read(Given(tmp_path, (0, 200)))
    assert seen.losses == ["the bpftrace script lost 2 updates of a full map (max_map_keys)"]
    (tmp_path / bpftrace.TEXT).unlink()
    assert bpftrace.OBSERVER.read(Given(tmp_path, (0, 200))).missing == ["raw/bpftrace.txt"]
