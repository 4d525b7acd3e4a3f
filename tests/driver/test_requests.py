"""Each engine replays make trace-synthetic's requests as it runs the mix; invalid files are refused."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from conftest import Driver, binary_of, ok, one_line_error
from kill_trials import looked
from test_mix import ENGINES, operations, ran

from base.identity import FIRST_ENGINE
from commitpath.boards import payload
from commitpath.cells.from_variables import make_cell
from commitpath.inputs import trace_synthetic
from model import workloads
from model.cell import Cell
from model.engines import by_name
from model.expected_state import hashes, oracle

SIZES = {"ROWS": "40", "N": "60", "VALUE_SIZE": "120", "SEED": "3"}


def replayed(folder: Path, cell: Cell) -> Driver:
    """A driver that ran a cell's trace of requests, with what a board is given."""
    folder.mkdir()
    schema, transactions = payload.packed(cell)
    (folder / "schema").write_bytes(schema)
    (folder / "transactions").write_bytes(transactions)
    engine = cell.engine
    driver = Driver(binary_of(engine), folder)
    table = payload.populated(cell)["populate_options"].replace(payload.BOARD, str(folder))
    ok(driver("populate", "--database", driver.database, *table.split()))
    options = payload.driver_env(cell, str(driver.database))["DRIVER_OPTIONS"].replace(
        payload.BOARD, str(folder)
    )
    ok(driver("run", "--output-dir", driver.output, *options.split()))
    return driver


def rows_of(driver: Driver, engine: str) -> int:
    """The hash of the rows of a database; of a store, as the program of trials reads it."""
    if by_name(engine).has_sql:
        with contextlib.closing(sqlite3.connect(driver.database)) as database:
            return hashes.tables(database, "records").hash
    options = ["--rows", 0, "--value-size", 120, "--database", driver.database]
    settings = ["--sync", "off"] if engine != "lmdb" else []
    return int(looked(engine, *options, *settings)["hash"], 16)


@pytest.mark.parametrize(
    ("name", "more"),
    [("ycsb-a", {}), ("ycsb-f", {"VALUE_SIZE_DISTRIBUTION": "zipfian"}), ("ycsb-e", {"BATCH": "3"})],
)
def test_any_engine_replays_a_trace_as_the_mix(name: str, more: dict[str, str], tmp_path: Path) -> None:
    """Kind, key, size and hash of each value, what each transaction returned, and the rows in the end."""
    place = tmp_path / "mix.trace"
    assert trace_synthetic.trace_synthetic({"NAME": name, "FILE": str(place), **SIZES, **more}) == 0
    engines = ENGINES if name == "ycsb-a" else [FIRST_ENGINE, "leveldb"]
    given = []
    for engine in engines:
        cell = make_cell({"WORKLOAD": "requests", "FILE": str(place), "ENGINE": engine})
        mix = make_cell({"WORKLOAD": name, "ENGINE": engine, **SIZES, **more})
        driver = replayed(tmp_path / engine, cell)
        itself = ran(tmp_path / f"{engine}-mix", workloads.options(mix), engine)
        assert driver.rendered() == itself.rendered()
        given.append(list(operations(driver, engine)))
        columns = ("op", "changes", "rows", "bytes")
        tables = [
            [[row[column] for column in columns] for row in one.table("transactions.csv")]
            for one in (driver, itself)
        ]
        assert tables[0] == tables[1]
        assert driver.config()["operations"] == itself.config()["operations"]
        assert driver.config()["rows_after"] == itself.config()["rows_after"]
        if engine == FIRST_ENGINE or not by_name(engine).has_sql:
            due = oracle.after_each(cell, ["requests"])[-1]
            assert due == oracle.after_each(mix, ["mix"])[-1]
            assert rows_of(driver, engine) == rows_of(itself, engine) == due.hash
    assert all(one == given[0] for one in given) and len(given[0]) == 60 * int(more.get("BATCH", 1))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1\nread 1 0\n\n1\nfly 1 0\n\n", "transaction 1, operation 1 of all: its kind is not an operation"),
        ("1\nread -1 0\n\n", "transaction 0, operation 0 of all: it is not a kind, a key and a number"),
        ("1\nupdate 1 9999\nx\n", "its value is longer than --value-size, or than the file"),
        ("2\nread 1 0\n\n", "its kind is not an operation with a key"),
        ("x", "no number of operations before it"),
        ("1\nread 1 0\n\n1\nread 1 0\n\n", "--n: {} has 2 transactions, not 1"),
    ],
)
def test_a_file_that_is_none(newest: Driver, tmp_path: Path, content: str, expected: str) -> None:
    (tmp_path / "file").write_text(content)
    given = ["--workload", "requests", "--file", tmp_path / "file", "--rows", 0, "--value-size", 100]
    done = newest(
        *("run", "--database", newest.database, "--output-dir", newest.output, "--n", 1),
        *("--journal-mode", "off", "--synchronous", "off"),
        *given,
    )
    line = one_line_error(done, 2 if expected.startswith("--n") else 1)
    assert expected.format(tmp_path / "file") in line


def test_a_file_with_too_few_rows(newest: Driver, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1\ninsert 1 1\nx\n")
    given = ["--workload", "requests", "--file", tmp_path / "file", "--rows", 2]
    done = newest("populate", "--database", newest.database, *given)
    assert "it has 1 rows, --rows is 2" in one_line_error(done, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
