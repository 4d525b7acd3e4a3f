"""Are the modules of a virtual board at work?"""

from __future__ import annotations

from analysis.adapters.board import Board
from analysis.run import Run

_VECTORS = "bio_vectors"


def has_its_modules(run: Run) -> list[str]:
    """Return the modules that the plan has for a virtual board and that the run or its twin was without.

    Without bio_vectors the block commands of a large sync depend on that board's memory. It tries its hook as
    it is loaded, and a board on which it does not work is not provisioned.
    """
    planned = run.plan["board"].get("modules", []) if run.plan else []
    boards = {"": run.board, **({"the untraced twin: ": run.twin.board} if run.twin else {})}
    found = [
        f"{who}raw/board/modules/{name}.txt is missing: the plan has that module"
        for who, board in boards.items()
        for name in planned
        if name not in board.modules
    ]
    if run.twin and not found and _hook(run.twin.board) != _hook(run.board):
        found.append(f"the untraced twin: {_VECTORS} hooks the kernel in another way than in the run")
    return found


def _hook(board: Board) -> list[str | None]:
    said = board.modules.get(_VECTORS, {})
    return [said.get(name) for name in ("function", "by")]
