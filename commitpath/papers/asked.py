"""What of a paper `make reproduce` is asked for: on which board, which figures, of how many transactions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from base.data import load_yaml
from base.errors import BadInputError
from commitpath.cells.axes import axes
from commitpath.cells.identities import cell_id
from commitpath.charts.model import VIRTUAL
from commitpath.database import select
from commitpath.host import ansible
from commitpath.papers import paper, study
from commitpath.sweep import sweep_plan
from commitpath.sweep.grid import Excluded, expand
from commitpath.sweep.sweep_plan import Planned
from model.cell import Cell

# Where it is run, and whether it is watched there; each such place has its own results.
PLACE = ("BOARD", "CLOCK", "DEVICE", "PROBES")
# A lab board's cells, where it is not said otherwise: its own clock and device, timed and not watched.
LAB = {"CLOCK": "real", "DEVICE": "own", "PROBES": "none"}
# Of the paper's numbers those that may be lower here, and what each is of.
MOST = {"N": "transactions of each operation", "ROWS": "rows before them"}


@dataclass(frozen=True)
class Asked:
    """given: PLACE, FIGURE, WHERE and MOST as make has them; place: PLACE with a lab board's own.

    most: axis → number that no cell is over. figures: names; none: all. where: a selector of cells, or empty.
    """

    paper: str
    given: Mapping[str, str]
    place: Mapping[str, str]
    most: Mapping[str, int]
    figures: tuple[str, ...]
    where: str
    lab: bool

    @property
    def board(self) -> str:
        """The board's name."""
        return self.place.get("BOARD", VIRTUAL)

    @property
    def name(self) -> str:
        """What its folder below results/papers/ is called."""
        place = [self.given[name] for name in PLACE if name in self.given]
        most = [f"{name}{number}" for name, number in self.most.items()]
        where = [re.sub(r"[^A-Za-z0-9.]+", "-", self.where)] if self.where else []
        return "-".join([self.paper, *place, *self.figures, *where, *most])

    @property
    def reduced(self) -> bool:
        """Whether it is less than the paper."""
        return bool(self.figures or self.where or self.most)

    @property
    def command(self) -> str:
        """`make reproduce PAPER=…` that asks for it."""
        words = [f"{name}={shlex.quote(text)}" for name, text in self.given.items()]
        return " ".join([f"make reproduce PAPER={self.paper}", *words])

    @property
    def virtual(self) -> Asked:
        """The same of the virtual board."""
        given = {name: text for name, text in self.given.items() if name not in PLACE}
        return replace(self, given=given, place={}, lab=False)

    def told(self) -> list[str]:
        """What of the paper is left out or lower, a sentence each."""
        said = [f"of its figures {', '.join(self.figures)} alone"] if self.figures else []
        said += [f"of its cells those with {self.where} alone"] if self.where else []
        said += [
            f"at most {self.most[name.lower()]} {MOST[name]}" for name in MOST if name.lower() in self.most
        ]
        return said


def read(options: Mapping[str, str]) -> Asked:
    """What make's variables ask for. Raises BadInputError."""
    study.load(options["PAPER"])
    given = {name: options[name] for name in (*PLACE, "FIGURE", "WHERE", *MOST) if name in options}
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
            raise BadInputError(f"WHERE={where}: {name} is of a run; of a cell there are {', '.join(axes())}")
    return Asked(options["PAPER"], given, place, most, figures(options["PAPER"], given), where, lab)


def figures(name: str, given: Mapping[str, str]) -> tuple[str, ...]:
    """The names in FIGURE; none where it is not given. Raises BadInputError."""
    if "FIGURE" not in given:
        return ()
    known = [path.stem for path in study.load(name).figures]
    found = re.split(r"[ ,]+", given["FIGURE"].strip())
    for one in found:
        if one not in known:
            raise BadInputError(f"FIGURE={one}: {name} has {', '.join(known)}")
    return tuple(dict.fromkeys(found))


def load(asked: Asked) -> study.Study:
    """The study of its figures."""
    said = {name: text for name, text in asked.given.items() if name not in PLACE}
    return study.load(asked.paper, asked.place, asked.most, asked.figures, said)


def planned(asked: Asked, repeats: int | None) -> tuple[dict[str, Planned], list[Excluded]]:
    """The runs that it takes: those of the paper's grid, but for what is watched where nothing is.

    With figures or a selector those of their cells alone. Raises BadInputError where none is left.
    """
    head = load_yaml(paper.PAPERS / asked.paper / "paper.yml")
    runs, excluded = sweep_plan.merge([expand(head["grid"], asked.place, repeats, most=asked.most)])
    if asked.place.get("PROBES") == "none" and "watched" in head:
        watched = {run.grid for run in expand(head["watched"]).runs}
        runs = {key: run for key, run in runs.items() if not watched.issuperset(run.grids)}
    if asked.figures:
        cells = {cell_id(cell) for cell in drawn(asked)}
        runs = {key: run for key, run in runs.items() if cell_id(run.cell) in cells}
    terms = select.parse(asked.where)
    chosen = {key: run for key, run in runs.items() if fits(run.cell, terms)}
    if not chosen:
        raise BadInputError(f"WHERE={asked.where}: none of the {len(runs)} runs that were asked for is so")
    return chosen, excluded


def fits(cell: Cell, terms: list[tuple[str, list[str]]]) -> bool:
    """Whether a cell is one that a selector's terms name."""
    return all(select.matches(str(cell.value(name)), patterns) for name, patterns in terms)


def drawn(asked: Asked) -> Iterator[Cell]:
    """The cells of its figures."""
    chosen = load(asked)
    for path in chosen.figures:
        figure = study.read(path)
        if figure["form"] == "factors":
            yield from (run.cell for run in expand(figure["grid"], asked.place, most=asked.most).runs)
        else:
            yield from (bar.cell for one in study.panels(chosen, path, figure) for bar in one.bars)


def twins(asked: Asked) -> dict[str, str]:
    """Of each cell of the paper's grid its id, and that of the same cell on the virtual board."""
    grid = load_yaml(paper.PAPERS / asked.paper / "paper.yml")["grid"]
    here, there = (expand(grid, place, most=asked.most).runs for place in (asked.place, {}))
    return {cell_id(one.cell): cell_id(other.cell) for one, other in zip(here, there, strict=True)}
