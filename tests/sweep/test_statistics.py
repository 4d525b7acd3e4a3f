"""The statistics of a comparison, against scipy and against known distributions."""

from math import comb

import numpy as np
import pytest
from scipy import stats

from commitpath.reporting import statistics


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 3), (4, 5), (6, 4)])
def test_counts_of_u_are_all_arrangements(m: int, n: int) -> None:
    counts = statistics.u_counts(m, n)
    assert counts.sum() == comb(m + n, n)
    assert list(counts) == list(counts[::-1])


def test_p_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        a, b = rng.lognormal(size=4), rng.lognormal(0.5, size=5)
        expected = stats.mannwhitneyu(a, b, method="exact").pvalue
        assert statistics.compare(list(a), list(b)).p == pytest.approx(expected)


def test_verdicts() -> None:
    low, high = [1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]
    assert statistics.compare(low, high).verdict == "B higher"
    assert statistics.compare(high, low).verdict == "B lower"
    assert statistics.compare(low, [1.05, 1.15, 1.17, 1.25]).verdict == "no difference"
    # three against three cannot give p below 0.1, however far apart they are
    assert statistics.compare(low[:3], high[:3]).verdict == "too few runs to tell"
    assert statistics.compare([1.0], [2.0]).verdict == "too few runs to tell"
    assert statistics.compare([1.0], [1.0]).verdict == "no difference (equal)"


def test_the_interval_holds_what_it_says() -> None:
    """B is A times 1.5: of 1000 intervals the share that has 1.5 in it is the stated one."""
    rng = np.random.default_rng(11)
    for m, n, stated in ((3, 3, 0.90), (4, 4, None), (6, 6, None)):
        hits = 0
        for _ in range(1000):
            a, b = rng.lognormal(size=m), 1.5 * rng.lognormal(size=n)
            found = statistics.interval(sorted(y / x for x in a for y in b), m, n)
            hits += found[0] <= 1.5 <= found[1]
        assert stated is None or found[2] == pytest.approx(stated)
        assert found[2] >= 0.9
        assert hits / 1000 == pytest.approx(found[2], abs=0.03)


def test_many_cells_of_few_runs_tell_together() -> None:
    cells = [([1.0 * k, 1.1 * k], [1.5 * k, 1.6 * k]) for k in (1, 10, 100, 1000)]
    p, least = statistics.over_cells(cells)
    assert p < 0.01
    assert least < 0.01
    p, _ = statistics.over_cells([(a, list(reversed(a))) for a, _ in cells])
    assert p > 0.9
