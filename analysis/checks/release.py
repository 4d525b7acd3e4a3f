"""Has the run all that the release recorded which recorded it, and nothing that came later?

What a run may lack follows from its release (analysis/recorded.py), and not from its own plan.
"""

from __future__ import annotations

from analysis import recorded
from analysis.recorded import Release
from analysis.run import Run
from base.identity import RULE


def whole(run: Run) -> list[str]:
    """Cell, observers and memory are of one release."""
    signs = recorded.signs(run)
    found = []
    if signs and not run.cell_id.startswith(RULE):
        found.append(f"the cell is of before there were plans (rule 1), and {signs[max(signs)]}")
    found += [f"{name} did not watch the run" for name in recorded.watching(run) if name not in run.seen]
    return found + _memory(run)


def _memory(run: Run) -> list[str]:
    """The board had memory for what observers keep: since they do, for each run, watched or not."""
    sets = recorded.provided(run, run.board)
    if sets is None or run.release < Release.PLANS:
        return []
    if not sets:
        return ["raw/board/meminfo.txt: a virtual board of this cell has another MemTotal"]
    kept = recorded.keeping(run.cell).keys()
    watched = {name for name in run.seen if name in kept}
    found = []
    if run.probes and watched not in sets:
        had = " and ".join(sorted(max(sets, key=len) - watched)) or "none of them"
        what = f"watched by {', '.join(sorted(watched))}" if watched else "not watched by it"
        found.append(f"the board had memory for {had}, and the run was {what}")
    if run.release >= Release.USAGE and not any(sets):
        found.append("raw/board/meminfo.txt: the board had no memory for what observers keep")
    if run.twin and recorded.provided(run, run.twin.board) != sets:
        found.append("the untraced twin's board had another MemTotal")
    return found
