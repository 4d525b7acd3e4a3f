"""For tests on the foreign board: cells to run, a run that must succeed, and what a run left on the board."""

import json
import subprocess

from foreign_board import ForeignBoard

from analysis.__main__ import main as analyse
from commitpath.boards.payload import MOUNTPOINT
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment

LAB = {"CLOCK": "real", "DEVICE": "own", "PROBES": "none", "FS": "ext4-ordered", "MODE": "wal"}
SMALL = {**LAB, "ROWS": "100", "N": "60"}
# Long enough for something to happen in it.
LONG = {**LAB, "ROWS": "100", "N": "5000", "LIMIT": "900"}
# make's exit code where a command's is not 0
FAILED = 2
# As long as a busy host may take for a step.
STEP_SECONDS = 900.0
LEFT = (
    f"grep -c {MOUNTPOINT} /proc/mounts; ls -d /run/commitpath 2>/dev/null; "
    "systemctl is-active commitpath-lease"
)
NOTHING = ["0", "inactive"]


def left(board: ForeignBoard) -> list[str]:
    """What is left of a run on a board: mounts, /run/commitpath, whether a lease is there."""
    done = subprocess.run(board.login.ssh(LEFT), capture_output=True, text=True, check=False)
    return done.stdout.split()


def goes_on(name: str) -> None:
    """A run on the board, which must be a good one."""
    folder = experiment.run_once(make_cell({**SMALL, "BOARD": name}))
    assert analyse([str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]


def behind(board: ForeignBoard, script: str) -> None:
    """Begin a script on the board that goes on by itself."""
    board.said(f"nohup sh -c '{script}' > /dev/null 2>&1 < /dev/null &")
