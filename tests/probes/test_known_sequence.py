"""The known sequence: the board's probes record it as it was, and whatever is missing is seen."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.adapters.known_sequence import KnownSequence, read
from analysis.adapters.proberecords import TYPES
from analysis.instrument import probe_selftest
from commitpath.boards.payload import all_probes
from commitpath.boards.prepared import known_sequence
from images.board import RunOutput

# Without one of these there is one too few; without any of those there is none.
EACH = ("sync", "block", "bio", "pages", "flush", "data_wait")
ANY = ("name", "off_cpu", "writeback")
OWN = {"ext4": (("commit",), ("commit_wait",)), "f2fs": (("checkpoint",), ("node_wait",))}


def without(one: KnownSequence, name: str, number: int | None) -> KnownSequence:
    """As if a probe had lost that many records of a type, from the middle of the sequence, or all."""
    at = np.flatnonzero(one.rows["type"] == TYPES[name])
    begin = at.size // 2 if number else 0
    return dataclasses.replace(one, rows=np.delete(one.rows, at[begin:][:number]))


@pytest.mark.parametrize("fs", ["ext4", "f2fs"])
def test_what_is_lost_is_seen(on_board: Callable[..., RunOutput], tmp_path: Path, fs: str) -> None:
    output = on_board(known_sequence().decode(), FS=fs)
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    output.extract(tmp_path)
    told, probes = read(tmp_path / "raw"), [*all_probes()]
    assert probe_selftest.wrong(told, probes, fs) == []
    assert set(told.counted) == set(OWN[fs][0])
    for names, number in ((EACH + OWN[fs][0], 1), (ANY + OWN[fs][1], None)):
        for name in names:
            assert probe_selftest.wrong(without(told, name, number), probes, fs), name
    assert probe_selftest.wrong(dataclasses.replace(told, lost=(1, 0)), probes, fs)
    # what is not watched is not counted
    assert probe_selftest.wrong(without(told, "flush", None), ["block"], fs) == []
