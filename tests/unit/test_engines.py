"""The axis ENGINE: what it allows, and that cells without it are what they were."""

import pytest

from analysis import durability, engines
from analysis.engines.survival import ALL, UNSYNCED
from analysis.run import cell_id as analysed_id
from analysis.run import cell_name as analysed_name
from base.errors import BadInputError
from commitpath.cell import axes, canonical, cell_id, cell_name, make_cell
from commitpath.payload import cell_env


def test_the_default_engine_is_no_part_of_an_id() -> None:
    default = make_cell({})
    assert default["engine"] == engines.FIRST == axes()["engine"].spec["default"]
    assert "engine" not in canonical(default)
    without = {key: value for key, value in default.items() if key != "engine"}
    assert cell_id(without) == cell_id(default) == analysed_id(default)
    assert cell_id(make_cell({"ENGINE": "leveldb"})) != cell_id(default)


@pytest.mark.parametrize("engine", sorted(axes()["engine"].choices()))
def test_each_engine_is_known_in_every_stage(engine: str) -> None:
    assert engine in engines.names()
    cell = make_cell({"ENGINE": engine})
    assert cell_name(cell) == analysed_name(cell)
    env = cell_env(cell, "/dev/x", "/db")
    asked = engines.of(engine).requested(cell)
    assert asked
    for name, value in asked.items():
        assert f"--{name.replace('_', '-')} {value}" in env


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"MODE": "wal"}, "MODE: a setting of SQLite, which ENGINE=leveldb does not have"),
        ({"CACHE_SIZE": "100"}, "CACHE_SIZE: a setting of SQLite"),
        ({"SYNC": "normal"}, "SYNC=normal: ENGINE=leveldb takes off, full"),
        ({"WORKLOAD": "rlbench"}, "ENGINE=leveldb: WORKLOAD=rlbench is for sqlite only"),
        ({"WORKLOAD": "androbench-insert"}, "WORKLOAD=androbench-insert is for sqlite only"),
    ],
)
def test_what_leveldb_does_not_have_is_refused(variables: dict[str, str], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        make_cell({"ENGINE": "leveldb", **variables})


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(BadInputError, match="ENGINE is leveldb, sqlite"):
        make_cell({"ENGINE": "rocksdb"})


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("000012.log", "log"),
        ("000012.ldb", "table"),
        ("000012.sst", "table"),
        ("1000012.ldb", "table"),
        ("MANIFEST-000004", "manifest"),
        ("CURRENT", "other"),
        ("LOG", "other"),
        ("000012.dbtmp", "other"),
        ("sample.db-wal", "wal"),
        ("sample.db", "database"),
    ],
)
def test_files_by_name(name: str, role: str) -> None:
    assert engines.role(name, "sample.db") == role


@pytest.mark.parametrize(("sync", "system"), [("full", ALL), ("off", UNSYNCED)])
def test_what_survives_in_leveldb(sync: str, system: str) -> None:
    found = durability.of(make_cell({"ENGINE": "leveldb", "SYNC": sync}))
    assert (found.process, found.system, found.power) == (ALL, system, system)
