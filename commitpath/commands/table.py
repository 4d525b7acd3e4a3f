"""The commands, by the names of the Makefile's targets."""

import errno
import functools
import importlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable

from base.errors import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNREADABLE, BadInput, BadInputError, LabError
from base.text import one_line
from commitpath.command_line import arguments
from commitpath.command_line import help as help_text
from commitpath.command_line import variables as variables_table
from commitpath.commands import board_commands, programs, run_commands
from commitpath.host import places


def print_help(_: dict[str, str]) -> int:
    """Print targets and variables."""
    print(help_text.text())
    return 0


# Commands in modules of their own, loaded when they are called.
LATER = {
    "watch": "commitpath.run.watch:watch",
    "trace-record": "commitpath.inputs.trace_record:trace_record",
    "trace-synthetic": "commitpath.inputs.trace_synthetic:trace_synthetic",
    "board-check": "commitpath.boards.board_check:board_check",
    "demo": "commitpath.commands.demo:demo",
    "sweep": "commitpath.sweep.drive:sweep",
    "results": "commitpath.database.results_commands:results",
    "export": "commitpath.database.results_commands:export",
    "import": "commitpath.database.results_commands:import_",
    "compare": "commitpath.reporting.compare:compare",
    "report-card": "commitpath.reporting.card:card",
    "setup-text": "commitpath.reporting.setup:setup",
    "reproduce": "commitpath.papers.command:reproduce",
    "advise": "commitpath.reporting.advise:advise",
    "crash-replay": "commitpath.run.crash_cases:crash_replay",
    "figure": "commitpath.charts.command:figure",
    "durability": "commitpath.reporting.durability:durability",
    "new": "commitpath.commands.new_part:new",
    "docs": "commitpath.commands.axes_doc:docs",
    "requirements": "commitpath.commands.requirements:requirements",
}


def later(place: str) -> Callable[[dict[str, str]], int]:
    """The function `module:name`, imported at its first call."""

    def call(variables: dict[str, str]) -> int:
        module, _, name = place.partition(":")
        code: int = getattr(importlib.import_module(module), name)(variables)
        return code

    return call


COMMANDS: dict[str, Callable[[dict[str, str]], int]] = {
    "experiment": board_commands.experiment,
    "plan": board_commands.plan,
    "analyse": run_commands.analyse,
    "audit": run_commands.audit,
    "inspect": run_commands.inspect,
    "tree": run_commands.tree,
    "diff": run_commands.diff,
    "trace-export": run_commands.trace_export,
    "ledger": run_commands.ledger,
    "board": board_commands.board,
    "calibrate": board_commands.calibrate,
    "emulator": board_commands.emulator,
    "snapshots": board_commands.snapshots,
    "destroy": board_commands.destroy,
    "host": board_commands.host,
    "help": print_help,
    **{name: later(place) for name, place in LATER.items()},
    **{name: functools.partial(programs.run, name) for name in programs.PROGRAMS},
}


def tell(error: Exception, more: str = "") -> None:
    """Print what went wrong; where it cannot be written, the exit code says it."""
    try:
        print(f"commitpath: {one_line(error)}{more}", file=sys.stderr, flush=True)
    except OSError:
        # what Python still holds would fail at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def file_size_limit() -> str:
    """How large a file may be here; nothing where there is no limit.

    What a program says that met it does not name it: a compiler is killed, SQLite has a disk I/O error.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return "" if most == resource.RLIM_INFINITY else f" (`ulimit -f` limits a file to {most} bytes here)"


def run(words: list[str]) -> int:
    """Run one command; every failure is one line and an exit code."""
    try:
        target, settings = arguments.read(words)
        if target not in COMMANDS:
            raise BadInputError(f"{target}: no such target; there are {', '.join(COMMANDS)}")
        given = variables_table.by_their_names(settings)
        variables_table.check(target, given)
        # what the command starts takes it from there
        if choice := given.pop("EMULATOR", None):
            os.environ["COMMITPATH_EMULATOR"] = choice
        places.begin(target)
        code = COMMANDS[target](given)
        sys.stdout.flush()
        return code
    except LabError as error:
        tell(error, file_size_limit() if error.exit_code == EXIT_FAILED else "")
        return error.exit_code
    except BadInput as error:
        tell(error)
        return EXIT_UNREADABLE
    except BrokenPipeError:
        # `| head` has all that it wants; what Python still holds would fail at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, subprocess.SubprocessError) as error:
        # "[Errno 28] No space left on device: 'file'" says it all
        tell(error, file_size_limit())
        # of names, only who calls gives some that are too long
        too_long = isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG
        return EXIT_BAD_INPUT if too_long else EXIT_FAILED
