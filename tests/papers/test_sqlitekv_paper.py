"""The study of SQLiteKV: operations per second, memory, its claims and its cells."""

from dataclasses import replace
from typing import Any

import pytest
from test_ssl_paper import run

from base.errors import LabError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import expand
from commitpath.cells.identities import cell_id
from commitpath.charts import panel_values
from commitpath.charts.model import Value
from commitpath.papers import document, figure_data, judge, paper
from commitpath.papers.readings import of_engine, reading
from commitpath.results.metrics import number
from commitpath.results.query import Found, Number, Results, is_cell
from model import durability, engines

CELL = make_cell({"ENGINE": "leveldb", "WORKLOAD": "kv"})


def made(**summary: Any) -> Any:
    """A run of single reads and of batches of ten updates."""
    plain = run(CELL, 100)
    return replace(plain, summary={"tps": {"read": 100.0, "batch": 40.0, "all": 60.0}, **summary})


def test_operations_per_second() -> None:
    """A batch counts with all its operations, in a mix too."""
    counted = made(operations_per_transaction={"read": 1.0, "batch": 10.0, "all": 5.5})
    assert [number(counted, "ops", op) for op in ("read", "batch", "all")] == [100, 400, 330]
    # three reads in 30 ms, one batch in 25 ms
    assert number(counted, "ops", "3:1") == pytest.approx(13 / 0.055)
    with pytest.raises(LabError, match="has no ops of insert"):
        number(counted, "ops", "insert")
    with pytest.raises(LabError, match="has no ops of all"):
        number(made(), "ops", "all")


def test_memory() -> None:
    """A number that the kernel does not have has no value."""
    counted = made(memory={"peak": 3 << 20, "resident": 2 << 20})
    assert [number(counted, name, "all") for name in ("rss_peak", "rss")] == [3, 2]
    for one, name in ((counted, "rss_mapped"), (made(), "rss")):
        with pytest.raises(LabError, match=f"has no {name} of all"):
            number(one, name, "all")
    with pytest.raises(LabError, match="has no rss of read"):
        number(counted, "rss", "read")


def test_an_engine_without_sqlite_takes_no_release() -> None:
    """A paper's release applies to cells with SQLite. A reading has its SQLite side's, or the paper's."""
    assert of_engine({"engine": "leveldb", "sqlite": "3.15.0"}) == {"engine": "leveldb"}
    assert of_engine({"sqlite": "3.15.0"}) == {"sqlite": "3.15.0"}
    store = {"engine": "leveldb"}
    for left, right, build in (
        (store, {"journal_mode": "wal"}, "3.15.0"),
        (store, store, "3.15.0"),
        ({"engine": "sqlitekv", "sqlite": "3.46.1"}, store, "3.46.1"),
    ):
        made = reading({"name": "r", "left": left, "right": right}, {}, "3.15.0", {}, {})
        values = [judge.value_of(Results([], "local"), side.takes[0][0], "ops", "all")
                  for pair in made.pairs for side in (pair.left, pair.right)]  # fmt: skip
        pair = judge.PairResult("", values[0], values[1], None, "missing", {})
        assert document.build_of(judge.ReadingResult(made, (pair,), "missing")) == build


def test_its_cells_are_swept_and_used() -> None:
    """Every cell of a reading or a figure is in the grid; each that nobody watches is in one of them."""
    study = paper.load("sqlitekv")
    swept = {cell_id(one.cell): one for one in expand(study.grid).runs}
    used = {
        cell_id(cell)
        for claim in study.claims
        for one in claim.readings
        for pair in one.pairs
        for side in (pair.left, pair.right)
        for cell, _ in side.takes
    }
    used |= {
        cell_id(bar.cell)
        for path in study.figures
        for panel in figure_data.panels(study, path, figure_data.read(path))
        for bar in panel.bars
    }
    assert used == {name for name, one in swept.items() if one.grid != study.watched}


def test_each_ratio_of_the_paper_is_in_its_figure() -> None:
    """SQLiteKV is compared with SQLite of another release."""
    study = paper.load("sqlitekv")
    found = Found("ok", None)
    for path in study.figures:
        for panel in figure_data.panels(study, path, figure_data.read(path)):
            values = [Value(bar, found, Number(1.0), 1, None, ()) for bar in panel.bars]
            assert all(list(panel_values.of_entry(entry, values)) for entry in panel.stated), path


def test_the_settings_that_a_grid_excludes_are_a_cell_of_any_engine() -> None:
    for name in engines.names():
        settings = {"workload": "kv", "engine": name}
        assert is_cell(settings, make_cell({axis.upper(): value for axis, value in settings.items()}))
        assert not is_cell({**settings, "rows": "7"}, make_cell({"WORKLOAD": "kv", "ENGINE": name}))


def test_a_bar_names_the_settings_of_its_engine() -> None:
    """In the sentence on durability; SQLite's are its two modes."""
    study = paper.load("sqlitekv")
    path = study.figures[0]
    bar = figure_data.panels(study, path, figure_data.read(path))[0].bars[0]
    named = {
        name: panel_values.settings(replace(bar, cell=make_cell({"ENGINE": name, "WORKLOAD": "kv"})))
        for name in engines.names()
    }
    assert named == {
        name: "DELETE/FULL" if "journal_mode" in engines.setting_axes(name) else name.upper()
        for name in named
    }
    off = make_cell({"ENGINE": "sqlitekv", "WORKLOAD": "kv", "SYNC": "off", "KV_FORM": "direct"})
    assert panel_values.settings(replace(bar, cell=off)) == "SQLITEKV synchronous=off kv_form=direct"


def test_each_claim_is_at_equal_durability_too() -> None:
    """A reading of each that can be tested has pairs that all promise as much on both sides."""
    study = paper.load("sqlitekv")
    assert len(study.claims) == 10
    for claim in study.claims:
        equal = [
            one
            for one in claim.readings
            if one.pairs
            and not any(
                durability.differences(
                    *(durability.promised(side.takes[0][0]) for side in (pair.left, pair.right))
                )
                for pair in one.pairs
            )
        ]
        assert equal or claim.not_testable, claim.id
