"""`make results`, `make export`, `make import`: list, share and merge the results database."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.paths import RESULTS
from base.text import aligned, counted, filled, filled_lines, percent, printable, printable_lines
from commitpath.command_line import variables
from commitpath.command_line.stored_run import NO_RUNS, SHIPPED
from commitpath.database import exchange, rebuild, select, store, sync
from commitpath.database.select import Run
from commitpath.host import places


def results(options: dict[str, str]) -> None:
    """Bring the database up to date and list its runs."""
    selector = options.get("WHERE", "")
    select.parse(selector)
    changed = rebuild.rebuild() if "REBUILD" in options else sync.up_to_date()
    with store.opened(write=False) as connection:
        runs = select.load(connection, selector)
        every = runs or select.load(connection)
        near = "" if runs else select.nearest(every, selector)
    older = 0 if {"WHERE", "WIDE"} & options.keys() else max(0, len(runs) - NEWEST)
    if runs:
        print(printable_lines(table(runs) if options.get("WIDE") == "yes" else narrow(runs[older:])))
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
# Columns of a run's id with a process number of 5 digits.
RUN_WIDTH = 22
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


def narrow(runs: list[Run]) -> list[str]:
    """Return each run in 80 columns: its results, then the settings in which runs differ, and its reasons.

    The signs are explained at the end.
    """
    names = select.varying(runs) if runs else []
    labs = {run.facts["lab"] for run in runs} - {"local"}
    cuts = any(run.summary.get("crash") for run in runs)
    place = f"{{:<{RUN_WIDTH}}}  {{:<10}}  {{:>10}}  {{:>7}}" + ("  {:>9}" if cuts else "")
    lines = [place.format("run", "status", "TPS", "KiB/tx", *(["lost most"] if cuts else []))] if runs else []
    for run in runs:
        values = measured(run.summary)
        lost = [lost_most(run.summary)] if cuts else []
        status = run.facts["status"] + " ¶" * bool(run.marks)
        results = [status, values["TPS"], values["KiB/transaction"], *lost]
        shown = {**({"lab": run.facts["lab"]} if labs else {}), **{name: run.shown(name) for name in names}}
        settings = " ".join(f"{name}={value}" for name, value in shown.items() if value not in ("", "-"))
        lines.append(place.format(run.facts["run"], *results))
        for text in filter(None, (settings, *run.reasons)):
            lines += filled(printable(text), first="  ")
    return lines + [line for note in notes(runs) for line in filled(note)]


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
