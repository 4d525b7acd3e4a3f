"""Numbers and their words in make tree."""

import pytest

from analysis.tree.terminal import _COUNTS, _counted


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1 flush"), (0, "0 flushes"), (2, "2 flushes"), (0.5, "0.5 flushes")]
)
def test_one_is_no_plural(number: float, said: str) -> None:
    word, end = _COUNTS[-1]
    assert _counted(number, word, end) == said
