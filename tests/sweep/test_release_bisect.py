"""make bisect: the first release with another number. The runs were recorded."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis import __main__ as analysis_main
from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes, newest, releases
from commitpath.commands import board_commands, release_bisect, table
from commitpath.results import run_folders
from commitpath.run import experiment
from model.cell import Cell


def search(values: str, numbers: str) -> tuple[str, str, int]:
    """(the last as the first, its successor, how many were measured) of values with a digit each."""
    table = dict(zip(values, map(float, numbers), strict=True))
    before, first, measured = release_bisect.search(values, table.__getitem__)
    return before, first, len(measured)


@pytest.mark.parametrize(
    ("numbers", "before", "first", "most"),
    [
        ("1111111122", "h", "i", 6),
        ("1222222222", "a", "b", 5),
        ("1111111112", "i", "j", 6),
        # another number, whichever
        ("1133333332", "b", "c", 6),
        ("1111111111", "a", "j", 2),
    ],
)
def test_the_first_that_differs(numbers: str, before: str, first: str, most: int) -> None:
    found = search("abcdefghij", numbers)
    assert found[:2] == (before, first) and found[2] <= most
    assert search("ab", "12") == ("a", "b", 2)


def test_releases_are_in_order() -> None:
    assert release_bisect.ordered(axes()["kernel"]) == ["5.10", "6.1", "6.12", "7.x"]
    sqlite = axes()["sqlite"]
    assert release_bisect.ordered(sqlite) == list(releases())[::-1]
    some = release_bisect.between(sqlite, "3.8.11.1", "newest")
    assert (some[0], some[1], some[-1]) == ("3.8.11.1", "3.15.0", newest())
    assert release_bisect.between(sqlite, "NEWEST", "3.8.11.1") == some[::-1]


def test_the_allowed_ends_are_those_with_a_place_in_the_order() -> None:
    for end, near in (("tree:/linux", ""), ("deb:a.deb", ""), ("6.2", "did you mean 6.12? ")):
        with pytest.raises(BadInputError) as error:
            release_bisect.between(axes()["kernel"], "6.1", end)
        assert str(error.value) == f"BAD={end}: {near}AXIS=kernel has 5.10, 6.1, 6.12, 7.x"


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch, recorded: Callable[[str], Path]) -> list[str]:
    """A board on which SQLite since 3.31.1 has the costs of a WAL. The releases that were run."""
    ran: list[str] = []

    def run_once(cell: Cell, _: float) -> Path:
        ran.append(cell.sqlite)
        if cell.sqlite == "3.44.2":
            raise LabError("the board died")
        old = list(releases()).index(cell.sqlite) > list(releases()).index("3.31.1")
        return recorded("samples/f2fs-delete" if old else "samples/f2fs-wal")

    monkeypatch.setattr(experiment, "run_once", run_once)
    monkeypatch.setattr(analysis_main, "main", lambda _: 0)
    monkeypatch.setattr(board_commands, "ensure_packages", lambda **_: None)
    monkeypatch.setattr(board_commands, "make_ready", lambda *_: None)
    return ran


def bisect(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """(exit code, lines)."""
    capsys.readouterr()
    code = table.run(["bisect", *words])
    printed = capsys.readouterr()
    return code, (printed.err or printed.out).splitlines()


def test_the_release_and_its_cause(
    boards: list[str], recorded: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("AXIS=sqlite", "GOOD=3.8.11.1", "BAD=newest", "METRIC=syncs.insert")
    code, lines = bisect(capsys, *words, "GOOD=3.15.0")
    assert code == 2 and lines == ["commitpath: GOOD is given twice"]
    code, lines = bisect(capsys, "AXIS=sqlite", "GOOD=3.8.11.1", "BAD=3.34.0", "METRIC=syncs.insert")
    assert code == 0
    assert boards == ["3.8.11.1", "3.34.0", "3.15.0", "3.31.1"]
    assert lines[0] == f"SQLITE=3.8.11.1  syncs.insert=4  {recorded('samples/f2fs-delete')}"
    change = "SQLITE=3.31.1, after 3.15.0: syncs.insert 4 → 1.25"
    assert lines[4] == f"first that differs: {change}; largest cause: syncs of journal, 2 → 0 per insert"
    assert re.fullmatch("all causes: make diff RUN_A=.*f2fs-delete.* RUN_B=.*f2fs-wal.*", lines[5])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["GOOD=3.8.9", "BAD=3.8.11.1"], 1, "SQLITE: the ends do not differ: 3.8.9 and 3.8.11.1 have syncs"),
        (["GOOD=3.8.9", "BAD=3.44.2"], 1, "SQLITE=3.44.2: the board died"),
        (["GOOD=3.8.9", "BAD=3.8.9"], 2, "GOOD=3.8.9 and BAD=3.8.9 are one release; nothing to bisect"),
        (["GOOD=3.8.9"], 2, "BAD: missing; make bisect takes AXIS=sqlite|kernel, "),
        (["GOOD=3.8.9", "BAD=3.99"], 2, "BAD=3.99: did you mean 3.8.9? AXIS=sqlite has 3.8.2"),
        (["GOOD=3.8.9", "BAD=newest", "METRIC=Syncs.INSERT", "N=0"], 2, "N=0: "),
        (["GOOD=3.8.9", "BAD=newest", "SQLITE=3.8.9"], 2, "SQLITE with AXIS=sqlite: GOOD and BAD"),
        (["GOOD=3.8.9", "BAD=newest", "PROBES=none"], 2, "METRIC=syncs.insert: SQLITE=3.8.9: PROBES=none"),
        (["GOOD=3.8.9", "BAD=newest", "METRIC=sync"], 2, "METRIC, character 1: unknown metric sync; "),
        (["GOOD=3.8.9", "BAD=newest", "METRIC=syncs<2"], 2, "METRIC, character 6: expected the end"),
        (["GOOD=3.8.9", "BAD=newest", "SYNC=extra"], 2, "SYNC=extra"),
    ],
)  # fmt: skip
def test_what_cannot_be_bisected(
    words: list[str], code: int, says: str, boards: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    own = [] if any("METRIC" in word for word in words) else ["METRIC=syncs.insert"]
    ended, lines = bisect(capsys, "AXIS=sqlite", *words, *own)
    assert (ended, lines[-1][: len(f"commitpath: {says}")]) == (code, f"commitpath: {says}")
    assert len(lines) == 1
    assert bool(boards) == (code == 1)


def test_a_rejected_run_ends_it(
    boards: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(analysis_main, "main", lambda _: 1)
    monkeypatch.setattr(board_commands, "why_failed", lambda _: "the run was rejected: 2 events lost")
    code, lines = bisect(capsys, "AXIS=sqlite", "GOOD=3.8.9", "BAD=newest", "METRIC=syncs.insert")
    assert code == 1 and lines == ["commitpath: SQLITE=3.8.9: the run was rejected: 2 events lost"]


def test_a_run_without_the_number_ends_it(
    boards: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = SimpleNamespace(summary={"tps": {}, "syncs": {}}, cell=SimpleNamespace())
    monkeypatch.setattr(run_folders, "read", lambda _: bare)
    code, lines = bisect(capsys, "AXIS=sqlite", "GOOD=3.8.9", "BAD=newest", "METRIC=syncs.insert")
    assert code == 1
    assert lines == ["commitpath: SQLITE=3.8.9: the run has no syncs.insert; it has none: not recorded"]
