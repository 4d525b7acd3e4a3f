"""`make figure GRID=… X=… METRIC=… FIGURE=…`: draw a figure of a swept grid, with its numbers as CSV."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from base.errors import BadInputError
from base.paths import EXPERIMENTS
from base.text import did_you_mean, filled_lines, printable
from commitpath.cells.data_files import load
from commitpath.cells.grid import expand
from commitpath.charts import files
from commitpath.charts.files import figure_path
from commitpath.charts.model import Drawn, values_of
from commitpath.charts.spec import Spec, panels
from commitpath.command_line.stored_run import or_import
from commitpath.results import query
from commitpath.results.as_swept import as_swept
from commitpath.results.marks import footnotes, joined, kernels

FIGURES = EXPERIMENTS / "figures"
WIDTHS = ("3.3", "7")
# What differs in the reasons of runs that lack a number: the run, and how many of its cuts were unusable.
NAMED = re.compile(r"^run \S+|\d+(?= of \d+ cuts )")
FIELDS = [field.name for field in dataclasses.fields(Spec)]
COLUMNS = (
    *("low", "high", "interval_low", "interval_high", "runs", "state", "reason"),
    *("cell_ids", "run_ids", "marks"),
)


def names() -> list[str]:
    """Return the figures that have a data file."""
    return [path.stem for path in sorted(FIGURES.glob("*.yml"))]


def figure(options: Mapping[str, str]) -> None:
    """Draw the figure, and write its numbers."""
    spec = spec_of(options)
    path = figure_path(options.get("FIGURE", ""))
    grid = expand(spec.grid)
    spec, made = panels(spec, grid)
    results = query.current().of_lab(options.get("LAB"))
    grid, swept = as_swept(spec.grid, grid, results)
    if swept:
        spec, made = panels(spec, grid)
    results.excluded = [(cell.grid, dict(cell.settings), cell.reason) for cell in grid.excluded]
    # loads matplotlib, which takes a second: wrong input is reported before
    from commitpath.charts import render

    drawn, across = render.fill(spec, made, results)
    check_found(f"METRIC={spec.metric}", spec, drawn)
    if across:
        check_found(f"X={spec.x}", spec, across)
    runs = [run for value in values_of(drawn) for run in value.found.runs]
    marked = [*footnotes(runs), *kernels(runs)]
    files.save(render.draw(spec, drawn, across, marked), path, table(spec, drawn, across))
    for note in [*notes(drawn, across), *swept, *marked]:
        print(filled_lines([note]))
    print(printable(f"{path}, {path.with_suffix('.csv')}"))


def spec_of(options: Mapping[str, str]) -> Spec:
    """Return the spec of NAME's data file, overridden by the variables."""
    content: dict[str, Any] = {}
    if name := options.get("NAME"):
        if name not in names():
            near = did_you_mean(name, names())
            raise BadInputError(f"NAME={name}: {near}there are {', '.join(names())}")
        content = load(FIGURES / f"{name}.yml", "sweep_figure")
        content.pop("description", None)
    content |= {key.lower(): text for key, text in options.items() if key.lower() in FIELDS}
    content["op"] = content.get("op", "").lower()
    if not content.get("grid"):
        raise BadInputError(
            "GRID: missing; make figure takes GRID= X= FIGURE=, or NAME= FIGURE= (make help figure)"
        )
    content.setdefault("x", "")
    return Spec(**{**content, "width": float(content.get("width", WIDTHS[0]))})


def check_found(metric: str, spec: Spec, drawn: Sequence[Drawn]) -> None:
    """Reject a figure without any number of a metric, with the reason."""
    values = values_of(drawn)
    if any(value.number.value is not None for value in values):
        return
    reasons = list(dict.fromkeys(str(value.found.reason) for value in values))
    if reasons == [query.NOT_RUN]:
        raise BadInputError(
            f"GRID={spec.grid} was not run: make sweep GRID={spec.grid}{or_import(spec.grid)}"
        )
    if not any(value.found.tried for value in values):
        reasons[0] += f"; make sweep GRID={spec.grid}"
    if any(value.found.labs for value in values):
        reasons[0] += ", or LAB= for that lab's runs"
    raise BadInputError(f"{metric}: none of {len(values)} points has a number: {reasons[0]}")


def notes(drawn: Sequence[Drawn], across: Sequence[Drawn]) -> list[str]:
    """Return lines for the terminal: points drawn, points missing with the reason, and intervals."""
    values = values_of(drawn)
    others = values_of(across) or values
    lacking = [
        next((value.found for value in pair if value.number.value is None), None)
        for pair in zip(values, others, strict=True)
    ]
    lines = [f"{lacking.count(None)} of {len(values)} points drawn"]
    # several that differ in the run and in a number of cuts are one
    reasons: dict[str, list[str]] = {}
    for reason in (str(found.reason) for found in lacking if found):
        reasons.setdefault(NAMED.sub("", reason), []).append(reason)
    for several in reasons.values():
        first = f" (the first of {len(several)})" if len(set(several)) > 1 else ""
        lines.append(f"{len(several)} not drawn: {several[0]}{first}")
    if any(value.number.interval for value in values):
        lines.append("points are medians; a whisker is the 95 % interval of the mean (Student's t)")
    return lines


def table(spec: Spec, drawn: Sequence[Drawn], across: Sequence[Drawn]) -> list[list[Any]]:
    """Return the numbers of a figure, a row for each point."""
    two = [spec.x] if across else []
    rows: list[list[Any]] = [[spec.facet or "facet", "point" if two else spec.x, spec.series or "series",
                              "operation", *two, spec.metric, *COLUMNS]]  # fmt: skip
    for at, panel in enumerate(drawn):
        for number, value in enumerate(panel.values):
            numbers, found, bar = value.number, value.found, value.bar
            x = [across[at].values[number].number.value] if across else []
            rows.append(
                [
                    panel.panel.title,
                    bar.group.strip(),
                    bar.series,
                    bar.op,
                    *x,
                    numbers.value,
                    numbers.low,
                    numbers.high,
                ]
                + [*(numbers.interval or (None, None)), len(found.runs), found.state, found.reason]
                + [" ".join(dict.fromkeys(run.facts[name] for run in found.runs)) for name in ("cell", "run")]
                + [joined(found.runs)]
            )
    return rows
