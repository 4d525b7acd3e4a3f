"""Which runs of a database count for a cell, and which watched run says why."""

from dataclasses import replace
from typing import Any

from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.command_line.stored_run import SHIPPED
from commitpath.database.select import UNVERIFIED, Run
from commitpath.results.query import Results


def run(number: int, path: str | None = "here", status: str = "ok", **axes: str) -> Run:
    cell = make_cell({"ROWS": "100", **axes})
    facts = {
        "lab": "local",
        "uname": "6.12",
        "status": status,
        "cell": cell_id(cell),
        "run": f"r{number}",
        "repeat": "1",
    }
    summary: dict[str, Any] = {"clock": "virtual", "ledger": {} if not cell.probes else {"labels": 1}}
    settings = dict(cell.axes())
    return Run(settings, facts, frozenset(), path, ("lost",), cell, cell_id(cell), summary, {})


def test_the_watched_run_is_that_of_the_nearest_n_and_of_those_the_newest() -> None:
    runs = [run(1, N="100"), run(2, N="1000"), run(3, N="1000", path=None), run(4, N="1000", MODE="wal")]
    results = Results(runs, "local")
    wanted = make_cell({"ROWS": "100", "N": "900", "PROBES": "none"})
    assert results.watched(wanted) is runs[2]
    assert results.watched(wanted, stored=True) is runs[1]
    assert results.watched(make_cell({"ROWS": "100", "N": "200", "PROBES": "none"})) is runs[0]
    assert results.watched(make_cell({"ROWS": "7"})) is None


def shipped(like: Run) -> Run:
    """A shipped run of the same cell without its files, on another kernel."""
    facts = {**like.facts, "lab": SHIPPED, "uname": "6.9"}
    return replace(like, facts=facts, path=None, marks=(UNVERIFIED,))


def test_shipped_runs_count_for_cells_without_an_own_one() -> None:
    """Whichever kernel the own one has; a shipped run may have its files."""
    own, rejected, other = run(1, N="100"), run(2, status="rejected", N="200"), run(3, N="300")
    held = replace(other, facts={**other.facts, "lab": SHIPPED})
    every = [own, rejected, shipped(own), taken := shipped(run(4, N="200")), held]
    results = Results(every, "local").of_lab(None)
    assert results.counted == [own, rejected, taken, held]
    assert results.find(rejected.cell).runs == [taken]


def test_of_watched_runs_with_one_n_an_own_one_is_taken() -> None:
    own = run(1)
    results = Results([], "local", counted=[own, shipped(run(2))])
    assert results.watched(own.cell) is own


def test_why_no_run_of_a_cell_counts() -> None:
    failed = run(1, status="rejected")
    results = Results([failed], "local")
    found = results.find(failed.cell)
    assert (found.state, found.reason) == ("failed", "rejected: lost")
    assert (found.runs, found.tried) == ((), [failed])
    assert results.find(make_cell({"ROWS": "7"})).reason == "it was not run"
    assert Results([failed], "elsewhere").find(failed.cell).state == "missing"
