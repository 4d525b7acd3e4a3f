"""Dispatch a make target to its function or program, print a failure as one line; pin requirements*.txt."""

import functools
import importlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from base.errors import (
    EXIT_BAD_INPUT,
    EXIT_FAILED,
    EXIT_UNREADABLE,
    BadInputError,
    FileError,
    LabError,
    is_bad_input,
)
from base.paths import PYTHON, ROOT
from base.streams import discard
from base.text import one_line
from commitpath.command_line import arguments
from commitpath.command_line import variables as variables_table
from commitpath.host import places
from commitpath.results.outcome import EXIT_BAD_EXPECTED, EXIT_NO_VERDICT

# Target → the program, its options, and whether it needs the Debian packages of the tests.
PROGRAMS: dict[str, tuple[str, list[str], bool]] = {
    "container": ("playbooks/container.sh", ["build"], False),
    "test": ("tests/run-tests", [], True),
    "test-long": ("tests/run-tests", ["--long"], True),
    "lint": ("tests/lint", [], True),
    "bench": ("tests/bench/bench.py", [], True),
    "bench-waiting": ("tests/bench/waiting.py", [], True),
    "bench-repeat": ("tests/bench/repeat.py", [], True),
    "bench-analysis": ("tests/bench/bench_analysis.py", [], True),
    "bench-emulator": ("tests/bench/emulator.py", [], True),
    "bench-programs": ("tests/bench/programs.py", [], True),
    "bench-cuts": ("tests/bench/cuts.py", [], False),
    "bench-profile": ("tests/bench/hidden_devices.py", [], False),
    "bench-sensitivity": ("tests/bench/sensitivity.py", [], False),
    "mutations": ("tests/mutations/mutations.py", [], False),
}


def run_program(target: str, given: Mapping[str, str]) -> int:
    """Run a target's program in this process's place, with the variables as words NAME=value."""
    program, options, needs_packages = PROGRAMS[target]
    path = str(ROOT / program)
    line = [*(PYTHON if path.endswith(".py") else []), path, *options]
    if target == "test-long":
        os.environ.setdefault("COMMITPATH_SLURM", "yes")
        os.environ["COMMITPATH_TESTS"] = "long"
    if needs_packages:
        from commitpath.host.packages import ensure_packages

        places.begin("host")
        ensure_packages(with_tests=True)
    os.execv(line[0], [*line, *(f"{name}={value}" for name, value in given.items())])


UV_OPTIONS = (
    *("--quiet", "--no-cache", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-annotate", "--custom-compile-command", "make requirements"),
)


def requirements(_: dict[str, str]) -> int:
    """Pin the Python packages of requirements*.in, with hashes; return the exit code of the first failure."""
    for name in ("requirements-build", "requirements"):
        line = [str(Path(sys.executable).with_name("uv")), "pip", "compile", *UV_OPTIONS]
        done = subprocess.run([*line, f"{name}.in", "-o", f"{name}.txt"], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


# Target → module:function. A module is imported when its command is called, as some take a second.
PLACES = {
    **{
        name: f"commitpath.commands.run_commands:{name.replace('-', '_')}"
        for name in ("demo", "analyse", "audit", "inspect", "tree", "diff", "trace-export", "ledger")
    },
    **{
        name: f"commitpath.commands.board_commands:{name}"
        for name in (
            *("experiment", "watch", "plan", "board", "calibrate"),
            *("emulator", "snapshots", "destroy", "host"),
        )
    },
    "hunt": "commitpath.commands.hunt:hunt",
    "trend": "commitpath.commands.axis_runs:trend",
    "bisect": "commitpath.commands.axis_runs:bisect",
    "profile": "commitpath.run.profile:profile",
    "help": "commitpath.command_line.help:print_help",
    "trace-record": "commitpath.inputs.trace_record:trace_record",
    "trace-synthetic": "commitpath.inputs.trace_synthetic:trace_synthetic",
    "board-check": "commitpath.boards.board_check:board_check",
    "sweep": "commitpath.sweep.drive:sweep",
    "results": "commitpath.database.results_commands:results",
    "export": "commitpath.database.results_commands:export",
    "import": "commitpath.database.results_commands:import_",
    "compare": "commitpath.reporting.compare:compare",
    "report-card": "commitpath.reporting.card:card",
    "artifact": "commitpath.reporting.artifact:artifact",
    "table": "commitpath.reporting.sample_table:table",
    "setup-text": "commitpath.reporting.setup:setup",
    "reproduce": "commitpath.papers.reproduce:reproduce",
    "advise": "commitpath.reporting.advise:advise",
    "crash-replay": "commitpath.commands.crash_cases:crash_replay",
    "figure": "commitpath.charts.grid_figure:figure",
    "durability": "commitpath.reporting.durability:durability",
    "new": "commitpath.commands.new_part:new",
    "docs": "commitpath.commands.axes_doc:docs",
    "requirements": "commitpath.commands.dispatch:requirements",
}


def load_and_call(place: str, variables: dict[str, str]) -> int:
    """Import `module:function` and call it; return its exit code, 0 if it returns none."""
    module, _, name = place.partition(":")
    code: int | None = getattr(importlib.import_module(module), name)(variables)
    return code or 0


COMMANDS: dict[str, Callable[[dict[str, str]], int]] = {
    **{name: functools.partial(load_and_call, place) for name, place in PLACES.items()},
    **{name: functools.partial(run_program, name) for name in PROGRAMS},
}


def print_error(error: Exception | str, more: str = "") -> None:
    """Print an error; where it cannot be written, the exit code shows it."""
    try:
        print(f"commitpath: {one_line(error)}{more}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def file_size_limit() -> str:
    """Return the limit of a file's size for an error message; empty without one.

    Programs that exceed it do not name it: a compiler is killed, SQLite has a disk I/O error.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return "" if most == resource.RLIM_INFINITY else f" (`ulimit -f` limits a file to {most} bytes here)"


def exit_code(words: list[str], code: int) -> int:
    """Return the exit code of an error: with EXPECT one by which `git bisect run` skips or ends."""
    settings = words[: words.index("--")] if "--" in words else words
    if any(word.startswith("EXPECT=") for word in settings):
        return EXIT_BAD_EXPECTED if code == EXIT_BAD_INPUT else EXIT_NO_VERDICT
    return code


def run(words: list[str]) -> int:
    """Run one command; every failure is one line and an exit code."""
    code = 0
    try:
        target, settings = arguments.read(words)
        if target not in COMMANDS:
            raise BadInputError(f"{target}: no such target; there are {', '.join(COMMANDS)}")
        given = variables_table.by_their_names(variables_table.check(target, settings))
        # for this process and those that it starts
        if choice := given.pop("EMULATOR", None):
            os.environ["COMMITPATH_EMULATOR"] = choice
        places.begin(target)
        code = COMMANDS[target](given)
        sys.stdout.flush()
        return code
    except LabError as error:
        if is_bad_input(error):
            error = BadInputError(variables_table.as_typed(str(error), words))
        print_error(error, file_size_limit() if error.exit_code == EXIT_FAILED else "")
        return exit_code(words, error.exit_code)
    except FileError as error:
        print_error(error)
        return exit_code(words, EXIT_UNREADABLE)
    except BrokenPipeError:
        # `| head` has all that it wants
        discard(sys.stdout)
        return code
    except (OSError, subprocess.SubprocessError) as error:
        print_error(error, file_size_limit())
        return exit_code(words, EXIT_BAD_INPUT if is_bad_input(error) else EXIT_FAILED)
