"""Where two boards' command logs have the same commands in another order; None where commands differ."""

import random

import numpy as np
import pytest

from analysis.adapters.device_logs import ENTRY
from analysis.crash import reorder
from analysis.crash.reorder import Stretch
from model.block_operations import FLUSH, WRITE


def log(words: str) -> np.ndarray:
    """Commands, a letter each: another one is another write, the same one the same again, and F a FLUSH."""
    kinds = [(0, 0, FLUSH) if letter == "F" else (ord(letter), 8, WRITE) for letter in words]
    return np.array([(10 * place, 10 * place + 8, *kind) for place, kind in enumerate(kinds)], dtype=ENTRY)


@pytest.mark.parametrize(
    ("own", "other", "found"),
    [
        ("abcabc", "abcabc", []),
        # a commit that came sooner, and one write of the engine's later
        ("LLLjLkLL", "LLjLkLLL", [Stretch(2, 4), Stretch(4, 6)]),
        ("LFLFjFkLF", "LFjFkLFLF", [Stretch(2, 7)]),
        ("LMNjkLMN", "LMjkNLMN", [Stretch(2, 5)]),
        ("LLLjkLLLLjk", "LLjkLLLjkLL", [Stretch(2, 5), Stretch(7, 11)]),
        # other commands, or fewer
        ("LLLj", "LLLk", None),
        ("LLL", "LLLj", None),
        ("LjL", "LLL", None),
        # each of three the other way round
        ("LMNO", "NMLO", None),
    ],
)
def test_where_two_differ(own: str, other: str, found: list[Stretch] | None) -> None:
    assert reorder.stretches(log(own), log(other)) == found
    assert reorder.stretches(log(other), log(own)) == found


@pytest.mark.parametrize("seed", range(20))
def test_two_who_take_turns_otherwise_are_found(seed: int) -> None:
    """Each keeps to its own order, whatever it is."""
    draw = random.Random(seed)
    one, two = ("".join(draw.choices(letters, k=20)) for letters in ("abcF", "xyF"))

    def turns() -> str:
        left = [list(one), list(two)]
        return "".join(draw.choice([part for part in left if part]).pop(0) for _ in range(40))

    own, other = turns(), turns()
    found = reorder.stretches(log(own), log(other))
    assert found is not None
    outside = {place for place in range(40) if not any(s.first <= place < s.behind for s in found)}
    assert all(own[place] == other[place] for place in outside)
    for stretch in found:
        assert sorted(own[slice(*stretch)]) == sorted(other[slice(*stretch)])
