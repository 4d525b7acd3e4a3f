"""make reproduce: a lab board's values next to the virtual ones; FIGURE, WHERE, lower N, SEEDS and BOARDS."""

import functools
import itertools
import json
from pathlib import Path
from typing import Any

import fixture
import pytest

from analysis.stats.spread import interval
from base.errors import BadInputError
from commitpath.cells.grid import GRIDS_OWN, Expanded, expand
from commitpath.cells.identities import cell_id
from commitpath.cells.samples import Sampling
from commitpath.database import select, store
from commitpath.host import ansible
from commitpath.papers import document, figures, judge, page, paper, request, two_boards
from commitpath.results.query import Results
from model.cell import Cell

PAPER = "apsys17"


@pytest.fixture(autouse=True)
def inventory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab board called pi."""
    entry = {"board_kind": "lab", "board_device": "/dev/x", "board_device_bytes": 1}
    boards = ansible.inventory()
    monkeypatch.setattr(ansible, "inventory", lambda: {**boards, "pi": entry})


@pytest.fixture(autouse=True)
def as_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure is written as PDF or PNG, of which nothing is read here; test_paper_figures.py has these."""
    monkeypatch.setattr(figures, "SUFFIXES", (".svg",))


@functools.cache
def expanded(name: str, place: str, sampling: Sampling, most: str) -> Expanded:
    """Expand a grid once for all equal calls; place and most are JSON."""
    return expand(name, json.loads(place), sampling, most=json.loads(most))


@pytest.fixture(autouse=True)
def one_expansion(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid is expanded once: it is the same for each test, and takes a second."""

    def once(
        name: str, place: object = None, sampling: Sampling = GRIDS_OWN, most: object = None
    ) -> Expanded:
        return expanded(name, json.dumps(place), sampling, json.dumps(most))

    monkeypatch.setattr(request, "expand", once)


def rate(cell: Cell) -> float:
    return 300.0 if cell.journal_mode == "wal" else 30.0


def add_lab(path: Path, one: request.Request, runs: int) -> None:
    """Runs of its cells, each a hundredth faster than the one before."""
    for number in range(runs):
        fixture.add(
            path,
            request.cells_of(one),
            lambda cell, number=number: 2 * rate(cell) * (1 + number / 100),  # type: ignore[misc]
            run_id=f"20261122T00000{number}Z-1",
        )


def told(one: request.Request, database: Path, folder: Path, figure: str) -> tuple[dict[str, Any], str]:
    """(numbers, picture) of a figure."""
    folder.mkdir()
    figures.draw(one, database, folder)
    return json.loads((folder / f"{figure}.json").read_text()), (folder / f"{figure}.svg").read_text()


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig3c", "table1"])
def test_both_boards_stand_beside_each_other(database: Path, tmp_path: Path, figure: str) -> None:
    one = request.read({"PAPER": PAPER, "BOARD": "pi", "FIGURE": figure})
    add_lab(database, one, 3)
    numbers, picture = told(one, database, tmp_path / "alone", figure)
    bars = [bar for panel in numbers["panels"] for bar in panel["bars"]]
    assert {bar["board"] for bar in bars} == {"pi"}
    command = f"make reproduce PAPER=apsys17 FIGURE={figure} makes them"
    assert any(command in note for note in numbers["notes"]), numbers["notes"]
    fixture.add(database, request.cells_of(one.virtual), rate)
    numbers, picture = told(one, database, tmp_path / "both", figure)
    assert not any("makes them" in note for note in numbers["notes"])
    for panel in numbers["panels"]:
        ours = [bar for bar in panel["bars"] if bar["board"] == "pi" and bar["state"] == "ok"]
        there = [bar for bar in panel["bars"] if bar["board"] == "virtual"]
        assert len(ours) == len(there) > 0
        for own, other in zip(ours, there, strict=True):
            # the median of three; Student's t with two degrees of freedom is 4.30
            assert own["tps"] == pytest.approx(2.02 * other["tps"])
            half = 4.3027 * 0.02 * other["tps"] / 3**0.5
            assert own["interval"] == pytest.approx([own["tps"] - half, own["tps"] + half], rel=1e-3)
            assert other["interval"] is None
        for stated in panel["stated"]:
            # a ratio is of one board
            ratio = stated["our_ratio"]
            assert ratio is None or min(abs(ratio - 1), abs(ratio - 10)) < 1e-6
    assert "pi" in picture and "virtual" in picture
    assert "95 % interval of the mean of 3 runs" in " ".join(numbers["notes"])
    if figure == "fig1":
        has_a_table_of_both(database, one, tmp_path)


def has_a_table_of_both(database: Path, one: request.Request, drawn: Path) -> None:
    """The page has the figure's TPS on both boards; of the virtual board alone there is no table."""
    rows = two_boards.rows(drawn / "both/fig1.json")
    assert len(rows) == 11 and {row["board"] for row in rows} == {"pi"}
    for row in rows:
        assert row["ratio"] == pytest.approx(row["tps"] / row["virtual"]) == pytest.approx(2.02, rel=0.01)
    content, _ = judged(database, BOARD="pi", FIGURE="fig1")
    text = page.render(content, list((drawn / "both").iterdir()))
    assert "fig1: TPS of pi and of the virtual board" in text
    told(one.virtual, database, drawn / "virtual", "fig1")
    assert two_boards.rows(drawn / "virtual/fig1.json") == []


def test_what_is_asked_for_in_part() -> None:
    def cells(**given: str) -> list[Cell]:
        return [run.cell for run in request.planned(request.read({"PAPER": PAPER, **given}))[0].values()]

    whole = cells()
    lab = cells(BOARD="pi")
    # what is watched is worth nothing there, and one device takes the place of the phone's two profiles
    assert len(lab) == sum(not cell.probes and cell.device == "galaxy-nexus" for cell in whole)
    assert {(cell.board, cell.clock, cell.device, cell.probes) for cell in lab} == {("pi", "real", "own", "")}
    few = cells(BOARD="pi", FIGURE="fig3d", N="20", ROWS="50", WHERE="sqlite=newest mode=delete")
    assert sorted((cell.n, cell.rows, cell.journal_mode) for cell in few) == [
        (20, 0, "delete"),
        (20, 50, "delete"),
    ]
    # no number gets larger
    assert {cell.n for cell in cells(FIGURE="fig1", N="5000")} == {1000, 5000}
    assert len(cells(FIGURE="fig1 table1")) == len(cells(FIGURE="fig1")) + len(cells(FIGURE="table1"))


def test_seeds_and_boards_of_a_cell_are_its_samples(database: Path, tmp_path: Path) -> None:
    given, samples = {"PAPER": PAPER, "FIGURE": "fig1"}, [*itertools.product((1, 2), (1, 2))]
    one = request.read({**given, "SEEDS": "2", "BOARDS": "2"})
    assert one.command == "make reproduce PAPER=apsys17 FIGURE=fig1 SEEDS=2 BOARDS=2"
    runs = [run.cell for run in request.planned(one)[0].values()]
    assert len(runs) == 4 * len(request.planned(request.read(given))[0])
    assert {(cell.seed, cell.board_number) for cell in runs} == {*samples}

    def tps(cell: Cell) -> float:
        return rate(cell) * (1 + cell.seed / 100 + cell.board_number / 1000)

    fixture.add(database, runs, tps)
    numbers, _ = told(one, database, tmp_path / "all", "fig1")
    (bar, *_) = (bar for panel in numbers["panels"] for bar in panel["bars"] if bar["state"] == "ok")
    values = [bar["tps"] / 1.0165 * (1 + seed / 100 + board / 1000) for seed, board in samples]
    assert bar["interval"] == pytest.approx(interval(values, samples))
    # without them only the cells' own runs count
    numbers, _ = told(request.read(given), database, tmp_path / "one", "fig1")
    assert {bar["interval"] for panel in numbers["panels"] for bar in panel["bars"]} == {None}


def test_boards_of_a_board_that_each_run_prepares_are_refused() -> None:
    with pytest.raises(BadInputError, match="BOARDS=2: with CLOCK=real each run prepares its board afresh"):
        request.planned(request.read({"PAPER": PAPER, "BOARD": "pi", "BOARDS": "2"}))


def test_each_figures_cells_are_the_grids_when_they_are_lower() -> None:
    """A figure and a grid lower their numbers alike."""
    for path in request.read({"PAPER": PAPER}).load().figures:
        one = request.read({"PAPER": PAPER, "FIGURE": path.stem, "N": "7", "ROWS": "9"})
        runs, excluded = request.planned(one)
        planned = {cell_id(run.cell) for run in runs.values()}
        without = {cell_id(cell) for cell in request.cells_of(one)} - planned
        assert planned and (not without or excluded), path


def judged(database: Path, **given: str) -> tuple[dict[str, Any], str]:
    """Return (the content of claims.json, the page) of a request."""
    one = request.read({"PAPER": PAPER, **given})
    with store.opened(database, write=False) as connection:
        runs, lab = select.load(connection), store.label(connection)
    ids = {cell_id(run.cell) for run in request.planned(one)[0].values()}
    found = judge.judge(chosen := paper.load(PAPER, one.place, one.most), Results(runs, lab, asked=ids))
    other = judge.judge(paper.load(PAPER, None, one.most), Results(runs, lab)) if one.lab else None
    content = document.document(chosen, found, Results(runs, lab, asked=ids), one, other)
    return content, page.render(content)


def test_lower_numbers_give_ratios_and_no_verdict(database: Path) -> None:
    given = {"BOARD": "pi", "FIGURE": "fig1", "N": "20"}
    one = request.read({"PAPER": PAPER, **given})
    add_lab(database, one, 2)
    fixture.add(database, request.cells_of(one.virtual), rate)
    content, text = judged(database, **given)
    assert set(content["verdicts"]) - {
        name for name, number in content["verdicts"].items() if not number
    } == {"not measured"} | ({"not testable here"} if content["verdicts"]["not testable here"] else set())
    (first, *_) = content["claims"][0]["readings"]
    assert first["unmeasured"] == "N=20: fewer than the paper's"
    assert first["pairs"][0]["ratio"] == pytest.approx(10, rel=0.01)
    assert first["pairs"][0]["virtual_ratio"] == pytest.approx(10, rel=0.01)
    assert content["beside"] is None
    assert "Not measured: N=20: fewer than the paper&#39;s" in text
