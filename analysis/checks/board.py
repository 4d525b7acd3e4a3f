"""Are the modules of a virtual board at work?"""

from __future__ import annotations

import re

from analysis.adapters.board import Board
from analysis.run import Run

# How images/modules/bio_vectors/ hooks the kernel's function, and how often it must have been asked since it
# was loaded: it fills three bios of two pages to see that it works, two of them with pages of two folios.
_HOOKED_BY, _ASKED, _KEPT_APART = ("ftrace", "kprobe"), 3, 2
_VECTORS = "bio_vectors"


def has_its_modules(run: Run) -> list[str]:
    """The modules that the plan has for a virtual board are loaded, in the run and in its twin, and
    bio_vectors answered when it was tried as it was loaded: else the block commands of a large sync are those
    of that board's memory. Whether the run's own writes asked it the counts do not say."""
    planned = run.plan["board"].get("modules", []) if run.plan else []
    boards = {"": run.board, **({"the untraced twin: ": run.twin.board} if run.twin else {})}
    found = [
        f"{who}raw/board/modules/{name}.txt is missing: the plan has that module"
        for who, board in boards.items()
        for name in planned
        if name not in board.modules
    ]
    for who, board in boards.items():
        if (said := board.modules.get(_VECTORS)) is not None and (why := _not_at_work(said)):
            found.append(f"{who}raw/board/modules/{_VECTORS}.txt: {why}")
    if run.twin and not found and _hook(run.twin.board) != _hook(run.board):
        found.append(f"the untraced twin: {_VECTORS} hooks the kernel in another way than in the run")
    return found


def _hook(board: Board) -> list[str | None]:
    said = board.modules.get(_VECTORS, {})
    return [said.get(name) for name in ("function", "by")]


def _not_at_work(said: dict[str, str]) -> str | None:
    """Say why bio_vectors was not at work, by what it says of itself; None: it was."""
    if said.get("by") not in _HOOKED_BY or not said.get("function"):
        return f"the kernel's function {said.get('function')} is hooked by {said.get('by')}"
    counts = [said.get(name, "") for name in ("calls", "kept_apart")]
    if not all(re.fullmatch("[0-9]{1,18}", count) for count in counts):
        return f"{counts[0]!r} calls and {counts[1]!r} pages kept apart are no counts"
    calls, kept_apart = map(int, counts)
    if calls < _ASKED or kept_apart < _KEPT_APART or kept_apart > calls:
        return f"{calls} calls and {kept_apart} pages kept apart cannot be of a hook that was tried"
    return None
