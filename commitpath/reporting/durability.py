"""`make durability GRID=… FIGURE=… [OVER=…]`: what cuts took of the cells of a grid that was swept, beside
speed, or beside latency and bytes."""

import csv
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base import scratch
from base.errors import BadInputError
from base.text import printable, printable_lines
from commitpath.host import places
from commitpath.reporting.durability_rows import MEASURED, Found, Row
from commitpath.reporting.trials import MORE, Trials, limit_ms, unpaced
from commitpath.results.query import Results, current
from commitpath.sweep.grid import Expanded, expand, load, names
from model import engines

SUFFIXES = (".svg", ".png", ".pdf")
# What OVER may be: what of a cell stands across the figure.
LOST, BYTES = "lost", "bytes"


def durability(options: dict[str, str]) -> int:
    """Draw the figure that OVER asks for, write its table beside it as CSV, and print that."""
    grid, figure = options.get("GRID"), options.get("FIGURE")
    if not grid or not figure:
        raise BadInputError(
            f"make durability takes GRID=<a grid with CRASH that was swept; there are {', '.join(cutting())}"
            f"> and FIGURE=<file>{' or '.join(SUFFIXES)}"
        )
    path = Path(figure)
    if path.suffix not in SUFFIXES:
        raise BadInputError(f"FIGURE={figure}: its end is none of {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise BadInputError(f"FIGURE={figure}: there is no folder {path.parent}")
    places.check_writable(path.parent, "FIGURE names a file elsewhere")
    results = current()
    found = measured(grid, expand(grid), results)
    if "LOSS" in options:
        found = within(found, options["LOSS"])
        notes = unpaced(options["LOSS"], [run for row in found.rows for run in row.runs])
        print("".join(f"{line}\n" for line in notes), end="")
    if options.get("OVER", LOST) == BYTES:
        from commitpath.reporting import durability_bytes, durability_bytes_figure

        costs = durability_bytes.measured(found, results)
        durability_bytes_figure.draw(costs, path)
        finish(path, costs.csv(), durability_bytes.lines(costs), costs.caption())
        return 0
    from commitpath.reporting import durability_figure, durability_table

    durability_figure.draw(found, path)
    rows = [[*row.settings.values(), *row.columns()] for row in found.rows]
    finish(path, [[*found.varied, *MEASURED], *rows], durability_table.lines(found), found.caption())
    return 0


def cutting() -> list[str]:
    """The grids that set CRASH, themselves or in a part of theirs."""
    return [name for name in names() if sets_crash(name)]


def sets_crash(name: str) -> bool:
    """Whether a grid's file, or one of its parts', has crash."""
    _, content = load(name)
    own = json.dumps({key: value for key, value in content.items() if key not in ("description", "exclude")})
    return '"crash": ' in own or any(sets_crash(part) for part in content.get("grids", []))


def within(found: Found, loss: str) -> Found:
    """Return the cells that lost no more time than LOSS; the others are named among those not drawn."""
    if (ms := limit_ms(loss)) is None:
        raise BadInputError(f"LOSS={loss}: it is a time, such as 1s, 500ms or 2min")
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


def finish(figure: Path, rows: Sequence[Sequence[str]], lines: Sequence[str], caption: str) -> None:
    """Write a figure's table beside it, and print what was made."""
    table = figure.with_suffix(".csv")
    with scratch.whole(table) as part, part.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print(printable_lines(lines))
    print(printable(f"{caption}. {figure}, {table}"))


def measured(name: str, grid: Expanded, results: Results) -> Found:
    """The measured cells of a grid that cuts, in its order: those beside them that do not cut say what these
    write (durability_bytes.py). Raises BadInputError where none is measured."""
    asked = {run.key.rpartition("-")[0]: run.cell for run in grid.runs}
    failures = {str(cell.crash) for cell in asked.values()}
    if len(cutting := failures - {"none"}) != 1:
        raise BadInputError(
            f"GRID={name}: its cells have CRASH={','.join(sorted(failures))}, and need one and the same "
            "that cuts; crash: in the grid's file sets it"
        )
    (failure,) = cutting
    asked = {name: cell for name, cell in asked.items() if cell.crash == failure}
    varied = [axis for axis, _ in next(iter(asked.values())).axes() if differs(asked.values(), axis)]
    rows, missing = list[Row](), dict[str, list[Mapping[str, str]]]()
    for cell in asked.values():
        runs = results.find(cell)
        trials = Trials.of(runs.runs, failure)
        lacking = engines.lacking(cell.engine) & {*varied}
        told = {axis: "" if axis in lacking else str(cell.value(axis)) for axis in varied}
        if trials is None:
            missing.setdefault(runs.reason or "its runs have no trials", []).append(told)
            continue
        tps, promised = runs.number("tps", "all").value or 0.0, runs.runs[0].summary["crash"]["promised"]
        rows.append(Row(told, tps, trials, promised, lacking, runs.runs))
    if not rows:
        raise BadInputError(
            f"GRID={name}: none of its {len(asked)} cells is measured; make sweep GRID={name}"
        )
    return Found(Path(name).stem, failure, varied, rows, missing, grid.excluded)


def differs(cells: Any, axis: str) -> bool:
    """Whether cells differ in an axis."""
    return len({str(cell.value(axis)) for cell in cells}) > 1
