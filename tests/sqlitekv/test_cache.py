"""The query cache against an oracle without one."""

import re
import subprocess
from pathlib import Path

import pytest
from extension import program


def run(folder: Path, operations: int, seed: int) -> dict[str, int]:
    command = [program("cached"), folder / "kv", str(operations), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout)}


def test_no_stale_row(tmp_path: Path) -> None:
    counts = run(tmp_path, 10_000, 1)
    assert counts["rows"] > 5000 and counts["hits"] > 2000 and counts["evicted"] > 1000


@pytest.mark.parametrize("seed", [2])
def test_no_stale_row_of_a_million_operations(tmp_path: Path, seed: int) -> None:
    print(run(tmp_path, 1_000_000, seed))
