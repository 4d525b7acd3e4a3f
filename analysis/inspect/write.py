"""Write inspect.html of a run, of a trial with its power cut, or of another tool's block trace (also as CSV).

Without a page BadInputError is raised, for no such trial or no trace, or FileError, for an unreadable table.
"""

from pathlib import Path
from typing import Any

import polars as pl

from analysis.adapters import trials
from analysis.crash import verdicts
from analysis.figures import style
from analysis.inspect import external_trace, page, traced
from analysis.inspect.load import Loaded
from analysis.report.inspect_link import PAGE, linked
from base import scratch
from base.errors import BadInputError, FileError
from base.text import counted, printable


def _place(run: Path, trial: str) -> Path:
    """Return the path of a trial's page, next to its run's page."""
    return run / f"inspect-trial-{int(trial)}.html"


def cut_of(run: Loaded, trial: str) -> dict[str, Any]:
    """Return the cut for the page: its time, the transactions that are lost, the commands that were kept and
    that were not, and the verdict in words. Raises BadInputError for a trial that does not exist, or
    that has no known place in the watched run."""
    folder = run.run.folder
    if run.run.summary.get("crash") is None:
        raise BadInputError(f"RUN={folder}: {trials.NO_TRIALS}")
    table = run.run.table("trials", ("trial", "watched_ns", "commands_gone"))
    count = table.height + (run.run.summary["crash"].get("unplaced") or 0)
    rows = table.filter(pl.col("trial") == trials.parse_number(trial, count)).rows(named=True)
    if not rows:
        raise BadInputError(f"TRIAL={trial}: {trials.UNPLACED}")
    row = rows[0]
    if row["policy"] is None:
        raise BadInputError(
            f"TRIAL={trial}: a process was killed, and no command of the device was cut; a trial of "
            "CRASH=power has a place in the timeline"
        )
    if row["watched_ns"] is None:
        raise BadInputError(
            f"TRIAL={trial}: command {row['command']} is not in the timeline: from some command before it on "
            "the watched run's device got others than the board that was cut"
        )
    first, acknowledged = row["first_lost"], row["acknowledged"]
    return {
        "time": row["watched_ns"] - run.origin,
        "verdict": style.clean(verdicts.describe(row)),
        "lost": [] if first is None else list(range(first, acknowledged)),
        "under_way": row["under_way"],
        "kept": _numbers(row["commands_kept"]),
        "gone": _numbers(row["commands_gone"]),
    }


def _numbers(ranges: str | None) -> list[int]:
    """Return the numbers of `3 5-7` (crash/context.py)."""
    parts = (one.split("-") for one in (ranges or "").split())
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]


def of_run(folder: str, trial: str | None = None) -> int:
    """Write a run's inspect.html from its tables, with links in its report; or the page of a trial's cut."""
    run = Loaded(place := Path(folder), any_load=trial is None)
    text = page.render(run, None if trial is None else cut_of(run, trial))
    if trial is not None:
        return _write(text, _place(place, trial))
    code = _write(text, place / PAGE)
    if (report := place / "report.html").is_file():
        with scratch.whole(report) as part:
            part.write_text(linked(report.read_text(encoding="utf-8"), place), encoding="utf-8")
    return code


def of_trace(trace: str, form: str = "", table: str = "") -> int:
    """Write <name>.inspect.html next to a block trace, and its commands to the CSV file `table`.

    form: what `blkparse -f` was given, for its text.
    """
    try:
        read = external_trace.read(trace, form)
        for line in (*external_trace.facts(read), *read.gaps):
            print(f"inspect: {printable(line)}")
        text = page.render_trace(read)
        if table:
            with scratch.whole(Path(table)) as part:
                traced.csv(read.traced, part)
            print(f"inspect: {table} ({counted(read.shown.height, 'row')})")
    except FileError as error:
        raise BadInputError(f"TRACE={error}") from error
    return _write(text, external_trace.place(trace))


def _write(text: str, place: Path) -> int:
    with scratch.whole(place) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
    print(f"inspect: {place} ({place.stat().st_size / 2**20:.1f} MiB)")
    return 0
