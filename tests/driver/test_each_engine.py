"""The same workloads through every engine: the output of a run, and the database after it."""

import gzip
import hashlib
import itertools
import re

import pytest
from conftest import Driver, binary, binary_of, ok, one_line_error

from analysis.adapters import rendered
from analysis.checks import workload_replay as as_timed
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
    return Driver(binary_of(engine), folder)


def run(driver, engine, *more, rows=50, n=20, **axes):
    sizes = ["--rows", rows, "--n", n]
    where = ["--database", driver.database, "--output-dir", driver.output]
    settings = engine_options(
        make_cell({"ENGINE": engine, **axes}), load_profile("engine", engine)["settings"]
    )
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
        # the name of mobibench's table has capitals
        *((engine, workload) for engine in ENGINES for workload in ("apsys17", "kv", "null", "mobibench")),
        *((FIRST_ENGINE, workload) for workload in SIZES if workload != "mobibench"),
    ],
)
def test_what_was_rendered_is_what_was_timed(tmp_path, engine, workload):
    """Read back by the engine's part of the analysis."""
    driver = engine_driver(engine, tmp_path / engine)
    rows = 0 if workload in SIZES else 50
    of_workload = ["--workload", workload, "--value-size", SIZES.get(workload, 3072)]
    ok(driver("populate", "--database", driver.database, "--rows", rows, *of_workload))
    ok(run(driver, engine, *of_workload, rows=rows))
    config = driver.config()
    assert config["engine"] == engine and config[engine]["version"] and config["rows_before"] == rows
    unread = {name: config["requested"][name] for name in engines.by_name(engine).NOT_READ_BACK}
    assert config["requested"] == config["effective"] | unread and config["effective"]
    packed = driver.output / "rendered.gz"
    packed.write_bytes(gzip.compress(driver.rendered()))
    given = rendered.read(packed, config["sql_bytes"], engines.by_name(engine))
    assert given.sha256 == hashlib.sha256(driver.rendered()).hexdigest()
    ops = [row["op"] for row in driver.table("transactions.csv")]
    assert given.count == (0 if workload == "null" else len(ops))
    found = list(as_timed.paired(ops, given))
    assert sum(count for _, count, _, _ in found) == given.count
    assert all(as_timed.is_one_of(op, one) for _, _, op, one in found)


# Engines that keep keys and values in a folder → where rows are, and the least of them in bytes of 2000 rows.
KEY_VALUES = {
    "leveldb": ("table", 2000 * 3072 / 2),
    "lmdb": ("data", 2000 * 4096),
    "rocksdb": ("table", 2000 * 3072),
}


@pytest.fixture(params=KEY_VALUES)
def stored(request, tmp_path):
    """An engine, and its driver with a database of 2000 rows."""
    driver = engine_driver(request.param, tmp_path / request.param)
    ok(driver("populate", "--database", driver.database, "--rows", 2000))
    return request.param, driver


def test_files_by_role(stored):
    """6 MB are written in batches: a log became a table at least once; each name has the model's role."""
    name, driver = stored
    role, least = KEY_VALUES[name]
    model = engines.by_name(name)
    assert run(driver, name, rows=2000, n=1000).returncode == 0
    config = driver.config()
    assert list(config["file_sizes"]) == [
        *model.FILES,
        *(["other"] if "other" in config["file_sizes"] else []),
    ]
    assert config["file_sizes_before_close"][role] >= least
    files = {path.name: path.stat().st_size for path in driver.database.iterdir()}
    roles = {file: model.role(file, ["sample.db"]) for file in files}
    assert None not in roles.values()
    assert sum(size for file, size in files.items() if roles[file] == role) >= least
    # the database was opened again since
    assert {kind for kind, size in config["file_sizes"].items() if size} <= set(roles.values())
    assert not [file for file in files if file.endswith(".partial")]


def test_rows_are_counted(stored):
    name, driver = stored
    assert "the database has 2000 rows, --rows is 50" in one_line_error(run(driver, name), 1)
    line = one_line_error(run(driver, name, "--value-size", 100, rows=2000), 1)
    assert "has a value of 3072 bytes, --value-size is 100" in line


def test_a_cold_run_looks_at_each_file_of_a_folder(stored, tmp_path):
    """Nothing is dropped here."""
    (tmp_path / "drop").touch()
    name, driver = stored
    line = one_line_error(run(driver, name, "--drop-caches", tmp_path / "drop", rows=2000), 1)
    assert re.search(rf"[0-9]+ of [0-9]+ pages of {driver.database}/\S+ are still in the page cache", line)


@pytest.mark.parametrize(
    ("more", "status", "expected"),
    [
        (["--workload", "rlbench", "--value-size", "100"], 2, "rlbench is made of SQL texts, and {}"),
        (["--journal-mode", "wal"], 2, "--journal-mode is not an option"),
    ],
)
def test_what_key_values_do_not_have(stored, more, status, expected):
    name, driver = stored
    line = one_line_error(run(driver, name, *more, rows=2000), status)
    assert re.search(expected.format(engines.by_name(name).TITLE), line)


def test_a_checkpoint_is_made_between_transactions(stored):
    name, driver = stored
    assert run(driver, name, "--checkpoint-every", 7, rows=2000).returncode == 0
    assert driver.config()["rows_after"] == 2000


@pytest.mark.parametrize("name", ["leveldb", "rocksdb"])
def test_a_thread_has_no_log_of_calls(tmp_path, name):
    driver = engine_driver(name, tmp_path / name)
    assert driver("populate", "--database", driver.database, "--rows", 50).returncode == 0
    title = engines.by_name(name).TITLE
    for option in (["--vfs-log"], ["--written", tmp_path / "written"]):
        line = one_line_error(run(driver, name, *option, BACKGROUND="thread"), 1)
        assert re.search(f"with --background thread {title} [0-9.]+ has no log of its calls", line)
    assert run(driver, name, BACKGROUND="thread").returncode == 0
    assert driver.config()["effective"]["background"] == "thread"
    assert not engines.by_name(name).logs_calls(driver.config())


def other_values(name):
    """Another value of each axis that is a setting of an engine, as variables."""
    profile = load_profile("engine", name)
    specs = {axis: axes()[axis].spec for axis in profile["settings"].values()}
    for axis, spec in specs.items():
        values = profile.get("allowed", {}).get(axis) or spec.get("enum") or [spec["default"] + 2**20]
        for value in values:
            if value != spec["default"] and (axis, value) != ("bloom_bits", 2**20):
                others = profile.get("only_with", {}).get(axis, {}).get(value, {})
                yield {axis: value, **{other: fit[0] for other, fit in others.items()}}
    if "bloom_bits" in specs:
        yield {"bloom_bits": 10}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for name in ("lmdb", "rocksdb") for values in other_values(name)]
)
def test_settings_are_read_back(tmp_path, name, values):
    driver = engine_driver(name, tmp_path / name)
    assert driver("populate", "--database", driver.database, "--rows", 50).returncode == 0
    cell = make_cell({"ENGINE": name, **{axis.upper(): str(value) for axis, value in values.items()}})
    options = engine_options(cell, load_profile("engine", name)["settings"])
    where = ["--database", driver.database, "--output-dir", driver.output]
    ok(driver("run", *where, "--rows", 50, "--n", 20, *options.split()))
    requested = engines.by_name(name).requested(cell)
    assert driver.config()["effective"] == driver.config()["requested"] == requested
    assert requested != engines.by_name(name).requested(make_cell({"ENGINE": name}))


def test_a_full_map_is_one_line(tmp_path):
    driver = engine_driver("lmdb", tmp_path / "lmdb")
    done = driver("populate", "--database", driver.database, "--rows", 2000, "--map-size", 2**20)
    line = one_line_error(done, 1)
    assert "MDB_MAP_FULL" in line and line.endswith("; use a larger --map-size")
    assert not list(driver.folder.iterdir())


@pytest.mark.parametrize(
    ("stored", "other"), list(itertools.permutations(KEY_VALUES, 2)), indirect=["stored"]
)
def test_a_database_of_another_engine_is_one_line(stored, other):
    """Its files may have the same names."""
    _, driver = stored
    driver.binary = binary(f"engine-{other}")
    line = one_line_error(run(driver, other, rows=2000), 1)
    title = engines.by_name(other).TITLE
    said = "opening the database failed" if other == "leveldb" else f"not a database of {title}"
    assert said in line
