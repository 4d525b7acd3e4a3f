"""What verdicts depend on: ROBUST=yes. Runs are synthetic."""

import csv
from pathlib import Path

import pytest
from lab import Lab
from test_reproduce import HEAD, run

from base.errors import BadInputError
from commitpath.papers import command, paper, request, robust
from commitpath.results.query import Results

ROBUST = "robust: {'null': {device: constant-0.1ms}, vary: {seed: [2, 3], cpu_ns: [8]}}\n"
CLAIM = "{name: plain, left: {mode: wal}, right: {mode: delete}}"


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> request.Request:
    """A request of a paper whose claims say that WAL is ten times, and twice, as fast."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "paper.yml").write_text(HEAD + ROBUST)
    (folder / "claims.yml").write_text("".join(f"X-0{n}: {{readings: [{CLAIM}]}}\n" for n in (1, 2)))
    rows = "X-01,p,Fig 1,WAL is faster,a,b,tps,>1,direction\nX-02,p,Fig 1,ten times,a,b,tps,10,ratio\n"
    (folder / "claims.csv").write_text(f"id,paper,source,statement,left,right,metric,expected,kind\n{rows}")
    monkeypatch.setattr(paper, "PAPERS", tmp_path)
    return request.read({"PAPER": "p"})


# setting → TPS of WAL; DELETE always has 10
FASTER = {
    "": (100, {}),
    "device=constant-0.1ms": (90, {"DEVICE": "constant-0.1ms"}),
    "seed=2": (80, {"SEED": "2"}),
    "seed=3": (95, {"SEED": "3"}),
    "cpu_ns=8": (30, {"CPU_NS": "8"}),
}


def results(*but: str) -> Results:
    runs = [
        run(rate, MODE=mode, **place)
        for name, (tps, place) in FASTER.items()
        if name not in but
        for mode, rate in (("wal", tps), ("delete", 10))
    ]
    return Results(runs, "local")


def test_a_verdict_that_never_changes_is_robust(wanted: request.Request, tmp_path: Path) -> None:
    first, second = rows = robust.judged(wanted, results())
    assert (first.words, first.of_null) == ("robust", True)
    assert second.words == "depends on cpu_ns (8: direction only)"
    lines = robust.terminal(rows)
    assert lines[0].endswith("robust; the null model has this verdict, too")
    assert lines[-1] == "2 verdicts: 1 robust over 4 variations; the null model has 2 of them, too"
    assert robust.write(wanted, rows, tmp_path) == 0
    with (tmp_path / "robust.csv").open() as file:
        table = {(row["claim"], row["axis"], row["value"]): row for row in csv.DictReader(file)}
    assert table["X-02", "cpu_ns", "8"]["ratio"] == "3.00"
    assert "cpu_ns=8" in (tmp_path / "robust.html").read_text()


def test_a_variation_without_a_run_is_not_robust(wanted: request.Request, tmp_path: Path) -> None:
    rows = robust.judged(wanted, results("seed=3"))
    assert rows[0].words == "unknown: 1 of 5 settings lack runs"
    # what is known to change it stays known
    assert rows[1].words == "depends on cpu_ns (8: direction only)"
    assert robust.write(wanted, rows, tmp_path) == 2


def test_what_is_planned(wanted: request.Request) -> None:
    runs = robust.planned(wanted)
    assert len({run.key for run in runs}) == len(runs) == 2 * len(FASTER)
    assert {(run.cell.seed, run.cell.cpu_ns) for run in runs} == {(1, 2), (2, 2), (3, 2), (1, 8)}


def test_what_cannot_be_varied(lab: Lab) -> None:
    assert "is of all claims" in lab.says("reproduce", PAPER="apsys17", ROBUST="yes", FIGURE="fig1")
    assert "ROBUST is yes, no" in lab.says("reproduce", PAPER="apsys17", ROBUST="1")
    with pytest.raises(BadInputError, match="has no `robust`"):
        command.reproduce({"PAPER": "ssl", "ROBUST": "yes"})
