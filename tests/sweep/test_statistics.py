"""The statistics of a comparison, against SciPy's and against known distributions."""

import math
from math import comb

import numpy as np
import pytest
from scipy import stats

from commitpath.reporting import statistics
from commitpath.reporting.statistics import DIFFERENT, EQUAL, UNDECIDED, WITHIN, Sample

ONE = 0.01


def seeds(*values: float) -> dict[Sample, float]:
    """A side with a value for each seed, on one board."""
    return {(seed, 1): value for seed, value in enumerate(values)}


def boards(values: list[list[float]]) -> dict[Sample, float]:
    """A side with a list of boards' values for each seed."""
    return {(seed, board): value for seed, row in enumerate(values) for board, value in enumerate(row)}


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        # exact numbers need no interval to be equal
        (seeds(90.0), seeds(90.0), EQUAL),
        (seeds(90.0, 91.0), seeds(90.0, 91.0), EQUAL),
        (seeds(0.0, 0.0), seeds(0.0, 0.0), EQUAL),
        (seeds(100, 101, 102), seeds(100.2, 101.1, 102.3), WITHIN),
        (seeds(100, 101, 102), seeds(110, 111.2, 112.1), DIFFERENT),
        (seeds(0, 0), seeds(5, 6), DIFFERENT),
        (seeds(5, 6), seeds(0, 0), DIFFERENT),
        # every seed has one and the same ratio
        (seeds(100, 200), seeds(150, 300), DIFFERENT),
        # one sample may be any of a distribution
        (seeds(100), seeds(150), UNDECIDED),
        (seeds(100, 100, 100), seeds(98, 103, 100.5), UNDECIDED),
        (seeds(0, 1), seeds(1, 2), UNDECIDED),
        ({(1, 1): 5.0}, {(2, 1): 6.0}, UNDECIDED),
        # of one sample only equality is decided, also where a side is 0
        (seeds(0), seeds(5), UNDECIDED),
    ],
)
def test_verdicts(a: dict[Sample, float], b: dict[Sample, float], verdict: str) -> None:
    found = statistics.paired(a, b, ONE)
    assert found.verdict == verdict
    back = statistics.paired(b, a, ONE)
    assert back.verdict == verdict
    if verdict == DIFFERENT:
        assert {found.text, back.text} == {"different: B higher", "different: B lower"}


def test_the_interval_of_one_factor_is_scipys() -> None:
    rng = np.random.default_rng(3)
    a = rng.lognormal(4, 0.3, 6)
    b = a * rng.lognormal(0.2, 0.05, 6)
    expected = stats.ttest_rel(np.log(b), np.log(a)).confidence_interval(0.95)
    found = statistics.paired(seeds(*map(float, a)), seeds(*map(float, b)), ONE)
    assert found.interval and found.interval.confidence == 0.95
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(np.exp(expected)))
    assert found.ratio == pytest.approx(math.exp(float(np.mean(np.log(b / a)))))


def test_pairs_of_one_seed_and_board_decide_what_sides_alone_do_not() -> None:
    """Seeds differ by a factor of two, and B is 3 % above A with each."""
    a, b = [50.0, 100.0, 70.0], [51.5, 103.01, 72.1]
    assert statistics.paired(seeds(*a), seeds(*b), ONE).verdict == DIFFERENT
    assert statistics.unpaired(a, b, ONE).verdict == UNDECIDED


def test_what_boards_differ_by_is_a_least_margin() -> None:
    a = [[100.0, 103.0], [200.0, 206.0]]
    b = [[one * 1.02 for one in row] for row in a]
    assert statistics.paired(boards(a), boards(b), ONE).verdict == WITHIN
    found = statistics.paired(boards(a), boards(b), ONE)
    assert found.margin == pytest.approx(3 / 101.5)
    # the same ratio, of boards that are equal
    assert statistics.paired(boards([[100.0] * 2] * 2), boards([[102.0] * 2] * 2), ONE).verdict == DIFFERENT
    assert statistics.paired(boards(a), boards(b), 0.05).margin == 0.05


def test_a_bound_of_the_margin_has_to_hold_for_the_whole_interval() -> None:
    a = [100.0] * 4
    assert statistics.paired(seeds(*a), seeds(100, 100.5, 100.2, 100.3), ONE).verdict == WITHIN
    # the mean is within it, and one end of the interval is not
    found = statistics.paired(seeds(*a), seeds(99, 101.5, 100.9, 100.2), ONE)
    assert found.verdict == UNDECIDED and abs((found.ratio or 0) - 1) < ONE
    assert "the interval includes 1 and exceeds the margin" in found.text
    # 1 is outside of it, but so little that it does not matter
    assert statistics.paired(seeds(*a), seeds(100.2, 100.21, 100.22, 100.2), ONE).verdict == WITHIN
    assert statistics.paired(seeds(*a), seeds(100.2, 100.21, 100.22, 100.2), 0).verdict == DIFFERENT


def test_equal_sides_are_seldom_different() -> None:
    """A and B have one distribution: of 400 comparisons 5 % or fewer say that they differ."""
    rng = np.random.default_rng(5)
    said = 0
    for _ in range(400):
        shared = rng.normal(0, 0.2, (4, 1)) + rng.normal(0, 0.1, (1, 3))
        a, b = (np.exp(shared + rng.normal(0, 0.1, (4, 3))).tolist() for _ in "AB")
        said += statistics.paired(boards(a), boards(b), 0).verdict == DIFFERENT
    assert said <= 0.05 * 400


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 3), (4, 5), (6, 4)])
def test_counts_of_u_are_all_arrangements(m: int, n: int) -> None:
    counts = statistics.u_counts(m, n)
    assert counts.sum() == comb(m + n, n)
    assert list(counts) == list(counts[::-1])


def test_the_interval_of_runs_in_real_time_is_that_of_mann_and_whitneys_test() -> None:
    """It leaves 1 out where SciPy's exact test has p of 5 % or less."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        a, b = rng.lognormal(size=4), rng.lognormal(1, size=5)
        p = stats.mannwhitneyu(a, b, method="exact").pvalue
        found = statistics.unpaired(a.tolist(), b.tolist(), 0)
        assert (found.verdict == DIFFERENT) == (p <= 0.05)


def test_verdicts_of_runs_in_real_time() -> None:
    low, high = [1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3]
    assert statistics.unpaired(low, high, ONE).text == "different: B higher"
    assert statistics.unpaired(high, low, ONE).text == "different: B lower"
    assert statistics.unpaired(low, [1.05, 1.15, 1.17, 1.25], ONE).verdict == UNDECIDED
    assert statistics.unpaired(low, [1.05, 1.15, 1.17, 1.25], 0.5).verdict == WITHIN
    # however far apart, three against three have an interval of 90 %
    few = statistics.unpaired(low[:3], high[:3], ONE)
    assert few.text == "not decided: 3 and 3 runs reach an interval of 90%, not 95%"
    assert statistics.unpaired([1.0], [2.0], ONE).verdict == UNDECIDED
    assert statistics.unpaired([4.0, 4.0], [4.0], ONE).verdict == EQUAL
    assert statistics.unpaired([0.0, 4.0], [4.0], ONE).text == "not decided: a value is 0 or less"


def test_the_interval_holds_what_it_says() -> None:
    """B is A times 1.5: of 1000 intervals the share that has 1.5 in it is the stated one."""
    rng = np.random.default_rng(11)
    for m, n, stated in ((3, 3, 0.90), (4, 4, None), (6, 6, None)):
        hits = 0
        for _ in range(1000):
            a, b = rng.lognormal(size=m), 1.5 * rng.lognormal(size=n)
            found = statistics.interval(sorted(y / x for x in a for y in b), m, n)
            hits += found.low <= 1.5 <= found.high
        assert stated is None or found.confidence == pytest.approx(stated)
        assert found.confidence >= 0.9
        assert hits / 1000 == pytest.approx(found.confidence, abs=0.03)
