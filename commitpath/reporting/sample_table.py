"""`make table GRID=… FORMAT=csv|latex|markdown`: the numbers of a swept grid, a row for each sample."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from base.errors import BadInputError
from base.text import filled_lines, printable
from commitpath.command_line import stored_run, variables
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.setup import LATEX
from commitpath.results import metrics, query
from commitpath.results.distinct_runs import samples
from commitpath.results.marks import MARKED, footnotes
from commitpath.results.metrics import WHOLE
from commitpath.sweep import grid

# Without METRIC; those of them that any run has.
METRICS = ("tps", "p50", "p99", "kib", "syncs", "flushes", "block_writes", "lost")
# The digits of a number in a page; CSV has all.
DIGITS = 4


def table(options: Mapping[str, str]) -> None:
    """Print the table of a grid's samples, and notes on stderr."""
    if not options.get("GRID"):
        raise variables.missing("table", ["GRID"])
    path, _ = grid.load(options["GRID"])
    given = [metrics.check(name) for name in options.get("METRIC", "").lower().split()]
    wanted = given or METRICS
    results = query.current().of_lab(options.get("LAB"))
    names = grid.run_names(options["GRID"])
    of_grid = [run for run in results.every if run.grids & names and run.facts["status"] == "ok"]
    # a run of this lab takes the place of the shipped ones of its cell, in whatever command it was made
    cells = {run.cell_id for run in of_grid}
    runs = samples([run for run in results.counted if run.facts["status"] == "ok" and run.cell_id in cells])
    if not runs:
        labs = sorted({run.facts["lab"] for run in of_grid})
        more = f", or LAB= for the runs of lab {', '.join(labs)}" if labs else stored_run.or_import(path.stem)
        raise BadInputError(
            f"GRID={options['GRID']}: no ok run of it is here; make sweep GRID={options['GRID']}{more}"
        )
    op = options.get("OP", WHOLE).lower()
    operations = dict.fromkeys(name for run in runs for name in run.summary["tps"])
    if op not in operations:
        raise BadInputError(f"OP={op}: the runs' operations are {', '.join(operations)}")
    head, rows = numbers(runs, wanted, op)
    if given and not {*given} & {*head}:
        raise BadInputError(f"METRIC={' '.join(given)}: no run has it of OP={op}")
    write = {"csv": as_csv, "latex": as_latex, "markdown": as_markdown}[options.get("FORMAT", "csv")]
    if write is not as_csv:
        # a page names no runs
        at = head.index("run")
        head, rows = [*head[:at], *head[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in rows]
    print(write(head, rows))
    lacking = Counter(
        f"no {name}: {cuts}" for name in wanted for run in runs if (cuts := metrics.unusable(run, name))
    )
    notes = [f"{number} of {len(runs)} runs: {reason}" for reason, number in lacking.items()]
    notes += [f"METRIC={name}: no run has it of OP={op}" for name in given if name not in head]
    print(filled_lines([f"{len(rows)} samples of OP={op}", *notes, *footnotes(runs)]), file=sys.stderr)


def numbers(
    runs: Sequence[Run], wanted: Sequence[str], op: str
) -> tuple[list[str], list[list[str | float | None]]]:
    """Return head and rows: the axes in which runs differ, run, and the metrics that any run has for `op`.

    A column has the mark of runs with caveats, if there are any.
    """
    axes = select.varying(runs)
    found = {name: [metrics.value(run, name, op) for run in runs] for name in wanted}
    found = {name: values for name, values in found.items() if any(value is not None for value in values)}
    marked = any(run.marks for run in runs)
    rows: list[list[str | float | None]] = [
        [
            *(run.shown(name) for name in axes),
            run.facts["run"],
            *([MARKED if run.marks else ""] if marked else []),
            *(values[at] for values in found.values()),
        ]
        for at, run in enumerate(runs)
    ]
    return [*axes, "run", *(["mark"] if marked else []), *found], rows


def short(value: str | float | None) -> str:
    """Return a value with DIGITS digits, `-` without one."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.{DIGITS}g}" if abs(value) < 1000 else f"{value:.0f}"


def as_csv(head: Sequence[str], rows: Sequence[Sequence[str | float | None]]) -> str:
    """Return CSV, with every digit; a missing number is empty."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue().rstrip("\n")


def as_latex(head: Sequence[str], rows: Sequence[Sequence[str | float | None]]) -> str:
    """Return a LaTeX tabular."""
    lines = [
        " & ".join("".join(LATEX.get(c, c) for c in printable(short(cell))) for cell in row) + r" \\"
        for row in [head, *rows]
    ]
    columns = "".join("l" if isinstance(cell, str) else "r" for cell in rows[0])
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline",
         r"\end{tabular}"]
    )  # fmt: skip


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[str | float | None]]) -> str:
    """Return a table of Markdown."""
    rule = ["---" if isinstance(cell, str) else "---:" for cell in rows[0]]
    lines = [[printable(short(cell)).replace("|", "\\|") for cell in row] for row in [head, rule, *rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
