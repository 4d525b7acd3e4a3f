"""Parse the variables of `make reproduce` (board, figures, cells, N, ROWS), and list the requested runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from base.errors import BadInputError
from base.text import in_any_case
from commitpath.cells import samples as cell_samples
from commitpath.cells.axes import axes
from commitpath.cells.grid import GRIDS_OWN, Excluded, Expanded, expand
from commitpath.cells.identities import cell_id
from commitpath.cells.samples import Sampling
from commitpath.charts.model import VIRTUAL
from commitpath.database import select
from commitpath.host import ansible
from commitpath.papers import figure_data, paper
from commitpath.papers.paper import Paper
from commitpath.papers.readings import UNCHANGED, Change
from commitpath.results import query
from commitpath.sweep import sweep_plan
from commitpath.sweep.sweep_plan import Planned
from model.cell import Cell

# The variables of a place where cells run. Each place has its own results.
PLACE = ("BOARD", "CLOCK", "DEVICE", "PROBES")
# Defaults on a lab board: its own clock and device, timed without observers.
LAB = {"CLOCK": "real", "DEVICE": "own", "PROBES": "none"}
# The variables of a cell's samples.
SAMPLES = ("SEEDS", "BOARDS")
# The variables that lower a number of the paper, with what they count.
MOST = {"N": "transactions of each operation", "ROWS": "rows before them"}


@dataclass(frozen=True)
class Request:
    """given: PLACE, FIGURE, WHERE, MOST and SAMPLES as in make; place: PLACE with a lab board's defaults.

    most: axis → highest number of a cell. figures: names, empty for all. where: a selector of cells or empty.
    sampling: repeats, seeds and boards of each cell.
    """

    paper: str
    given: Mapping[str, str]
    place: Mapping[str, str]
    most: Mapping[str, int]
    figures: tuple[str, ...]
    where: str
    lab: bool
    sampling: Sampling = GRIDS_OWN

    @property
    def board(self) -> str:
        """Return the board's name."""
        return self.place.get("BOARD", VIRTUAL)

    @property
    def folder(self) -> str:
        """Return the name of its folder in results/papers/."""
        place = [self.given[name] for name in PLACE if name in self.given]
        most = [f"{name}{number}" for name, number in self.most.items()]
        where = [re.sub(r"[^A-Za-z0-9.]+", "-", self.where)] if self.where else []
        return "-".join([self.paper, *place, *self.figures, *where, *most])

    @property
    def reduced(self) -> bool:
        """Return whether it omits or lowers a part of the paper."""
        return bool(self.figures or self.where or self.most)

    @property
    def command(self) -> str:
        """Return the command of the request."""
        words = [f"{name}={shlex.quote(text)}" for name, text in self.given.items()]
        return " ".join([f"make reproduce PAPER={self.paper}", *words])

    @property
    def virtual(self) -> Request:
        """Return the same request for the virtual board."""
        given = {name: text for name, text in self.given.items() if name not in PLACE}
        return replace(self, given=given, place={}, lab=False, sampling=replace(self.sampling, repeats=None))

    def reductions(self) -> list[str]:
        """Return what it omits or lowers, one phrase each."""
        lines = [f"only the figures {', '.join(self.figures)}"] if self.figures else []
        lines += [f"only the cells with {self.where}"] if self.where else []
        lines += [
            f"at most {self.most[name.lower()]} {MOST[name]}" for name in MOST if name.lower() in self.most
        ]
        return lines

    def load(self, change: Change = UNCHANGED) -> Paper:
        """Return the paper, for this place, these figures and these limits. change: of its claims' cells."""
        others = {name: text for name, text in self.given.items() if name not in PLACE}
        return paper.load(self.paper, self.place, self.most, self.figures, others, change)


def read(options: Mapping[str, str]) -> Request:
    """Return the request in make's variables. Raises BadInputError."""
    names = [path.stem for path in paper.load(options["PAPER"]).figures]
    given = {name: options[name] for name in (*PLACE, "FIGURE", "WHERE", *MOST, *SAMPLES) if name in options}
    lab = ansible.board(given.get("BOARD", VIRTUAL))["board_kind"] == "lab"
    place = {
        **({"BOARD": given["BOARD"], **LAB} if lab else {}),
        **{n: given[n] for n in PLACE if n in given},
    }
    most = {
        name.lower(): int(axes()[name.lower()].parse(given[name], name)) for name in MOST if name in given
    }
    where = given.get("WHERE", "")
    for name, _ in select.parse(where):
        if name not in axes():
            raise BadInputError(f"WHERE={where}: {name} belongs to a run; a cell has {', '.join(axes())}")
    asked = re.split(r"[ ,]+", given["FIGURE"].strip()) if "FIGURE" in given else []
    figures = dict.fromkeys(in_any_case(name, names) for name in asked)
    for name in figures:
        if name not in names:
            raise BadInputError(f"FIGURE={name}: {options['PAPER']} has {', '.join(names)}")
    return Request(
        options["PAPER"], given, place, most, tuple(figures), where, lab, cell_samples.read(options)
    )


def planned(request: Request) -> tuple[dict[str, Planned], list[Excluded]]:
    """Return the runs of a request: those of the paper's grid.

    Without probes, the runs that are only watched are omitted. Figures and a selector reduce the runs to
    their cells. Raises BadInputError if none is left.
    """
    chosen = request.load()
    whole = whole_grid(request)
    firsts = {run.key: cell_id(run.first) for run in whole.runs}
    runs, excluded = sweep_plan.merge([whole])
    if request.place.get("PROBES") == "none" and chosen.watched:
        watched = {run.grid for run in expand(chosen.watched).runs}
        runs = {key: run for key, run in runs.items() if not watched.issuperset(run.grids)}
    if request.figures:
        cells = {cell_id(cell) for cell in cells_of(request)}
        runs = {key: run for key, run in runs.items() if firsts[key] in cells}
    left = {cell_id(cell) for cell in query.fitting([run.cell for run in runs.values()], request.where)}
    if not left:
        raise BadInputError(f"WHERE={request.where}: none of the {len(runs)} requested runs matches")
    return {key: run for key, run in runs.items() if cell_id(run.cell) in left}, excluded


def whole_grid(request: Request) -> Expanded:
    """Return the runs of a request's paper, none left out."""
    return expand(request.load().grid, request.place, request.sampling, most=request.most)


def samples(request: Request) -> dict[str, list[Cell]]:
    """Return the id of each cell of the paper's grid → its requested samples; empty if it is its only one."""
    found: dict[str, list[Cell]] = {}
    if request.sampling.seeds or request.sampling.boards > 1:
        for run in whole_grid(request).runs:
            if run.cell not in (of_cell := found.setdefault(cell_id(run.first), [])):
                of_cell.append(run.cell)
    return found


def cells_of(request: Request) -> Iterator[Cell]:
    """Yield the cells of the requested figures."""
    chosen = request.load()
    for path in chosen.figures:
        figure = figure_data.read(path)
        if figure["form"] == "factors":
            yield from (run.cell for run in expand(figure["grid"], request.place, most=request.most).runs)
        else:
            yield from (bar.cell for panel in figure_data.panels(chosen, path, figure) for bar in panel.bars)


def virtual_ids(request: Request) -> dict[str, str]:
    """Return the id of each cell of the paper's grid → the id of the same cell on the virtual board."""
    grid = request.load().grid
    here, there = (expand(grid, place, most=request.most).runs for place in (request.place, {}))
    return {cell_id(run.cell): cell_id(other.cell) for run, other in zip(here, there, strict=True)}
