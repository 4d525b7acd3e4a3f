"""The pages of docs/ next to a run: an analysis does not fail because of them."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from analysis.report import manual
from base.paths import ROOT
from base.version import version


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first page, written already; every page is short here."""
    monkeypatch.setattr(manual, "_write_all", lambda folder: (folder / "README.html").write_text("new"))
    manual.write(tmp_path)
    return tmp_path / "docs" / version() / "README.html"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_no_pages_is_one_line(
    number: int, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(manual, "_write_all", fails)
    os.utime(page, ns=(0, 0))
    manual.write(page.parents[2])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("commitpath: docs/, to which reports link, was not written: ")
    assert os.strerror(number) in line
    # the old pages are there, and nothing half-made
    assert page.read_text() == "new" and [*page.parents[1].iterdir()] == [page.parent]


def test_two_calls_at_once(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another call removes the pages as soon as they are in place, to put its own there."""
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        placed = rename(self, target)
        shutil.rmtree(target)
        return placed

    monkeypatch.setattr(Path, "rename", renamed)
    os.utime(page, ns=(0, 0))
    manual.write(page.parents[2])
    assert capsys.readouterr().err == ""


def test_compiled_python_is_no_source(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the pages would be written again whenever one more module is imported."""
    compiled = tmp_path / "report/__pycache__"
    compiled.mkdir(parents=True)
    later = page.stat().st_mtime_ns + 10**9
    os.utime(compiled, ns=(later, later))
    monkeypatch.setattr(manual, "HERE", compiled.parent)
    manual.write(page.parents[2])
    assert page.stat().st_mtime_ns < later


def test_a_folder_of_something_else_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run may be analysed anywhere, also where docs/ is another project's."""
    other = tmp_path / "docs" / version() / "mine"
    other.mkdir(parents=True)
    manual.write(tmp_path)
    (line,) = capsys.readouterr().err.splitlines()
    assert "a folder of something else is there" in line and other.exists()
    assert [*other.parent.iterdir()] == [other]


def test_each_page_has_a_source(tmp_path: Path) -> None:
    """Else an edit of one would not be seen."""
    manual.write(tmp_path)
    written = tmp_path / "docs" / version()
    pages = {page.relative_to(written).with_suffix(".md") for page in written.rglob("*.html")}
    assert len(pages) > 50 and pages <= {path.relative_to(ROOT) for path in manual.sources()}
