"""The plan of trials behind the tar of a cell (playbooks/board/run-cell.sh); a damaged one ends the run."""

import gzip
import re
import subprocess
from pathlib import Path

import pytest

from base.paths import ROOT
from images.cellrun import BEHIND, pack_cell

ITEM = "/sys/firmware/qemu_fw_cfg/by_name/opt/commitpath/cell/raw"
SCRIPT = (ROOT / "playbooks/board/run-cell.sh").read_text()
(READ,) = re.findall(r"^read_plan\(\) \{\n.*?^\}\n", SCRIPT, re.M | re.S)
(END,) = re.findall(r"^more=\n.*?^fi\n", SCRIPT, re.M | re.S)
PLAN = gzip.compress(b"trials:ok\n1 power\n2 power\n", mtime=0)


def end(folder: Path, plan: bytes | None) -> subprocess.CompletedProcess[str]:
    """Run the end of run-cell.sh on a cell with this plan."""
    files = {"cell.env": b"A=1\n"} | ({} if plan is None else {BEHIND: plan})
    (folder / "item").write_bytes(pack_cell("cell", files))
    script = f'set -u\nDEVICE_HISTORY=yes\nfinish() {{ exit "$1"; }}\n{READ}{END}echo "steps: $more"\n'
    script = script.replace(ITEM, str(folder / "item"))
    return subprocess.run(["sh", "-c", script], check=False, cwd=folder, capture_output=True, text=True)


def test_a_run_has_no_plan_and_a_board_of_trials_has_its_steps(tmp_path: Path) -> None:
    run = end(tmp_path, None)
    assert (run.returncode, run.stdout, run.stderr) == (0, "steps: \n", "")
    board = end(tmp_path, PLAN)
    assert (board.returncode, board.stdout, board.stderr) == (0, "steps: trials:ok\n", "")
    assert (tmp_path / "trials").read_text() == "1 power\n2 power\n"


@pytest.mark.parametrize("damage", [PLAN[:-9], PLAN[:20] + b"\xff" + PLAN[21:]], ids=["cut", "changed"])
def test_a_damaged_plan_ends_the_run_with_its_reason(tmp_path: Path, damage: bytes) -> None:
    board = end(tmp_path, damage)
    assert board.returncode == 1
    assert re.match("run-cell: its plan of trials: .*gzip: ", board.stdout, re.S)
