"""Estimate how many runs `make reproduce` has left to make, and how long they take."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from base.paths import RESULTS
from commitpath.cells.identities import cell_id
from commitpath.database.select import Run
from commitpath.database.sweep_state import STATE, read_state
from commitpath.papers.request import Request, virtual_ids
from commitpath.results import query
from commitpath.sweep import sweep_plan
from commitpath.sweep.progress import Progress, clock
from commitpath.sweep.sweep_plan import Planned
from model import workloads
from model.cell import Cell


def text(request: Request, planned: Iterable[Planned]) -> str:
    """Return `pi: 6 runs of 3 cells, 2 of them stored; 4 to make, one after the other: about 12:30, …`."""
    runs = list(planned)
    left = [run for run in runs if not is_stored(run)]
    cells = len({cell_id(run.cell) for run in runs})
    head = f"{request.board}: {len(runs)} runs of {cells} cells, {len(runs) - len(left)} of them stored"
    if not left:
        return f"{head}; none to make"
    stored = [run for run in query.current().every if run.facts["status"] == "ok"]
    return f"{head}; {len(left)} to make, one after the other: {duration(request, left, stored)}"


def of_sweep(runs: Mapping[str, Planned], jobs: int) -> str:
    """Return `480 runs on 50 boards, 12 of them stored; 468 to make: about 2:50:00, …`.

    A run takes as long as the mean of the runs that sweeps made here, a board as the mean of their boards.
    """
    left = {key: run for key, run in runs.items() if not is_stored(run)}
    groups = sweep_plan.with_bases(run.group for run in runs.values())
    head = f"{len(runs)} runs on {len(groups)} boards, {len(runs) - len(left)} of them stored"
    if not left:
        return f"{head}; none to make"
    done, prepared = ({path.name for path in (STATE / kind).glob("*")} for kind in ("done", "prepared"))
    boards = len(sweep_plan.with_bases(run.group for run in left.values()))
    seconds = Progress(list(left), [], jobs, 0).left_seconds(len(left), done, boards, prepared)
    if seconds is None:
        return f"{head}; {len(left)} to make: the duration is known after the first run"
    mean = f"at the mean of the {len(done)} stored by sweeps"
    return f"{head}; {len(left)} to make: about {clock(seconds)}, {mean}"


def is_stored(run: Planned) -> bool:
    """Return whether a sweep would skip a run."""
    done = read_state(STATE / "done" / run.key) or {}
    return sweep_plan.run_status(RESULTS / str(done.get("run"))) == "ok"


def duration(request: Request, left: Sequence[Planned], stored: Sequence[Run]) -> str:
    """Return the estimated duration of runs, with its basis.

    A transaction takes as long as in the stored runs of its cell on the board, or as the median of the
    board's cells. The rest of a run (writing the rows, preparing the board) takes the median of the board's
    runs. Before the board's first run, only the virtual board's transactions are known.
    """
    of_board = [run for run in stored if run.settings.get("board") == request.board]
    seconds = {run.cell_id: 1 / float(run.summary["tps"]["all"]) for run in stored}
    if of_board:
        usual = statistics.median(seconds[run.cell_id] for run in of_board)
        more = statistics.median(overhead(run) for run in of_board)
        total = sum(more + transactions(run.cell) * seconds.get(cell_id(run.cell), usual) for run in left)
        return f"about {clock(total)}, estimated from {len(of_board)} stored runs of {request.board}"
    ids = virtual_ids(request)
    virtual = [
        transactions(run.cell) * seconds[ids[cell_id(run.cell)]]
        for run in left
        if ids.get(cell_id(run.cell)) in seconds
    ]
    if not virtual:
        return "the duration is known after the first run"
    return (
        f"the duration is known after the first run; the transactions of {len(virtual)} of them took "
        f"{clock(sum(virtual))} on the virtual board"
    )


def transactions(cell: Cell) -> int:
    """Return the number of transactions in a run of a cell; SQL texts have N in all."""
    return cell.n * max(1, len(workloads.phases(cell.profiles["workload"])))


def overhead(run: Run) -> float:
    """Return the seconds of a run outside its transactions."""
    return max(0.0, float(run.document("host")["wall_seconds"]) - float(run.summary["virtual_seconds"]))
