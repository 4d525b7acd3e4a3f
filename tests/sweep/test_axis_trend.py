"""make trend: a table over values of an axis, with the first that differs. The runs were recorded."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis import __main__ as analysis_main
from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes, newest
from commitpath.commands import axis_trend, board_commands, table
from commitpath.commands.axis_trend import first_that_differs
from commitpath.run import experiment
from model.cell import Cell


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch, recorded: Callable[[str], Path]) -> list[str]:
    """A board on which journal mode WAL alone has the costs of a WAL. The modes that were run."""
    ran: list[str] = []

    def run_once(cell: Cell, _: float) -> Path:
        ran.append(cell.journal_mode)
        if cell.journal_mode == "off":
            raise LabError("the board died")
        return recorded(f"samples/f2fs-{'wal' if cell.journal_mode == 'wal' else 'delete'}")

    monkeypatch.setattr(experiment, "run_once", run_once)
    monkeypatch.setattr(analysis_main, "main", lambda _: 0)
    monkeypatch.setattr(board_commands, "make_ready", lambda *_: None)
    return ran


def trend(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """(exit code, lines)."""
    capsys.readouterr()
    code = table.run(["trend", *words])
    printed = capsys.readouterr()
    return code, (printed.err or printed.out).splitlines()


def test_the_first_that_differs_is_marked_with_its_cause(
    boards: list[str], recorded: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new.csv"
    words = ("AXIS=Mode", "VALUES=delete| PERSIST|wal|truncate", "METRICS=Syncs.insert unattributed")
    code, lines = trend(capsys, *words, f"CSV={target}")
    assert code == 0
    assert boards == ["delete", "persist", "wal", "truncate"]
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
    assert axis_trend.values_of(axes()["sqlite"], "3.8.11.1|newest") == ["3.8.11.1", newest()]
    assert axis_trend.values_of(axes()["mount_options"], "|lazytime") == ["", "lazytime"]
    assert axis_trend.values_of(axes()["rows"], "1e3|2000") == ["1000", "2000"]
    with pytest.raises(BadInputError, match=f"^VALUES=newest|{newest()}: {newest()} is given twice$"):
        axis_trend.values_of(axes()["sqlite"], f"newest|{newest()}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["AXIS=mode"], "VALUES: missing; make trend takes AXIS="),
        (["AXIS=mod", "VALUES=delete|wal"], "AXIS=mod: did you mean "),
        (["AXIS=mode", "VALUES=delete"], "VALUES=delete: one value; give several, with | between them"),
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
        (["AXIS=mode", "VALUES=delete|wal", "CSV=/nowhere/a.csv"], "CSV=/nowhere/a.csv: there is no folder"),
    ],
)
def test_what_is_refused_before_anything_is_run(
    words: list[str], says: str, boards: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = trend(capsys, *words)
    assert (code, lines[-1][: len(f"commitpath: {says}")]) == (2, f"commitpath: {says}")
    assert len(lines) == 1 and not boards


def test_a_failed_run_ends_it_behind_the_rows_before(
    boards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new.csv"
    words = ["trend", "AXIS=mode", "VALUES=delete|off|wal", "METRICS=syncs", f"CSV={target}"]
    assert table.run(words) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err == "commitpath: JOURNAL_MODE=off: the board died\n"
    assert boards == ["delete", "off"] and not target.exists()
