"""The same workloads through every engine: the output of a run, and the database after it."""

import gzip
import hashlib
import re

import pytest
from conftest import NEWEST, Driver, binary, one_line_error

from analysis.adapters import rendered
from analysis.checks import rendered as as_timed
from base.identity import FIRST_ENGINE
from commitpath.boards.payload import engine_options
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from model import engines, workloads
from model.workloads import Options

ENGINES = sorted(axes()["engine"].choices())
SIZES = {"androbench": 88, "mobibench": 100, "rlbench": 100}


def engine_driver(engine, folder):
    folder.mkdir()
    return Driver(binary(NEWEST if engine == FIRST_ENGINE else f"engine-{engine}"), folder)


def run(driver, engine, *more, rows=50, n=20):
    sizes = ["--rows", rows, "--n", n]
    where = ["--database", driver.database, "--output-dir", driver.output]
    settings = engine_options(make_cell({"ENGINE": engine}), load_profile("engine", engine)["settings"])
    return driver("run", *where, *sizes, *settings.split(), *more)


@pytest.mark.parametrize("workload", ["apsys17", "kv"])
def test_engines_do_the_same(tmp_path, workload):
    """Of each transaction the same rows are returned, and change where it is known how many.

    As many are left, but for the key 0 of apsys17: a key-value store adds what an update does not find.
    """
    found = {}
    for engine in ENGINES:
        driver = engine_driver(engine, tmp_path / engine)
        driver("populate", "--database", driver.database, "--rows", 50)
        run(driver, engine, "--workload", workload, n=200)
        config, rows = driver.config(), driver.table("transactions.csv")
        adds = engines.by_name(engine).ADDS_MISSING
        changes = [row["changes"] for row in rows]
        if adds:
            # what it knows without reading
            assert {row["op"] for row in rows if row["changes"]} <= {"insert", "read"}
        read = [(row["phase"], row["op"], row["rows"], row["bytes"]) for row in rows]
        left = workloads.Table(range(1, 51), adds)
        for one in workloads.transactions(
            workloads.by_name(workload), Options(50, 200, 3072, 1), list(config["transactions"])
        ):
            left.apply(one)
        assert config["rows_after"] == left.rows
        assert config["operations"] == {
            op: number * (10 if op == "batch" else 1) for op, number in config["transactions"].items()
        }
        found[engine] = read, config["sql_bytes"], None if adds else changes
    first, *others = found.values()
    assert others and all(other[:2] == first[:2] for other in others)
    known = [changes for _, _, changes in found.values() if changes is not None]
    assert len(known) > 1 and all(changes == known[0] for changes in known)
    assert {row[1:] for row in first[0] if row[1] == "read"} <= {("read", "1", "3072"), ("read", "0", "0")}


@pytest.mark.parametrize(
    ("engine", "workload"),
    [
        *((engine, workload) for engine in ENGINES for workload in ("apsys17", "kv", "null")),
        *((FIRST_ENGINE, workload) for workload in SIZES),
    ],
)
def test_what_was_rendered_is_what_was_timed(tmp_path, engine, workload):
    """Read back by the engine's part of the analysis."""
    driver = engine_driver(engine, tmp_path / engine)
    rows = 0 if workload in SIZES else 50
    of_workload = ["--workload", workload, "--value-size", SIZES.get(workload, 3072)]
    done = driver("populate", "--database", driver.database, "--rows", rows, *of_workload)
    assert (done.returncode, done.stderr) == (0, "")
    done = run(driver, engine, *of_workload, rows=rows)
    assert (done.returncode, done.stderr) == (0, "")
    config = driver.config()
    assert config["engine"] == engine and config[engine]["version"] and config["rows_before"] == rows
    assert config["requested"] == config["effective"] != {}
    packed = driver.output / "rendered.gz"
    packed.write_bytes(gzip.compress(driver.rendered()))
    given = rendered.read(packed, config["sql_bytes"], engines.by_name(engine))
    assert given.sha256 == hashlib.sha256(driver.rendered()).hexdigest()
    ops = [row["op"] for row in driver.table("transactions.csv")]
    assert given.count == (0 if workload == "null" else len(ops))
    found = list(as_timed.paired(ops, given))
    assert sum(count for _, count, _, _ in found) == given.count
    assert all(as_timed.is_one_of(op, one) for _, _, op, one in found)


@pytest.fixture
def leveldb(tmp_path):
    driver = engine_driver("leveldb", tmp_path / "leveldb")
    done = driver("populate", "--database", driver.database, "--rows", 2000)
    assert (done.returncode, done.stderr) == (0, "")
    return driver


def test_leveldb_files_by_role(leveldb):
    """6 MB are written in batches: the log became a table at least once."""
    assert run(leveldb, "leveldb", rows=2000, n=1000).returncode == 0
    config = leveldb.config()
    assert list(config["file_sizes"]) == ["log", "table", "manifest", "other"]
    assert config["file_sizes_before_close"]["table"] >= 2000 * 3072 / 2
    files = {path.name: path.stat().st_size for path in leveldb.database.iterdir()}
    tables = sum(size for name, size in files.items() if name.endswith(".ldb"))
    assert tables > 0
    assert not [name for name in files if name.endswith(".partial")]


def test_leveldb_counts_what_is_there(leveldb):
    assert "the database has 2000 rows, --rows is 50" in one_line_error(run(leveldb, "leveldb"), 1)
    line = one_line_error(run(leveldb, "leveldb", "--value-size", 100, rows=2000), 1)
    assert "has a value of 3072 bytes, --value-size is 100" in line


def test_a_cold_run_looks_at_each_file_of_a_folder(leveldb, tmp_path):
    """Nothing is dropped here."""
    (tmp_path / "drop").touch()
    line = one_line_error(run(leveldb, "leveldb", "--drop-caches", tmp_path / "drop", rows=2000), 1)
    assert re.search(rf"[0-9]+ of [0-9]+ pages of {leveldb.database}/\S+ are still in the page cache", line)


@pytest.mark.parametrize(
    ("more", "status", "expected"),
    [
        (["--workload", "rlbench", "--value-size", "100"], 2, "rlbench is made of SQL texts, and LevelDB"),
        (["--vfs-log"], 1, "--vfs-log, --written: LevelDB 1.23 has no log of its calls"),
        (["--journal-mode", "wal"], 2, "--journal-mode is not an option"),
    ],
)
def test_what_leveldb_does_not_have(leveldb, more, status, expected):
    assert expected in one_line_error(run(leveldb, "leveldb", *more, rows=2000), status)
