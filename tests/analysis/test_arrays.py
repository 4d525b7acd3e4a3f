"""base.arrays against plain loops: sorted search, last event before a time, lengths covered; −1 as null."""

import numpy as np
import polars as pl
import pytest
from traced import DEV, Trace

from analysis.ledger.small_tables import nullable
from base.arrays import Intervals, LastBefore, length_within, preceding, union

RANDOM = np.random.default_rng(1)


@pytest.mark.parametrize("edges", [0, 1, 20, 300, 5000])
@pytest.mark.parametrize("values", [0, 1, 300, 3000])
@pytest.mark.parametrize("sorted_", [True, False])
def test_preceding_is_searchsorted(edges: int, values: int, sorted_: bool) -> None:
    """Also where edges and values are equal, and where most edges are beyond the values."""
    for most in (50, 10**6):
        among = np.sort(RANDOM.integers(0, most, edges))
        wanted = RANDOM.integers(most // 3, most // 2, values)
        if sorted_:
            wanted.sort()
        expected = np.searchsorted(among, wanted, side="right")
        assert preceding(among, wanted).tolist() == expected.tolist()


@pytest.mark.parametrize("sorted_", [True, False])
def test_last_before(sorted_: bool) -> None:
    keys, times = RANDOM.integers(0, 9, 200), RANDOM.integers(0, 99, 200)
    if sorted_:
        times.sort()
    wanted, upto = RANDOM.integers(0, 12, 300), RANDOM.integers(0, 120, 300)
    found = LastBefore(keys, times).event(wanted, upto)
    for key, time, event in zip(wanted, upto, found.tolist(), strict=True):
        known = [(times[i], i) for i in range(200) if keys[i] == key and times[i] <= time]
        assert event == (max(known)[1] if known else -1)


def test_lengths() -> None:
    """Of what is covered by two lists of intervals, nanosecond by nanosecond."""
    begins = [RANDOM.integers(0, 900, 30) for _ in range(2)]
    parts = [Intervals(begin, begin + RANDOM.integers(1, 30, 30)) for begin in begins]
    covered = np.zeros(1000, bool)
    for part in parts:
        for begin, end in zip(*part, strict=True):
            covered[begin:end] = True
    edges = np.arange(0, 1000, 50)
    expected = [int(covered[edge : edge + 50].sum()) for edge in edges]
    assert length_within(union(parts), edges, edges + 50).tolist() == expected


def test_records_are_taken_once() -> None:
    trace = Trace()
    trace.command(1, 2, 3, 80, 8)
    recorded = trace.records()
    assert sum(chunk.block.size for chunks in recorded.many(DEV) for chunk in chunks) == 1
    with pytest.raises(RuntimeError, match="can be taken only once"):
        next(recorded.many(DEV))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_minus_one_is_null_in_a_wide_column(kind: type) -> None:
    found = nullable(np.array([3, -1, 2**31 - 1], kind))
    assert found.dtype == pl.Int64 and found.to_list() == [3, None, 2**31 - 1]
