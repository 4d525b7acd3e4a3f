"""A workload is a C file and a data file, found by their names."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from copied import copy_tree, python

from base.errors import BadInputError
from base.paths import ROOT
from commitpath.cells import from_variables as cells

PROFILE = """
description: the rows of the table, once more
driver_workload: again
table: again
transactions: each
least: {rows: 3}
"""
TOLD = """
import json
from analysis.report import consistency
from commitpath.cells.from_variables import make_cell
from commitpath.boards.payload import payload

cell = make_cell({"WORKLOAD": "again"})
environment = payload(cell)["cell.env"].decode()
print(json.dumps([consistency.workloads()["again"], sorted(cell.profiles["workload"]), environment]))
"""


def test_a_workload_is_two_files(tmp_path: Path) -> None:
    """Made from another one: help, a cell, a board's plan, the checks and the driver know it."""
    copy_tree(tmp_path)
    source = (tmp_path / "workloads/workloads/apsys17.c").read_text()
    (tmp_path / "workloads/workloads/again.c").write_text(source.replace("apsys17", "again"))
    (tmp_path / "experiments/workload/again.yml").write_text(PROFILE)
    done = python(tmp_path, "-c", TOLD)
    assert done.returncode == 0, done.stderr
    transactions, settings, environment = json.loads(done.stdout)
    assert transactions == "each"
    assert settings == ["description", "driver_workload", "table"]
    assert "--workload again " in environment
    assert re.search(r"WORKLOAD .*\n? .*\bagain,", python(tmp_path, "-m", "commitpath", "help").stdout)
    words = ["make", "-n", "driver", "ENGINE=leveldb", "ENGINE_ROOT=/nonexistent", "CC=true"]
    made = subprocess.run(
        words, cwd=tmp_path / "workloads", capture_output=True, text=True, check=False
    ).stdout
    assert "workloads/again.c" in made


def test_no_list_names_a_workload() -> None:
    """Beside what a grid, a paper or an example runs, the default, and a word that is no workload's alone."""
    own = {path.stem for path in (ROOT / "workloads/workloads").glob("*.c")}
    known = {path.stem.replace("-", "_") for path in (ROOT / "experiments/workload").glob("*.yml")}
    names = own & known - {"null", "apsys17", "sql"}
    assert names >= {"kv", "rlbench"}
    sources = ("*.py", "*.c", "*.h", "*.sh", "*Makefile", "*.mk", ":!tests")
    words = ["git", "grep", "-lwE", "|".join(sorted(names)), "--", *sources]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    # a C file may have several
    assert [path for path in found if Path(path).stem not in names | known] == []


def test_a_limit_is_told_with_its_file() -> None:
    with pytest.raises(BadInputError, match=r"takes at least 1 \(experiments/workload/apsys17-delete.yml\)"):
        cells.make_cell({"WORKLOAD": "apsys17-delete", "ROWS": "0"})
    assert cells.make_cell({"WORKLOAD": "apsys17", "ROWS": "0"}).rows == 0
