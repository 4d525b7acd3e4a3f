"""A trace of several files runs on a database each; its calls, counts and checkpoint writes stay apart."""

import sqlite3

import polars as pl
import pytest
from conftest import Driver, binary_of, ok
from test_order import ran

from analysis.adapters import drivertables
from analysis.ledger import contents
from analysis.run_files import databases
from base.arrays import ints
from commitpath.cells.profiles import load_profile
from model import engines
from model.statements import sqlfile, tracefile

ENGINES = [name for name in load_profile("workload", "trace")["engines"] if engines.by_name(name).LOGS_CALLS]
# of engines that have such options
LOGGED = ("--dirty-pages", 5, "--log-size", 65536)
SETTINGS = {"sqlite": ("--journal-mode", "wal", "--synchronous", "full"), "sqlitekv": ("--sync", "full")}
FIRST = "commitpath trace 1"
FILES = 3


def trace(transactions=60):
    """Each file has a table of its name; each tenth transaction is a batch."""
    lines = [FIRST, *(f'file {n} "of {n}.db"' for n in range(FILES))]
    lines += [f'make {n} "CREATE TABLE t{n}(id INTEGER PRIMARY KEY, v)"' for n in range(FILES - 1)]
    lines += [f'0 {FILES - 1} "CREATE TABLE t{FILES - 1}(id INTEGER PRIMARY KEY, v)"']
    for i in range(1, transactions):
        n, batch = i * 7 % FILES, i % 10 == 0
        lines += [f'{i} {n} "BEGIN"'] * batch
        lines += [f'{i} {n} "INSERT INTO t{n}(v) VALUES(hex(zeroblob(?)))" {400 + i}']
        lines += [f'{i} {n} "UPDATE t{n} SET v=? WHERE id=1" "{i}"', f'{i} {n} "COMMIT"'] * batch
    return tracefile.parts("\n".join(lines))


@pytest.fixture(params=ENGINES)
def driver(request, tmp_path):
    found = Driver(binary_of(request.param), tmp_path)
    found.engine = request.param
    return found


def populate(driver, parts, count=FILES):
    (driver.folder / "schema").write_bytes(sqlfile.pack(parts.schema))
    return driver(
        *("populate", "--workload", "sql", "--database", driver.database, "--rows", 0, "--value-size", 1),
        *("--file", driver.folder / "schema", "--databases", count),
    )


def run(driver, parts, *more, count=FILES):
    (driver.folder / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    settings = SETTINGS.get(driver.engine, ())
    return driver(
        *("run", "--workload", "sql", "--database", driver.database, "--output-dir", driver.output),
        *("--rows", 0, "--value-size", 1, "--n", len(parts.transactions), *settings),
        *("--file", driver.folder / "transactions", "--databases", count, *more),
    )


def paths(driver):
    return [driver.database, *(driver.folder / f"sample-{n}.db" for n in range(2, FILES + 1))]


@pytest.mark.parametrize("more", [(), ("--checkpoint-every", 7)])
def test_each_transaction_is_of_its_database(driver, more):
    parts = trace()
    ok(populate(driver, parts))
    assert [path.exists() for path in paths(driver)] == [True] * FILES
    ok(run(driver, parts, "--vfs-log", *more))
    assert driver.rendered() == sqlfile.rendered(parts.transactions)
    config, calls = driver.config(), driver.table("vfs.csv")
    own = [[one for one in parts.transactions if one.database == n] for n in range(FILES)]
    assert [one["path"] for one in config["databases"]] == list(map(str, paths(driver)))
    assert [one["transactions"] for one in config["databases"]] == list(map(len, own))
    rows = driver.table("transactions.csv")
    for n, path in enumerate(paths(driver)):
        changed = sum(
            int(row["changes"])
            for row, one in zip(rows, parts.transactions, strict=True)
            if one.database == n
        )
        assert config["databases"][n]["changes"] == changed
        assert config["databases"][n]["effective"] == config["effective"] == config["requested"]
        if path.is_file():
            database = sqlite3.connect(path)
            inserted = sum(one.text.count("INSERT") for one in own[n])
            assert database.execute(f"SELECT count(*) FROM t{n}").fetchone() == (inserted,)
            database.close()
    # each call of a transaction is of a file of its database
    for row, one in zip(rows, parts.transactions, strict=True):
        within = [
            call
            for call in calls
            if int(row["begin_ns"]) <= int(call["begin_ns"]) and int(call["end_ns"]) <= int(row["end_ns"])
        ]
        assert {call["database"] for call in within} == {str(one.database + 1)}
    sizes = [one["file_sizes"] for one in config["databases"]]
    assert config["file_sizes"] == {role: sum(one[role] for one in sizes) for role in sizes[0]}


def test_what_each_engine_counts_is_of_each_and_of_all(driver):
    """As its part of the analysis has it, of each database; and the sums."""
    parts = trace()
    populate(driver, parts)
    ok(run(driver, parts, "--vfs-log", *(() if driver.engine in SETTINGS else LOGGED)))
    found = ran(driver)
    engine, calls = found.engine, found.vfs
    assert databases.unsummed(found.config, engine.PROPERTIES, engine.COUNTED) == []
    each = list(databases.split(found.config, found.transactions.height))
    assert [one.title for one in each] == [f"database {n}: " for n in (1, 2, 3)]
    for one in each:
        assert engine.miscounted(one.config, one.ran, databases.calls_of(calls, one.number)) == []
    if driver.engine in SETTINGS:
        return
    # of all databases' calls the counts of one are not; nor is a sum that is another
    assert engine.miscounted(each[0].config, each[0].ran, calls) != []
    for name in ("log syncs", "most dirty pages of one"):
        number = int(found.config["properties"][name])
        found.config["properties"][name] = str(number + 1)
        assert f"{name}: {number + 1}, and its databases make {number}" in databases.unsummed(
            found.config, engine.PROPERTIES, engine.COUNTED
        )
        found.config["properties"][name] = str(number)
    found.config["file_sizes"]["database"] += 1
    (wrong,) = databases.unsummed(found.config, engine.PROPERTIES, engine.COUNTED)
    assert wrong.startswith("database: ")


def test_what_a_checkpoint_writes_home_is_whose_page_it_was(driver):
    """Databases have pages of the same numbers: one is the transaction's that wrote it in that database.

    LevelDB's databases number their rows alike.
    """
    parts = trace()
    populate(driver, parts)
    run(driver, parts, "--vfs-log", "--checkpoint-every", 20)
    calls, rows = ran(driver).vfs, ran(driver).transactions
    if (path := driver.output / "moved.csv").is_file():
        own = calls["database"]
        known = drivertables.moved(path, calls.height).filter(pl.col("source").is_not_null())
        assert own.gather(known["call"]).to_list() == own.gather(known["source"]).to_list()
        assert sorted(set(own.gather(known["call"]))) == list(range(1, FILES + 1))
        return
    begins, ends = ints(rows["begin_ns"]), ints(rows["end_ns"])
    of_call = [
        next((i for i in range(len(begins)) if begins[i] <= time < ends[i]), -1)
        for time in ints(calls["begin_ns"])
    ]
    owners = contents.contents(calls, ints(of_call))
    home = [
        (int(owners[i]), call["database"])
        for i, call in enumerate(calls.iter_rows(named=True))
        if (call["op"], call["file"]) == ("write", "database")
    ]
    assert any(owner >= 0 for owner, _ in home)
    assert all(parts.transactions[owner].database + 1 == number for owner, number in home if owner >= 0)
    # without that column some are taken for another database's
    mixed = contents.contents(calls.drop("database"), ints(of_call))
    assert mixed.tolist() != owners.tolist()


def test_one_without_a_transaction_is_there(driver):
    """As where the first transactions of a trace are run alone."""
    parts = trace()
    populate(driver, parts)
    only = parts._replace(transactions=tuple(one for one in parts.transactions if one.database == 1))
    ok(run(driver, only, "--vfs-log", "--checkpoint-every", 5))
    found = ran(driver)
    each = list(databases.split(found.config, found.transactions.height))
    assert [one.ran for one in each] == [0, len(only.transactions), 0]
    for one in each:
        own = databases.calls_of(found.vfs, one.number)
        assert found.engine.miscounted(one.config, one.ran, own) == []
