"""Commands on boards: run a cell or a program, plan, shell, calibrate, QEMU, snapshots, packages, destroy."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.paths import CACHE
from base.text import choices, printable
from commitpath.cells import samples
from commitpath.cells.axes import axes, run_axes
from commitpath.cells.from_variables import make_cell
from commitpath.command_line import stored_run
from commitpath.host import places
from commitpath.host.packages import ensure_packages
from commitpath.results.expect_option import Check, judged
from commitpath.results.outcome import Outcome
from model.cell import Cell


@judged
def experiment(variables: dict[str, str], check: Check) -> Outcome:
    """Run the samples of a cell, each REPEAT times, and analyse and report each run."""
    from commitpath.host import ansible

    of_run = {
        name: axis.parse(variables.pop(axis.variable, str(axis.spec["default"])), axis.variable)
        for name, axis in run_axes().items()
    }
    # an unknown board first, before the needs of its cell
    entry = ansible.board(variables.get("BOARD", "virtual"))
    seed = axes()["seed"].parse(variables.get("SEED", str(axes()["seed"].spec["default"])), "SEED")
    seeds = range(seed, seed + of_run.pop("seeds"))
    cells = samples.cells(variables, seeds, of_run.pop("boards"))
    check(cells)
    make_ready(cells, entry, variables.get("FILE", ""))
    # loaded late: what runs a cell loads large libraries
    from commitpath.commands import analysed_runs

    return outcome(analysed_runs.run_samples(cells, **of_run))


def make_ready(cells: Sequence[Cell], entry: Mapping[str, Any], file: str) -> None:
    """Check what samples of a cell need of this host, and install missing packages.

    entry: their board; file: FILE.
    """
    from commitpath.boards import lab_board
    from commitpath.inputs import sql_check
    from images import kvm

    lab_board.check_clock(cells[0], entry)
    if cells[0].clock == "kvm":
        kvm.check()
    places.check_runs(cells)
    ensure_packages(virtual=entry["board_kind"] == "virtual")
    sql_check.check(cells[0], file)


@judged
def watch(variables: dict[str, str], check: Check) -> Outcome:
    """Run a command on the board and analyse the run."""
    from commitpath.host import ansible
    from commitpath.run.watch import command_cell

    limit = run_axes()["limit"]
    seconds = limit.parse(variables.pop("LIMIT", str(limit.spec["default"])), "LIMIT")
    cell = command_cell(variables)
    check([cell])
    make_ready([cell], ansible.board(cell.board), "")
    from commitpath.commands import analysed_runs
    from commitpath.run.experiment import run_once

    folder = run_once(cell, seconds, meanwhile=analysed_runs.load_analysis)
    return outcome({folder: analysed_runs.analyse(folder)})


def outcome(codes: Mapping[Path, int]) -> Outcome:
    """Return the outcome of runs of one cell. codes: folder → exit code of its analysis."""
    failed = [why_failed(folder) for folder, code in codes.items() if code]
    accepted = [("", folder) for folder, code in codes.items() if not code]
    return Outcome(max(codes.values()), accepted, "; ".join(failed))


def why_failed(folder: Path) -> str:
    """Return why a stored run does not count: not analysed, rejected, or its command failed."""
    if not (folder / "summary.json").is_file():
        return f"{folder} cannot be analysed"
    summary = json.loads((folder / "summary.json").read_text())
    if summary["status"] == "ok":
        return f"{summary['command']['failed']} (kept in {folder})"
    return f"the run was rejected: {'; '.join(summary['reasons'])} (kept in {folder})"


def plan(variables: dict[str, str]) -> None:
    """Print the plan of a cell. Builds only the cell's SQLite for this host, to check FILE."""
    from commitpath.host import ansible
    from commitpath.inputs import sql_check
    from commitpath.run.plan import make

    entry = ansible.board(variables.get("BOARD", "virtual"))
    cell = make_cell(variables)
    if "FILE" in variables:
        ensure_packages(virtual=False)
    sql_check.check(cell, variables.get("FILE", ""))
    print(json.dumps(make(cell, entry).document, indent=2))


def board(variables: dict[str, str]) -> int:
    """Start the virtual board and open a shell on it."""
    from commitpath.boards.payload import prepared_variables
    from commitpath.boards.prepared import again_if_damaged, prepared_board, virtual_board
    from commitpath.host import ansible
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
    """Measure a device profile with fio, or compute its curves, and compare it with its sources."""
    from commitpath.commands.calibrate import calibrate as run

    if "DEVICE" not in variables:
        raise BadInputError(f"make calibrate takes DEVICE=<profile>: {axes()['device'].allowed()}")
    curves, host_ns, folder = (variables.pop(name, None) for name in ("CURVES", "HOST_NS", "RUN"))
    cell = make_cell({"ROWS": "0", **variables})
    if curves and folder:
        raise BadInputError("CURVES=yes and RUN=… exclude each other")
    if curves:
        from commitpath.charts.curve_figure import curves as draw

        return draw(cell, host_ns)
    if host_ns is not None:
        raise BadInputError("HOST_NS needs CURVES=yes: a board has its own time for a command")
    if folder:
        from commitpath.commands.sensitivity import sensitivity

        named = stored_run.folder("calibrate", {"RUN": folder})
        return sensitivity(cell.device, cell.profiles["device"], Path(named))
    ensure_packages()
    return run(cell)


def emulator(_: dict[str, str]) -> None:
    """Build the QEMU with our patch, if it is not there."""
    from images import emulator as ours
    from images import qemu

    ensure_packages()
    print(qemu.qemu_version(str(ours.build() / qemu.QEMU)))


def snapshots(variables: dict[str, str]) -> None:
    """List the prepared boards in the cache; REMOVE=name|all deletes."""
    from images import artifacts, snapshot

    remove = variables.pop("REMOVE", None)
    stored = snapshot.stored(artifacts.CACHE / "snapshots")
    names = [folder.name for folder, _, _ in stored]
    remove = "all" if remove and remove.casefold() == "all" else remove
    if remove and remove != "all" and remove not in names:
        known = choices(names, "make snapshots") or "none"
        raise BadInputError(f"REMOVE={remove}: no such snapshot; it is all, or {known}")
    for folder, used, inputs in stored:
        removed = remove in (folder.name, "all")
        if removed:
            snapshot.remove(folder)
        if not inputs:
            content = "not whole"
        elif "fs_type" in inputs:
            content = f"{inputs['fs_type']} {inputs['mount_options'] or '-'}  {inputs['populate_options']}"
        else:
            content = f"no filesystem yet, a device of {inputs['device_size_mib']} MiB"
        if inputs and (number := inputs.get("board_number")):
            content += f"  board {number}"
        print(f"{folder.name}  {used / 2**20:6.0f} MiB  {content}{'  removed' if removed else ''}")
    if not stored:
        print("no snapshots")


def destroy(_: dict[str, str]) -> None:
    """Stop every board of this checkout and delete everything built; results stay."""
    if CACHE.exists():
        places.check_cache(CACHE)
    boards = (CACHE / "vm").resolve()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            folder = (process / "cwd").readlink()
        except OSError:
            continue
        if line.startswith(b"qemu-system-aarch64\0") and folder.parent == boards:
            os.kill(int(process.name), signal.SIGKILL)
            print(f"stopped the board of process {process.name}")
    if CACHE.exists():
        empty_cache(CACHE)


def empty_cache(cache: Path) -> None:
    """Delete what commitpath made in its cache, and the folder if it is empty then."""
    # the tag last: without it the rest could not be identified
    for path in sorted(cache.iterdir(), key=lambda path: path.name == places.TAG):
        if not places.is_made(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    left = sorted(path.name for path in cache.iterdir())
    if not left and not cache.is_symlink():
        # in a container it is a mount point, which stays
        with contextlib.suppress(OSError):
            cache.rmdir()
    others = f", but for what commitpath did not make: {', '.join(left)}" if left else ""
    print(printable(f"deleted {cache}{others}"))


def host(_: dict[str, str]) -> None:
    """Install missing packages of the host, with those of the tests."""
    ensure_packages(with_tests=True)
