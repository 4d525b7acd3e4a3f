"""The demo: a recorded run is analysed and its pages are made, with no board."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from commitpath.commands import demo
from commitpath.host import places


def test_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "CACHE", tmp_path)
    for name in demo.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    for _ in range(2):
        assert demo.demo({}) == 0
        printed = capsys.readouterr()
        assert "OK" in printed.out and "no desktop to open them on" in printed.err
    (page,) = tmp_path.glob("demo/*/*/inspect.html")
    assert (page.parent / "report.html").stat().st_size and page.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_a_cache_that_a_demo_began_is_commitpaths(tmp_path: Path) -> None:
    """A newcomer's first command may be the demo; the next one takes its cache."""
    cache = tmp_path / "cache"
    environment = {**os.environ, "COMMITPATH_CACHE": str(cache)}
    command = [sys.executable, "-m", "commitpath", "demo"]
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    assert (cache / "demo").is_dir()
    places.check_cache(cache)
