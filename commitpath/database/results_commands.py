"""`make results`, `make export`, `make import`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.content import coverage
from base.errors import BadInputError
from base.text import printable, printable_lines
from commitpath.database import exchange, rebuild, select, store, sync
from commitpath.database.select import Run
from commitpath.host import places


def yes(options: dict[str, str], name: str) -> bool:
    """A variable that is `yes` or not there."""
    if options.get(name, "yes") != "yes":
        raise BadInputError(f"{name}={options[name]}: {name} is yes, or left out")
    return name in options


def results(options: dict[str, str]) -> int:
    """Bring the database up to date and list its runs."""
    selector = options.get("WHERE", "")
    select.parse(selector)
    changed = rebuild.rebuild() if yes(options, "REBUILD") else sync.up_to_date()
    with store.opened(write=False) as connection:
        runs = select.load(connection, selector)
    print(printable_lines(table(runs)))
    print(f"{len(runs)} runs, {changed} of them new or changed; {store.DATABASE}")
    return 0


def export(options: dict[str, str]) -> int:
    """Write a portable copy of the database."""
    if "FILE" not in options:
        raise BadInputError("make export takes FILE=<new file>, LAB=<label> and FILES=yes (raw files too)")
    label = exchange.check_label(options["LAB"]) if "LAB" in options else None
    with_files = yes(options, "FILES")
    target = places.new_file("FILE", options["FILE"])
    sync.up_to_date()
    print(printable(exchange.export(target, label, with_files)))
    return 0


def import_(options: dict[str, str]) -> int:
    """Merge another lab's export into this database."""
    if not options.get("FILE"):
        raise BadInputError("make import takes FILE=<an export>")
    if not (source := Path(options["FILE"])).is_file():
        raise BadInputError(f"FILE={source}: {'not a file' if source.exists() else 'no such file'}")
    sync.up_to_date()
    try:
        # the process that reads it may have another working directory
        done = exchange.import_(source.absolute())
    except store.DatabaseError as error:
        if store.passes(error):
            raise
        # this lab's own was read already: what is wrong is in the file
        raise BadInputError(str(error)) from error
    print(printable(done))
    return 0


# What a line of the table says of a run (docs/how-to/results-db.md).
_MEASURED = (
    "TPS",
    "watched",
    "cost %",
    "unattributed %",
    "no transaction %",
    "confirmed %",
    "KiB/transaction",
)
# And of what cuts took, where a run that is listed had any.
_CUTS = ("cuts tried", "lost worst", "lost mean", "corrupt", "no prefix", "unopened", "against promise")


def took(summary: Mapping[str, Any]) -> list[str]:
    """What cuts took of a run, as _CUTS names it; `-` where none were tried."""
    if (told := summary.get("crash")) is None:
        return ["-"] * len(_CUTS)
    lost, mean = (told["lost_acknowledged"][name] for name in ("max", "mean"))
    unopened = told["cuts"] - told["opened"]
    return [
        str(told["cuts"]),
        "-" if lost is None else str(lost),
        "-" if mean is None else f"{mean:.2f}",
        *map(str, (told["corrupt"], told["not_a_prefix"], unopened, told["broken"])),
    ]


def measured(summary: Mapping[str, Any]) -> list[str]:
    """What came out, as _MEASURED names it; `-` where the run has no such number.

    TPS is that of the times that count (the twin's, if there is one), watched the watched run's.
    """
    tps = (summary.get("tps") or {}).get("all")
    cost = (summary.get("watching_cost") or {}).get("all")
    ledger = summary.get("ledger") or {}
    share, none = ledger.get("unattributed_share"), (ledger.get("no_transaction") or {}).get("share")
    confirmed = (summary.get("content") or {}).get("confirmed_share")
    written = (summary.get("block") or {}).get("bytes_written")
    size = None
    if tps and written is not None:
        size = written / 1024 / (tps * summary["virtual_seconds"])
    return [
        "-" if value is None else f"{value:.{digits}f}"
        for value, digits in (
            (tps, 2),
            (None if tps is None or cost is None else tps * (1 - cost), 2),
            (None if cost is None else 100 * cost, 2),
            (None if share is None else 100 * share, 3),
            (None if none is None else 100 * none, 3),
            (None if confirmed is None else float(coverage.percent(confirmed)), 2),
            (size, 1),
        )
    ]


def witnesses(run: Run) -> str:
    """How many counted a run's commands, bytes and flushes, and whether alike; `-` where nobody did."""
    window = run.document("manifest").get("window") or {}
    counted = (window.get("counted") or {}).values()
    if not counted:
        return "-"
    fields = {name for one in counted for name in one}
    told = [{one[name] for one in counted if one.get(name) is not None} for name in fields]
    alike = all(len(values) <= 1 for values in told)
    return f"{len(counted)} {'agree' if alike else 'differ'}"


def table(runs: list[Run]) -> list[str]:
    """One line per run: what it differs in from the others, and what came out."""
    if not runs:
        return []
    names = select.varying(runs)
    constant = [name for name in runs[0].settings if name not in names and runs[0].settings[name] != ""]
    cuts = _CUTS if any(run.summary.get("crash") for run in runs) else ()
    head = [*names, "repeat", "lab", "status", *_MEASURED, "witnesses", *cuts, "run"]
    rows = [head]
    for run in runs:
        notes = [*run.reasons, *run.marks]
        rows.append(
            [
                *(run.shown(name) for name in names),
                run.facts["repeat"] or "-",
                run.facts["lab"],
                run.facts["status"],
                *measured(run.summary),
                witnesses(run),
                *(took(run.summary) if cuts else ()),
                f"{run.facts['run']}: {'; '.join(notes)}" if notes else run.facts["run"],
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [f"all: {select.label(runs[0], constant)}"] if len(runs) > 1 else []
    return lines + ["  ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip() for row in rows]
