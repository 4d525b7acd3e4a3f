"""Is the plan that a run brings with it one of its cell?"""

from __future__ import annotations

from analysis.expected import STEPS
from analysis.run import Run


def as_the_cell(run: Run) -> list[str]:
    """The plan is named as the cell is, and each of its runs has the steps that every run has.

    No cell asks for a step that fails: what such a run measured is no number of its cell.
    """
    if run.plan is None:
        return []
    found = [
        f"the plan's {what} is {run.plan[what]}, the cell's {wanted}"
        for what, wanted in (("cell_id", run.cell_id), ("cell_name", run.name))
        if run.plan[what] != wanted
    ]
    for name, planned in run.plan["runs"].items():
        steps = [step["name"] for step in planned["steps"]]
        if missing := [step for step in STEPS if step not in steps]:
            found.append(f"the plan's {name} leaves out the steps {', '.join(missing)}")
        fails = [step["name"] for step in planned["steps"] if step["ends"] != "ok"]
        found += [f"the plan's {name} has the step {step!r} fail, which no cell asks for" for step in fails]
    return found
