"""`make results`, `make export`, `make import`: list, share and merge the results database."""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.paths import RESULTS
from base.text import (
    COLUMNS,
    UNBROKEN,
    aligned,
    counted,
    did_you_mean,
    filled,
    filled_lines,
    percent,
    printable,
    printable_lines,
)
from commitpath.cells.axes import axes, newest, own_name, probe_names
from commitpath.command_line import variables
from commitpath.command_line.stored_run import NO_RUNS, SHIPPED
from commitpath.database import exchange, rebuild, select, store, sync
from commitpath.database.select import FACTS, NONE, Run
from commitpath.host import places


def results(options: dict[str, str]) -> None:
    """Bring the database up to date and list its runs."""
    selector = options.get("WHERE", "")
    select.parse(selector)
    columns = chosen(options["COLUMNS"]) if "COLUMNS" in options else []
    wide = "WIDE" in options
    changed = rebuild.rebuild() if "REBUILD" in options else sync.up_to_date()
    with store.opened(write=False) as connection:
        runs = select.load(connection, selector)
        every = runs or select.load(connection)
        near = "" if runs else select.nearest(every, selector)
    older = 0 if {"WHERE", "WIDE"} & options.keys() else max(0, len(runs) - NEWEST)
    if runs:
        width = math.inf if wide else COLUMNS
        print(printable_lines(table(runs) if wide and not columns else narrow(runs[older:], columns, width)))
    if older:
        print(f"{older} older: WIDE=yes lists all, a line each; WHERE=… those of a setting or a grid")
    running = sync.running()
    for folder in running:
        print(printable(f"running  {folder.relative_to(RESULTS)}: it is being analysed"))
    if near:
        print(printable(f"WHERE={selector}: {near}"))
    print(f"{counted(len(runs), 'run')}; {changed} new or changed in all; {store.DATABASE}")
    if not (every or running):
        print(filled_lines([NO_RUNS]))


def export(options: dict[str, str]) -> None:
    """Write the database's valid rows, and with FILES=yes the runs' files, to a new file."""
    if "FILE" not in options:
        raise BadInputError("make export takes FILE=<new file>, LAB=<label> and FILES=yes (raw files too)")
    label = exchange.check_label(options["LAB"]) if "LAB" in options else None
    target = places.new_file("FILE", options["FILE"])
    sync.up_to_date()
    print(printable(exchange.export(target, label, files="FILES" in options)))


def import_(options: dict[str, str]) -> None:
    """Merge another lab's export into this database."""
    if not options.get("FILE"):
        raise variables.missing("import", ["FILE"])
    if not (source := Path(options["FILE"])).is_file():
        raise BadInputError(f"FILE={source}: {'not a file' if source.exists() else 'no such file'}")
    sync.up_to_date()
    try:
        # a process that reads it may have another working directory
        summary = exchange.import_(source.absolute())
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        # this lab's database was read before: the fault is in the file
        raise BadInputError(str(error)) from error
    print(printable(summary))


# So many runs are listed without WHERE and WIDE.
NEWEST = 20
SHIPPED_RUNS = f"lab={SHIPPED}: shipped with commitpath (docs/how-to/results-db.md)"
UNUSABLE = "✗ cuts that left no usable database"
# Columns of the table (docs/how-to/results-db.md) if a listed run had cuts.
_CUTS = ("cuts tried", "lost worst", "lost mean", "corrupt", "no prefix", "unopened", "against promise")


def losses(summary: Mapping[str, Any]) -> list[str]:
    """Return the values of _CUTS; `-` without cuts."""
    if (crash := summary.get("crash")) is None:
        return ["-"] * len(_CUTS)
    lost, mean = (crash["lost_acknowledged"][name] for name in ("max", "mean"))
    return [
        str(crash["cuts"]),
        "-" if lost is None else str(lost),
        "-" if mean is None else f"{mean:.2f}",
        *(str(crash[name]) for name in ("corrupt", "not_a_prefix")),
        str(crash["cuts"] - crash["opened"]),
        str(crash["broken"]),
    ]


def measured(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return column of the table → value; `-` if the run lacks one.

    TPS is the reported one, of the twin if there is one; watched is the watched run's.
    """
    tps = (summary.get("tps") or {}).get("all")
    cost = (summary.get("watching_cost") or {}).get("all")
    ledger = summary.get("ledger") or {}
    share, none = ledger.get("unattributed_share"), (ledger.get("no_transaction") or {}).get("share")
    confirmed = (summary.get("content") or {}).get("confirmed_share")
    written = (summary.get("block") or {}).get("bytes_written")
    kib = None if not tps or written is None else written / 1024 / (tps * summary["virtual_seconds"])
    values = {
        "TPS": (tps, 2),
        "watched": (None if tps is None or cost is None else tps * (1 - cost), 2),
        "cost %": (None if cost is None else 100 * cost, 2),
        "unattributed %": (None if share is None else 100 * share, 3),
        "no transaction %": (None if none is None else 100 * none, 3),
        "confirmed %": (None if confirmed is None else float(percent(confirmed)), 2),
        "KiB/transaction": (kib, 1),
    }
    return {name: "-" if value is None else f"{value:.{n}f}" for name, (value, n) in values.items()}


def witnesses(run: Run) -> str:
    """Return how many instruments counted a run's commands and whether they agree; `-` for none."""
    window = run.document("manifest").get("window") or {}
    counters = (window.get("counted") or {}).values()
    values: dict[str, set[Any]] = {}
    for counter in counters:
        for name, value in counter.items():
            values.setdefault(name, set()).update([] if value is None else [value])
    agree = all(len(several) <= 1 for several in values.values())
    return f"{len(counters)} {'agree' if agree else 'differ'}" if counters else "-"


def lost_most(summary: Mapping[str, Any]) -> str:
    """Return the most that a cut took, and after ✗ how many left no usable database."""
    worst = losses(summary)[_CUTS.index("lost worst")]
    return f"{worst} ✗{number}" if (number := unusable(summary)) else worst


def unusable(summary: Mapping[str, Any]) -> int:
    """Return how many cuts left no usable database; 0 without cuts."""
    return select.unusable(summary["crash"]) if summary.get("crash") else 0


def values(run: Run) -> dict[str, str]:
    """Return column → value of a run: FACTS, axes, results."""
    results = measured(run.summary)
    return {
        **{name: run.shown(name) or "none" for name in axes()},
        **{name: run.shown(name) or NONE for name in FACTS if name != "grid"},
        "grid": " ".join(sorted(run.grids)) or NONE,
        "status": run.facts["status"] + " ¶" * bool(run.marks),
        "lost most": lost_most(run.summary),
        "KiB/tx": results["KiB/transaction"],
        **results,
        "witnesses": witnesses(run),
        **dict(zip(_CUTS, losses(run.summary), strict=True)),
    }


def chosen(text: str) -> list[str]:
    """Return the columns that COLUMNS names, separated by commas, in any case. Raises BadInputError."""
    results = ["KiB/tx", "lost most", *measured({}), "witnesses", *_CUTS]
    known = {name.casefold(): name for name in (*axes(), *FACTS, *results)}
    columns = []
    for word in text.split(","):
        name = own_name(word.strip().casefold())
        if name not in known:
            also = (axis.also.lower() for axis in axes().values() if axis.also)
            near = did_you_mean(name, [*known.values(), *also])
            raise BadInputError(
                f"COLUMNS={word.strip()}: {near}a column is an axis of a cell (docs/reference/axes.md), "
                f"{', '.join((*FACTS, *results))}"
            )
        columns.append(known[name])
    return columns


def narrow(runs: list[Run], columns: Sequence[str] = (), width: float = COLUMNS) -> list[str]:
    """Return a table of runs, and under each run its settings and its reasons.

    Settings that all or most runs have are above the table. The signs are explained at the end.
    columns: those of the table, then without settings; what has no room in `width` is under the run.
    """
    if not runs:
        return []
    above, under = list[str](), [dict[str, str]() for _ in runs]
    if not columns:
        cuts = any(run.summary.get("crash") for run in runs)
        columns = ["run", "status", "TPS", "KiB/tx", *(["lost most"] if cuts else [])]
        above, under = settings(runs)
    every = [values(run) for run in runs]
    ends = itertools.accumulate(max(len(row[name]) for row in (*every, {name: name})) + 2 for name in columns)
    fitting = columns[: sum(end - 2 <= width for end in ends) or 1]
    right = [number for number, name in enumerate(fitting) if name not in (*axes(), *FACTS)]
    head, *rows = aligned([fitting, *([row[name] for name in fitting] for row in every)], right)
    lines = [*above, head]
    for run, row, text, rest in zip(runs, every, rows, under, strict=True):
        rest |= {name: row[name] for name in columns[len(fitting) :] if row[name] != NONE}
        lines.append(text)
        for paragraph in filter(None, (pairs(rest), *map(printable, run.reasons))):
            lines += filled(paragraph, first="  ")
    return lines + [line for note in [*select.tags(lines), *notes(runs)] for line in filled(note)]


# Share of the runs from which on a setting stands above the table.
MOST = 0.75


def settings(runs: Sequence[Run]) -> tuple[list[str], list[dict[str, str]]]:
    """Return lines with the settings that all or most runs have, and the other settings of each run.

    What all have by default is left out. lab is a setting here, unless all are of this lab.
    """
    every, most, others = dict[str, str](), dict[str, str](), [dict[str, str]() for _ in runs]
    varying, shorter = select.varying(runs), {",".join(probe_names()): "all"}
    default = {name: str(axis.spec["default"]) for name, axis in axes().items()}
    default |= {"lab": store.UNNAMED, "sqlite": newest()}
    for name in ("lab", *select.names(runs)):
        texts = [run.shown(name) for run in runs]
        found = [shorter.get(text, text) for text in texts]
        ((value, number),) = Counter(found).most_common(1)
        if number == len(runs):
            if texts[0] not in (default.get(name), "", NONE):
                every[name] = value
        elif name in varying or name == "lab":
            usual = number >= MOST * len(runs) and value not in ("", NONE)
            most |= {name: value} if usual else {}
            for other, text in zip(others, found, strict=True):
                if text != value if usual else text not in ("", NONE):
                    other[name] = text or "none"
    heads = (("all", every), ("unless a run names another", most))
    return [line for head, of in heads if of for line in filled(f"{head}: {pairs(of)}")], others


def pairs(named: Mapping[str, str]) -> str:
    """Return names and values as `page_size=4096 n=100`, no pair in two lines."""
    return " ".join(printable(f"{name}={value}").replace(" ", UNBROKEN) for name, value in named.items())


def notes(runs: list[Run]) -> list[str]:
    """Return what the signs of a list mean: ✗, and ¶ for each caveat with its number of runs."""
    lines = [SHIPPED_RUNS] if any(run.facts["lab"] == SHIPPED for run in runs) else []
    lines += [UNUSABLE] if any(unusable(run.summary) for run in runs) else []
    for mark, number in Counter(mark for run in runs for mark in run.marks).items():
        text = f": {mark}"
        if mark == select.UNVERIFIED:
            one = number == 1
            text = f" {'is' if one else 'are'} unverified: {'its' if one else 'their'} files are not here"
        lines.append(f"¶ {counted(number, 'run')}{text}")
    return lines


def table(runs: list[Run]) -> list[str]:
    """Return one line per run: the axes in which runs differ, and results."""
    if not runs:
        return []
    names = select.varying(runs)
    # of the runs that have the axis
    alike = {name: value for run in runs for name, value in run.settings.items() if name not in names}
    cuts = _CUTS if any(run.summary.get("crash") for run in runs) else ()
    head = [*names, "repeat", "lab", "status", *measured(runs[0].summary), "witnesses", *cuts, "run"]
    rows = [head]
    for run in runs:
        notes = [*run.reasons, *run.marks]
        rows.append(
            [
                *(run.shown(name) for name in names),
                run.facts["repeat"] or "-",
                run.facts["lab"],
                run.facts["status"],
                *measured(run.summary).values(),
                witnesses(run),
                *(losses(run.summary) if cuts else ()),
                f"{run.facts['run']}: {'; '.join(notes)}" if notes else run.facts["run"],
            ]
        )
    constant = " ".join(f"{name}={value}" for name, value in alike.items() if value != "")
    lines = [f"all: {constant}"] if len(runs) > 1 else []
    return lines + aligned(rows)
