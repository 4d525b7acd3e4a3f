"""A run of a user's SQL: what was rendered is what the cell's file has, or the check says so."""

import hashlib
from types import SimpleNamespace

import pytest

from analysis import synthetic
from analysis.adapters import sqlfile
from analysis.checks import again, order

TEXT = "CREATE TABLE t(a);\nBEGIN;\nDELETE FROM t;\nROLLBACK;\n"


def run(text=TEXT, rendered=None, called=None, ran=True, kept=True):
    """What of a run the checks read; rendered: the SQL that SQLite was given."""
    given = sqlfile.rendered(sqlfile.read(rendered or TEXT).transactions)
    return SimpleNamespace(
        cell={"file": called or sqlfile.name(text), "profiles": {"file": {"sql": text}} if kept else {}},
        driver=SimpleNamespace(
            config={"driver": {"file": "/run/commitpath/transactions"} if ran else {}},
            rendered=SimpleNamespace(sha256=hashlib.sha256(given).hexdigest()),
        ),
    )


def test_a_run_of_the_file_is_one():
    assert again.of_the_file(run()) == []
    assert again.of_the_file(run(ran=False, kept=False)) == []


WRONG = [
    ({"rendered": "SELECT 1;"}, "rendered.gz is not what the cell's file has"),
    ({"called": "0" * 16}, "the cell's file is '0000000000000000', its content's name '"),
    ({"text": "BEGIN;"}, "the cell's file: line 1: BEGIN without a COMMIT"),
    ({"ran": False}, "config.json: a user's file was run by nobody"),
    ({"kept": False}, "config.json: a user's file was run, and the cell has none"),
]


@pytest.mark.parametrize(("changed", "said"), WRONG)
def test_another_is_told(changed, said):
    assert again.of_the_file(run(**changed))[0].startswith(said)


# as small as the generator takes
MEASURES = {
    **{"title": "Small", "files": 1, "megabytes": 0.05, "batches": 1, "alone": 9, "statements": 3},
    **{"updates": 8, "page_writes": 12, "pages": 5, "sql_bytes": 200, "checkpoints": 2},
    **{"dirty_pages": 3, "skew": 1},
}


def synthetic_run(seed=1, n=10, measures=MEASURES, most=None):
    """A run of a trace that is made from measures, in whose cell they are, and a seed of 1."""
    text = synthetic.text_of(measures, seed, most)
    made = run(called="")
    made.cell = {
        **{"file": "", "seed": 1, "n": n},
        "profiles": {"file": {"synthetic": text}, "workload": {"synthetic": MEASURES}},
    }
    given = sqlfile.rendered(synthetic.parts(text).transactions)
    made.driver.rendered.sha256 = hashlib.sha256(given).hexdigest()
    return made


def test_a_run_of_a_synthetic_trace_is_one_of_its_measures_and_seed():
    assert again.of_the_file(synthetic_run()) == again.of_the_file(synthetic_run(n=4, most=4)) == []
    said = ["the cell's trace is not made from its workload's measures and its seed"]
    for other in ({"seed": 2}, {"most": 4}, {"measures": {**MEASURES, "pages": 6}}):
        assert again.of_the_file(synthetic_run(**other)) == said
    for nothing in ("[]", "{}", "no", '{"seed": 1}'):
        made = synthetic_run()
        made.cell["profiles"]["file"] = {"synthetic": nothing}
        assert "has not the measures of a trace" in again.of_the_file(made)[0]


def test_of_what_rolls_back_the_order_of_calls_is_not_known():
    assert order._unordered(run()) == [1]
    assert order._unordered(run(ran=False)) == [] == order._unordered(run(text="BEGIN;"))
