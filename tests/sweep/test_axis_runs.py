"""make bisect and make trend: the first value of an axis with another number. The runs were recorded."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis import __main__ as analysis_main
from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes, newest, releases
from commitpath.commands import axis_runs, board_commands, dispatch
from commitpath.commands.axis_runs import first_that_differs
from commitpath.results import run_folders
from commitpath.run import experiment
from model.cell import Cell


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch, recorded: Callable[[str], Path]) -> list[Cell]:
    """A board on which SQLite since 3.31.1, and journal mode WAL, have the costs of a WAL. The cells run."""
    ran: list[Cell] = []

    def run_once(cell: Cell, _: float, **__: object) -> Path:
        ran.append(cell)
        if cell.sqlite == "3.44.2" or cell.journal_mode == "off":
            raise LabError("the board died")
        old = list(releases()).index(cell.sqlite) > list(releases()).index("3.31.1")
        return recorded(f"samples/f2fs-{'delete' if old and cell.journal_mode != 'wal' else 'wal'}")

    monkeypatch.setattr(experiment, "run_once", run_once)
    monkeypatch.setattr(analysis_main, "main", lambda _: 0)
    monkeypatch.setattr(board_commands, "make_ready", lambda *_: None)
    return ran


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """(exit code, lines)."""
    capsys.readouterr()
    code = dispatch.run([*words])
    printed = capsys.readouterr()
    return code, (printed.err or printed.out).splitlines()


def search(values: str, numbers: str) -> tuple[str, str, int]:
    """(the last as the first, its successor, how many were measured) of values with a digit each."""
    table = dict(zip(values, map(float, numbers), strict=True))
    before, first, measured = axis_runs.search(values, table.__getitem__)
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
    assert axis_runs.ordered(axes()["kernel"]) == ["5.10", "6.1", "6.12", "7.x"]
    sqlite = axes()["sqlite"]
    assert axis_runs.ordered(sqlite) == list(releases())[::-1]
    some = axis_runs.between(sqlite, "3.8.11.1", "newest")
    assert (some[0], some[1], some[-1]) == ("3.8.11.1", "3.15.0", newest())
    assert axis_runs.between(sqlite, "NEWEST", "3.8.11.1") == some[::-1]


def test_the_allowed_ends_are_those_with_a_place_in_the_order() -> None:
    for end, near in (("tree:/linux", ""), ("deb:a.deb", ""), ("6.2", "did you mean 6.12? ")):
        with pytest.raises(BadInputError) as error:
            axis_runs.between(axes()["kernel"], "6.1", end)
        assert str(error.value) == f"BAD={end}: {near}AXIS=kernel has 5.10, 6.1, 6.12, 7.x"


def test_the_release_and_its_cause(
    boards: list[Cell], recorded: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("AXIS=sqlite", "GOOD=3.8.11.1", "BAD=newest", "METRIC=syncs.insert")
    code, lines = call(capsys, "bisect", *words, "GOOD=3.15.0")
    assert code == 2 and lines == ["commitpath: GOOD is given twice"]
    code, lines = call(capsys, "bisect", "AXIS=sqlite", "GOOD=3.8.11.1", "BAD=3.34.0", "METRIC=syncs.insert")
    assert code == 0
    assert [cell.sqlite for cell in boards] == ["3.8.11.1", "3.34.0", "3.15.0", "3.31.1"]
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
        (["GOOD=3.8.9"], 2, "BAD: missing; make bisect takes BAD=<another, "),
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
    words: list[str], code: int, says: str, boards: list[Cell], capsys: pytest.CaptureFixture[str]
) -> None:
    own = [] if any("METRIC" in word for word in words) else ["METRIC=syncs.insert"]
    ended, lines = call(capsys, "bisect", "AXIS=sqlite", *words, *own)
    assert (ended, lines[-1][: len(f"commitpath: {says}")]) == (code, f"commitpath: {says}")
    assert len(lines) == 1
    assert bool(boards) == (code == 1)


def test_a_rejected_run_ends_it(
    boards: list[Cell], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(analysis_main, "main", lambda _: 1)
    monkeypatch.setattr(board_commands, "why_failed", lambda _: "the run was rejected: 2 events lost")
    code, lines = call(capsys, "bisect", "AXIS=sqlite", "GOOD=3.8.9", "BAD=newest", "METRIC=syncs.insert")
    assert code == 1 and lines == ["commitpath: SQLITE=3.8.9: the run was rejected: 2 events lost"]


def test_a_run_without_the_number_ends_it(
    boards: list[Cell], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = SimpleNamespace(summary={"tps": {}, "syncs": {}}, cell=SimpleNamespace())
    monkeypatch.setattr(run_folders, "read", lambda _: bare)
    code, lines = call(capsys, "bisect", "AXIS=sqlite", "GOOD=3.8.9", "BAD=newest", "METRIC=syncs.insert")
    assert code == 1
    assert lines == ["commitpath: SQLITE=3.8.9: the run has no syncs.insert; it has none: not recorded"]


def test_the_first_that_differs_is_marked_with_its_cause(
    boards: list[Cell], recorded: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new.csv"
    words = ("AXIS=Mode", "VALUES=delete| PERSIST|wal|truncate", "METRICS=Syncs.insert unattributed")
    code, lines = call(capsys, "trend", *words, "SQLITE=3.15.0", f"CSV={target}")
    assert code == 0
    assert [cell.journal_mode for cell in boards] == ["delete", "persist", "wal", "truncate"]
    assert [line.split() for line in lines[:5]] == [
        ["JOURNAL_MODE", "syncs.insert", "unattributed.all"],
        ["delete", "4", "0"],
        ["persist", "4", "0"],
        ["wal", "1.25*", "0"],
        ["truncate", "4", "0"],
    ]
    change = "JOURNAL_MODE=wal, after persist: syncs.insert 4 → 1.25"
    assert lines[5] == f"* first that differs: {change}; largest cause: syncs of journal, 2 → 0 per insert"
    assert lines[6] == "unattributed.all: the same with all values"
    assert re.fullmatch("all causes: make diff RUN_A=.*f2fs-delete.* RUN_B=.*f2fs-wal.*", lines[7])
    assert len(lines) == 8
    with target.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["journal_mode", "syncs.insert", "unattributed.all", "run"]
    assert rows[2] == ["wal", "1.25", "0.0", str(recorded("samples/f2fs-wal"))]


def test_the_first_is_of_neighbours() -> None:
    numbers = {"a": [1.0, 1.0], "b": [1.0, 2.0], "c": [3.0, 1.0]}
    assert first_that_differs(numbers, 0) == ("b", "c")
    assert first_that_differs(numbers, 1) == ("a", "b")
    assert first_that_differs({"a": [1.0], "b": [1.0]}, 0) is None


def test_the_values_are_the_axis() -> None:
    assert axis_runs.values_of(axes()["sqlite"], "3.8.11.1|newest") == ["3.8.11.1", newest()]
    assert axis_runs.values_of(axes()["mount_options"], "|lazytime") == ["", "lazytime"]
    assert axis_runs.values_of(axes()["rows"], "1e3|2000") == ["1000", "2000"]
    with pytest.raises(BadInputError, match=f"^VALUES=newest|{newest()}: {newest()} is given twice$"):
        axis_runs.values_of(axes()["sqlite"], f"newest|{newest()}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["AXIS=mode"], "VALUES: missing; make trend takes VALUES="),
        (["AXIS=mod", "VALUES=delete|wal"], "AXIS=mod: did you mean "),
        (["AXIS=mode", "VALUES=delete"], "VALUES=delete: one value; give several, with | between them"),
        (["AXIS=kernel", "VALUES=6.1,6.12"], "VALUES=6.1,6.12: one value; give several, with | between them"),
        (["AXIS=mode", "VALUES=delete|DELETE"], "VALUES=delete|DELETE: delete is given twice"),
        (["AXIS=mode", "VALUES=delete|wall"], "VALUES=wall: did you mean wal? VALUES is delete"),
        (["AXIS=mode", "VALUES=delete|wal", "MODE=wal"], "MODE with AXIS=journal_mode: VALUES has"),
        (["AXIS=mode", "VALUES=delete|wal", "METRICS=sync"], "METRICS, character 1: unknown metric sync"),
        (["AXIS=mode", "VALUES=delete|wal", "METRICS= "], "METRICS= : no metric; e.g. syncs"),
        (["AXIS=mode", "VALUES=delete|wal", "METRICS=kib kib.all"], "METRICS=kib kib.all: a metric is given"),
        (["AXIS=mode", "VALUES=delete|wal", "PROBES=none"], "METRICS=syncs.all: JOURNAL_MODE=delete: PROBES"),
        (["AXIS=sync", "VALUES=full|extra", "SQLITE=3.8.11.1"], "SYNCHRONOUS=extra"),
        (["AXIS=mode", "VALUES=delete|wal", "CLOCK=real"], "CLOCK=real: its runs do not repeat"),
        (["AXIS=clock", "VALUES=virtual|real"], "CLOCK=real: its runs do not repeat"),
        (["AXIS=mode", "VALUES=delete|wal", "CSV=a.txt"], "CSV=a.txt: unsupported suffix; use .csv"),
        (["AXIS=mode", "VALUES=delete|wal", "CSV=/nowhere/a.csv"], "CSV=/nowhere/a.csv: there is no folder"),
    ],
)
def test_what_is_refused_before_anything_is_run(
    words: list[str], says: str, boards: list[Cell], capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = call(capsys, "trend", *words)
    assert (code, lines[-1][: len(f"commitpath: {says}")]) == (2, f"commitpath: {says}")
    assert len(lines) == 1 and not boards


def test_a_failed_run_ends_it_behind_the_rows_before(
    boards: list[Cell], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new.csv"
    words = ["trend", "AXIS=mode", "VALUES=delete|off|wal", "METRICS=syncs", f"CSV={target}"]
    assert dispatch.run(words) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err == "commitpath: JOURNAL_MODE=off: the board died\n"
    assert [cell.journal_mode for cell in boards] == ["delete", "off"] and not target.exists()
