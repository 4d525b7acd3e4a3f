"""A run of a user's SQL: what was rendered is what the cell's file has, or the check says so."""

import hashlib
from types import SimpleNamespace

import pytest

from analysis.audit import call_order
from analysis.checks import workload_replay
from model.statements import sqlfile

TEXT = "CREATE TABLE t(a);\nBEGIN;\nDELETE FROM t;\nROLLBACK;\n"


def run(text=TEXT, rendered=None, ran=True, kept=True):
    """What of a run the checks read; rendered: the SQL that SQLite was given."""
    given = sqlfile.rendered(sqlfile.read(rendered or TEXT).transactions)
    return SimpleNamespace(
        cell=SimpleNamespace(file=sqlfile.name(text), profiles={"file": {"sql": text}} if kept else {}),
        driver=SimpleNamespace(
            config={"driver": {"file": "/run/commitpath/transactions"} if ran else {}},
            rendered=SimpleNamespace(sha256=hashlib.sha256(given).hexdigest()),
        ),
    )


def test_a_run_of_the_file_is_one():
    assert workload_replay.sql_file(run()) == []
    assert workload_replay.sql_file(run(ran=False, kept=False)) == []


WRONG = [
    ({"rendered": "SELECT 1;"}, "rendered.gz differs from the transactions of the cell's file"),
    ({"text": "BEGIN;"}, "the cell's file: line 1: BEGIN without a COMMIT"),
    ({"ran": False}, "config.json: the cell's SQL file was not run"),
    ({"kept": False}, "config.json: a user's SQL file was run, but the cell has none"),
]


@pytest.mark.parametrize(("changed", "said"), WRONG)
def test_another_is_told(changed, said):
    assert workload_replay.sql_file(run(**changed))[0].startswith(said)


def test_of_what_rolls_back_the_order_of_calls_is_not_known():
    assert call_order._unordered(run()) == [1]
    assert call_order._unordered(run(ran=False)) == [] == call_order._unordered(run(text="BEGIN;"))
