"""`make durability GRID=… FIGURE=… [OVER=…]`: losses in the power cuts of a grid, with speed or cost."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.text import printable_lines
from commitpath.charts import files
from commitpath.charts.files import SUFFIXES, figure_path
from commitpath.reporting.durability_rows import MEASURED, Found, Row
from commitpath.reporting.trials import MORE, Trials, limit_ms, unpaced
from commitpath.results.query import Results, current
from commitpath.sweep.grid import Expanded, expand, load, names
from model import engines

# The values of OVER: the quantity on the x axis.
LOST, BYTES = "lost", "bytes"


def durability(options: dict[str, str]) -> int:
    """Draw the figure that OVER selects, write its numbers as CSV, and print a table."""
    grid, figure = options.get("GRID"), options.get("FIGURE")
    if not grid or not figure:
        raise BadInputError(
            f"make durability takes GRID=<a grid with CRASH that was swept; there are {', '.join(cutting())}"
            f"> and FIGURE=<file>{' or '.join(SUFFIXES)}"
        )
    path = figure_path(figure)
    results = current()
    found = measured(grid, expand(grid), results)
    if "LOSS" in options:
        found = within(found, options["LOSS"])
        notes = unpaced(options["LOSS"], [run for row in found.rows for run in row.runs])
        print("".join(f"{line}\n" for line in notes), end="")
    if options.get("OVER", LOST) == BYTES:
        from commitpath.reporting import durability_bytes, durability_bytes_figure

        costs = durability_bytes.measured(found, results)
        files.save(durability_bytes_figure.draw(costs), path, costs.csv())
        lines, caption = durability_bytes.lines(costs), costs.caption()
        print(printable_lines([*lines, f"{caption}. {path}, {path.with_suffix('.csv')}"]))
        return 0
    from commitpath.reporting import durability_figure, durability_table

    rows = [[*row.settings.values(), *row.columns()] for row in found.rows]
    files.save(durability_figure.draw(found), path, [[*found.varied, *MEASURED], *rows])
    lines = durability_table.lines(found)
    print(printable_lines([*lines, f"{found.caption()}. {path}, {path.with_suffix('.csv')}"]))
    return 0


def cutting() -> list[str]:
    """Return the grids that set CRASH, themselves or in a part."""
    return [name for name in names() if sets_crash(name)]


def sets_crash(name: str) -> bool:
    """Return whether the file of a grid or of one of its parts sets crash."""
    _, content = load(name)
    own = json.dumps({key: value for key, value in content.items() if key not in ("description", "exclude")})
    return '"crash": ' in own or any(sets_crash(part) for part in content.get("grids", []))


def within(found: Found, loss: str) -> Found:
    """Return the cells that lost no more time than LOSS; the others become unmeasured, with the reason."""
    if (ms := limit_ms(loss)) is None:
        raise BadInputError(f"LOSS={loss}: LOSS is a time such as 1s, 500ms or 2min")
    kept, beyond = list[Row](), dict[str, list[Mapping[str, str]]]()
    for row in found.rows:
        if why := row.trials.beyond(ms):
            beyond.setdefault(f"a cut took more than {loss}" if why == MORE else why, []).append(row.settings)
        else:
            kept.append(row)
    if not kept:
        reasons = "; ".join(f"{len(of)}: {why}" for why, of in beyond.items())
        raise BadInputError(
            f"LOSS={loss}: none of the {len(found.rows)} cells measured is within it: {reasons}"
        )
    return dataclasses.replace(
        found,
        rows=kept,
        unmeasured={**found.unmeasured, **beyond},
        beyond=sum(map(len, beyond.values())),
    )


def measured(name: str, grid: Expanded, results: Results) -> Found:
    """Return the measured cells of a grid that cuts power, in its order. Raises BadInputError if none is.

    Cells without cuts are for durability_bytes.py.
    """
    planned = {run.key.rpartition("-")[0]: run.cell for run in grid.runs}
    failures = {str(cell.crash) for cell in planned.values()}
    if len(cutting := failures - {"none"}) != 1:
        raise BadInputError(
            f"GRID={name}: its cells have CRASH={','.join(sorted(failures))}, and need one and the same "
            "that cuts; crash: in the grid's file sets it"
        )
    (failure,) = cutting
    planned = {name: cell for name, cell in planned.items() if cell.crash == failure}
    varied = [axis for axis, _ in next(iter(planned.values())).axes() if differs(planned.values(), axis)]
    rows, missing = list[Row](), dict[str, list[Mapping[str, str]]]()
    for cell in planned.values():
        runs = results.find(cell)
        trials = Trials.of(runs.runs, failure)
        lacking = engines.unused_axes(cell.engine) & {*varied}
        settings = {axis: "" if axis in lacking else str(cell.value(axis)) for axis in varied}
        if trials is None:
            missing.setdefault(runs.reason or "its runs have no trials", []).append(settings)
            continue
        tps, promised = runs.number("tps", "all").value or 0.0, runs.runs[0].summary["crash"]["promised"]
        rows.append(Row(settings, tps, trials, promised, lacking, runs.runs))
    if not rows:
        raise BadInputError(
            f"GRID={name}: none of its {len(planned)} cells is measured; make sweep GRID={name}"
        )
    return Found(Path(name).stem, failure, varied, rows, missing, grid.excluded)


def differs(cells: Any, axis: str) -> bool:
    """Return whether cells differ in an axis."""
    return len({str(cell.value(axis)) for cell in cells}) > 1
