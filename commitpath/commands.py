"""The commands, by the names of the Makefile's targets."""

import errno
import functools
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from base.errors import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNREADABLE, BadInput, BadInputError, LabError
from base.paths import RESULTS, is_closed
from base.text import one_line, printable
from commitpath import command_line, places, programs
from commitpath import help as help_text
from commitpath import variables as variables_table
from commitpath.axes import axes, run_axes
from commitpath.cell import make_cell
from commitpath.host import ensure_packages


def experiment(variables: dict[str, str]) -> int:
    """Run one cell."""
    from commitpath import ansible, lab, sql_check
    from commitpath.experiment import experiment as run
    from images import kvm

    of_run = {
        name: axis.parse(variables.pop(axis.variable, str(axis.spec["default"])), axis.variable)
        for name, axis in run_axes().items()
    }
    # a name that no board has is told before what its cell would need
    entry = ansible.board(variables.get("BOARD", "virtual"))
    cell = make_cell(variables)
    lab.check_clock(cell, entry)
    if cell.clock == "kvm":
        kvm.check()
    places.check_runs([cell])
    ensure_packages(virtual=entry["board_kind"] == "virtual")
    sql_check.check(cell, variables.get("FILE", ""))
    return run(cell, **of_run)


def plan(variables: dict[str, str]) -> int:
    """Print the plan of a cell: what `make experiment` would run, expect and check.

    Builds nothing but what FILE is checked with: the cell's SQLite for this host.
    """
    from commitpath import ansible, sql_check
    from commitpath.plan import make

    entry = ansible.board(variables.get("BOARD", "virtual"))
    cell = make_cell(variables)
    if "FILE" in variables:
        ensure_packages(virtual=False)
    sql_check.check(cell, variables.get("FILE", ""))
    print(json.dumps(make(cell, entry).document, indent=2))
    return 0


def check_utf8(name: str, path: str) -> None:
    """Refuse a path that is not UTF-8: Polars opens no file there, and Matplotlib writes none."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInputError(f"{name}={path}: a path that is not UTF-8 does not work") from None


def run_folder(command: str, given: dict[str, str], name: str = "RUN") -> str:
    """The folder of a stored run that a variable names; BadInputError if it is none."""
    run = given.get(name, "")
    if not run:
        raise BadInputError(f"{name}: missing; {variables_table.takes(command)}")
    check_utf8(name, run)
    if is_closed(Path(run)):
        raise BadInputError(f"{name}={run}: this user may not read it")
    if not Path(run).is_dir():
        shown = RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS
        some = any(RESULTS.glob("*/*/cell.json"))
        none = f"there is no run in {shown} yet, make experiment makes one"
        where = f"a run's is {shown}/<cell name>/<run id>" if some else none
        raise BadInputError(f"{name}={run}: no such folder; {where}")
    return run


def analyse(variables: dict[str, str]) -> int:
    """Redo tables, figures and report of a stored run."""
    from analysis.__main__ import main as analyse_run

    return analyse_run([run_folder("analyse", variables)])


def audit(variables: dict[str, str]) -> int:
    """Check what correlated the records of a stored run."""
    from analysis.audit.__main__ import main as audit_run

    return audit_run([run_folder("audit", variables)])


def inspect(variables: dict[str, str]) -> int:
    """Write a page to look at a stored run, or at a trace that no run made."""
    from analysis.inspect.__main__ import main as inspect_run

    if trace := variables.get("TRACE"):
        for name in ("RUN", "TRIAL"):
            if name in variables:
                raise BadInputError(f"{name} and TRACE: a page is of one of them")
        for name in ("TRACE", "FORMAT", "CSV"):
            check_utf8(name, variables.get(name, ""))
        check_trace_files(trace, variables)
        words = ["--trace", trace]
        for name, option in (("FORMAT", "--format"), ("CSV", "--csv")):
            if name in variables:
                words += [option, variables[name]]
        return inspect_run(words)
    for name in ("FORMAT", "CSV"):
        if name in variables:
            raise BadInputError(f"{name} without TRACE: it is of a trace that no run made")
    trial = [variables["TRIAL"]] if "TRIAL" in variables else []
    return inspect_run([run_folder("inspect", variables), *trial])


def check_trace_files(trace: str, variables: dict[str, str]) -> None:
    """Refuse a page or a CSV that cannot be written, or would be in the place of something else."""
    from analysis.inspect.__main__ import page_of_trace

    if not variables.get("FORMAT", "any"):
        raise BadInputError("FORMAT=: name the text that blkparse -f was given")
    page = page_of_trace(trace)
    if "CSV" in variables:
        table = places.new_file("CSV", variables["CSV"])
        # a file that is called as those of the trace would be read as one of them
        if os.path.realpath(page) in (os.path.realpath(table), os.path.realpath(page_of_trace(str(table)))):
            raise BadInputError(f"CSV={table}: it is the trace's name, or the page's; name another file")
    if page.is_dir():
        raise BadInputError(f"{page}: the page is written there, but it is a folder; remove it")
    if page.parent.is_dir():
        places.check_writable(page.parent, "the page is written beside the trace: copy that elsewhere")


def tree(variables: dict[str, str]) -> int:
    """Print what one transaction of a stored run made the device do."""
    from analysis.tree.__main__ import main as print_tree

    return print_tree([run_folder("tree", variables), variables.get("TRANSACTION", "slowest")])


def diff(variables: dict[str, str]) -> int:
    """Say what changed from one stored run to another."""
    from analysis.diff.__main__ import main as compare_runs

    names = ("RUN_A", "RUN_B")
    if not any(variables.get(name) for name in names):
        raise BadInputError(f"{' and '.join(names)}: missing; {variables_table.takes('diff')}")
    runs, faults = list[str](), list[str]()
    for name in names:
        try:
            runs.append(run_folder("diff", variables, name))
        except BadInputError as error:
            faults.append(str(error))
    if faults:
        raise BadInputError("; ".join(faults))
    if Path(runs[0]).resolve() == Path(runs[1]).resolve():
        raise BadInputError(f"RUN_A={runs[0]} and RUN_B={runs[1]} are one run; nothing to compare")
    return compare_runs([*runs, *["--force"] * int(variables.get("FORCE", "0"))])


def trace_export(variables: dict[str, str]) -> int:
    """Write a stored run in other tools' formats."""
    from analysis.export.__main__ import main as export_run

    return export_run([run_folder("trace-export", variables), variables.get("FORMAT", "all")])


def ledger(variables: dict[str, str]) -> int:
    """Draw what a transaction writes and flushes, over journal modes and filesystems."""
    from analysis.figures import ledger

    figure = variables.get("FIGURE")
    # a folder of results may have blanks in its name
    runs = variables["RUNS"].split() if "RUNS" in variables else [str(RESULTS)]
    if not figure or not runs:
        raise BadInputError("make ledger takes FIGURE=<file>.svg, .png or .pdf, and RUNS=<folders of runs>")
    if Path(figure).suffix not in ledger.SUFFIXES:
        raise BadInputError(f"FIGURE={figure}: its end is none of {', '.join(ledger.SUFFIXES)}")
    for variable in ("FIGURE", "RUNS"):
        check_utf8(variable, variables.get(variable, ""))
    for variable, folder in [("FIGURE", Path(figure).parent), *(("RUNS", Path(run)) for run in runs)]:
        if not folder.is_dir():
            raise BadInputError(f"{variable}: there is no folder {folder}")
    return ledger.main([figure, *runs])


def board(variables: dict[str, str]) -> int:
    """Start the virtual board and open a shell on it."""
    from commitpath import ansible
    from commitpath.payload import prepared_variables
    from commitpath.prepared import again_if_damaged, prepared_board, virtual_board
    from images import programs

    if (name := variables.get("BOARD", "virtual")) != "virtual":
        raise BadInputError(f"BOARD={name}: make board starts the virtual board, and no other")
    cell = make_cell({"ROWS": "0", **variables})
    ensure_packages()
    machine = virtual_board(cell)
    driver = programs.driver(cell)
    settings = prepared_variables(cell, driver, ansible.board("virtual"))

    def shell() -> int:
        with prepared_board(machine, settings) as (login, _, _):
            print("a shell on the board; its end ends the board", file=sys.stderr)
            return subprocess.run(login.ssh("-t"), check=False).returncode

    return again_if_damaged(shell)


def calibrate(variables: dict[str, str]) -> int:
    """Compare a device profile with the raw numbers it stands for."""
    from commitpath.calibrate import calibrate as run

    if "DEVICE" not in variables:
        raise BadInputError(f"make calibrate takes DEVICE=<profile>: {axes()['device'].allowed()}")
    cell = make_cell({"ROWS": "0", **variables})
    ensure_packages()
    return run(cell)


def emulator(_: dict[str, str]) -> int:
    """Build the QEMU with our patch, if it is not there."""
    from images import emulator as ours
    from images import qemu

    ensure_packages()
    print(qemu.qemu_version(str(ours.build() / qemu.QEMU)))
    return 0


def snapshots(variables: dict[str, str]) -> int:
    """List the prepared boards in the cache; REMOVE=name|all deletes."""
    from images import artifacts, snapshot

    remove = variables.pop("REMOVE", None)
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
    from images.artifacts import CACHE as cache

    if cache.exists():
        places.check_cache(cache)
    boards = (cache / "vm").resolve()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            works_in = (process / "cwd").readlink()
        except OSError:
            continue
        if line.startswith(b"qemu-system-aarch64\0") and works_in.parent == boards:
            os.kill(int(process.name), signal.SIGKILL)
            print(f"stopped the board of process {process.name}")
    if cache.exists():
        empty_cache(cache)
    return 0


def empty_cache(cache: Path) -> None:
    """Delete what commitpath made in its cache, and the folder if nothing else is in it."""
    # the mark last: without it the rest would be nobody's
    for path in sorted(cache.iterdir(), key=lambda path: path.name == places.TAG):
        if not places.is_made(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    left = sorted(path.name for path in cache.iterdir())
    if not left and not cache.is_symlink():
        cache.rmdir()
    others = f", but for what commitpath did not make: {', '.join(left)}" if left else ""
    print(printable(f"deleted {cache}{others}"))


def host(_: dict[str, str]) -> int:
    """Install the host's packages, those of the tests too, if one is missing."""
    ensure_packages(with_tests=True)
    return 0


def print_help(_: dict[str, str]) -> int:
    """Print targets and variables."""
    print(help_text.text())
    return 0


# Commands in modules of their own, loaded when they are called.
LATER = {
    "watch": "commitpath.watch:watch",
    "trace-record": "commitpath.trace_record:trace_record",
    "trace-synthetic": "commitpath.trace_synthetic:trace_synthetic",
    "board-check": "commitpath.board_check:board_check",
    "demo": "commitpath.demo:demo",
    "sweep": "commitpath.sweep.drive:sweep",
    "results": "commitpath.database.commands:results",
    "export": "commitpath.database.commands:export",
    "import": "commitpath.database.commands:import_",
    "compare": "commitpath.reporting.compare:compare",
    "report-card": "commitpath.reporting.card:card",
    "setup-text": "commitpath.reporting.setup:setup",
    "reproduce": "commitpath.papers.command:reproduce",
    "advise": "commitpath.reporting.advise:advise",
    "crash-replay": "commitpath.crash_cases:crash_replay",
    "figure": "commitpath.charts.command:figure",
    "durability": "commitpath.reporting.durability:durability",
    "docs": "commitpath.axes_doc:docs",
    "requirements": "commitpath.requirements:requirements",
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
    "plan": plan,
    "analyse": analyse,
    "audit": audit,
    "inspect": inspect,
    "tree": tree,
    "diff": diff,
    "trace-export": trace_export,
    "ledger": ledger,
    "board": board,
    "calibrate": calibrate,
    "emulator": emulator,
    "snapshots": snapshots,
    "destroy": destroy,
    "host": host,
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


def run(arguments: list[str]) -> int:
    """Run one command; every failure is one line and an exit code."""
    try:
        target, words = command_line.read(arguments)
        if target not in COMMANDS:
            raise BadInputError(f"{target}: no such target; there are {', '.join(COMMANDS)}")
        given = variables_table.by_their_names(words)
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
