"""What a paper takes on a lab board, said before it begins: how many runs, and about how long."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from base.paths import RESULTS
from commitpath.cells.identities import cell_id
from commitpath.database.select import Run
from commitpath.database.sweep_state import STATE, read_state
from commitpath.papers.asked import Asked, twins
from commitpath.results import query
from commitpath.sweep import sweep_plan
from commitpath.sweep.progress import clock
from commitpath.sweep.sweep_plan import Planned
from model import workloads
from model.cell import Cell


def said(asked: Asked, planned: Iterable[Planned]) -> str:
    """`pi: 6 runs of 3 cells, 2 of them stored; 4 to make, one after the other: about 12:30, by …`."""
    runs = list(planned)
    left = [run for run in runs if not is_stored(run)]
    cells = len({cell_id(run.cell) for run in runs})
    head = f"{asked.board}: {len(runs)} runs of {cells} cells, {len(runs) - len(left)} of them stored"
    if not left:
        return f"{head}; none to make"
    known = [run for run in query.current().every if run.facts["status"] == "ok"]
    return f"{head}; {len(left)} to make, one after the other: {how_long(asked, left, known)}"


def is_stored(run: Planned) -> bool:
    """Whether a sweep would not make it again."""
    done = read_state(STATE / "done" / run.key) or {}
    return sweep_plan.run_status(RESULTS / str(done.get("run"))) == "ok"


def how_long(asked: Asked, left: Sequence[Planned], known: Sequence[Run]) -> str:
    """The time that runs take, and by what.

    A transaction takes what it took in that cell's runs of the board, or in the median of its cells; all else
    of a run, which writes the rows and prepares the board, the median of the board's runs. Before the board's
    first run there are the virtual board's transactions alone.
    """
    own = [run for run in known if run.settings.get("board") == asked.board]
    seconds = {run.cell_id: 1 / float(run.summary["tps"]["all"]) for run in known}
    if own:
        usual = statistics.median(seconds[run.cell_id] for run in own)
        more = statistics.median(beside(run) for run in own)
        total = sum(more + transactions(run.cell) * seconds.get(cell_id(run.cell), usual) for run in left)
        return f"about {clock(total)}, by what is stored of {asked.board}: {len(own)} runs"
    of = twins(asked)
    virtual = [
        transactions(run.cell) * seconds[of[cell_id(run.cell)]]
        for run in left
        if of.get(cell_id(run.cell)) in seconds
    ]
    if not virtual:
        return "about how long is known when the first is stored"
    return (
        f"about how long is known when the first is stored; the transactions of {len(virtual)} of them took "
        f"{clock(sum(virtual))} on the virtual board"
    )


def transactions(cell: Cell) -> int:
    """Return how many transactions a run of a cell has; SQL texts have N in all."""
    return cell.n * max(1, len(workloads.phases(cell.profiles["workload"])))


def beside(run: Run) -> float:
    """Seconds of a run that were no transactions."""
    return max(0.0, float(run.document("host")["wall_seconds"]) - float(run.summary["virtual_seconds"]))
