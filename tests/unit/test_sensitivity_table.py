"""make bench-sensitivity: rates and claims' verdicts with each parameter of a device halved and doubled."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from commitpath.database.select import Run
from images.flash_model import FlashModel
from model.block_operations import READ

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/bench"))
import replayed_claims
import sensitivity

SAMPLE = Path(__file__).resolve().parents[1] / "analysis/sample-flash-wal.tar.xz"


def test_a_slower_program_is_a_lower_rate() -> None:
    lines = [line.strip("| ").split(" | ") for line in sensitivity.table(load_profile("device", "emmc-5.0"))]
    rows = {line[0]: line[1:] for line in lines}
    halved, doubled = (float(part) for part in rows["`program_ns`"][0].split(" / "))
    assert doubled < 0 < halved and len(rows["`program_ns`"]) == 6
    assert not any("merge_ns" in name or "seed" in name for name in rows)
    low, high = (float(part) for part in rows["TPS over these geometries"][1].split(" to "))
    assert low <= float(rows["TPS"][1]) <= high


def test_rates_of_a_run_on_another_device(tmp_path: Path) -> None:
    """On its own device a run has its own rates; slower merges of a phase change that phase and the whole."""
    shutil.unpack_archive(SAMPLE, tmp_path)
    rates = {"insert": 100.0, "delete": 90.0, "all": 50.0}
    run = Run({}, {}, frozenset(), str(tmp_path / "run/twin"), (), make_cell({}), "", {"tps": rates}, {})
    made, profile = replayed_claims.read(run), load_profile("device", "emmc-5.0")
    assert made.with_device(profile).summary["tps"] == rates
    slower = made.with_device({**profile, "timing": {**profile["timing"], "program_ns": 800000}})
    assert all(0.3 * rate < slower.summary["tps"][name] < 0.9 * rate for name, rate in rates.items())


def test_commands_in_flight_at_once_count_once() -> None:
    """Four reads are sent together: the phase lasts until the last of them, on each device."""
    profile = load_profile("device", "microsd-a2")
    slower = {**profile, "timing": {**profile["timing"], "read_ns": 4 * profile["timing"]["read_ns"]}}

    def ends(device: Mapping[str, Any]) -> list[int]:
        model = FlashModel(device)
        return [model.read(0, 8192 * number, 8) for number in range(4)]

    fields = ("begin_ns", "end_ns", "operation", "sector", "sectors")
    rows = [(0, end, READ, 8192 * number, 8) for number, end in enumerate(ends(profile))]
    commands = np.array(rows, [(name, np.int64) for name in fields])
    run = Run({}, {}, frozenset(), "", (), make_cell({}), "", {"tps": {"all": 100.0}}, {})
    made = replayed_claims.Replayed(run, commands, {"all": (0, max(ends(profile)))})
    assert made.with_device(profile).summary["tps"] == {"all": 100.0}
    expected = 100 * max(ends(profile)) / max(ends(slower))
    assert made.with_device(slower).summary["tps"] == {"all": pytest.approx(expected)}


class Claims:
    """Verdicts of two claims: one by the time of a program, one that flash does not change."""

    def with_device(self, profile: Mapping[str, Any]) -> dict[str, str]:
        """The first claim is reproduced on a device with short programs."""
        return {
            "A-1": "reproduced" if profile["timing"]["program_ns"] < 500000 else "contradicted",
            "A-2": "-",
        }


def test_verdicts_that_a_parameter_changes() -> None:
    lines = sensitivity.verdict_table(load_profile("device", "emmc-5.0"), Claims())  # type: ignore[arg-type]
    assert lines[0] == "| parameter | halved: of 2 verdicts | doubled |"
    assert "| `program_ns` | 0 | 1: A-1 |" in lines
    assert lines[-1].endswith(" | 0 | 0 |") and "`bus_mb_s`" in lines[-1] and len(lines) == 4
