"""A driver killed at each moment of a user's SQL leaves what SQLite has after as many transactions.

SQLite is model/expected_state/oracle.py; in each engine with SQL, whatever the tables are.
"""

import subprocess
from pathlib import Path

import pytest
from conftest import binary_of, ok
from kill_trials import killed, memory, planned
from some_cell import some_cell
from test_killed_driver import in_mode

from analysis.adapters.trials import KILLS, read_table
from analysis.crash import prefixes
from base.paths import ROOT
from model import userfile
from model.cell import Cell
from model.statements import sqlfile

__all__ = ["memory"]

# each kind of value and of table, transactions that change nothing, and one that takes back the one before
TRACE = (ROOT / "tests/analysis/samples/crash.trace").read_text()


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    parts = userfile.parts({"trace": TRACE})
    (tmp_path / "schema").write_bytes(sqlfile.pack(parts.schema))
    (tmp_path / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    profiles = {"workload": {"driver_workload": "sql"}, "file": {"trace": TRACE}}
    return some_cell(n=len(parts.transactions), profiles=profiles)


ENGINES = {
    "wal": ("sqlite", in_mode("wal", "full")),
    "delete": ("sqlite", in_mode("delete", "full")),
    "ssl": ("ssl", ["--log-medium", "fdatasync", "--dirty-pages", "4"]),
    "ppl": ("ppl", ["--log-medium", "fdatasync", "--sector-size", "4096", "--page-record", "bytes"]),
}


@pytest.mark.parametrize("name", ENGINES)
def test_what_comes_up_is_as_after_so_many_transactions(
    name: str, cell: Cell, tmp_path: Path, memory: Path
) -> None:
    engine, settings = ENGINES[name]
    (memory / "db").mkdir()
    database = memory / "db/sample.db"
    common = ["--workload", "sql", "--value-size", "1", "--rows", "0", "--database", database]
    run = ["run", *common, "--n", str(cell.n), "--file", tmp_path / "transactions", *settings, "--vfs-log"]
    subprocess.run([binary_of(engine), "populate", *common, "--file", tmp_path / "schema"], check=True)
    populated = database.read_bytes()
    first = [binary_of(engine), *run, "--output-dir", memory / "out"]
    subprocess.run(first, check=True, stdout=subprocess.DEVNULL)
    plan = planned(memory / "out")
    for left in (memory / "db").iterdir():
        left.unlink()
    database.write_bytes(populated)
    ok(killed(engine, memory, "".join(one.line() for one in plan), run))

    tried = read_table(memory / "killed.csv", KILLS)
    states = prefixes.states(cell, ["sql"], tried)
    known = prefixes.ExpectedStates(states)
    assert tried.height == len(plan) > 40 and set(tried["is_whole"]) == {1}
    for row in tried.iter_rows(named=True):
        held = known.held(row)
        lost = known.between(held, row["acknowledged"])
        assert held is not None and lost is not None and -1 <= lost <= 0, row
        assert states[held].rows == row["rows"]
    # where nothing was lost there is nothing else to look at
    assert set(states) <= {*tried["acknowledged"], *tried["begun"]} == set(range(cell.n + 1))
