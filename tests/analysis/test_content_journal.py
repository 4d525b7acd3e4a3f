"""A jbd2 journal in what was written: its blocks and copies, wherever on the device they are."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.content import jbd2
from analysis.content.blocks import BLOCK, Log, blocks

HOME = 77


def page(*words: int) -> np.ndarray:
    """A block that begins with some big-endian words."""
    made = np.zeros(BLOCK, np.uint8)
    made[: 4 * len(words)] = np.array(words, ">u4").view(np.uint8)
    return made


@pytest.mark.parametrize("last", [20, (1 << 36) // 8 - 1])
def test_a_block_at_the_devices_very_end_takes_no_memory(last: int) -> None:
    """Between the journal and the end are more blocks than a table of them has room for."""
    tag = (HOME, 8)  # its home, the last one
    pages = [page(jbd2.MAGIC, jbd2.DESCRIPTOR, 5, *tag), page(1), page(jbd2.MAGIC, jbd2.COMMIT, 5), page(2)]
    numbers = np.array([11, 12, 13, last])
    size = np.full(4, 8)
    log = Log(np.arange(4), numbers * 8, size, np.arange(4) * BLOCK, np.concatenate(pages))
    journal = jbd2.Journal(np.arange(10, 20), frozenset(), (bytes(16),))
    found = jbd2.find(blocks(log)[0], journal)
    assert found.rows.tolist() == [0, 2] and found.kinds.tolist() == [jbd2.DESCRIPTOR, jbd2.COMMIT]
    assert (found.copies.tolist(), found.homes.tolist(), found.commits.tolist()) == ([1], [HOME], [5])
