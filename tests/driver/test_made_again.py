"""The host makes the transactions of a workload again, text by text, from the same numbers."""

import hashlib

import pytest

from model import engines, workloads
from model.workloads import Options, Table

CASES = [
    ("apsys17", 50, 20, 3072, 1, None),
    ("apsys17", 0, 3, 1, 2**63 - 1, None),
    ("kv", 50, 20, 100, 3, None),
    ("mobibench", 25, 25, 100, 6, "update,delete"),
    ("mobibench_2014", 0, 25, 100, 6, None),
    ("partsupply", 2100, 3, 198, 7, None),
    ("partsupply", 40, 3, 198, 9, "update"),
]


@pytest.mark.parametrize(("name", "rows", "n", "value_size", "seed", "phases"), CASES)
def test_it_is_what_the_driver_renders(driver, name, rows, n, value_size, seed, phases):
    driver.populate("--workload", name, rows=rows, value_size=value_size)
    more = ["--workload", name, "--value-size", value_size, "--seed", seed]
    driver.run_ok(*more, *(["--phases", phases] if phases else []), rows=rows, n=n)
    workload = workloads.by_name(name)
    ran = phases.split(",") if phases else list(workload.PHASES)
    options = Options(rows, n, value_size, seed)
    made = list(workloads.transactions(workload, options, ran))
    text = b"".join(engines.by_name("sqlite").rendered(one, workload.TEXTS) for one in made)
    data = driver.rendered()
    assert hashlib.sha256(text).digest() == hashlib.sha256(data).digest(), (text[:300], data[:300])
    table = Table(range(1, rows + 1))
    assert [table.apply(one) for one in made] == [
        int(row["changes"]) for row in driver.table("transactions.csv")
    ]
