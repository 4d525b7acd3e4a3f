"""What a database must hold after each transaction: against SQLite itself, which is given the run's SQL."""

import sqlite3

import pytest
from some_cell import some_cell

from model import engines, workloads
from model.cell import Cell
from model.expected_state import hashes, oracle
from model.expected_state.hashes import Text
from model.workloads import Options

PHASES = {
    "apsys17": ["insert", "update", "delete"],
    "kv": ["insert", "update", "read", "batch", "delete"],
    "partsupply": ["insert", "update", "batch"],
}
SAMPLE = "CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL)"
# workloads/workloads/partsupply.c
PARTSUPPLY = (
    "CREATE TABLE partsupply(ps_key INTEGER PRIMARY KEY, ps_partkey INT, ps_suppkey INT, ps_availqty INT, "
    "ps_supplycost REAL, ps_comment TEXT NOT NULL)"
)


def cell(workload: str, **values: int | str) -> Cell:
    options = {"rows": 40, "n": 30, "value_size": 100, "seed": 3}
    profiles = {"workload": {"driver_workload": workload}}
    return some_cell(**{**options, **values, "profiles": profiles})


@pytest.mark.parametrize(
    ("workload", "size"),
    [*((name, size) for name in ("apsys17", "kv") for size in (1, 100)), ("partsupply", 198)],
)
def test_sqlite_holds_it(workload: str, size: int) -> None:
    made = cell(workload, value_size=size)
    states = oracle.after_each(made, PHASES[workload])
    again = workloads.by_name(workload)
    assert again
    options = Options(made.rows, made.n, size, made.seed)
    database = sqlite3.connect(":memory:", isolation_level=None)
    if workload == "partsupply":
        database.execute(PARTSUPPLY)
        rows = [(1 + number, f"{number:08d}" + "i" * (size - 8)) for number in range(made.rows)]
        database.executemany("INSERT INTO partsupply VALUES(?,15000,1000,9999,771.64,?)", rows)
    else:
        database.execute(SAMPLE)
        database.executemany("INSERT INTO sample(value) VALUES(?)", [("i" * size,)] * made.rows)
    assert states[0] == hashes.tables(database, again.TABLE)
    render = engines.by_name("sqlite").rendered
    for number, transaction in enumerate(workloads.transactions(again, options, PHASES[workload]), 1):
        database.executescript(render(transaction, again.TEXTS).decode())
        assert states[number] == hashes.tables(database, again.TABLE), (number, transaction[0].kind)
    assert number == len(states) - 1


def test_a_row_more_or_less_or_another_is_another_hash() -> None:
    rows = dict.fromkeys(range(1, 50), b"i" * 20)

    def total(changed: dict[int, bytes]) -> int:
        return sum(hashes.row_hash((key, Text(value))) for key, value in changed.items()) % 2**64

    every = [
        total(rows),
        *(total({key: value for key, value in rows.items() if key != gone}) for gone in rows),
        *(total(rows | {key: b"u" * 20}) for key in rows),
        *(total(rows | {key: b"i" * 19}) for key in rows),
        *(total(rows | {key: b"i" * 19 + b"\0"}) for key in rows),
        *(total(rows | {key: b"i" * 8 + b"\0" * 12}) for key in rows),
        total({key + 1: value for key, value in rows.items()}),
    ]
    assert len(set(every)) == len(every)


def test_the_hash_is_the_one_that_boards_have() -> None:
    """Of a table of 1000 rows of apsys17, as a board of trials told it of one that nothing was done to."""
    states = oracle.after_each(cell("apsys17", rows=1000, n=1, value_size=3072), ["insert"])
    assert states[0] == (1000, 0xA75B6EA82492BD39)


@pytest.mark.parametrize("workload", ["apsys17", "kv", "partsupply"])
def test_a_store_without_sql_has_a_key_and_a_value_of_each(workload: str) -> None:
    """What a store adds for a missing key is there, too."""
    made, again = cell(workload, engine="leveldb", value_size=198), workloads.by_name(workload)
    assert again
    options = Options(made.rows, made.n, 198, made.seed)
    rows = dict(again.filled(options))
    states = oracle.after_each(made, PHASES[workload])
    for number, transaction in enumerate(workloads.transactions(again, options, PHASES[workload])):
        for kind, key, value, _ in transaction:
            if kind == "delete":
                rows.pop(key, None)
            elif kind != "read":
                rows[key] = value
        total = sum(hashes.row_hash((key, Text(value))) for key, value in rows.items())
        assert states[number + 1] == hashes.Held(len(rows), total & (1 << 64) - 1)
    assert states[0] != states[-1] and number == len(states) - 2


@pytest.mark.parametrize("workload", ["mobibench", "rlbench", "null"])
def test_rows_that_nobody_knows_are_not_guessed(workload: str) -> None:
    assert not oracle.is_known({"driver_workload": workload})
    with pytest.raises(ValueError, match=workload):
        oracle.after_each(cell(workload), ["insert"])
