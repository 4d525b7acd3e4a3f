"""A paper's figures: valid data that its grid runs, marks of missing or unequal bars, the authors' runs."""

import csv
import functools
import json
from pathlib import Path

import fixture
import pytest
import yaml

from base.errors import BadInputError
from base.paths import EXPERIMENTS
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import Expanded, expand
from commitpath.charts.model import Bar
from commitpath.charts.panel_values import fill, footnotes
from commitpath.papers import authors_runs, document, figure_data, figures, page, paper
from commitpath.results import query

PAPER = "apsys17"
FIGURES = paper.load(PAPER).figures


def cells_of(data: Path) -> list[Bar]:
    """Every bar of a figure."""
    chosen, content = paper.load(PAPER), figure_data.read(data)
    return [bar for panel in figure_data.panels(chosen, data, content) for bar in panel.bars]


@functools.cache
def whole_grid() -> Expanded:
    """The paper's grid."""
    return expand(yaml.safe_load((paper.PAPERS / PAPER / "paper.yml").read_text())["grid"])


@pytest.mark.parametrize("data", FIGURES, ids=[path.stem for path in FIGURES])
def test_data_is_valid_and_asks_for_what_the_grid_runs(data: Path) -> None:
    content = figure_data.read(data)
    grid = {run.key for run in whole_grid().runs}
    if content["form"] == "factors":
        assert {run.key for run in expand(content["grid"]).runs} <= grid
        return
    asked = {f"{fixture.cell_id(bar.cell)}-1": (bar.group, bar.series, bar.build) for bar in cells_of(data)}
    left_out = whole_grid().excluded
    results = query.Results([], "", [(one.grid, dict(one.settings), one.reason) for one in left_out])
    states = {results.find(bar.cell).state for bar in cells_of(data)
              if f"{fixture.cell_id(bar.cell)}-1" not in grid}  # fmt: skip
    assert states <= {"excluded"}, [asked[key] for key in asked.keys() - grid]


@pytest.mark.parametrize("data", FIGURES, ids=[path.stem for path in FIGURES])
def test_the_papers_numbers_are_those_of_the_claims(data: Path) -> None:
    """A ratio that names a claim is the claim's."""
    path = EXPERIMENTS / "papers" / PAPER / "claims.csv"
    with path.open(newline="") as file:
        claims = {row["id"]: row["expected"] for row in csv.DictReader(file)}
    for panel in figure_data.read(data).get("panels", []):
        for entry in panel.get("stated", []):
            if "ratio" in entry:
                claim = entry["source"].rpartition("(")[2].rstrip(")")
                assert float(claims[claim]) == entry["ratio"], entry


def test_wrong_data_is_refused_with_its_place(tmp_path: Path) -> None:
    data = tmp_path / "x.yml"
    data.write_text("title: x\nform: pie\npanels: [{groups: [{label: a}]}]\n")
    with pytest.raises(BadInputError, match=r"x.yml: form: 'pie' is not one of"):
        figure_data.read(data)
    chosen = paper.load(PAPER)
    wrong = {"panels": [{"groups": [{"label": "a"}], "stated": [{"value": 1, "at": "b", "source": "s"}]}]}
    with pytest.raises(BadInputError, match=r"x.yml: 'b' \(at of stated, or base\) is not a label"):
        figure_data.panels(chosen, data, wrong)
    with pytest.raises(BadInputError, match=r"x.yml: flavour: unknown axis"):
        figure_data.panels(chosen, data, {"panels": [{"groups": [{"label": "a", "set": {"flavour": 1}}]}]})
    with pytest.raises(BadInputError, match=r"x.yml: op: 'inserts' is unknown; .* insert, .*, read,"):
        figure_data.panels(chosen, data, {"panels": [{"op": "inserts", "groups": [{"label": "a"}]}]})
    with pytest.raises(BadInputError, match="PAPER=nature: PAPER is apsys17, sqlitekv, ssl"):
        paper.load("nature")


def test_the_authors_cells_against_ours(database: Path, tmp_path: Path) -> None:
    """Each at the stated reading: DELETE as TRUNCATE, mixed loads as ten inserts to an update and delete."""
    data = paper.PAPERS / PAPER / "figures/artifact.yml"
    figure, chosen = figure_data.read(data), paper.load(PAPER)
    bars = [bar for bar in cells_of(data) if not bar.hatched]
    # the last one, custom_update, has no run
    lacking = bars[-1].cell
    every = {fixture.cell_id(bar.cell): bar.cell for bar in bars if bar.cell != lacking}
    fixture.add(database, list(every.values()), lambda cell: 60.0 if cell.n == 400 else 300.0)
    results = query.read(database)
    drawn = [fill(panel, results) for panel in figure_data.panels(chosen, data, figure)]
    found = authors_runs.table(figure, drawn)
    assert found is not None
    rows = {row["cell"]: row for row in found["rows"]}
    assert rows.keys() == chosen.artifact.keys()
    assert rows["default_mixed"]["reading"] == "DELETE read as TRUNCATE"
    assert rows["wal_mixed"]["series"].startswith("ten inserts")
    assert rows["wal_update"]["series"] == "updates"
    assert rows["wal_mixed"]["ratio"] == pytest.approx(rows["wal_mixed"]["ours"] / 243.902)
    assert [name for name, row in rows.items() if row["used"]] == [
        *("default_mixed", "normal_mixed", "f2fs_mixed", "normal_update", "f2fs_update")
    ]
    within = {name for name, row in rows.items() if row["within"]}
    held = {name for name in within if not rows[name]["used"]}
    gap = [name for name, row in rows.items() if row["within"] is None]
    assert gap == ["custom_update"]
    assert found["count"].startswith(
        f"{len(within)} of 11 cells within a factor of 1.5, {len(held)} of the 6 held"
    )
    assert found["count"].endswith("; 1 without a run")
    files = [tmp_path / f"artifact.{suffix}" for suffix in ("svg", "json")]
    files[0].write_text("<svg/>")
    files[1].write_text(json.dumps({"panels": [], "predicted": found}))
    text = page.render(document.document(chosen, [], results), files)
    assert text.count("<td>held out</td>") == 6
    assert found["count"] in text
    for wrong, says in (
        ({"series": "none"}, "is not a series"),
        ({"used": {"nobody": "x"}}, "nobody: no group"),
    ):
        with pytest.raises(BadInputError, match=says):
            authors_runs.table({**figure, "predicted": {**figure["predicted"], **wrong}}, drawn)


def test_missing_failed_and_excluded_are_drawn_in_place(database: Path, tmp_path: Path) -> None:
    data = paper.PAPERS / PAPER / "figures/fig2.yml"
    bars = cells_of(data)
    fixture.add(database, [bars[0].cell], lambda cell: 20.0)
    fixture.add(database, [bars[1].cell], lambda cell: 0.0, status="failed")
    results, chosen = query.read(database), paper.load(PAPER)
    wal = {"journal_mode": "wal", "sqlite": "newest", "device": "galaxy-nexus"}
    results.excluded.append(("watched", wal, "left out of a grid where it is watched"))
    results.excluded.append(("made-up", {**wal, "probes": ""}, "a written reason"))
    files = figures.make_figure(chosen, results, data, tmp_path)
    assert {path.suffix for path in files} == {".svg", ".pdf", ".png", ".json", ".csv"}
    told = json.loads((tmp_path / "fig2.json").read_text())
    states = [bar["state"] for bar in told["panels"][0]["bars"]]
    assert states == ["ok", "failed", "missing", "missing", "missing", "excluded"]
    picture = (tmp_path / "fig2.svg").read_text()
    for word in ("failed", "missing", "n/a", "the board died", "it was not run", "a written reason"):
        assert word in picture
    assert len(list(csv.DictReader((tmp_path / "fig2.csv").open()))) == sum(
        len(panel["bars"]) for panel in told["panels"]
    )


def test_unequal_durability_and_counts_are_marked(database: Path) -> None:
    full, normal = (
        {"label": sync, "set": {"journal_mode": "wal", "synchronous": sync}} for sync in ("full", "normal")
    )
    more = {"label": "more", "set": {"journal_mode": "wal", "synchronous": "full", "n": 2000}}
    ratio = {"ratio": 3, "at": "normal", "over": "full", "source": "s"}
    content = {"panels": [{"groups": [full, normal, more], "builds": ["3.8.11.1"], "stated": [ratio]}]}
    (panel,) = figure_data.panels(paper.load(PAPER), Path("x.yml"), content)
    fixture.add(
        database,
        [bar.cell for bar in panel.bars],
        lambda cell: 100.0 if cell.synchronous == "full" else 250.0,
    )
    drawn = fill(panel, query.read(database))
    assert [value.marks for value in drawn.values] == [(), ("‡",), ("§",)]
    assert (drawn.stated[0].ours, drawn.stated[0].marks) == (pytest.approx(2.5), ("‡",))
    notes = " ".join(footnotes([drawn], []))
    assert "‡ another durability than its panel's base (WAL/FULL)" in notes
    assert "WAL/NORMAL: transactions since the last checkpoint may be lost" in notes
    assert "§ another number of transactions" in notes and "3,000, 6,000" in notes.replace("\u202f", ",")


def test_causes_are_of_the_watched_run_with_the_same_settings(database: Path) -> None:
    settings = {"DEVICE": "galaxy-nexus", "MODE": "wal"}
    cell = make_cell({**settings, "PROBES": "none", "N": "1000"})
    watched = [make_cell({**settings, "N": n}) for n in ("100", "1000")]
    other = make_cell({**settings, "N": "1000", "SYNC": "normal"})
    fixture.add(database, [cell, other, *watched], lambda cell: 100.0)
    causes = query.read(database).causes(cell, "insert")
    assert causes is not None
    assert (causes.run.settings["n"], causes.run.settings["synchronous"]) == (1000, "full")
    assert (causes.counts["syncs"], causes.counts["fua"]) == (3.98, 2.25)
    assert query.read(database).causes(make_cell({**settings, "MODE": "off"}), "insert") is None


def test_factors_of_a_made_up_grid(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "SUFFIXES", (".svg",))
    data = paper.PAPERS / PAPER / "figures/factors.yml"
    cells = [run.cell for run in expand("apsys17-factors").runs]
    chosen = paper.load(PAPER)
    figures.make_figure(chosen, query.read(database), data, tmp_path)
    assert "missing: too few cells have a run" in (tmp_path / "factors.svg").read_text()
    fixture.add(database, cells, lambda cell: 200.0 if cell.journal_mode == "wal" else 20.0)
    figures.make_figure(chosen, query.read(database), data, tmp_path)
    told = json.loads((tmp_path / "factors.json").read_text())
    terms = {term["term"]: term["share"] for term in told["fits"]["insert"]["terms"]}
    assert terms["journal mode"] == pytest.approx(1)
    assert told["without_run"] == {}
    # of a board with another clock, other cells are asked for
    board = paper.load(PAPER, {"CLOCK": "real"})
    figures.make_figure(board, query.read(database), data, tmp_path)
    told = json.loads((tmp_path / "factors.json").read_text())
    assert len(told["without_run"]) == len(cells)
    assert told["commands"][0] == "make reproduce PAPER=apsys17 CLOCK=real"
