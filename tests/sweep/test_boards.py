"""Boards as Snakemake's resources: the Snakefile's own rules, with a job that only takes a second."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAKE = """\
import sys, time
from pathlib import Path
what, key = sys.argv[1:3]
board = key[:-2]
with open("trace", "a") as trace:
    trace.write(f"{time.monotonic()} begin {board}\\n")
time.sleep(1)
with open("trace", "a") as trace:
    trace.write(f"{time.monotonic()} end {board}\\n")
name = key if what == "run" else board
mark = Path("done" if what == "run" else "prepared", name)
mark.parent.mkdir(exist_ok=True)
mark.write_text("{}")
"""


def test_a_lab_board_runs_one_at_a_time_and_virtual_ones_as_many_as_asked(tmp_path: Path) -> None:
    runs = {
        f"{board}-{number}": {
            "cell": {"board": board},
            "repeat": 1,
            "group": board,
            "memory_mib": 1,
            "grids": ["g"],
        }
        for board in ("virtual", "lab1", "lab-2")
        for number in range(4)
    }
    (tmp_path / "plan.json").write_text(json.dumps({"runs": runs}))
    (tmp_path / "todo.json").write_text(json.dumps(list(runs)))
    (tmp_path / "fake.py").write_text(FAKE)
    rules = (ROOT / "commitpath/sweep/Snakefile").read_text()
    job = 'JOB = f"exec {shlex.quote(sys.executable)} -m commitpath.commands.sweep_job"'
    assert job in rules
    (tmp_path / "Snakefile").write_text(rules.replace("-m commitpath.commands.sweep_job", "fake.py"))
    command = [
        *(*(sys.executable, "-m", "snakemake"), "--cores", "4", "--scheduler", "greedy", "--nolock"),
        *("--resources", "board_0=1", "board_1=1", "board_2=2"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    now: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for line in sorted((tmp_path / "trace").read_text().splitlines()):
        _, event, board = line.split()
        now[board] += 1 if event == "begin" else -1
        most[board] = max(most[board], now[board])
    assert most == {"virtual": 2, "lab1": 1, "lab-2": 1}
