"""make hunt: what is drawn is repeatable and allowed, and a finding is made shorter. Runs are stand-ins."""

import random
import sqlite3
from types import SimpleNamespace

import polars as pl
import pytest

from base.errors import BadInputError, LabError
from commitpath.cells.data_files import load
from commitpath.commands import hunt, hunt_load
from commitpath.commands.hunt_load import Load

DRAWN = load(hunt.DRAWN, "hunt")


def test_a_seed_draws_the_same_cells_and_loads() -> None:
    """Which SQLite executes, with each draw another; a variable of the call is not drawn."""
    board = {"FS": "f2fs", "DEVICE": "emmc-5.0"}

    def drawn(seed: int) -> list[tuple[dict[str, str], Load]]:
        draws = random.Random(seed)
        return [hunt.draw(draws, DRAWN, board, {"JOURNAL_MODE": "wal"})[:2] for _ in range(5)]

    first = drawn(1)
    assert first == drawn(1) != drawn(2)
    for settings, statements in first:
        assert settings["JOURNAL_MODE"] == "wal" and settings["FS"] == "f2fs"
        sqlite3.connect(":memory:").executescript(statements.text())
    assert len({statements.text() for _, statements in first}) == 5


def test_a_given_value_is_checked_before_any_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunt, "draw", lambda *_: pytest.fail("drawn"))
    with pytest.raises(BadInputError, match=r"^PAGE_SIZE=3: PAGE_SIZE is 512, "):
        hunt.hunt({"PAGE_SIZE": "3"})


def test_a_load_without_some_transactions() -> None:
    whole = Load(2, (("a;",), ("b;", "c;"), ("d;",)))
    assert whole.without(0, 2).transactions == (("d;",),)
    assert whole.text().endswith("BEGIN; a; COMMIT;\nBEGIN; b; c; COMMIT;\nBEGIN; d; COMMIT;\n")


@pytest.mark.parametrize("most", [1, 12])
def test_a_finding_is_made_shorter(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """To the transactions without which the promise is kept, in a limited number of runs; a run without a
    verdict does not count as a finding."""
    tried = []

    def done(cell: Load) -> SimpleNamespace:
        tried.append(cell)
        words = [statement for one in cell.transactions for statement in one]
        if len(tried) == 2:
            raise LabError("the board died")
        found = "3" in words and "5" in words
        return SimpleNamespace(found=found, begun=len(words))

    def broken(run: SimpleNamespace) -> pl.DataFrame:
        return pl.DataFrame({"begun": [run.begun] if run.found else []})

    monkeypatch.setattr(hunt, "cell_of", lambda _, load: load)
    monkeypatch.setattr(hunt, "done", done)
    monkeypatch.setattr(hunt, "broken", broken)
    statements = Load(1, tuple((str(number),) for number in range(10)))
    shorter, run = hunt.shrunk({}, statements, SimpleNamespace(found=True, begun=7), most)  # type: ignore[arg-type]
    assert len(tried) <= most and run.found  # type: ignore[attr-defined]
    assert len(shorter.transactions) == (7 if most == 1 else 2)


def test_a_hunt_in_which_no_run_has_a_verdict_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exit code is that of failed runs: no promise was tried."""

    def ends(kept: int) -> int:
        runs, times = iter([True] * kept), iter(range(0, 1000, 20))

        def done(_: object) -> SimpleNamespace:
            if next(runs, None):
                return SimpleNamespace()
            raise LabError("the board died")

        monkeypatch.setattr(hunt, "draw", lambda *_: ({}, Load(1, ()), None))
        monkeypatch.setattr(hunt, "done", done)
        monkeypatch.setattr(hunt, "outcome", lambda _: "kept")
        monkeypatch.setattr(hunt, "broken", lambda _: pl.DataFrame())
        monkeypatch.setattr(hunt.time, "monotonic", lambda: next(times))
        return hunt.hunt({"MINUTES": "1"})

    assert ends(1) == 0
    with pytest.raises(LabError, match="none of the runs has a verdict"):
        ends(0)


def test_loads_have_some_kinds_of_statements() -> None:
    loads = [hunt_load.draw(random.Random(seed), DRAWN["load"]) for seed in range(50)]
    words = [{text.split()[0] for one in load.transactions for text in one} for load in loads]
    assert {"UPDATE"} in words and {"UPDATE", "INSERT", "DELETE"} in words
