"""One prefix, and one exit code for one kind of error, whatever the command."""

import os
import subprocess
import sys
from pathlib import Path

import commands
import pytest

from base.data import load_mapping
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInputError

ROOT = Path(__file__).resolve().parents[2]
OF_A_RUN = [["analyse"], ["inspect"], ["tree"], ["trace-export"], ["diff", "RUN_B=/tmp"]]


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A folder of results that has a run."""
    (tmp_path / "cell/run").mkdir(parents=True)
    (tmp_path / "cell/run/cell.json").touch()
    return str(tmp_path)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_utf8_gets_the_marks_of_a_table(encoding: str) -> None:
    """Escaped, in place of a traceback."""
    code = "from commitpath import __main__ as main; main._open_streams(); print('\u2717 3')"
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    shown = "\u2717" if encoding == "utf-8" else r"\u2717"
    assert done.stdout.decode(encoding) == f"{shown} 3\n"


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_is_not_there(command: list[str], stored: str) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}=/nowhere", COMMITPATH_RESULTS=stored)
    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    assert done.stderr.startswith(f"commitpath: {name}=/nowhere: no such run; ")


def test_a_run_is_looked_for_where_runs_are(stored: str) -> None:
    done = commands.call("tree", "RUN=results/none/such", COMMITPATH_RESULTS=stored)
    assert "no such run; a run is named by its folder, its id, its cell" in done.stderr
    assert f"make results lists the runs of {stored}" in done.stderr


def test_where_no_run_was_made_it_is_said_how_to(tmp_path: Path) -> None:
    done = commands.call("tree", "RUN=nowhere/latest", COMMITPATH_RESULTS=str(tmp_path / "none"))
    assert done.returncode == EXIT_BAD_INPUT
    reason = f"no such run; there is no run with its files in {tmp_path}/none yet, make experiment makes one"
    assert done.stderr == f"commitpath: RUN=nowhere/latest: {reason}\n"


@pytest.mark.parametrize("command", ["analyse", "inspect", "tree", "trace-export", "diff", "crash-replay"])
def test_a_command_without_its_run_says_what_is_missing(command: str) -> None:
    done = commands.call(command, *(["RUN_A=/nowhere"] if command == "diff" else []))
    assert done.returncode == EXIT_BAD_INPUT and len(done.stderr.splitlines()) == 1
    missing = "RUN_B" if command == "diff" else "RUN"
    assert f"{missing}: missing; make {command} takes {missing}=" in done.stderr
    assert f"(make help {command})" in done.stderr
    assert (", or TRACE= (" in done.stderr) == (command == "inspect")
    if command == "diff":
        assert "RUN_A=/nowhere: no such run; " in done.stderr


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_cannot_be_read(command: list[str], tmp_path: Path) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}={tmp_path}")
    assert (done.returncode, done.stdout) == (EXIT_UNREADABLE, "")
    assert done.stderr.startswith(f"commitpath: {tmp_path}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["FIGURE=a.gif"], "FIGURE=a.gif: unsupported suffix; use .pdf, .svg, .png, .pgf"),
        (["FIGURE=/nowhere/a.svg"], "FIGURE=/nowhere/a.svg: there is no folder /nowhere"),
        (["FIGURE=a.svg", "RUNS=/nowhere"], "RUNS=/nowhere: no such run; "),
    ],
)
def test_a_figure_that_cannot_be_made_is_told_first(words: list[str], says: str) -> None:
    done = commands.call("ledger", *words)
    assert (done.returncode, done.stderr.splitlines()) == (EXIT_BAD_INPUT, [done.stderr.rstrip("\n")])
    assert done.stderr.startswith(f"commitpath: {says}")
    assert done.stderr.endswith("; RUNS is runs, or one folder of results\n") == ("RUNS" in says)


@pytest.mark.parametrize("command", ["compare", "durability", "figure", "ledger", "table"])
def test_what_is_missing_is_named_in_a_short_line(command: str, tmp_path: Path) -> None:
    done = commands.call(command, COMMITPATH_RESULTS=str(tmp_path))
    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    (line,) = done.stderr.splitlines()
    assert ": missing; " in line and len(line) <= 140


BUILD = """
import resource, sys
from commitpath.commands import dispatch
from images import artifacts
for path, limit, *words in [
    (sys.argv[1], -1),
    (sys.argv[1], 20_000),
    ("/nowhere/file", -1),
    (sys.argv[1], 20_000, "FS=zzz"),
]:
    line = ["sh", "-c", 'echo begun; head -c 100000 /dev/zero > "$0"', path]
    dispatch.COMMANDS["emulator"] = lambda given: artifacts.run(line, "a build")
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
    print(dispatch.run(["emulator", *words]) or 0, file=sys.stderr)
"""


def test_a_limit_of_files_sizes_is_named_where_a_build_fails(tmp_path: Path) -> None:
    """Its programs are killed by a signal, and say nothing of it; bad input is no matter of files."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path / "file")],
        cwd=ROOT,
        env={**os.environ, "COMMITPATH_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    built, limited, limited_code, failed, failed_code, refused, refused_code = done.stderr.splitlines()
    assert [built, limited_code, failed_code, refused_code] == ["0", "1", "1", "2"]
    assert limited.startswith("commitpath: a build failed: ")
    assert limited.endswith(" (`ulimit -f` limits a file to 20000 bytes here)")
    assert failed.startswith("commitpath: a build failed: ")
    assert "ulimit" not in failed + refused


@pytest.mark.parametrize("text", ["", "hello\n", "- a list\n"])
def test_a_data_file_that_has_no_names(text: str, tmp_path: Path) -> None:
    """As a profile that somebody has just begun to write."""
    path = tmp_path / "mine.yml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=f"^{path}: must be a mapping: `name: value` lines$"):
        load_mapping(path)
