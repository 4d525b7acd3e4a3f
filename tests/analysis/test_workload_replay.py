"""What was rendered, what it changed and how many rows are left is held against the cell's numbers.

Each is seen to fail on a recorded run with one thing changed.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from analysis.checks import workload_replay
from analysis.run import Run
from model.operations import Transaction


@pytest.fixture(scope="module")
def recorded(built_run: Callable[[str], Run]) -> Run:
    return built_run("samples/f2fs-delete")


def changed(run: Run, told: dict[str, Any], **config: Any) -> Run:
    """The run with options of the driver, and keys of its config.json, that are others."""
    had = run.driver.config
    new = had | config | {"driver": had["driver"] | told}
    return dataclasses.replace(run, driver=dataclasses.replace(run.driver, config=new))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            {"seed": 2},
            "rendered.gz differs from what apsys17 generates with rows 60, n 8, value_size 3072, seed 2",
        ),
        ({"value_size": 10**15}, "rendered.gz has 24 transactions in 50"),
        ({"n": 9}, "; 3 phases of rows 60, n 9, value_size 3072, seed 1 make 27"),
        ({"workload": "kv"}, "rendered.gz differs from what kv generates"),
        ({"rows": "60"}, "rows '60' is not a number"),
    ],
)
def test_other_numbers_make_something_else(told: dict[str, Any], said: str, recorded: Run) -> None:
    found = workload_replay.transactions(changed(recorded, told))
    assert found and said in found[0], found


def test_another_number_of_changes(recorded: Run) -> None:
    table = recorded.driver.transactions.with_columns(changes=pl.lit(1000))
    run = dataclasses.replace(recorded, driver=dataclasses.replace(recorded.driver, transactions=table))
    (said,) = workload_replay.transactions(run)
    assert said.startswith("transactions.csv: 24 transactions have a wrong") and "1000, expected 1" in said
    assert workload_replay.row_counts(run) == ["config.json: rows_after is 62, expected 60"]


def test_rows_that_the_transactions_do_not_leave(recorded: Run) -> None:
    assert workload_replay.row_counts(changed(recorded, {}, rows_after=61)) != []
    assert workload_replay.row_counts(changed(recorded, {}, rows_after=None)) != []
    (said,) = workload_replay.row_counts(changed(recorded, {"rows": 50}))
    assert said == "config.json: rows_before is 60, requested rows 50"


@pytest.mark.parametrize(
    ("operations", "left"),
    [
        (("insert", "create"), 60 + 5),
        (("delete",), 60 - 5),
        (("update", "read"), 60),
        (("drop",), 0),
        (("insert", "delete"), None),
    ],
)
def test_what_is_left_of_the_rows(operations: tuple[str, ...], left: int | None, recorded: Run) -> None:
    """Of a transaction that inserts and deletes nobody can say."""
    driver = recorded.driver
    assert driver.rendered
    one = Transaction(operations, batch=True)
    given = dataclasses.replace(driver.rendered, transactions=((one, 1),))
    table = driver.transactions.head(1).with_columns(changes=pl.lit(5))
    run = dataclasses.replace(
        recorded, driver=dataclasses.replace(driver, rendered=given, transactions=table)
    )
    found = workload_replay.row_counts(changed(run, {}, rows_after=left if left is not None else 7))
    assert found == []
    if left is not None:
        assert workload_replay.row_counts(changed(run, {}, rows_after=left + 1)) != []
