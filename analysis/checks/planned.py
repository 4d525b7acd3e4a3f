"""Is the plan that a run brings with it one of its cell?"""

from __future__ import annotations

from analysis import expected
from analysis.run import Run
from base.schema import schema


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
        wanted = expected.steps(run.cell, name == expected.TRIALS)
        if missing := [step for step in wanted if step not in steps]:
            found.append(f"the plan's {name} leaves out the steps {', '.join(missing)}")
        fails = [step["name"] for step in planned["steps"] if step["ends"] != "ok"]
        found += [f"the plan's {name} has the step {step!r} fail, which no cell asks for" for step in fails]
    return found


def at_default(run: Run) -> list[str]:
    """What the cell says is at its default has the value that it has there, as far as the axis is known here:
    the cell's id leaves it out, and would be another cell's."""
    cell = run.plan["cell"] if run.plan else {}
    known = schema()["properties"]
    return [
        f"the cell says that {name} is at its default, {known[name]['default']!r}, and has {cell.get(name)!r}"
        for name in cell.get("at_default", ())
        if name in known and cell.get(name) != known[name]["default"]
    ]
