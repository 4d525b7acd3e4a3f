"""SQLITE=tree:<folder>: named by version and content, or refused in one line."""

from pathlib import Path

import pytest

from base.errors import BadInputError, LabError
from commitpath.cells import sqlite_tree
from commitpath.cells.axes import version_key
from commitpath.cells.from_variables import make_cell
from images import artifacts
from model.requested import expected

HEADER = '#define SQLITE_VERSION        "3.99.1"\n'


def tree(folder: Path, code: str = HEADER, header: str = HEADER) -> str:
    folder.mkdir()
    (folder / "sqlite3.c").write_text(code)
    (folder / "sqlite3.h").write_text(header)
    return f"tree:{folder}"


def test_it_is_named_by_its_content(tmp_path: Path) -> None:
    """Wherever it is; the version is read back without the content."""
    first = make_cell({"SQLITE": tree(tmp_path / "a")})
    moved = make_cell({"SQLITE": tree(tmp_path / "b")})
    patched = make_cell({"SQLITE": tree(tmp_path / "c", HEADER + "/* a sync less */\n")})
    assert first == moved != patched
    assert first.sqlite.startswith("3.99.1+") and version_key(first.sqlite) == (3, 99, 1)
    assert str(tmp_path) not in str(first)
    assert "3.99.1" in {one.requested for one in expected.settings(first) if one.name == "version"}


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({}, "sqlite3.c is missing"),
        ({"code": "int main;"}, "are of different versions"),
        ({"header": "int main;"}, "its sqlite3.h defines no SQLITE_VERSION"),
        (dict.fromkeys(("code", "header"), HEADER.replace("3.99", "3.6")), "the oldest that runs here is 3"),
    ],
)
def test_what_is_no_sqlite_is_refused(tmp_path: Path, files: dict[str, str], fault: str) -> None:
    value = tree(tmp_path / "tree", **files)
    if not files:
        (tmp_path / "tree/sqlite3.c").unlink()
    with pytest.raises(BadInputError, match=f"^SQLITE={value}: .*{fault}"):
        make_cell({"SQLITE": value})
    for other, says in (("tree:nowhere", "no such folder"), ("tree:", "SQLITE=tree:: no folder")):
        with pytest.raises(BadInputError, match=says):
            make_cell({"SQLITE": other})


def test_one_of_an_earlier_command_is_in_the_cache_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "CACHE", tmp_path)
    with pytest.raises(
        LabError, match=r"3\.99\.1\+0123 are not in the cache, .*; give SQLITE= its path again"
    ):
        artifacts.release("sqlite", "3.99.1+0123")
    assert sqlite_tree.VERSION.search(HEADER.encode())
