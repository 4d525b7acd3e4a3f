"""Parse REPEAT, SEEDS and BOARDS; make a cell for each seed and each freshly prepared board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from base.errors import BadInputError
from commitpath.cells.axes import run_axes
from commitpath.cells.from_variables import make_cell
from model.cell import Cell

VARIABLES = ("REPEAT", "SEEDS", "BOARDS")


@dataclass(frozen=True)
class Sampling:
    """How often each cell runs; in virtual time repeats add none. repeats, seeds: None: the grid's."""

    repeats: int | None = None
    seeds: int | None = None
    boards: int = 1


def read(variables: Mapping[str, str]) -> Sampling:
    """Return the sampling in make's variables. Raises BadInputError."""
    repeats, seeds, boards = (
        int(run_axes()[name.lower()].parse(variables[name], name)) if name in variables else None
        for name in VARIABLES
    )
    return Sampling(repeats, seeds, boards or 1)


def cells(variables: Mapping[str, str], seeds: Sequence[int], boards: int) -> list[Cell]:
    """Return a cell for each seed on each board, counted from BOARD_NUMBER on. Raises BadInputError."""
    first = [make_cell({**variables, "SEED": str(seed)}) for seed in seeds]
    number, clock = first[0].board_number, first[0].clock
    if boards > 1 and clock != "virtual":
        raise BadInputError(
            f"BOARDS={boards}: with CLOCK={clock} each run prepares its board afresh, so each is a sample; "
            "use REPEAT, or CLOCK=virtual"
        )
    return first + [
        make_cell({**variables, "SEED": str(seed), "BOARD_NUMBER": str(board)})
        for board in range(number + 1, number + boards)
        for seed in seeds
    ]
