"""tests/sweep/kill.py as it is called by hand: test_sweep.py has the quick version."""

import kill


def test_twenty_kills_change_no_result() -> None:
    assert kill.check(kills=20, seed=2) == []
