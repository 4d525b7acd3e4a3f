"""The demo: a recorded run is analysed and its pages are made, with no board."""

from pathlib import Path

import pytest

from commitpath import demo


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


def test_a_desktop_opens_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(demo, "CACHE", tmp_path)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(demo.webbrowser, "open", opened.append)
    assert demo.demo({}) == 0
    assert [address.rpartition("/")[2] for address in opened] == ["report.html", "inspect.html"]
