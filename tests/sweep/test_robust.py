"""ROBUST=yes: which variations change a claim's verdict, and which explanations turn a contradicted one."""

import csv
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import markup
import pytest
from lab import Lab
from test_reproduce import HEAD, run

from base.errors import BadInputError
from commitpath.cells.grid import Expanded
from commitpath.papers import document, estimate, judge, page, paper, reproduce, request, robust, robust_page
from commitpath.papers.variations import Variation, variations
from commitpath.results.query import Results
from commitpath.sweep import drive, progress, sweep_plan

ROBUST = """
robust:
  'null': {device: constant-0.1ms}
  vary:
    - {seed: [2, 3]}
    - {device: emmc-5.0}
    - {device: emmc-5.0, device_state: used}
    - {cpu_ns: 8}
  explain:
    no barrier: {set: {mount_options: nobarrier}, where: {mode: wal}}
    small pages: {set: {page_size: 1024}}
    on XFS: {set: {mount_options: nobarrier}, where: {fs: xfs}}
  not_tried: {another app: no workload is one}
"""
CLAIM = "{name: plain, left: {mode: wal}, right: {mode: delete}}"


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> request.Request:
    """A request of a paper whose claims say that WAL is faster, ten times as fast, and slower."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "paper.yml").write_text(HEAD + ROBUST)
    (folder / "claims.yml").write_text("".join(f"X-0{n}: {{readings: [{CLAIM}]}}\n" for n in (1, 2, 3)))
    rows = "X-01,p,Fig 1,WAL is faster,a,b,tps,>1,direction\nX-02,p,Fig 1,ten times,a,b,tps,10,ratio\n"
    rows += "X-03,p,Fig 1,WAL is slower,a,b,tps,0.5,ratio\n"
    (folder / "claims.csv").write_text(f"id,paper,source,statement,left,right,metric,expected,kind\n{rows}")
    monkeypatch.setattr(paper, "PAPERS", tmp_path)
    return request.read({"PAPER": "p"})


# setting → TPS of WAL; DELETE always has 10
FASTER = {
    "": (100, {}),
    "device=emmc-5.0": (90, {"DEVICE": "emmc-5.0"}),
    "used": (95, {"DEVICE": "emmc-5.0", "DEVICE_STATE": "used"}),
    "device=constant-0.1ms": (90, {"DEVICE": "constant-0.1ms"}),
    "seed=2": (80, {"SEED": "2"}),
    "seed=3": (95, {"SEED": "3"}),
    "cpu_ns=8": (30, {"CPU_NS": "8"}),
}


EXPLAINED = (("wal", 5, {"MOUNT_OPTIONS": "nobarrier"}), ("wal", 8, {"PAGE_SIZE": "1024"}))


def results(
    *but: str, more: Iterable[tuple[str, float, dict[str, str]]] = EXPLAINED, **tps: float
) -> Results:
    """Runs of all variations and explanations but some; tps: other TPS of WAL in some variations."""
    runs = [
        run(rate, MODE=mode, **place)
        for name, (usual, place) in FASTER.items()
        if name not in but
        for mode, rate in (("wal", tps.get(name, usual)), ("delete", 10))
    ]
    explained = [run(rate, MODE=mode, **place) for mode, rate, place in more]
    return Results([*runs, *explained, run(10, MODE="delete", PAGE_SIZE="1024")], "local")


def test_a_verdict_that_never_changes_is_robust(wanted: request.Request, tmp_path: Path) -> None:
    first, second, _ = rows = robust.judged(wanted, results())
    assert (first.words, first.of_null) == ("robust", True)
    assert second.words == "depends on cpu_ns (8: direction only)"
    lines = robust_page.terminal(rows, {})
    assert lines[0].endswith("robust; the null model has this verdict, too")
    assert "3 verdicts: 2 robust over 6 variations; the null model has 3 of them, too" in lines
    assert robust_page.write(wanted, rows, tmp_path) == 0
    with (tmp_path / "robust.csv").open() as file:
        table = {(row["claim"], row["axis"], row["value"]): row for row in csv.DictReader(file)}
    assert table["X-02", "cpu_ns", "8"]["ratio"] == "3.00"
    assert table["X-02", "device,device_state", "emmc-5.0,used"]["ratio"] == "9.50"
    assert "cpu_ns=8" in (tmp_path / "robust.html").read_text()


def test_the_claims_page_says_what_a_verdict_depends_on(wanted: request.Request, tmp_path: Path) -> None:
    """Where runs with other settings are stored; with its ratio over all fits of the device."""
    found = results()
    judged = judge.judge(wanted.load(), found)
    rows = {row.claim: row for row in robust.judged(wanted, found)}
    content = document.document(wanted.load(), judged, found, varied=rows)
    assert content["claims"][1]["depends"] == {
        "words": "depends on cpu_ns (8: direction only)",
        "null_model_too": True,
        "ratios_over_fits": None,
    }
    assert "depends on cpu_ns (8: direction only); the null model has it, too" in page.render(content)
    brief = "(depends on cpu_ns; the null model has it, too)"
    assert any(line.endswith(brief) for line in page.terminal(content))
    without = {row.claim: row for row in robust.judged(wanted, results(*[name for name in FASTER if name]))}
    content = document.document(wanted.load(), judged, found, varied=without)
    assert [claim["depends"] for claim in content["claims"][:2]] == [None, None]
    first, second = (
        robust.Outcome(Variation(fit=fit), "reproduced", ratios, None)
        for fit, ratios in ((False, (2.0, 3.0)), (True, (1.5, 2.5)))
    )
    assert robust.Row("X", "", (first, second)).over_fits == (1.5, 3.0)
    assert robust.Row("X", "", (first,)).over_fits is None


def test_a_used_device_is_compared_with_a_fresh_one(wanted: request.Request) -> None:
    rows = robust.judged(wanted, results(**{"device=emmc-5.0": 30, "used": 30}))
    assert rows[1].words == "depends on device (emmc-5.0: direction only); cpu_ns (8: direction only)"
    rows = robust.judged(wanted, results(used=30, **{"cpu_ns=8": 95}))
    assert rows[1].words == "depends on device_state (used with device=emmc-5.0: direction only)"


def test_a_seed_that_changes_a_verdict_is_chance(wanted: request.Request) -> None:
    rows = robust.judged(wanted, results(**{"seed=3": 30}))
    assert rows[1].words == (
        "depends on cpu_ns (8: direction only); depends on chance: seed (3: direction only)"
    )


def test_what_turns_a_contradicted_claim(wanted: request.Request, tmp_path: Path) -> None:
    first, _, third = rows = robust.judged(wanted, results())
    # on XFS has no cell
    assert [outcome.applies for outcome in third.tried] == [True, True, False]
    assert (third.verdict, first.tried, first.explained) == ("contradicted", (), "")
    assert third.explained == "turned by no barrier (reproduced), small pages (direction only)"
    robust_page.write(wanted, rows, tmp_path)
    text = (tmp_path / "robust.html").read_text()
    assert "Not tried: <b>another app</b>: no workload is one" in text and markup.lacks(text) == []
    lines = robust_page.terminal(rows, {"another app": "no workload is one"})
    assert lines[-2:] == [
        "1 contradicted or not decided: 1 turned",
        "not tried: another app: no workload is one",
    ]
    none = [(mode, 100.0, place) for mode, _, place in EXPLAINED]
    assert robust.judged(wanted, results(more=none))[2].explained == "turned by none of 2 explanations"
    some = robust.judged(wanted, results(more=EXPLAINED[:1]))[2].explained
    assert some == "turned by no barrier (reproduced); 1 of 2 lack runs"


def test_only_contradicted_claims_are_explained(wanted: request.Request) -> None:
    rows = robust.judged(wanted, results())
    cells = [run.cell for run in robust.explaining(wanted, rows)]
    # the mode of the scoped explanation, both of the other, and the cells that no explanation changes
    changed = {(c.journal_mode, c.mount_options, c.page_size) for c in cells} - {
        (mode, "", 4096) for mode in ("wal", "delete")
    }
    assert changed == {("wal", "nobarrier", 4096), ("wal", "", 1024), ("delete", "", 1024)}
    assert robust.explaining(wanted, rows[:2]) == []


def test_a_known_gap_contradicts_nothing(wanted: request.Request, tmp_path: Path) -> None:
    claims = tmp_path / "p/claims.yml"
    claims.write_text(claims.read_text().replace("X-03: {", "X-03: {gap: the model lacks it, "))
    *_, third = robust.judged(wanted, results())
    assert (third.verdict, third.words, third.of_null) == ("not decided", "-", False)
    assert third.explained == "turned by no barrier (reproduced), small pages (direction only)"
    found = judge.judge(wanted.load(), results())
    # it changes no other verdict
    assert [claim.verdict for claim in found] == ["reproduced", "reproduced", "not decided"]
    content = document.document(wanted.load(), found, results())
    assert content["verdicts"]["not decided"] == 1
    assert "<b>Not decided:</b> the model lacks it" in page.render(content)
    assert "1 not decided" in page.terminal(content)[-1]


def test_a_variation_that_was_not_requested_is_missing(wanted: request.Request) -> None:
    every = results()
    every.asked = {name for name in every.by_cell if every.by_cell[name][0].cell.seed != 2}
    every.by_cell = {name: runs for name, runs in every.by_cell.items() if name in every.asked}
    first, *_ = robust.judged(wanted, every)
    assert first.words == "unknown: 1 of 7 settings lack runs"


def test_the_number_of_runs_and_the_time_come_first(
    wanted: request.Request,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also of a sweep; before a first one they are those of make advise."""

    def announced() -> str:
        drive.announce(runs, list(runs), 2)
        lines = capsys.readouterr().err.splitlines()
        assert max(map(len, lines)) <= 80
        return " ".join(line.strip() for line in lines)

    for module in (estimate, progress):
        monkeypatch.setattr(module, "STATE", tmp_path)
    runs, _ = sweep_plan.merge([Expanded(robust.planned(wanted), [])])
    head = "14 runs on 2 boards, 0 of them stored; 14 to make: "
    # 14 runs of 36 s and 2 boards of 120 s
    usual = (
        "about 12:24 on two CPUs, at 36 s a run and 120 s a board (as make advise; no sweep was timed here)"
    )
    assert estimate.of_sweep(runs, 2) == head + usual
    assert announced().endswith(usual)
    on_pi = {key: replace(run, cell=replace(run.cell, board="pi")) for key, run in runs.items()}
    assert progress.duration(on_pi, 2) == "the duration is known after the first run"
    for kind, seconds in (("done", 20), ("prepared", 60)):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "one").write_text(json.dumps({"seconds": seconds}))
    # 14 runs of 20 s and 2 boards of 60 s, two at a time
    took = "about 3:20, at the mean of the 1 stored by sweeps"
    assert estimate.of_sweep(runs, 2) == head + took
    assert announced().endswith(took)


def test_a_variation_without_a_run_is_not_robust(wanted: request.Request, tmp_path: Path) -> None:
    rows = robust.judged(wanted, results("seed=3"))
    assert rows[0].words == "unknown: 1 of 7 settings lack runs"
    # what is known to change it stays known
    assert rows[1].words == "depends on cpu_ns (8: direction only)"
    assert robust_page.write(wanted, rows, tmp_path) == 3


def test_what_is_planned(wanted: request.Request) -> None:
    runs = robust.planned(wanted)
    assert len({run.key for run in runs}) == len(runs) == 2 * len(FASTER)
    assert {(run.cell.seed, run.cell.cpu_ns) for run in runs} == {(1, 2), (2, 2), (3, 2), (1, 8)}
    devices = {(run.cell.device, run.cell.device_state) for run in runs}
    assert devices == {(d, "fresh") for d in ("constant", "constant-0.1ms", "emmc-5.0")} | {
        ("emmc-5.0", "used")
    }


def test_other_fits_of_the_given_device(wanted: request.Request) -> None:
    """Profiles that are like it and have its sources; those that ignore a FLUSH or a FUA write have none."""
    mine = request.read({"PAPER": "p", "DEVICE": "emmc-5.0"})
    more = {one.name for one in variations(mine.load())} - {one.name for one in variations(wanted.load())}
    assert more == {"device=emmc-5.0-half-program", "device=emmc-5.0-half-unit"}


def test_a_setting_that_a_claims_cells_cannot_have(wanted: request.Request, tmp_path: Path) -> None:
    head = tmp_path / "p/paper.yml"
    head.write_text(head.read_text().replace("  vary:\n", "  vary:\n    - {device_state: used}\n"))
    rows = robust.judged(wanted, results())
    assert [row.outcomes[2].verdict for row in rows] == ["not testable here"] * 3
    assert "DEVICE=constant has no page map" in str(rows[0].outcomes[2].reason)
    # it has no verdict to depend on, and no run to make
    assert [row.words for row in rows[:2]] == ["robust", "depends on cpu_ns (8: direction only)"]
    assert len(robust.planned(wanted)) == 2 * len(FASTER)
    robust_page.write(wanted, rows, tmp_path)
    assert "DEVICE=constant has no page map" in (tmp_path / "robust.html").read_text()


def test_another_reading_that_cannot_have_a_setting(wanted: request.Request, tmp_path: Path) -> None:
    """Only the headline is judged in a variation: its cells can be used, those of the other reading not."""
    claims = tmp_path / "p/claims.yml"
    used = CLAIM.replace("{mode", "{device: emmc-5.0, mode")
    claims.write_text(claims.read_text().replace(CLAIM, f"{used}, {CLAIM.replace('plain', 'constant')}", 1))
    head = tmp_path / "p/paper.yml"
    head.write_text(HEAD + "robust: {'null': {cpu_ns: 1}, vary: [{device_state: used}]}\n")
    first, second, _ = robust.judged(wanted, results())
    assert (first.outcomes[2].verdict, second.outcomes[2].verdict) == ("reproduced", "not testable here")
    assert [len(claim.readings) for claim in wanted.load().claims] == [2, 1, 1]


def test_claims_that_figures_decide(wanted: request.Request, tmp_path: Path) -> None:
    (tmp_path / "p/figures").mkdir()
    for name, modes in (("both", ("wal", "delete")), ("one", ("wal",))):
        bars = [{"label": mode, "set": {"journal_mode": mode}} for mode in modes]
        panel = {"groups": [{"label": "a", "set": {}}], "series": bars}
        figure = {"title": name, "form": "bars", "panels": [panel]}
        (tmp_path / f"p/figures/{name}.yml").write_text(json.dumps(figure))
    claims = tmp_path / "p/claims.yml"
    claims.write_text(claims.read_text().replace("left: {mode: wal}", "left: {mode: persist}", 1))
    both = request.read({"PAPER": "p", "FIGURE": "both"})
    assert [row.claim for row in robust.judged(both, results())] == ["X-02", "X-03"]
    assert {run.cell.journal_mode for run in robust.planned(both)} == {"wal", "delete"}
    with pytest.raises(BadInputError, match="FIGURE=one: no claim has all its cells there"):
        robust.planned(request.read({"PAPER": "p", "FIGURE": "one"}))


def test_what_cannot_be_varied(wanted: request.Request, lab: Lab, tmp_path: Path) -> None:
    assert "is of whole claims" in lab.says("reproduce", PAPER="apsys17", ROBUST="yes", WHERE="mode=wal")
    assert "ROBUST is yes, no" in lab.says("reproduce", PAPER="apsys17", ROBUST="1")
    (tmp_path / "p/paper.yml").write_text(HEAD)
    with pytest.raises(BadInputError, match="has no `robust`"):
        reproduce.reproduce({"PAPER": "p", "ROBUST": "yes"})
