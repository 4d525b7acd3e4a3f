"""A full disk costs the snapshots unused for longest, not the run."""

import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from base.errors import LabError
from images import artifacts, snapshot


def test_the_oldest_snapshots_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only as many as are needed, and none in use."""
    folder = tmp_path / "snapshots"
    for name, minutes in (("in-use", 1), ("old", 60), ("older", 90), ("oldest", 120)):
        (folder / name).mkdir(parents=True)
        (folder / name / "ram").write_bytes(b"memory")
        os.utime(folder / name, (0, time.time() - 60 * minutes))

    def disk(_: object) -> SimpleNamespace:
        """A disk of 500 MiB, of which each snapshot takes 100."""
        return SimpleNamespace(free=(500 - 100 * len(list(folder.iterdir()))) << 20)

    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", disk)
    artifacts.need_space(300, "save a snapshot")
    assert sorted(path.name for path in folder.iterdir()) == ["in-use", "old"]
    assert capsys.readouterr().err.splitlines() == [
        "for room on the disk: removed the snapshot oldest, unused for 120 min",
        "for room on the disk: removed the snapshot older, unused for 90 min",
    ]
    snapshot.mark_used(folder / "old")
    with pytest.raises(LabError, match=r"it takes up to 400 MiB in .*, 300 MiB are free"):
        artifacts.need_space(400, "save a snapshot")
    assert len(list(folder.iterdir())) == 2
