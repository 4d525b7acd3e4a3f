"""One prefix, and one exit code for one kind of error, whatever the command."""

import os
import subprocess
import sys
from pathlib import Path

import commands
import pytest

from analysis import export
from base.data import load_mapping
from base.errors import EXIT_BAD_INPUT, EXIT_UNREADABLE, BadInputError

ROOT = Path(__file__).resolve().parents[2]
OF_A_RUN = [["analyse"], ["inspect"], ["tree"], ["trace-export"], ["diff", "RUN_B=/tmp"]]


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_is_not_there(command: list[str]) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}=/nowhere")
    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    assert done.stderr.startswith(f"commitpath: {name}=/nowhere: no such folder; ")


@pytest.mark.parametrize("command", OF_A_RUN)
def test_a_run_that_cannot_be_read(command: list[str], tmp_path: Path) -> None:
    name = "RUN_A" if command[0] == "diff" else "RUN"
    done = commands.call(*command, f"{name}={tmp_path}")
    assert (done.returncode, done.stdout) == (EXIT_UNREADABLE, "")
    assert done.stderr.startswith(f"commitpath: {tmp_path}")


def test_a_run_beside_itself() -> None:
    done = commands.call("diff", "RUN_A=/tmp", "RUN_B=/tmp/.")
    assert done.returncode == EXIT_BAD_INPUT
    assert "are one run; nothing to compare" in done.stderr


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
        env={**os.environ, "MAKEFLAGS": ""},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("program", ["tests/sweep/kill.py", "tests/inspect/speed.py", "tests/fresh-machine"])
def test_a_program_of_the_tests_says_how_it_is_called(program: str) -> None:
    line = [sys.executable, program] if program.endswith(".py") else [program]
    done = subprocess.run(
        [*line, "--help"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert program in done.stdout


def test_docs_and_the_command_tell_the_same_of_other_tools() -> None:
    docs = (ROOT / "docs/formats.md").read_text()
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
