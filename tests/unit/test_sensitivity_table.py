"""make bench-sensitivity: each parameter halved and doubled, and only those that a device has."""

import sys
from pathlib import Path

from commitpath.cells.profiles import load_profile

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/bench"))
import sensitivity


def test_a_slower_program_is_a_lower_rate() -> None:
    lines = [line.strip("| ").split(" | ") for line in sensitivity.table(load_profile("device", "emmc-5.0"))]
    rows = {line[0]: line[1:] for line in lines}
    halved, doubled = (float(part) for part in rows["`program_ns`"][0].split(" / "))
    assert doubled < 0 < halved and len(rows["`program_ns`"]) == 6
    assert not any("merge_ns" in name or "seed" in name for name in rows)
    low, high = (float(part) for part in rows["TPS over these geometries"][1].split(" to "))
    assert low <= float(rows["TPS"][1]) <= high
