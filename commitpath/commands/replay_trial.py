"""`make crash-replay RUN=… TRIAL=…`: repeat a stored run's crash trial, compare, open a shell on the board.

A board repeats the run and that one trial, which is compared with the stored one. Then it restores the
trial's state, mounts it, is saved, and resumes with SSH (images/board.py). For CASE=… see crash_cases.py.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from analysis import stages
from analysis.adapters import device_logs, trials
from analysis.crash import align, context, verdicts
from analysis.run import Run
from base import scratch
from base.errors import BadInputError, LabError
from base.progress import step
from base.text import printable
from commitpath.boards.payload import MOUNTPOINT
from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, virtual_board
from commitpath.cells.axes import axes
from commitpath.cells.identities import complete, other_profiles
from commitpath.cells.profiles import load_profile
from commitpath.command_line import stored_run
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from commitpath.run import compressed_files, crash_trials
from commitpath.run.plan import make
from images import artifacts, programs, snapshot
from images.board import BoardEndedError, VirtualBoard
from images.cellrun import RunOutput
from images.ssh import Login
from model.cell import Cell
from model.crash_points import cuts, policies

# The step in which a board waits for the shell (playbooks/board/run-cell.sh).
HOLD = "hold"
LIMIT_SECONDS = 600.0
# Columns in which another board may differ: whether fsck ran, and what the kernel has in memory at the mount.
VARYING = ("fsck", "reads", "writes", "flushes", "recovery_reads", "recovery_writes")


def replay(options: dict[str, str]) -> int:
    """Repeat a trial, compare it, and open a shell, or run CMD; return that one's exit code."""
    folder = Path(stored_run.folder("crash-replay", options))
    run = stages.build(folder)
    planned = stored_trials(run, folder)
    trial = planned[trials.parse_number(options.get("TRIAL", ""), len(planned))]
    stored_row(run, trial.number)
    ensure_packages()
    cell = as_here(complete(run.cell))
    entry, driver = ansible.board(cell.board), programs.driver(cell)
    of_trials = make(cell, entry).trials
    assert of_trials is not None

    def again() -> int:
        board, prepared = virtual_board(cell), ensure_snapshot(cell, driver, entry)
        try:
            return hold(
                *(board, prepared, crash_trials.payload(of_trials, [trial], HOLD), cell, options.get("CMD")),
                lambda tried: compared(run, outcome(run, tried, trial.number)),
            )
        except BoardEndedError as error:
            if stored_row(run, trial.number)["verdict"] != verdicts.DIED:
                raise
            print(printable(f"trial {trial.number}: {error}; as stored, no board is left to open a shell on"))
            return 0

    return again_if_damaged(again)


def hold(
    board: VirtualBoard,
    prepared: Path,
    sent: dict[str, bytes],
    cell: Cell,
    command: str | None,
    result: Callable[[trials.Board], str],
) -> int:
    """Repeat a run and a trial, print its result, and open a shell or run a command.

    Returns the exit code. Raises BoardEndedError if the trial ends the board.
    """
    with scratch.folder(artifacts.CACHE, "held", scratch.PRIVATE) as held:
        with step("do the run again, and that trial of it"):
            board.hold(prepared, sent, held, LIMIT_SECONDS)
            snapshot.write(held, snapshot.read_meta(prepared)["inputs"])
        with board.resumed(held) as (login, _, _):
            print(printable(result(read_board(cell, login))))
            if command:
                return subprocess.run(login.ssh(command), check=False, stdin=subprocess.DEVNULL).returncode
            print(
                f"a shell on the board as it came up, {MOUNTPOINT}; its end ends the board", file=sys.stderr
            )
            return subprocess.run(login.ssh("-t"), check=False).returncode


def as_here(cell: Cell) -> Cell:
    """Return a stored cell, with profiles equal to a present file in that file's order, to share boards."""
    known, other = axes(), other_profiles(cell)
    same = {
        axis: load_profile(axis, cell.value(axis))
        for axis in cell.profiles
        if axis in known and axis not in other and cell.value(axis) in known[axis].files()
    }
    return replace(cell, profiles={**cell.profiles, **same})


def stored_trials(run: Run, folder: Path) -> list[cuts.Trial]:
    """Return the trials of a stored run, by its log. Raises BadInputError without trials."""
    if run.kills is not None:
        raise BadInputError(f"RUN={folder}: only power cuts can be replayed")
    if not run.trials or run.timed_log is None:
        raise BadInputError(f"RUN={folder}: {trials.NO_TRIALS}")
    return align.plan(run)


def stored_row(run: Run, number: int) -> Mapping[str, Any]:
    """Return the stored row of a trial. Raises BadInputError if it has none."""
    assert run.judged is not None
    for row in run.judged.filter(pl.col("trial") == number).iter_rows(named=True):
        return row
    raise BadInputError(f"TRIAL={number}: {trials.UNPLACED}")


def read_board(cell: Cell, login: Login) -> trials.Board:
    """Return the records of the waiting board."""
    sent = subprocess.run(
        login.ssh("cd /run/commitpath && tar -c -f - raw"), capture_output=True, check=True, timeout=300
    )
    with artifacts.work_folder() as work:
        place = work / policies.FOLDER / "1"
        RunOutput(sent.stdout).extract(place)
        compressed_files.compress_rendered(place / "raw/driver")
        (board,) = trials.read(work, device_logs.find_reader(cell))
    return board


def outcome(run: Run, board: trials.Board, number: int) -> Mapping[str, Any]:
    """Return the row of a trial on the waiting board. LabError if its run or its crash state differs."""
    if not (align.did_the_run(run, board) and align.made_the_calls(run, board)):
        raise LabError(
            f"RUN={run.folder}: the board of this checkout repeats the run differently: its device received "
            "other commands (another kernel, driver or tree than the run's, commitpath_commit of host.json)"
        )
    stored = next((other for other in run.trials if number in other.trials["trial"]), run.trials[0])
    judged = verdicts.judge(replace(run, trials=[board]), run.ledger)
    assert judged is not None
    rows = judged.filter(pl.col("trial") == number).rows(named=True)
    if not rows or not align.same_state(align.ran(stored), align.ran(board), align.plan(run)[number]):
        raise LabError(
            f"RUN={run.folder}: commands arrived in another order here than on the board of trial {number}: "
            "its crash state cannot be reproduced"
        )
    return rows[0]


def compared(run: Run, again: Mapping[str, Any]) -> str:
    """Return the result of a trial in a line. LabError if it differs from the stored one."""
    number = again["trial"]
    stored = stored_row(run, number)
    # a run of another version may have recorded what SQLite wrote on a filesystem where boards now do not
    unknown = [name for name in trials.SECTORS if stored.get(name) is None or again.get(name) is None]
    names = [name for name in stored if not name.endswith("_ns") and name not in (*VARYING, *unknown)]
    if different := [
        f"{name} is {again[name]!r}, stored {stored[name]!r}" for name in names if again[name] != stored[name]
    ]:
        raise LabError(f"trial {number} came out another way: {'; '.join(different)}")
    return f"trial {number}: {result(again)}; as stored"


def result(row: Mapping[str, Any]) -> str:
    """Return a cut and its result in words, from a row of trials."""
    return (
        f"the power was cut {context.crash_point(row)}; {row['acknowledged']} transactions were acknowledged"
        f": {row['verdict']}, {'-' if row['transactions'] is None else row['transactions']} are there"
        + trials.shown_sectors(row)
        + (f" ({row['said']})" if row["said"] else "")
    )
