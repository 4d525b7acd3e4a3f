"""The interval of a mean over seeds and boards, against SciPy's and by simulation."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats.spread import interval


def test_of_independent_values_it_is_scipys() -> None:
    values = [90.0, 100.0, 110.0, 97.0]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert interval(values) == pytest.approx(tuple(expected))
    # seeds on one board, and runs in real time, of which each has its own board
    assert interval(values, [(seed, 1) for seed in range(4)]) == pytest.approx(tuple(expected))
    assert interval(values, [(1, run) for run in "abcd"]) == pytest.approx(tuple(expected))
    assert interval(values, [(seed, f"r{seed}") for seed in range(4)]) == pytest.approx(tuple(expected))
    assert interval([1.0, 1.0, 1.0]) is None


def test_of_seeds_and_boards_it_covers_what_it_states() -> None:
    """Of 200 intervals 95 % or more have the mean in them, whether seeds or boards differ more.

    Student's interval of all values together, as if they were independent, has it in 40 to 80 %.
    """
    rng = np.random.default_rng(1)
    for seeds, boards, of_seed, of_board in (
        (5, 1, 1, 0),
        (5, 3, 1, 0),
        (5, 3, 1, 1),
        (3, 3, 0.1, 1),
        (5, 2, 0, 1),
    ):
        samples = [(seed, board) for seed in range(seeds) for board in range(boards)]
        hits = alone = 0
        for _ in range(200):
            drawn = rng.normal(0, of_seed, (seeds, 1)) + rng.normal(0, of_board, (1, boards))
            values = [float(value) for value in (drawn + rng.normal(0, 0.1, (seeds, boards))).ravel()]
            low, high = interval(values, samples) or (1, -1)
            hits += low <= 0 <= high
            low, high = interval(values) or (1, -1)
            alone += low <= 0 <= high
        assert hits >= 0.92 * 200, (seeds, boards, of_seed, of_board)
        assert boards == 1 or alone < 0.9 * 200


def test_a_bootstrap_of_five_values_covers_less() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.normal(size=(200, 5))
    ends = stats.bootstrap((drawn,), np.mean, axis=-1, n_resamples=499, rng=rng, method="BCa")
    low, high = ends.confidence_interval
    assert np.mean((low <= 0) & (high >= 0)) < 0.9
