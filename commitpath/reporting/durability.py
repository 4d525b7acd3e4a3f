"""`make durability`: draw a grid's TPS over commits lost in crash trials, or ms over KiB; print a table.

LOSE_AT_MOST=… leaves out the cells in which a cut took more.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from base.errors import BadInputError
from base.text import filled, filled_lines, printable_lines
from commitpath.cells.grid import Expanded, expand
from commitpath.cells.identities import cell_id
from commitpath.charts import files
from commitpath.charts.files import figure_path
from commitpath.command_line import variables
from commitpath.command_line.stored_run import or_import
from commitpath.reporting import durability_rows
from commitpath.reporting.durability_rows import MEASURED, Found, Row
from commitpath.reporting.trials import MORE, Trials, limit_ms, unpaced
from commitpath.results.as_swept import as_swept
from commitpath.results.marks import joined
from commitpath.results.query import Results, current
from model import engines
from model.cell import Cell


def durability(options: dict[str, str]) -> None:
    """Draw the figure that OVER selects, write its numbers as CSV, and print a table."""
    if not (grid := options.get("GRID")):
        raise variables.missing("durability", ["GRID"])
    path = figure_path(options.get("FIGURE", ""))
    results = current().of_lab(options.get("LAB"))
    expanded, notes = as_swept(grid, expand(grid), results)
    found = measured(grid, expanded, results)
    if "LOSE_AT_MOST" in options:
        found = within(found, options["LOSE_AT_MOST"])
        for line in unpaced(options["LOSE_AT_MOST"], [run for row in found.rows for run in row.runs]):
            print(filled_lines([line]))
    # loads matplotlib, which takes a second: wrong input is reported before
    from commitpath.reporting import durability_bytes, durability_figure

    if options.get("OVER", "lost") == "bytes":
        costs = durability_bytes.measured(found, results)
        figure, rows = durability_figure.bytes_written(costs), costs.csv()
        lines, caption = durability_bytes.lines(costs), costs.caption()
    else:
        rows = [
            [*found.varied, *MEASURED, "marks"],
            *([*row.settings.values(), *row.columns(), joined(row.runs)] for row in found.rows),
        ]
        figure, lines, caption = (
            durability_figure.lost_commits(found),
            durability_rows.lines(found),
            found.caption(),
        )
    files.save(figure, path, rows)
    lines = [*lines, *(line for text in (f"{caption}.", *notes) for line in filled(text))]
    print(printable_lines([*lines, f"{path}, {path.with_suffix('.csv')}"]))


def within(found: Found, loss: str) -> Found:
    """Return the cells within LOSE_AT_MOST; the others become unmeasured, with the reason."""
    if (ms := limit_ms(loss)) is None:
        raise BadInputError(f"LOSE_AT_MOST={loss}: LOSE_AT_MOST is a time such as 1s, 500ms or 2min")
    kept, beyond = list[Row](), dict[str, list[Mapping[str, str]]]()
    for row in found.rows:
        if why := row.trials.beyond(ms):
            beyond.setdefault(f"a cut took more than {loss}" if why == MORE else why, []).append(row.settings)
        else:
            kept.append(row)
    if not kept:
        reasons = "; ".join(f"{len(cells)}: {why}" for why, cells in beyond.items())
        raise BadInputError(
            f"LOSE_AT_MOST={loss}: none of the {len(found.rows)} cells measured is within it: {reasons}"
        )
    return dataclasses.replace(
        found, rows=kept, unmeasured={**found.unmeasured, **beyond}, beyond=sum(map(len, beyond.values()))
    )


def measured(name: str, grid: Expanded, results: Results) -> Found:
    """Return the measured cells of a grid that cuts power, in its order. Raises BadInputError if none is.

    A cell's seeds and boards are one row.

    Cells with crash=none are left out; durability_bytes.py finds their runs itself.
    """
    points = dict[str, dict[str, Cell]]()
    for run in grid.runs:
        points.setdefault(cell_id(run.first), {cell_id(run.first): run.first})[cell_id(run.cell)] = run.cell
    cells = [run.first for run in {cell_id(run.first): run for run in grid.runs}.values()]
    failures = {str(cell.crash) for cell in cells}
    if len(crashes := failures - {"none"}) != 1:
        raise BadInputError(
            f"GRID={name}: its cells have CRASH={','.join(sorted(failures))}, and need one and the same "
            "that cuts; crash: in the grid's file sets it"
        )
    (failure,) = crashes
    cells = [cell for cell in cells if cell.crash == failure]
    varied = [axis for axis, _ in cells[0].axes() if len({str(cell.value(axis)) for cell in cells}) > 1]
    rows, missing = list[Row](), dict[str, list[Mapping[str, str]]]()
    for cell in cells:
        runs = results.find(*points[cell_id(cell)].values())
        trials = Trials.from_runs(runs.runs, failure)
        lacking = engines.unused_axes(cell.engine) & {*varied}
        settings = {axis: "" if axis in lacking else str(cell.value(axis)) for axis in varied}
        if trials is None:
            missing.setdefault(runs.reason or "its runs have no trials", []).append(settings)
            continue
        # each run has one: a row without it is left out of the database, as damaged
        tps, promised = runs.number("tps", "all").value, runs.runs[0].summary["crash"]["promised"]
        assert tps is not None
        rows.append(Row(settings, tps, trials, promised, lacking, runs.runs))
    if not rows:
        why = f"{next(iter(missing))}; make sweep GRID={name}"
        elsewhere = any(results.find(cell).labs for cell in cells)
        more = ", or LAB= for that lab's runs" if elsewhere else or_import(name)
        raise BadInputError(f"GRID={name}: none of its {len(cells)} cells is measured: {why}{more}")
    return Found(Path(name).stem, failure, varied, rows, missing, grid.excluded)
