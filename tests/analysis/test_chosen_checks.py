"""No run chooses its own checks: what it says of itself leaves none out."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic

from analysis import checks
from analysis import run as runs

SECOND = "processor\t: 0\n\nprocessor\t: 1\n"
ONE_CPU = "raw/board/cpuinfo.txt has 2 processors; a virtual board has one"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return synthetic.make(tmp_path / "run")


def reasons(folder: Path) -> list[str]:
    return checks.reasons(runs.read(folder))


@pytest.mark.parametrize("part", ["raw", "twin/raw"])
def test_a_virtual_board_has_one_cpu(folder: Path, part: str) -> None:
    assert reasons(folder) == []
    (folder / part / "board/cpuinfo.txt").write_text(SECOND)
    assert any(one.endswith(ONE_CPU) for one in reasons(folder))
    (folder / part / "board/cpuinfo.txt").write_text("Features: fp\n")
    assert any("has 0 processors" in one for one in reasons(folder))
