"""Programs and bpftrace scripts as people post them: what each prints here; the board accepts their runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from analysis import pipeline
from commitpath.cells.from_variables import make_cell
from commitpath.run import watch
from commitpath.run.experiment import run_once

FOLDER = Path(__file__).parent
# what each prints; and its SQLite transactions on the board, by where SQLite says they are
SAYS = {
    "backup.py": "20 rows",
    "direct_and_mapped.py": "10 records",
    "replace_in_children.py": "15000 bytes",
}
# syncs: of 10 writes with O_DSYNC, 10 mapped pages, and fdatasync; of 12 replacements the file and the folder
SYNCS = {"direct_and_mapped.py": 21, "replace_in_children.py": 24}


def test_each_file_is_tried() -> None:
    assert {path.name for path in (FOLDER / "programs").iterdir()} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_a_program_does_what_it_says(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "programs" / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{SAYS[name]}\n")


@pytest.mark.parametrize("name", SAYS)
def test_a_program_is_accepted_on_the_board(name: str) -> None:
    files = ",".join(str(FOLDER / "programs" / one) for one in SAYS)
    folder = run_once(watch.command_cell({"CMD": f"python3 {name}", "FILES": files}))
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    assert summary["command"]["stdout"] == SAYS[name]
    if name in SYNCS:
        assert sum(one["syncs"] for one in summary["syncs"]) == SYNCS[name]


@pytest.mark.parametrize("name", sorted(path.name for path in (FOLDER / "bpftrace").iterdir()))
def test_a_published_script_leaves_the_run_accepted(name: str) -> None:
    """Times are the baseline's: what the script costs is told, and is no reason."""
    script = FOLDER / "bpftrace" / name
    folder = run_once(make_cell({"OBSERVERS": f"all,{script}", "N": "20", "ROWS": "1000"}))
    summary = pipeline.analyse(folder)
    assert (summary["status"], summary["reasons"]) == ("ok", [])
