"""How late how many commands may be: what a busy CPU does to a clean run holds, and more does not."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.checks import witness

US = 1_000
# of 2000 commands: {µs late: how many}
CLEAN: list[dict[int, int]] = [{}, {150: 40}, {900: 3}, {900: 2, 1620: 2}, {4900: 5}, {30_000: 1}]
WRONG: list[dict[int, int]] = [{250: 50}, {900: 50}, {30: 1100}]


def late(many: dict[int, int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    found = np.zeros(2000, np.int64)
    at = 7
    for us, number in many.items():
        found[at : at + number] = us * US
        at += number
    return found


@pytest.mark.parametrize("slower", [1, 4])
@pytest.mark.parametrize("many", [*CLEAN, *WRONG])
def test_by_a_witness(many: dict[int, int], slower: int) -> None:
    begin = np.arange(2000) * 10_000 * US
    done = begin + 50 * US
    seen = pl.DataFrame({"sector": begin, "begin_ns": begin, "end_ns": done})
    own = seen.with_columns(end_ns=pl.Series(done + late(many) * slower))
    run: Any = SimpleNamespace(counted=True)
    said = witness._in_time(run, "the log", own, seen, witness._IN_THE_DEVICE, slower)
    assert bool(said) == (many in WRONG), said
