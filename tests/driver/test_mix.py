"""The mix of operations: what the host makes again, and the distributions by their formulas.

Counts are of what the driver gave the engine, compared by chi-square with each record's probability.
"""

import functools
import gzip
import hashlib
import re
from collections import Counter

import numpy as np
import pytest
from conftest import Driver, binary_of, ok, one_line_error

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
EVERY = "read=20,update=20,insert=20,delete=10,scan=10,read-modify-write=20"
ROWS, REQUESTS = 100, 10_000
THETA, ZETA = 0.99, 26.46902820178302  # YCSB's constants; ZETA is the sum of i^-0.99


def ran(folder, options, engine=FIRST_ENGINE):
    """A driver that ran a mix on a database of its own."""
    folder.mkdir(exist_ok=True)
    driver = Driver(binary_of(engine), folder)
    named = options._asdict().items()
    given = [(f"--{name.replace('_', '-')}", value) for name, value in named if name != "requests"]
    kept = ("--rows", "--value-size", "--insert-order", "--value-size-distribution")
    table = [word for name, value in given if name in kept for word in (name, value)]
    ok(driver("populate", "--workload", "mix", "--database", driver.database, *table))
    fast = {"SYNCHRONOUS": "off"} if engine in (FIRST_ENGINE, "leveldb", "rocksdb") else {}
    cell = make_cell({"ENGINE": engine, **fast})
    settings = engine_options(cell, load_profile("engine", engine)["settings"]).split()
    where = ["--database", driver.database, "--output-dir", driver.output, *settings]
    ok(driver("run", "--workload", "mix", *where, *(word for pair in given for word in pair)))
    return driver


CASES = {
    f"{distribution}-{order}-{sizes}-{batch}": Options(
        80, 60 if batch < 100 else 3, 100, seed, mix, distribution, order, sizes, batch
    )
    for seed, (mix, distribution, order, sizes, batch) in enumerate(
        [
            (EVERY, "uniform", "ordered", "constant", 1),
            (EVERY, "zipfian", "hashed", "zipfian", 1),
            (EVERY, "latest", "hashed", "constant", 1),
            (EVERY, "scrambled_zipfian", "ordered", "zipfian", 1),
            ("insert=40,update=30,delete=20,read=10", "hotspot", "hashed", "zipfian", 7),
            ("delete=100", "sequential", "ordered", "constant", 999),
        ]
    )
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", [FIRST_ENGINE, "leveldb"])
def test_the_host_makes_what_the_driver_renders(name, engine, tmp_path):
    options, workload = CASES[name], workloads.by_name("mix")
    driver = ran(tmp_path, options, engine)
    made = list(workloads.transactions(workload, options, ["mix"]))
    text = b"".join(engines.by_name(engine).rendered(one, workload.TEXTS) for one in made)
    data, rows, config = driver.rendered(), driver.table("transactions.csv"), driver.config()
    assert hashlib.sha256(text).digest() == hashlib.sha256(data).digest(), (text[:300], data[:300])
    packed = driver.output / "rendered.gz"
    packed.write_bytes(gzip.compress(data))
    given = rendered.read(packed, config["sql_bytes"], engines.by_name(engine))
    assert given.values == config["sql_bytes"]
    timed = as_timed.paired([row["op"] for row in rows], given)
    assert all(as_timed.is_one_of(op, one, options.batch) for _, _, op, one in timed)
    table = workloads.table(workload, options, engines.by_name(engine).ADDS_MISSING)
    changes = [table.apply(one) for one in made]
    known = [(int(row["changes"]), due) for row, due in zip(rows, changes, strict=True) if row["changes"]]
    assert all(has == due for has, due in known) and (len(known) == len(rows) or engine != FIRST_ENGINE)
    assert [row["op"] for row in rows] == [one[0].kind for one in made]
    assert config["rows_after"] == table.rows
    assert config["sql_bytes"] == sum(len(operation.value) for one in made for operation in one)


def operations(driver, engine):
    """Kind, key, size and hash of the value of each operation in `rendered`, read from its bytes alone."""
    data = driver.rendered()
    if not engines.by_name(engine).has_sql:
        kinds = ["insert", "update", "delete", "read", "scan", "read-modify-write"]
        while data:
            if data[:1] == b"\n":
                data = data[1:]
                continue
            size = int.from_bytes(data[9:13])
            kind, value = kinds[data[0]], data[13 : 13 + size]
            rows, value = (int.from_bytes(value), b"") if kind == "scan" else (0, value)
            yield kind, int.from_bytes(data[1:9]), rows, size_and_hash(value)
            data = data[13 + size :]
        return
    forms = {
        "insert": r"INSERT INTO records\(id,value\) VALUES\((?P<key>\d+),'(?P<value>\w*)'\);",
        "read_modify_write": r"SELECT value FROM records WHERE id=\d+;"
        r"UPDATE records SET value='(?P<value>\w*)' WHERE id=(?P<key>\d+);",
        "update": r"UPDATE records SET value='(?P<value>\w*)' WHERE id=(?P<key>\d+);",
        "delete": r"DELETE FROM records WHERE id=(?P<key>\d+);",
        "read": r"SELECT value FROM records WHERE id=(?P<key>\d+);",
        "scan": r"SELECT value FROM records WHERE id>=(?P<key>\d+) ORDER BY id LIMIT (?P<rows>\d+);",
    }
    for line in data.decode().splitlines():
        text = line.removeprefix("BEGIN;").removesuffix("COMMIT;")
        while text:
            kind, found = next((kind, m) for kind, form in forms.items() if (m := re.match(form, text)))
            parts = {"rows": 0, "value": "", **found.groupdict()}
            key, rows = int(parts["key"]), int(parts["rows"])
            yield kind.replace("_", "-"), key, rows, size_and_hash(parts["value"].encode())
            text = text[found.end() :]


def size_and_hash(value):
    return len(value), hashlib.sha256(value).hexdigest()


@pytest.mark.parametrize("name", ["zipfian-hashed-zipfian-1", "hotspot-hashed-zipfian-7"])
def test_every_engine_gets_the_same_operations(name, tmp_path):
    """Those that do not add what an update misses return the same rows of each transaction, too."""
    each = {engine: ran(tmp_path / engine, CASES[name], engine) for engine in ENGINES}
    given = {engine: list(operations(driver, engine)) for engine, driver in each.items()}
    returned = {
        engine: [(row["op"], row["rows"], row["bytes"]) for row in driver.table("transactions.csv")]
        for engine, driver in each.items()
    }
    assert len(given[FIRST_ENGINE]) == 60 * CASES[name].batch
    assert len({kind for kind, *_ in given[FIRST_ENGINE]}) == CASES[name].mix.count("=")
    assert all(one == given[FIRST_ENGINE] for one in given.values())
    # with an update of a deleted record, a key-value store has it again
    same = [engine for engine in ENGINES if not engines.by_name(engine).ADDS_MISSING]
    assert len(same) > 2 and all(returned[engine] == returned[FIRST_ENGINE] for engine in same)
    kinds = [[op for op, *_ in one] for one in returned.values()]
    assert all(one == kinds[0] for one in kinds)


@functools.cache
def keys():
    """Record of each key, of hashed keys."""
    workload = workloads.by_name("mix")
    hashed = Options(ROWS, 1, 64, 1, insert_order="hashed")
    return {key: record for record, (key, _) in enumerate(workload.filled(hashed))}


def requested(folder, distribution, mix="read=100"):
    """The kind and record of each operation, in order."""
    options = Options(ROWS, REQUESTS, 64, 11, mix, distribution, "hashed")
    record = dict(keys())
    for kind, key, *_ in operations(ran(folder, options, "leveldb"), "leveldb"):
        if kind == "insert":
            record[key] = len(record)
        yield kind, record[key]


def zipf(count):
    weights = np.arange(1, count + 1) ** -THETA
    return weights / weights.sum()


def scrambled():
    """The probabilities of the items that are hashed to each record: of 10^6 items, and the rest evenly."""
    first = 10**6
    items = np.arange(first, dtype=np.uint64)
    hashed = np.full(first, 0xCBF29CE484222325, np.uint64)
    for byte in range(8):
        hashed = (hashed ^ (items >> np.uint64(8 * byte) & np.uint64(0xFF))) * np.uint64(0x100000001B3)
    records = np.abs(hashed.astype(np.int64)).astype(np.uint64) % np.uint64(ROWS)
    weights = np.arange(1, first + 1) ** -THETA / ZETA
    assert 0.0377 < weights[0] < 0.0379
    found = np.bincount(records.astype(int), weights, ROWS)
    return found + (1 - found.sum()) / ROWS


def formula(distribution):
    """The probability of each record, the first inserted first."""
    match distribution:
        case "uniform":
            return np.full(ROWS, 1 / ROWS)
        case "zipfian":
            return zipf(ROWS)
        case "latest":
            return zipf(ROWS)[::-1]
        case "hotspot":
            return np.repeat([0.8 / 20, 0.2 / 80], [20, 80])
    return scrambled()


def chi_square(counts, probabilities):
    """How many standard deviations Pearson's statistic is above its mean (Wilson and Hilferty)."""
    due = probabilities * counts.sum()
    assert due.min() > 5
    degrees = len(counts) - 1
    statistic = ((counts - due) ** 2 / due).sum() / degrees
    return (statistic ** (1 / 3) - (1 - 2 / (9 * degrees))) / (2 / (9 * degrees)) ** 0.5


@pytest.mark.parametrize("distribution", ["uniform", "zipfian", "scrambled_zipfian", "latest", "hotspot"])
def test_requests_are_distributed_by_the_formula(distribution, tmp_path):
    """And by no other."""
    counts = np.bincount([record for _, record in requested(tmp_path, distribution)], minlength=ROWS)
    due = formula(distribution)
    assert abs(chi_square(counts, due)) < 4
    others = {"uniform", "zipfian", "scrambled_zipfian", "latest", "hotspot"} - {distribution}
    assert all(chi_square(counts, formula(other)) > 20 for other in others)


def test_latest_follows_the_inserts(tmp_path):
    """The age of a request's record, by Zipf's law over as many records as there are then."""
    last, ages, due = ROWS - 1, Counter(), np.zeros(60)
    for kind, record in requested(tmp_path, "latest", "read=99,insert=1"):
        if kind == "insert":
            last = record
            continue
        ages[min(last - record, 59)] += 1
        due += np.append((now := zipf_of(last + 1))[:59], now[59:].sum())
    assert last > ROWS + 50
    counts = np.array([ages[age] for age in range(60)])
    assert abs(chi_square(counts, due / due.sum())) < 4


zipf_of = functools.cache(zipf)


def test_sequential_requests_are_of_each_record_in_turn(tmp_path):
    assert [record for _, record in requested(tmp_path, "sequential")] == [*range(ROWS)] * (REQUESTS // ROWS)


def test_shares_and_sizes(tmp_path):
    """Kinds by the shares of --mix, and sizes of values by Zipf's law from 64 bytes on."""
    options = Options(ROWS, REQUESTS, 163, 5, "read=70,update=30", value_size_distribution="zipfian")
    found = list(operations(ran(tmp_path, options, "leveldb"), "leveldb"))
    kinds = Counter(kind for kind, *_ in found)
    assert abs(chi_square(np.array([kinds["read"], kinds["update"]]), np.array([0.7, 0.3]))) < 4
    sizes = Counter(size for kind, _, _, (size, _) in found if kind == "update")
    assert abs(chi_square(np.array([sizes[size] for size in range(64, 164)]), zipf(100))) < 4


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--mix", "read=60,updat=40"], "--mix: 'updat' is not an operation with a key"),
        (["--mix", "read=60,update=30"], "--mix: the shares add up to 90 per cent, not to 100"),
        (["--mix", "read=60,read=40"], "--mix: read is given twice"),
        (["--mix", "read=1.5"], "--mix: a share is a whole number from 1 to 100, as in read=95,insert=5"),
        (["--mix", "read=18446744073709551716"], "--mix: a share is a whole number from 1 to 100"),
        (["--mix", "batch=100"], "--mix: 'batch' is not an operation with a key"),
        ([], "--mix: mix must be given one"),
        (["--mix", "read=100", "--batch", 1000], "--batch: 1000 is not from 1 to 999"),
        (["--mix", "read=50,read-modify-write=50", "--batch", 2], "--batch: a read-modify-write is a trans"),
    ],
)
def test_what_is_not_a_mix(newest, more, expected):
    assert expected in one_line_error(newest.run("--workload", "mix", *more), 2)


def test_another_workload_takes_no_mix(newest):
    assert "--mix: apsys17 takes none" in one_line_error(newest.run("--mix", "read=100"), 2)
