"""One prefix, and one exit code for one kind of error, whatever the command."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import commands
import pytest

from analysis import export
from base.data import load_mapping
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInputError
from commitpath import variables

ROOT = Path(__file__).resolve().parents[2]
OF_A_RUN = [["analyse"], ["inspect"], ["tree"], ["trace-export"], ["diff", "RUN_B=/tmp"]]


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """A folder of results that has a run."""
    (tmp_path / "cell/run").mkdir(parents=True)
    (tmp_path / "cell/run/cell.json").touch()
    return str(tmp_path)


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_is_not_there(command: list[str], stored: str) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}=/nowhere", COMMITPATH_RESULTS=stored)
    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    assert done.stderr.startswith(f"commitpath: {name}=/nowhere: no such folder; ")


def test_a_run_is_looked_for_where_runs_are(stored: str) -> None:
    done = commands.call("tree", "RUN=results/none/such", COMMITPATH_RESULTS=stored)
    assert f"no such folder; a run's is {stored}/<cell name>/<run id>" in done.stderr


@pytest.mark.parametrize("command", OF_A_RUN)
def test_where_no_run_was_made_it_is_said_how_to(command: list[str], tmp_path: Path) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}=nowhere/latest", COMMITPATH_RESULTS=str(tmp_path / "none"))
    assert done.returncode == EXIT_BAD_INPUT
    said = f"no such folder; there is no run in {tmp_path}/none yet, make experiment makes one"
    assert done.stderr == f"commitpath: {name}=nowhere/latest: {said}\n"


@pytest.mark.parametrize("command", ["analyse", "inspect", "tree", "trace-export", "diff", "crash-replay"])
def test_a_command_without_its_run_says_all_that_it_takes(command: str) -> None:
    done = commands.call(command, *(["RUN_A=/nowhere"] if command == "diff" else []))
    assert done.returncode == EXIT_BAD_INPUT and len(done.stderr.splitlines()) == 1
    assert ("RUN_B: missing; " if command == "diff" else "RUN: missing; ") in done.stderr
    for name in variables.own(command):
        assert f"{name}=" in done.stderr
    if command == "diff":
        assert "RUN_A=/nowhere: no such folder; " in done.stderr


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_cannot_be_read(command: list[str], tmp_path: Path) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}={tmp_path}")
    assert (done.returncode, done.stdout) == (EXIT_UNREADABLE, "")
    assert done.stderr.startswith(f"commitpath: {tmp_path}")


@pytest.mark.parametrize(
    "line",
    [
        *[["analyse", "RUN="], ["inspect", "RUN="], ["tree", "RUN="], ["trace-export", "RUN="]],
        *[
            ["diff", "RUN_B=/tmp", "RUN_A="],
            ["ledger", "FIGURE=a.svg", "RUNS="],
            ["ledger", "RUNS=x", "FIGURE=/a.svg"],
        ],
    ],
    ids=lambda line: str(line[0]),
)
def test_a_path_that_is_not_utf8(line: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "run\udcff"
    folder.mkdir()
    *first, last = line
    name, _, end = last.partition("=")
    done = commands.call(*first, f"{name}={folder}{end}")
    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    said = f"{tmp_path}/run\\udcff{end}: a path that is not UTF-8 does not work"
    assert done.stderr == f"commitpath: {name}={said}\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["setup-text", "WHERE="], "make setup-text takes one of RUN=<a run's folder>, GRID="),
        (["import", "FILE="], "make import takes FILE=<an export>"),
        (["export", "FILE="], "FILE=: name a new file"),
        (["compare", "A=mode=wal", "B=mode=delete", "FILE="], "FILE=: name a new file"),
    ],
    ids=lambda line: str(line[0]),
)
def test_a_value_that_is_empty(line: list[str], says: str, tmp_path: Path) -> None:
    done = commands.call(*line, COMMITPATH_RESULTS=str(tmp_path))
    assert (done.returncode, len(done.stderr.splitlines())) == (EXIT_BAD_INPUT, 1), done.stderr
    assert done.stderr.startswith(f"commitpath: {says}")


def test_a_link_that_leads_to_itself(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    done = commands.call("setup-text", f"RUN={loop}", COMMITPATH_RESULTS=str(tmp_path))
    assert done.stderr.startswith(f"commitpath: {loop}: not the folder of a run in {tmp_path} (")
    for command, variable in (("results", "COMMITPATH_RESULTS"), ("demo", "COMMITPATH_CACHE")):
        done = commands.call(command, **{variable: str(loop)})
        assert done.stderr.startswith(f"commitpath: {loop}: a link to {loop}, which is not there; ")
        assert (done.returncode, len(done.stderr.splitlines())) == (EXIT_BAD_INPUT, 1)


@pytest.mark.parametrize(
    "line",
    [
        ["analyse", "RUN="],
        ["tree", f"RUN={ROOT}", "TRANSACTION="],
        ["plan", "FS="],
        ["plan", "MOUNT_OPTIONS="],
        ["results", "WHERE=fs="],
        ["sweep", "GRID="],
        ["import", "FILE=/"],
        ["export", "LAB=here", "FILE=/"],
        ["trace-export", f"RUN={ROOT}", "FORMAT="],
        ["ledger", f"RUNS={ROOT}", "FIGURE=/x.svg/"],
        ["report-card", "FILE="],
    ],
    ids=lambda line: str(line[0]),
)
def test_a_very_long_value_is_a_line_that_can_be_read(line: list[str], tmp_path: Path) -> None:
    *first, last = line
    done = commands.call(*first, last + "x" * 100_000, COMMITPATH_RESULTS=str(tmp_path))
    # of a run that is none nothing is read
    assert done.returncode in ((EXIT_UNREADABLE,) if "tree" in line else (EXIT_BAD_INPUT,))
    assert len(done.stderr.splitlines()) == 1 and len(done.stderr) < 2100, done.stderr[:200]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "make ledger takes FIGURE=<file>.svg"),
        (["FIGURE=a.gif"], "FIGURE=a.gif: its end is none of .svg, .png, .pdf"),
        (["FIGURE=/nowhere/a.svg"], "FIGURE: there is no folder /nowhere"),
        (["FIGURE=a.svg", "RUNS=/nowhere"], "RUNS: there is no folder /nowhere"),
    ],
)
def test_a_figure_that_cannot_be_made_is_told_first(words: list[str], says: str) -> None:
    done = commands.call("ledger", *words)
    assert (done.returncode, done.stderr.splitlines()) == (EXIT_BAD_INPUT, [done.stderr.rstrip("\n")])
    assert done.stderr.startswith(f"commitpath: {says}")


def test_the_ledgers_runs_are_those_of_the_results(tmp_path: Path) -> None:
    results = tmp_path / "my results"
    results.mkdir()
    done = commands.call("ledger", f"FIGURE={tmp_path}/a.svg", COMMITPATH_RESULTS=str(results))
    assert done.stderr.startswith(f"commitpath: {results}: no good run with a ledger")


def test_calibrate_asks_for_a_profile(tmp_path: Path) -> None:
    done = commands.call("calibrate", COMMITPATH_CACHE=str(tmp_path / "cache"))
    assert done.returncode == EXIT_BAD_INPUT
    assert done.stderr.startswith("commitpath: make calibrate takes DEVICE=<profile>: constant-0.1ms, ")


def test_a_run_beside_itself() -> None:
    done = commands.call("diff", "RUN_A=/tmp", "RUN_B=/tmp/.")
    assert done.returncode == EXIT_BAD_INPUT
    assert "are one run; nothing to compare" in done.stderr


def test_an_error_that_cannot_be_written_has_its_exit_code() -> None:
    for place in ("/dev/full", "/dev/null"):
        with Path(place).open("wb") as full:
            done = subprocess.run([ROOT / "bin/commitpath", "plan", "FS=x"], stderr=full, check=False)
        assert done.returncode == 2, place


def test_a_reader_that_has_enough_is_no_error() -> None:
    """make help | head -1: more text than a pipe holds is not needed, the reader is gone at once."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "commitpath", "help"],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("closed", "said"), [(">&-", True), ("0<&- >&-", True), ("2>&-", False)])
def test_a_stream_that_is_closed_is_nobodys(closed: str, said: bool) -> None:
    """And no file that the command opens is taken for it."""
    line = f"bin/commitpath plan FS=zzz {closed}"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.startswith("commitpath: FS=zzz: ") is said


BUILD = """
import sys
from commitpath import commands
from images import artifacts
line = ["sh", "-c", 'echo begun; head -c 100000 /dev/zero > "$0"', sys.argv[1]]
commands.COMMANDS["emulator"] = lambda given: artifacts.run(line, "a build")
sys.exit(commands.run(["emulator", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("limit", [20_000, resource.RLIM_INFINITY])
@pytest.mark.parametrize("place", ["file", "no folder/file"])
def test_a_limit_of_files_sizes_is_named_where_a_build_fails(limit: int, place: str, tmp_path: Path) -> None:
    """Its programs are killed by a signal, and say nothing of it."""

    def call(*more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", BUILD, str(tmp_path / place), *more],
            cwd=ROOT,
            env={**os.environ, "COMMITPATH_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )

    named = " (`ulimit -f` limits a file to 20000 bytes here)\n"
    done = call()
    if limit == resource.RLIM_INFINITY and place == "file":
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 1 and done.stderr.startswith("commitpath: a build failed: "), done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.endswith(named) == (limit != resource.RLIM_INFINITY)
    # what was asked is no matter of files
    assert "ulimit" not in call("FS=zzz").stderr


@pytest.mark.parametrize("program", ["tests/sweep/kill.py", "tests/inspect/speed.py", "tests/fresh-machine"])
def test_a_program_of_the_tests_says_how_it_is_called(program: str) -> None:
    line = [sys.executable, program] if program.endswith(".py") else [program]
    done = subprocess.run(
        [*line, "--help"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert program in done.stdout


def test_docs_and_the_command_tell_the_same_of_other_tools() -> None:
    docs = (ROOT / "docs/reference/formats.md").read_text()
    for _, hint in export.FORMATS.values():
        for command in hint.split("; "):
            assert command.startswith(("open ", "one file")) or command in docs, command


@pytest.mark.parametrize("text", ["", "hello\n", "- a list\n"])
def test_a_data_file_that_has_no_names(text: str, tmp_path: Path) -> None:
    """As a profile that somebody has just begun to write."""
    path = tmp_path / "mine.yml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=f"^{path}: must be a mapping: `name: value` lines$"):
        load_mapping(path)


def test_advise_says_what_is_missing() -> None:
    done = commands.call("advise", "DEVICE=galaxy-nexus", "FS=f2fs")
    assert done.returncode == EXIT_BAD_INPUT
    assert done.stderr.startswith("commitpath: SURVIVE: missing; make advise takes FS=")
