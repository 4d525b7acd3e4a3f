"""One Snakemake job of a sweep: run and analyse a cell, or prepare a board.

`python -m commitpath.commands.sweep_job run KEY`, or `prepare KEY GROUP` (Snakefile). A job can be killed at
any point and started again: a run's folder appears only when whole, and a stored run is not repeated.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from base import scratch
from base.errors import LabError
from base.paths import RESULTS, ROOT
from commitpath.boards import lab_board
from commitpath.cells.identities import cell_name
from commitpath.database.sweep_state import STATE, read_state
from commitpath.host import ansible
from commitpath.sweep.sweep_plan import run_status
from images import artifacts
from images.qemu import die_with_parent
from model import cell as cells
from model.cell import Cell

# The first playbook of a run on a board.
FIRST_PLAY = "provision.yml"


def prepare(cell: Cell, watched: bool) -> None:
    """Build the driver and, in virtual time, the board's snapshot. watched: also with probes."""
    from commitpath.boards.first_board import program
    from commitpath.boards.payload import payload
    from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, ensure_watched, virtual_board

    entry = ansible.board(cell.board)
    driver = program(cell)

    def snapshots() -> None:
        saved = ensure_snapshot(cell, driver, entry)
        if watched:
            ensure_watched(cell, saved, payload(cell), virtual_board(cell))

    if cell.clock == "virtual":
        again_if_damaged(snapshots)


def stored_run(cell: Cell, repeat: int) -> Path | None:
    """Return the newest run of this cell and repeat that a sweep stored, unless it failed or was rejected."""
    for path in sorted((RESULTS / cell_name(cell)).glob("*/host.json"), reverse=True):
        folder = path.parent
        host = read_state(path)
        statuses = [path.read_text().strip() for path in folder.glob("**/raw/run-cell.status")]
        whole = bool(statuses) and set(statuses) == {"0"}
        if host and host.get("repeat") == repeat and whole and run_status(folder) in ("ok", None):
            return folder
    return None


def run(cell: Cell, repeat: int) -> Path:
    """Return the folder of the analysed run of a cell and repeat, made if it is not stored."""
    from analysis.__main__ import main as analyse
    from commitpath.commands.analysed_runs import load_analysis
    from commitpath.run.experiment import run_once

    folder = stored_run(cell, repeat) or answered(
        cell.board, lambda: run_once(cell, repeat=repeat, meanwhile=load_analysis)
    )
    if run_status(folder) is None and analyse([str(folder)]) > 1:
        raise LabError(f"the run cannot be analysed (kept in {folder.relative_to(RESULTS)})")
    if run_status(folder) != "ok":
        reasons = (read_state(folder / "summary.json") or {}).get("reasons", [])
        raise LabError(f"rejected: {'; '.join(reasons)} (kept in {folder.relative_to(RESULTS)})")
    return folder


def answered(board: str, make: Callable[[], Path]) -> Path:
    """Call `make` on a board. If the board does not answer at first, wait while it boots or its link is down.

    Raises LabError if it never answers, then at once for the rest of the sweep; or if the run breaks off.
    """
    away = STATE / "away" / board
    if away.exists():
        raise LabError(away.read_text())
    deadline = time.monotonic() + lab_board.BOOT_LIMIT_SECONDS
    while True:
        try:
            return make()
        except ansible.UnreachableError as error:
            if error.playbook != FIRST_PLAY:
                raise
            if time.monotonic() > deadline:
                waited = f"{lab_board.BOOT_LIMIT_SECONDS:.0f} s"
                reason = f"BOARD={board} did not answer for {waited}, and is not asked again"
                scratch.write(away, reason)
                raise LabError(f"{reason}: {error}") from error
            time.sleep(lab_board.BOOT_POLL_SECONDS)


def job(what: str, key: str, group: str = "") -> None:
    """Do one job and write its mark, or the reason for its failure."""
    planned = json.loads((STATE / "plan.json").read_text())["runs"][key]
    name = group or key
    failed = STATE / "failed" / name
    begin = time.monotonic()
    # after a kill two sweeps may have jobs for one key; the second finds the first one's run
    with artifacts.locked(STATE / "locks" / name):
        try:
            mark: dict[str, Any] = {}
            if what == "prepare":
                prepare(cells.from_document(planned["cell"]), watched="+" in group)
            else:
                folder = run(cells.from_document(planned["cell"]), planned["repeat"])
                mark["run"] = str(folder.relative_to(RESULTS))
        except (LabError, OSError, subprocess.SubprocessError) as error:
            before = read_state(failed) or {"attempts": 0}
            record = {
                "cell": planned["cell"],
                "repeat": planned["repeat"],
                "reason": str(error),
                "attempts": before["attempts"] + 1,
                "log": f".sweep/log/{key}.log" if what == "run" else f".sweep/log/prepare-{name}.log",
            }
            scratch.write(failed, json.dumps(record))
            raise
        failed.unlink(missing_ok=True)
        mark["seconds"] = round(time.monotonic() - begin, 3)
        scratch.write(STATE / ("prepared" if what == "prepare" else "done") / name, json.dumps(mark))


def main() -> int:
    """Run one job; a failure is the last line of its log."""
    # ends with Snakemake, with all that is started here
    os.setpgrp()
    die_with_parent(signal.SIGTERM)
    if os.getppid() == 1:
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Snakemake may have been started where SIGINT is ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(ROOT)
    try:
        job(*sys.argv[1:])
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(f"commitpath: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("commitpath: interrupted", file=sys.stderr)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
