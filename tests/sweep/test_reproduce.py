"""Claims of papers: the rule, what is missing, what the page says. Runs are synthetic."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import markup
import pytest
from lab import Lab, manifest

from analysis.stats import spread
from base.errors import BadInputError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import expand
from commitpath.cells.identities import cell_id
from commitpath.database.select import Run
from commitpath.papers import document, judge, page, paper, request, verdict
from commitpath.papers.strips import Strips
from commitpath.results.query import Results
from model import cell as cells
from model import engines
from model.cell import Cell

HEAD = """
title: A paper of a test
reference: Nobody, Nowhere
grid: quick
constants: {rows: 100, n: 10, probes: none}
builds: [3.8.11.1]
words: {DELETE: [truncate, delete]}
"""


def run(tps: float, status: str = "ok", **axes: str) -> Run:
    """A run as the database has it."""
    cell = make_cell({"ROWS": "100", "N": "10", "PROBES": "none", "SQLITE": "3.8.11.1", **axes})
    summary = {
        "tps": {"insert": tps, "update": tps / 2, "delete": tps / 4, "all": tps},
        "syncs": {"insert": 4.0 if cell.journal_mode == "delete" else 1.01},
        "block": {"bytes_written": 300_000},
        "virtual_seconds": 3 * cell.n / tps,
    }
    facts = {
        "lab": "local",
        "commit": "abc",
        "uname": "6.12",
        "status": status,
        "cell": cell_id(cell),
        "run": "r1",
        "repeat": "1",
    }
    settings = dict(cell.axes())
    reasons = () if status == "ok" else ("2 events lost",)
    return Run(
        settings,
        facts,
        frozenset(),
        None,
        reasons,
        cell,
        cell_id(cell),
        summary,
        {"manifest": json.dumps(manifest(cell))},
    )


Judge = Callable[..., tuple[judge.Judged, dict[str, Any]]]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """judged(claims, row, *runs): the only claim of a paper of this text, and the paper's document."""

    def make(claims: str, row: str, *runs: Run) -> tuple[judge.Judged, dict[str, Any]]:
        (tmp_path / "p").mkdir()
        (tmp_path / "p/paper.yml").write_text(HEAD)
        (tmp_path / "p/claims.yml").write_text("X-01:\n" + claims)
        head = "id,paper,source,statement,left,right,metric,expected,kind"
        (tmp_path / "p/claims.csv").write_text(f"{head}\nX-01,p,Fig 1,WAL is faster,a,b,{row}\n")
        (tmp_path / "p/artifact.csv").write_text("cell,transactions,tps\nbase,10,20\nbest,100,50\n")
        monkeypatch.setattr(paper, "PAPERS", tmp_path)
        database = Results(runs, "local")
        found = judge.judge(paper.load("p"), database)
        return found[0], document.document(paper.load("p"), found, database)

    return make


@pytest.mark.parametrize(
    ("ratio", "expected", "says"),
    [
        (10, 10, "reproduced"),
        (6.6, 10, "direction only"),
        (1.005, 10, "contradicted"),
        # within a factor of 1.5, but next to nothing, or on the other side
        (1.05, 1.3, "direction only"),
        (0.95, 1.3, "contradicted"),
        (0.6, 0.778, "reproduced"),
        (1.1, 0.778, "contradicted"),
        # "nothing changes"
        (0.92, 1.024, "reproduced"),
        (1.2, 1, "contradicted"),
    ],
)
def test_the_rule_of_ratios(ratio: float, expected: float, says: str) -> None:
    assert verdict.of_ratio(ratio, str(expected)) == says


@pytest.mark.parametrize("name", paper.names())
def test_a_papers_own_ratio_reproduces_its_claim(name: str) -> None:
    claims = [claim for claim in paper.load(name).claims if claim.kind == "ratio"]
    for ratio in (text for claim in claims for text in claim.expected.split("|")):
        assert verdict.of_ratio(float(ratio), ratio) == "reproduced", ratio


def test_a_small_change_of_the_paper_needs_one_as_large() -> None:
    found = [verdict.of_ratio(ratio, "0.935") for ratio in (0.9, 0.935, 0.94, 0.995)]
    assert found == ["reproduced", "reproduced", "direction only", "contradicted"]


def test_the_rule_of_directions_and_counts() -> None:
    assert verdict.of_direction(1.02, ">1") == "reproduced"
    assert verdict.of_direction(1.005, ">1") == "contradicted"
    # exactly at the limit, as the rule says
    assert verdict.of_direction(1 + verdict.EQUAL, ">1") == "contradicted"
    assert verdict.of_ratio(1 + verdict.NO_CHANGE, "1.2") == "direction only"
    assert verdict.of_ratio(1 - verdict.NO_CHANGE, "0.8") == "direction only"
    assert verdict.of_direction(0.995, ">=1") == "reproduced"
    assert verdict.of_direction(0.9, ">=1") == "contradicted"
    assert verdict.of_counts(4.99, 1.012, "5000/1000") == "reproduced"
    assert verdict.of_counts(4, 1.012, "5000/1000") == "contradicted"


def test_a_wildcard_holds_only_if_all_do() -> None:
    assert verdict.over(["reproduced", "direction only", "reproduced"]) == "direction only"
    assert verdict.over(["contradicted", "missing"]) == "missing"


@pytest.mark.parametrize(
    ("kind", "expected", "interval", "says"),
    [
        ("direction", ">1", (1.02, 1.07), "reproduced"),
        ("direction", ">1", (0.97, 1.07), "not decided"),
        ("direction", "<1", (1.02, 1.07), "contradicted"),
        ("ratio", "2", (1.4, 2.9), "reproduced"),
        ("ratio", "2", (1.2, 1.6), "direction only"),
        ("ratio", "2", (0.9, 1.6), "not decided"),
        # all that reproduces "no change" is in it, though neither end and not the middle does
        ("ratio", "1", (0.7, 1.9), "not decided"),
        ("ratio", "1", (1.2, 1.9), "contradicted"),
    ],
)
def test_an_interval_decides_as_a_whole(
    kind: str, expected: str, interval: tuple[float, float], says: str
) -> None:
    """Runs that scatter over two verdicts are not evidence for the better one."""
    middle = verdict.judge(kind, sum(interval) / 2, 1.0, expected)
    assert verdict.within(interval, middle, kind, expected) == says


CLAIM = "  readings: [{name: plain, left: {mode: wal}, right: {mode: DELETE}}]\n"


@pytest.mark.parametrize(
    ("left", "right", "row", "says", "shown"),
    [
        (5, 0, "5000/0,count", "reproduced", "5000 / 0"),
        (5, 0, ">1,direction", "reproduced", "reproduced"),
        (0, 0, ">1,direction", "contradicted", "contradicted"),
        (5, 0, "3,ratio", "direction only", "direction only"),
        (0, 5, "<1,direction", "reproduced", "0×"),
    ],
)
def test_a_count_of_0_has_a_verdict(
    judged: Judge, left: float, right: float, row: str, says: str, shown: str
) -> None:
    runs = [
        replace(made, summary={**made.summary, "syncs": {"insert": syncs}})
        for made, syncs in ((run(10, MODE="wal"), left), (run(10, MODE="truncate"), right))
    ]
    found, content = judged(CLAIM.replace("left", "each: {op: insert}, left"), f"syncs,{row}", *runs)
    assert found.verdict == says
    assert page.ratios(content["claims"][0]["readings"][0], content["claims"][0]) == shown
    assert "Infinity" not in json.dumps(content)
    assert page.render(content)


def test_both_readings_of_a_word_and_the_headline(judged: Judge) -> None:
    runs = [run(100, MODE="wal"), run(10, MODE="truncate"), run(50, MODE="delete")]
    found, content = judged(CLAIM, "tps,10,ratio", *runs)
    assert [result.reading.words["DELETE"] for result in found.readings] == ["truncate", "delete"]
    assert [result.pairs[0].ratio for result in found.readings] == [10, 2]
    assert (found.verdict, found.others) == ("reproduced", ("direction only",))
    # TRUNCATE's commit lasts, as WAL's; DELETE's may be rolled back
    assert [list(result.pairs[0].marks) for result in found.readings] == [[], ["‡"]]
    text = page.render(content)
    assert markup.lacks(text) == []
    # a sign, as colors do not print
    assert ">✓ 10.0×" in text
    assert ">~ 2.00× ‡" in text


def test_two_seeds_give_a_ratio_its_interval_and_the_page_draws_it(judged: Judge) -> None:
    rates = {"wal": (100, 110), "truncate": (10, 10.5)}
    runs = [
        run(tps, MODE=mode, SEED=str(1 + at)) for mode, both in rates.items() for at, tps in enumerate(both)
    ]
    judged(CLAIM, "tps,10,ratio")
    chosen = paper.load("p")
    seeds = {
        cell_id(one.cell): [other.cell for other in runs if other.cell.journal_mode == one.cell.journal_mode]
        for one in runs
        if one.cell.seed == 1
    }
    results = Results(runs, "local", samples=seeds)
    found = judge.judge(chosen, results)
    (pair,) = found[0].readings[0].pairs
    logs = [log(100 / 10), log(110 / 10.5)]
    wanted = [exp(end) for end in spread.interval(logs, [(1, 0), (2, 0)]) or ()]
    assert pair.interval and pair.interval == pytest.approx(wanted)
    content = document.document(chosen, found, results)
    strips = Strips(content)
    picture = strips.strip(content["claims"][0], content["claims"][0]["readings"][0]["pairs"])
    assert picture in page.render(content)
    low, high = map(strips.x, pair.interval[:2])
    assert f'd="M{low} 10.0H{high}' in picture and low < strips.x(pair.ratio or 0) < high


def test_the_page_links_each_value_to_its_run(judged: Judge) -> None:
    runs = [
        replace(run(tps, MODE=mode), path=f"cell/{mode}") for mode, tps in (("wal", 100), ("truncate", 10))
    ]
    _, content = judged(CLAIM, "tps,10,ratio", *runs)
    text = page.render(content)
    assert '<a href="../../cell/wal/report.html">100</a>' in text
    assert '<a href="../../cell/truncate/report.html">10.0</a>' in text


def test_a_missing_cell_is_said_and_gives_no_verdict(judged: Judge) -> None:
    found, content = judged(CLAIM, "tps,10,ratio", run(100, MODE="wal"), run(50, MODE="delete"))
    assert found.verdict == "missing"
    assert found.others == ("direction only",)
    assert content["verdicts"]["missing"] == 1
    assert "ext4-ordered truncate full sqlite=3.8.11.1 rows=100 n=10: it was not run" in "\n".join(
        page.terminal(content)
    )
    assert "it was not run" in page.render(content)


def test_a_rejected_run_is_missing_with_its_reason(judged: Judge) -> None:
    runs = [run(100, MODE="wal"), run(50, MODE="truncate", status="rejected"), run(50, MODE="delete")]
    found, content = judged(CLAIM, "tps,10,ratio", *runs)
    assert found.verdict == "missing"
    assert "rejected: 2 events lost" in page.render(content)


def test_weights_lists_and_best_of(judged: Judge) -> None:
    claim = (
        "  readings:\n"
        "    - {name: mix, each: {op: '10:1:1'}, left: {mode: wal}, right: {mode: truncate}}\n"
        "    - name: best\n      holds: largest\n      each: {op: [insert, update]}\n"
        "      left: {best_of: [{mode: [wal, truncate]}]}\n"
        "      right: {worst_of: [{mode: [wal, truncate]}]}\n"
    )
    found, _ = judged(claim, "tps,10,ratio", run(100, MODE="wal"), run(10, MODE="truncate"))
    mix, best = found.readings
    assert mix.pairs[0].left.value == pytest.approx(12 / (10 / 100 + 1 / 50 + 1 / 25))
    assert [pair.left.op for pair in best.pairs] == ["insert", "update"]
    assert best.verdict == best.pairs[0].verdict == "reproduced"
    assert best.pairs[0].left.cell.journal_mode == "wal"
    assert best.pairs[0].right.cell.journal_mode == "truncate"


def test_compare_and_also_stand_for_more_readings(judged: Judge) -> None:
    claim = "  readings: [{name: plain, compare: {mode: [wal, DELETE]}, also: {NORMAL: {sync: normal}}}]\n"
    found, _ = judged(claim, "tps,10,ratio", run(100, MODE="wal"), run(10, MODE="truncate"))
    assert found.readings[0].pairs[0].ratio == 10
    by_name = {result.reading.name: result.pairs[0].left.cell for result in found.readings}
    assert list(by_name) == ["plain", "the same, NORMAL"]
    assert [cell.synchronous for cell in by_name.values()] == ["full", "normal"]
    assert {cell.journal_mode for cell in by_name.values()} == {"wal"}


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (
            "  readings: [{name: plain, left: {mode: wall}, right: {}}]\n",
            "X-01: MODE=wall: did you mean wal? MODE is delete",
        ),
        ("  explanation: it has no reading\n", "is not valid under any of the given schemas"),
        (CLAIM + "  artifact: [base, none]\n", "no cell none in artifact.csv"),
        (CLAIM + "  explanation: '{{ tps(mood=1) }}'\n", "MOOD: unknown variable"),
    ],
)
def test_bad_claims(judged: Judge, claim: str, says: str) -> None:
    with pytest.raises(BadInputError) as error:
        judged(claim, "tps,10,ratio")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_our_papers_cells_are_in_their_grids() -> None:
    for name in paper.names():
        made = paper.load(name)
        swept = {cell_id(one.cell) for one in expand(made.grid).runs}
        for claim in made.claims:
            takes = [take for one in claim.readings for pair in one.pairs for take in wanted(pair)]
            assert {cell_id(cell) for cell, _ in takes} <= swept, claim.id


def wanted(pair: Any) -> list[tuple[Cell, str]]:
    """Both sides' cells."""
    return [*pair.left.takes, *pair.right.takes]


def variables(cell: Cell) -> dict[str, str]:
    """make's variables for a cell: those of a virtual board's machine where it has one, and of settings those
    that have an effect."""
    machine = () if cell.clock == "virtual" else ("cpu_ns", "kernel")
    without = {*machine, *cells.unused(cell), *engines.unused_axes(cell.engine)}
    found = {name.upper(): str(value) for name, value in cell.axes() if name not in without}
    return {**found, "PROBES": cell.probes or "none"}


def store(lab: Lab, one: request.Request, but: int = 0) -> int:
    """Store the requested runs but for some of them; return how many."""
    done = lab.results / ".sweep/done"
    done.mkdir(parents=True, exist_ok=True)
    runs, _ = request.planned(one)
    for run in list(runs.values())[but:]:
        axes = variables(run.cell)
        tps = (100 if run.cell.journal_mode == "wal" else 10) + run.repeat
        folder = lab.run(tps, repeat=run.repeat, **axes)
        (done / run.key).write_text(json.dumps({"run": str(folder.relative_to(lab.results))}))
    return len(runs)


def test_a_lab_boards_figure_with_every_run_there(lab: Lab, pi: str) -> None:
    given = {"PAPER": "apsys17", "FIGURE": "fig1", "N": "20", "BOARD": pi}
    one = request.read(given)
    number = store(lab, request.read({**given, "REPEAT": "2"}))
    store(lab, one.virtual, but=1)
    printed = lab.ok("reproduce", **given, REPEAT="2")
    assert f"{pi}: {number} runs of {number // 2} cells, {number} of them stored; none to make" in printed
    assert f"{number} runs: {number} ok ({number} of them from before), 0 failed" in printed
    assert "P-01  not measured" in printed
    assert "make reproduce PAPER=apsys17 FIGURE=fig1 N=20 makes them" in printed
    folder = lab.results / f"papers/apsys17-{pi}-fig1-n20"
    assert sorted(path.name for path in folder.iterdir()) == ["claims.html", "claims.json", "figures"]
    assert {path.stem for path in (folder / "figures").iterdir()} == {"fig1"}
    figure = json.loads((folder / "figures/fig1.json").read_text())
    assert {bar["board"] for bar in figure["panels"][0]["bars"]} == {pi, "virtual"}
