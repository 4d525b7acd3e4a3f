"""The demo: a recorded run is analysed and its pages are made, with no board."""

from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.command_line import stored_run
from commitpath.commands import run_commands
from commitpath.results import run_folders


def test_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in (run_commands, stored_run):
        monkeypatch.setattr(module, "CACHE", tmp_path)
    for name in run_commands.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadInputError, match=r"^RUN=demo: the demo run is not unpacked; make demo does it$"):
        stored_run.folder("tree", {"RUN": "demo"})
    for _ in range(2):
        assert run_commands.demo({}) == 0
        printed = capsys.readouterr()
        assert "OK" in printed.out and "no desktop to open them on" in printed.err
    (page,) = tmp_path.glob("demo/*/*/inspect.html")
    assert (page.parent / "report.html").stat().st_size and page.stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    # by its id, as in the printed commands
    for name in (page.parent.name, "demo"):
        assert stored_run.find("RUN", name) == page.parent
    # its document lacks axes that came after it
    assert run_folders.read(page.parent).settings["board_number"] == 1
