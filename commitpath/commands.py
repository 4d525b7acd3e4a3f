"""The commands behind the Makefile, `make TARGET`.

Variables come as make passes them: their names in MAKEFLAGS, their values in the
environment. So a stray N in a user's environment is not taken for a setting.
"""

import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from analysis.errors import BadInput
from analysis.text import printable
from commitpath import help as help_text
from commitpath import places
from commitpath.cell import make_cell, run_axes
from commitpath.errors import EXIT_UNREADABLE, BadInputError, LabError
from commitpath.host import ensure_packages


def make_variables() -> dict[str, str]:
    """What the user set on make's command line."""
    _, _, overrides = (" " + os.environ.get("MAKEFLAGS", "")).partition(" -- ")
    names = re.findall(r"(?:^|(?<=\s))([A-Za-z_][A-Za-z0-9_]*)=", overrides)
    return {name: os.environ[name] for name in names if name in os.environ}


def experiment(variables: dict[str, str]) -> int:
    """Run one cell."""
    from commitpath import ansible
    from commitpath.experiment import experiment as run
    from images import kvm

    of_run = {
        name: axis.parse(variables.pop(axis.variable, str(axis.spec["default"])), axis.variable)
        for name, axis in run_axes().items()
    }
    # a name that no board has is told before what its cell would need
    entry = ansible.board(variables.get("BOARD", "virtual"))
    cell = make_cell(variables)
    if cell["clock"] != "real" and entry["board_kind"] != "virtual":
        raise BadInputError(
            f"CLOCK={cell['clock']}: BOARD={cell['board']} has a clock of its own; use CLOCK=real"
        )
    if cell["clock"] == "kvm":
        kvm.check()
    places.check_runs([cell])
    ensure_packages()
    return run(cell, **of_run)


def analyse(variables: dict[str, str]) -> int:
    """Redo tables, figures and report of a stored run."""
    from analysis.__main__ import main as analyse_run

    run = variables.pop("RUN", None)
    if not run or variables:
        raise BadInputError("make analyse takes RUN=results/<cell name>/<run id>, and nothing else")
    return analyse_run([run])


def inspect(variables: dict[str, str]) -> int:
    """Write a page to look at a stored run."""
    from analysis.inspect.__main__ import main as inspect_run

    run = variables.pop("RUN", None)
    if not run or variables:
        raise BadInputError("make inspect takes RUN=results/<cell name>/<run id>, and nothing else")
    return inspect_run([run])


def tree(variables: dict[str, str]) -> int:
    """Print what one transaction of a stored run made the device do."""
    from analysis.tree.__main__ import main as print_tree

    run, transaction = variables.pop("RUN", None), variables.pop("TRANSACTION", "slowest")
    if not run or variables:
        raise BadInputError("make tree takes RUN=<run> and TRANSACTION=<number>|slowest, and nothing else")
    return print_tree([run, transaction])


def diff(variables: dict[str, str]) -> int:
    """Say what changed from one stored run to another."""
    from analysis.diff.__main__ import main as compare_runs

    runs = [variables.pop(name, "") for name in ("RUN_A", "RUN_B")]
    force = variables.pop("FORCE", "0")
    if not all(runs) or variables or force not in ("0", "1"):
        raise BadInputError("make diff takes RUN_A=<run> RUN_B=<run> and FORCE=0|1, and nothing else")
    return compare_runs([*runs, *["--force"] * int(force)])


def trace_export(variables: dict[str, str]) -> int:
    """Write a stored run in other tools' formats."""
    from analysis.export.__main__ import main as export_run

    run, form = variables.pop("RUN", None), variables.pop("FORMAT", "all")
    if not run or variables:
        raise BadInputError("make trace-export takes RUN=<run> and FORMAT=<format>, and nothing else")
    return export_run([run, form])


def ledger(variables: dict[str, str]) -> int:
    """Draw what a transaction writes and flushes, over journal modes and filesystems."""
    from analysis.figures.ledger import main as draw

    figure, runs = variables.pop("FIGURE", None), variables.pop("RUNS", "results").split()
    if not figure or not runs or variables:
        raise BadInputError("make ledger takes FIGURE=<file>.svg, .png or .pdf, and RUNS=<folders of runs>")
    return draw([figure, *runs])


def board(variables: dict[str, str]) -> int:
    """Start the virtual board and open a shell on it."""
    from commitpath import ansible
    from commitpath.payload import prepared_variables
    from commitpath.prepared import again_if_damaged, prepared_board, virtual_board
    from images import artifacts

    if (name := variables.get("BOARD", "virtual")) != "virtual":
        raise BadInputError(f"BOARD={name}: make board starts the virtual board, and no other")
    cell = make_cell({"ROWS": "0", **variables})
    ensure_packages()
    machine = virtual_board(cell)
    driver = artifacts.driver(cell, machine.image)
    settings = prepared_variables(cell, driver, ansible.board("virtual"))

    def shell() -> int:
        with prepared_board(machine, settings) as (login, _, _):
            print("a shell on the board; its end ends the board", file=sys.stderr)
            return subprocess.run(login.ssh("-t"), check=False).returncode

    return again_if_damaged(shell)


def calibrate(variables: dict[str, str]) -> int:
    """Compare a device profile with the raw numbers it stands for."""
    from commitpath.calibrate import calibrate as run

    if set(variables) - {"DEVICE"}:
        raise BadInputError("make calibrate takes DEVICE=<profile>, and nothing else")
    cell = make_cell({"DEVICE": "constant", "ROWS": "0", **variables})
    ensure_packages()
    return run(cell)


def snapshots(variables: dict[str, str]) -> int:
    """List the prepared boards in the cache; REMOVE=name|all deletes."""
    from images import artifacts, snapshot

    remove = variables.pop("REMOVE", None)
    if variables:
        raise BadInputError("make snapshots takes REMOVE=<name> or REMOVE=all, and nothing else")
    stored = snapshot.stored(artifacts.CACHE / "snapshots")
    names = [folder.name for folder, _, _ in stored]
    if remove and remove != "all" and remove not in names:
        raise BadInputError(f"REMOVE={remove}: no such snapshot; there are {', '.join(names) or 'none'}")
    for folder, used, inputs in stored:
        removed = remove in (folder.name, "all")
        if removed:
            snapshot.remove(folder)
        if not inputs:
            what = "not whole"
        elif "fs_type" in inputs:
            what = f"{inputs['fs_type']} {inputs['mount_options'] or '-'}  {inputs['populate_options']}"
        else:
            what = f"no filesystem yet, a device of {inputs['device_size_mib']} MiB"
        print(f"{folder.name}  {used / 2**20:6.0f} MiB  {what}{'  removed' if removed else ''}")
    if not stored:
        print("no snapshots")
    return 0


def destroy(_: dict[str, str]) -> int:
    """Stop every board of this checkout and delete all that was built; results stay."""
    from images import artifacts

    boards = (artifacts.CACHE / "vm").resolve()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            works_in = (process / "cwd").readlink()
        except OSError:
            continue
        if line.startswith(b"qemu-system-aarch64\0") and works_in.parent == boards:
            os.kill(int(process.name), signal.SIGKILL)
            print(f"stopped the board of process {process.name}")
    if artifacts.CACHE.exists():
        shutil.rmtree(artifacts.CACHE)
        print(f"deleted {artifacts.CACHE}")
    return 0


def host(_: dict[str, str]) -> int:
    """Install the host's packages, those of the tests too, if one is missing."""
    ensure_packages(with_tests=True)
    return 0


# Commands in modules of their own, loaded when they are called.
LATER = {
    "sweep": "commitpath.sweep.drive:sweep",
    "results": "commitpath.database.commands:results",
    "export": "commitpath.database.commands:export",
    "import": "commitpath.database.commands:import_",
    "compare": "commitpath.reporting.compare:compare",
    "report-card": "commitpath.reporting.card:card",
    "setup-text": "commitpath.reporting.setup:setup",
    "reproduce": "commitpath.reproduce.command:reproduce",
    "advise": "commitpath.reporting.advise:advise",
}


def later(place: str) -> Callable[[dict[str, str]], int]:
    """The function `module:name`, imported at its first call."""

    def call(variables: dict[str, str]) -> int:
        module, _, name = place.partition(":")
        code: int = getattr(importlib.import_module(module), name)(variables)
        return code

    return call


COMMANDS: dict[str, Callable[[dict[str, str]], int]] = {
    "experiment": experiment,
    "analyse": analyse,
    "inspect": inspect,
    "tree": tree,
    "diff": diff,
    "trace-export": trace_export,
    "ledger": ledger,
    "board": board,
    "calibrate": calibrate,
    "snapshots": snapshots,
    "destroy": destroy,
    "host": host,
    **{name: later(place) for name, place in LATER.items()},
}


def run(arguments: list[str]) -> int:
    """Run one command; every failure is one line and an exit code."""
    if len(arguments) != 1 or arguments[0] not in {*COMMANDS, "help"}:
        print(f"usage: python -m commitpath {'|'.join([*COMMANDS, 'help'])}", file=sys.stderr)
        return 2
    try:
        if arguments[0] == "help":
            print(help_text.text())
            return 0
        places.begin(arguments[0])
        return COMMANDS[arguments[0]](make_variables())
    except LabError as error:
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return error.exit_code
    except BadInput as error:
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return EXIT_UNREADABLE
    except (OSError, subprocess.SubprocessError) as error:
        # "[Errno 28] No space left on device: 'file'" says it all
        print(f"commitpath: {printable(error)}", file=sys.stderr)
        return 1
