"""A short life of a database with a statement log, again for each disk call and allocation gone wrong.

By tests/ssl/every.c.
"""

import pytest
from crashes import count
from test_statement_log import CASES

# parts of one test, for the queue; there are 27 allocations for each call
ALLOCATIONS_BY = 8


def check(counted: dict, message: str) -> None:
    assert (counted["bad"], message) == (0, "")
    assert counted["calls"] > 900
    assert counted["recoveries"] >= counted["runs"] > 0
    print(counted)


@pytest.mark.parametrize("kind", ["eio", "full", "short", "full-disk", "eio-on"])
def test_each_call_fails(kind: str) -> None:
    counted, message = count("ssl", "every", kind)
    check(counted, message)
    assert counted["runs"] == counted["calls"]
    assert counted["failed"] > 100 and counted["not opened"] > 100 and counted["not closed"] > 10
    # a checkpoint that fails is tried again without an error
    assert counted["unseen"] > 100


@pytest.mark.parametrize("kind", ["cut", "killed"])
def test_power_or_process_ends_at_each_call(kind: str) -> None:
    counted, message = count("ssl", "every", kind)
    check(counted, message)
    assert counted["runs"] == counted["calls"]
    assert counted["in flight"] > 100 and counted["replayed"] > 1000
    met = {case for case, count in counted["cases"].items() if count}
    # another SQLite is in the way of no other cut than those of test_statement_log
    assert met >= {*CASES} - {"WAL ahead of the log; copied"}


@pytest.mark.parametrize("first", range(1, ALLOCATIONS_BY + 1))
def test_each_allocation_fails(first: int) -> None:
    counted, message = count("ssl", "every", "nomem", first, ALLOCATIONS_BY)
    check(counted, message)
    assert abs(counted["runs"] - counted["calls"] / ALLOCATIONS_BY) < 1
    assert counted["failed"] > 10
