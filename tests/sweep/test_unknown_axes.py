"""Runs of a lab that has an axis more: what its default is, only they say."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import Lab

from base.identity import canonical
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.database import select, store
from commitpath.database.select import Run
from commitpath.results.query import Results

AXES = {"ROWS": "100", "N": "10", "MODE": "wal"}
CELL = make_cell(AXES)


def imported(lab: Lab, there: Lab, path: Path, *moons: str, label: str = "kiel") -> None:
    """Import a run for each value of an axis that is not known here, each at its default there."""
    for _ in moons:
        there.run(MODE="wal")
    there.ok("export", FILE=str(path), LAB=label)
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT run_id, cell FROM run ORDER BY run_id").fetchall()
        for moon, (run, cell) in zip(moons, found, strict=True):
            made = json.loads(cell)
            made |= {"moon": moon, "at_default": sorted([*made["at_default"], "moon"])}
            connection.execute("UPDATE run SET cell = ? WHERE run_id = ?", (canonical(made), run))
        connection.execute("INSERT INTO grid_run VALUES (?, 'theirs', ?, 1)", (label, cell_id(CELL)))
    connection.close()
    lab.ok("import", FILE=str(path))


def load(lab: Lab, selector: str = "") -> list[Run]:
    """The runs of a lab's database."""
    with store.opened(lab.results / "results.sqlite", write=False) as connection:
        return select.load(connection, selector)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.sqlite"


def test_one_value_at_its_default_is_the_cell_without_it(
    lab: Lab, labs: Callable[[str], Lab], path: Path
) -> None:
    imported(lab, labs("there"), path, "full", "full")
    assert len(Results(load(lab), "kiel").by_cell[cell_id(CELL)]) == 2
    assert len(load(lab, "grid=theirs")) == 2


def test_two_values_at_their_default_are_two_cells(lab: Lab, labs: Callable[[str], Lab], path: Path) -> None:
    imported(lab, labs("there"), path, "full", "new", "new")
    runs = load(lab)
    assert Results(runs, "kiel").find(CELL).state == "missing"
    assert [len(Results(runs, "kiel").by_cell[run.cell_id]) for run in runs] == [1, 2, 2]
    # an id is of both
    assert load(lab, "grid=theirs") == []
    assert len(load(lab, f"cell={cell_id(CELL)}")) == 3
    assert len(load(lab, f"cell={runs[0].cell_id}")) == 1
    said = lab.says("compare", A=f"run={runs[0].facts['run']}", B=f"run={runs[1].facts['run']}")
    assert "no cell is in both A and B: they also differ in moon" in said
    assert "moon" in lab.ok("results", WIDE="yes").splitlines()[1]
