"""A sweep killed at any moment goes on to the same results (kill.py)."""

import kill


def test_twenty_kills_change_no_result() -> None:
    assert kill.check(kills=20, seed=2) == []
