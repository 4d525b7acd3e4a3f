"""`make bench-analysis` and `bench-waiting` read a recorded run made longer."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import ours
import scale


def test_a_longer_run_is_read_and_its_two_counts_agree(tmp_path: Path) -> None:
    shutil.unpack_archive(Path(scale.__file__).with_name("sample.tar.xz"), tmp_path)
    events = scale.scale(tmp_path / "run", tmp_path / "recorded", 1)
    assert scale.scale(tmp_path / "run", tmp_path / "longer", 2 * events) >= 2 * events
    once, longer = (ours.analyse(tmp_path / name / "raw").ledger for name in ("recorded", "longer"))
    assert longer.height > 2 * once.height
