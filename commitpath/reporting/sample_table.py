"""`make table GRID=… FORMAT=csv|latex|markdown`: print a swept grid's metrics, by sample or as cells' means.

CSV has a row for each sample; the others, which are for a page, one for each cell.
"""

import csv
import io
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from analysis.stats import spread
from base.errors import BadInputError
from base.text import counted, filled_lines, printable
from commitpath.cells import grid
from commitpath.cells.axes import in_order
from commitpath.command_line import stored_run, variables
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.setup import LATEX
from commitpath.results import metrics, query
from commitpath.results.distinct_runs import samples
from commitpath.results.marks import MARKED, footnotes
from commitpath.results.metrics import WHOLE
from model.cell import SAMPLED, sample

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
    form = options.get("FORMAT", "csv")
    groups = [[run] for run in runs] if form == "csv" else of_cells(runs)
    head, rows, found = numbers(groups, wanted, op, form == "csv")
    if given and not found:
        raise BadInputError(f"METRIC={' '.join(given)}: no run has it of OP={op}")
    if form == "csv":
        print(as_csv(head, rows))
    else:
        write = {"latex": as_latex, "markdown": as_markdown}[form]
        print(write(head, rows, len(head) - len(found)))
    lacking = Counter(
        f"no {name}: {cuts}" for name in wanted for run in runs if (cuts := metrics.unusable(run, name))
    )
    notes = [f"{number} of {len(runs)} runs: {reason}" for reason, number in lacking.items()]
    notes += [f"METRIC={name}: no run has it of OP={op}" for name in given if name not in head]
    what = f"{len(rows)} samples of OP={op}"
    if form != "csv":
        what = f"{counted(len(rows), 'cell')}, OP={op}"
    if len(rows) < len(runs):
        what += f": means of {len(runs)} samples, ± half of the 95 % interval (Student's t)"
    print(filled_lines([what, *notes, *footnotes(runs)]), file=sys.stderr)


def of_cells(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the samples of each cell, in the order of the axes' values."""
    cells: dict[str, list[Run]] = {}
    for run in runs:
        cells.setdefault(query.unsampled(run.cell), []).append(run)
    order = {name: in_order(name, [run.shown(name) for run in runs]) for name in select.varying(runs)}
    return sorted(
        cells.values(),
        key=lambda group: [values.index(group[0].shown(name)) for name, values in order.items()],
    )


def numbers(
    groups: Sequence[Sequence[Run]], wanted: Sequence[str], op: str, single: bool
) -> tuple[list[str], list[list[str | float | None]], list[str]]:
    """Return head, rows and the metrics in them that any run has for `op`: a row for each group of samples.

    Before the metrics are the axes in which runs differ. single: each group is one run, which is named. A
    column has the mark of runs with caveats, if there are any.
    """
    runs = [run for group in groups for run in group]
    varied = [name for name in select.varying(runs) if single or name not in SAMPLED]
    found = [name for name in wanted if any(metrics.value(run, name, op) is not None for run in runs)]
    marked = any(run.marks for run in runs)
    rows: list[list[str | float | None]] = [
        [
            *(group[0].shown(name) for name in varied),
            *([group[0].facts["run"]] if single else []),
            *([MARKED if any(run.marks for run in group) else ""] if marked else []),
            *(number(group, name, op) for name in found),
        ]
        for group in groups
    ]
    return [*varied, *(["run"] if single else []), *(["mark"] if marked else []), *found], rows, found


def number(group: Sequence[Run], metric: str, op: str) -> float | str | None:
    """Return a metric of a cell's samples: the mean, with half of its 95 % interval if there is one."""
    values = [value for run in group if (value := metrics.value(run, metric, op)) is not None]
    if len(values) < max(len(group), 1):
        return None
    interval = spread.interval(values, [sample(run.cell, run.facts["run"]) for run in group])
    mean = statistics.fmean(values)
    return f"{short(mean)} ± {float(f'{(interval[1] - interval[0]) / 2:.2g}'):g}" if interval else mean


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


def as_latex(head: Sequence[str], rows: Sequence[Sequence[str | float | None]], names: int) -> str:
    """Return a LaTeX tabular. names: columns that are no numbers."""
    escapes = {**LATEX, "±": r"$\pm$"}
    lines = [
        " & ".join("".join(escapes.get(c, c) for c in printable(short(cell))) for cell in row) + r" \\"
        for row in [head, *rows]
    ]
    columns = "l" * names + "r" * (len(head) - names)
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline",
         r"\end{tabular}"]
    )  # fmt: skip


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[str | float | None]], names: int) -> str:
    """Return a table of Markdown. names: columns that are no numbers."""
    rule = ["---"] * names + ["---:"] * (len(head) - names)
    lines = [[printable(short(cell)).replace("|", "\\|") for cell in row] for row in [head, rule, *rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
