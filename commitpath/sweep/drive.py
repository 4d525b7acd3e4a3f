"""`make sweep`: plan a grid's runs, make the missing ones with Snakemake, print each run's result."""

import contextlib
import fcntl
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from base import scratch
from base.errors import BadInputError, LabError
from base.paths import RESULTS
from base.text import choices, filled_lines, printable, printable_lines
from commitpath.boards import lab_board
from commitpath.cells import samples
from commitpath.cells.axes import axes
from commitpath.cells.grid import Excluded, expand, names, run_names
from commitpath.database import select, store, sync
from commitpath.database.results_commands import narrow
from commitpath.database.select import Run
from commitpath.database.sweep_state import STATE, read_state
from commitpath.host import ansible, places
from commitpath.host.packages import ensure_packages
from commitpath.inputs import sql_check
from commitpath.results import clocks
from commitpath.results.expect_option import Check, judged
from commitpath.results.outcome import Outcome
from commitpath.sweep import emulator_build, progress, snakemake, sweep_plan
from commitpath.sweep.sweep_plan import Planned
from images import artifacts, snapshot
from model.cell import SAMPLED, Cell

# Most runs in the table at a sweep's end.
SHOWN_RUNS = 12
# Where `make figure` shows an axis.
PLACES = ("X", "SERIES", "FACET")
# For the order of a lab board's runs.
ORDER_SEED = 1
OPTIONS = ("GRID", "JOBS", "RETRIES", "EXECUTOR")


@judged
def sweep(variables: dict[str, str], check: Check) -> Outcome:
    """Run the missing runs of the grids; the exit code is 1 if a run failed."""
    options = {name: variables.pop(name) for name in OPTIONS if name in variables}
    # an unknown board first, before the needs of its cells
    ansible.board(variables.get("BOARD", "virtual"))
    runs, excluded = planned(options, variables)
    check(run.cell for run in runs.values())
    code = carry_out(runs, excluded, options)
    done = [run for run in runs.values() if failure(run) is None]
    names = varying(run.cell for run in done)
    accepted = [(settings_of(run.cell, names), RESULTS / run_of(run.key)) for run in done]
    grids = list(dict.fromkeys(grid for run in runs.values() for grid in run.grids))
    listed = f"make results WHERE='grid={'|'.join(grids)}'"
    more = len(done) - SHOWN_RUNS
    print(printable(f"{more} more: {listed}" if more > 0 else f"{listed} lists them"))
    asked = grids_of(options["GRID"])
    for grid in asked:
        own = done if len(asked) == 1 else [run for run in done if runs_of(grid) & {*run.grids}]
        if own:
            print(filled_lines([next_command(grid, settings_varied(run.cell for run in own))]))
    missing = len(runs) - len(done)
    return Outcome(code, accepted, f"{missing} of {len(runs)} runs failed" if missing else "")


def runs_of(grid: str) -> set[str]:
    """Return the names that a grid's runs have; none if it is valid only with the call's variables."""
    with contextlib.suppress(BadInputError):
        return run_names(grid)
    return set()


def varying(cells: Iterable[Cell]) -> list[str]:
    """Return the axes in which cells differ."""
    cells = list(cells)
    return [name for name in axes() if len({str(cell.value(name)) for cell in cells}) > 1]


def settings_varied(cells: Iterable[Cell]) -> list[str]:
    """Return the axes in which cells differ, without those of their samples."""
    return [name for name in varying(cells) if name not in SAMPLED]


def settings_of(cell: Cell, names: Iterable[str]) -> str:
    """Return a cell's values of some axes."""
    return " ".join(f"{name}={cell.value(name)}" for name in names)


def figure_places(varied: Sequence[str]) -> dict[str, str]:
    """Return X, SERIES and FACET of a figure of varied axes; none if it cannot show them."""
    if len(varied) > len(PLACES):
        return {}
    # numbers are what a line is drawn over
    return dict(zip(PLACES, sorted(varied, key=lambda name: not axes()[name].numeric), strict=False))


def next_command(name: str, varied: Sequence[str]) -> str:
    """Return what shows a grid's numbers: a figure where each cell has a place of its own, else a table."""
    if not (places_of_axes := figure_places(varied)):
        return f"make table GRID={name} prints their numbers"
    words = " ".join(f"{place}={axis}" for place, axis in places_of_axes.items())
    return f"make figure GRID={name} {words} FIGURE={Path(name).stem}.pdf draws their TPS"


def carry_out(
    runs: dict[str, Planned], excluded: list[Excluded], options: Mapping[str, str], whole: bool = True
) -> int:
    """Run the missing runs of a plan; return 1 if a run failed. options: JOBS, RETRIES, EXECUTOR, GRID.

    GRID: the plan is what was asked for, and its newest runs are listed even if it has many.
    whole: whether the plan is all of its grids; it then replaces their rows in the database.
    """
    runs = in_order(runs)
    jobs = whole_number(options, "JOBS", os.cpu_count() or 1, 1)
    retries = whole_number(options, "RETRIES", 1, 0)
    executor = options.get("EXECUTOR", "local")
    on_slurm = snakemake.slurm_arguments() if executor == "slurm" else []
    entries = {name: ansible.board(name) for name in {run.cell.board for run in runs.values()}}
    for run in runs.values():
        lab_board.check_clock(run.cell, entries[run.cell.board])
    places.check_runs(run.cell for run in runs.values())
    with only_sweep():
        sweep_plan.write(runs, excluded)
        todo = sweep_plan.forget_stale(runs)
        if todo:
            kinds = {entries[runs[key].cell.board]["board_kind"] for key in todo}
            ensure_packages(virtual="virtual" in kinds)
            for key in todo:
                sql_check.check(runs[key].cell)
            announce(runs, todo, jobs)
            # Slurm's boards run elsewhere
            with emulator_build.meanwhile([] if on_slurm else [runs[key].cell for key in todo]):
                snakemake.run(runs, todo, jobs, retries, on_slurm)
            settle(runs, todo)
        sync.up_to_date()
        if whole:
            with store.opened() as connection:
                sweep_plan.write_rows(connection, runs.values(), excluded)
        # without the lock for writing, for which other commands wait
        with store.opened(write=False) as connection:
            stored = select.load(connection)
        return report(runs, excluded, todo, stored, "GRID" in options)


def announce(runs: Mapping[str, Planned], todo: Sequence[str], jobs: int) -> None:
    """Print a sweep's size and time before it begins. A board's size is the mean of those in the cache."""
    groups = sweep_plan.with_bases(runs[key].group for key in todo if runs[key].cell.clock == "virtual")
    sizes = [size for _, size, _ in snapshot.stored(artifacts.CACHE / "snapshots")]
    disk = f", {len(groups) * sum(sizes) / len(sizes) / 2**30:.1f} GiB of cache" if sizes and groups else ""
    boards = f"; at most {len(groups)} boards to prepare{disk}" if groups else ""
    head = f"sweep: {len(todo)} of {len(runs)} runs to make, {jobs} at a time{boards}"
    text = f"{head}; {progress.duration({key: runs[key] for key in todo}, jobs)}"
    print(filled_lines([text]), file=sys.stderr)


def planned(
    options: Mapping[str, str], variables: Mapping[str, str]
) -> tuple[dict[str, Planned], list[Excluded]]:
    """Return the runs and excluded cells of GRID and the other variables."""
    if not options.get("GRID"):
        raise BadInputError(
            f"GRID: missing; it is {choices(names(), 'ls experiments/grids')}, or a .yml file"
        )
    sampling = samples.read(variables)
    overrides = {name: text for name, text in variables.items() if name not in samples.VARIABLES}
    grids = grids_of(options["GRID"])
    runs, excluded = sweep_plan.merge(expand(grid, overrides, sampling) for grid in grids)
    return runs, excluded


def grids_of(text: str) -> list[str]:
    """Return the grids that GRID names."""
    return [text] if Path(text).is_file() else re.split(r"[ ,]+", text.strip())


def in_order(runs: dict[str, Planned]) -> dict[str, Planned]:
    """Return the runs in their order in time: shuffled on a lab board, against drift."""
    if all(run.cell.board == "virtual" for run in runs.values()):
        return runs
    keys = list(runs)
    random.Random(ORDER_SEED).shuffle(keys)
    return {key: runs[key] for key in keys}


def whole_number(options: Mapping[str, str], name: str, default: int, least: int) -> int:
    """Return the number of an option. Raises BadInputError."""
    text = options.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) < least:
        raise BadInputError(f"{name}={text}: {name} is a whole number from {least} to 9999")
    return int(text)


@contextlib.contextmanager
def only_sweep() -> Iterator[None]:
    """Hold the lock of results/'s sweeps; the kernel releases it when the holder dies."""
    STATE.mkdir(parents=True, exist_ok=True)
    with scratch.lock_file(STATE / "lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LabError(f"another sweep is running in {RESULTS}; wait for its end or stop it") from error
        yield


def settle(runs: Mapping[str, Planned], todo: Sequence[str]) -> None:
    """Record the reason for each run that was not started: the failure of its board."""
    for key in todo:
        if (STATE / "done" / key).exists() or (STATE / "failed" / key).exists():
            continue
        group = runs[key].group
        records = [read_state(STATE / "failed" / name) for name in (group, group.partition("+")[0])]
        record = records[0] or records[1]
        if record is None:
            raise LabError(f"Snakemake left runs undone; why: {STATE}/log/snakemake.log")
        record |= {"cell": runs[key].cell.document(), "repeat": runs[key].repeat}
        scratch.write(STATE / "failed" / key, json.dumps(record))


def report(
    runs: Mapping[str, Planned],
    excluded: Sequence[Excluded],
    todo: Sequence[str],
    stored: Iterable[Run],
    listed: bool,
) -> int:
    """Print the result of the runs; return the exit code. stored: the runs of the database.

    listed: whether the newest runs are listed even if there are many.
    """
    failures = {key: reason for key in runs if (reason := failure(runs[key])) is not None}
    for entry in excluded:
        settings = " ".join(f"{name}={value}" for name, value in entry.settings.items())
        print(printable(f"excluded  {entry.grid}: {settings}: {entry.reason}"))
    varied = varying(run.cell for run in runs.values())
    for key, reason in failures.items():
        words = f"{', '.join(runs[key].grids)}: {settings_of(runs[key].cell, varied)} ({key})"
        print(printable(f"failed    {words}: {reason}"))
    stored = list(stored)
    paths = {run_of(key) for key in runs if key not in failures}
    if listed or len(runs) <= SHOWN_RUNS:
        print(printable_lines(narrow([run for run in stored if run.path in paths][-SHOWN_RUNS:])))
    done = len(runs) - len(failures)
    print(
        f"{len(runs)} runs: {done} ok ({done - len([k for k in todo if k not in failures])} of them from "
        f"before), {len(failures)} failed; {len(excluded)} cells excluded"
    )
    hosts = [read_state(RESULTS / run_of(key) / "host.json") or {} for key in runs if key not in failures]
    commits = Counter(str(host.get("commitpath_commit")) for host in hosts)
    if len(commits) > 1:
        counts = ", ".join(f"{commit} ({number})" for commit, number in commits.items())
        text = f"made by several versions of commitpath: {counts}; make results WHERE='commit=…' lists them"
        print(printable(text))
    cells = {Path(run_of(key)).parent for key in runs if key not in failures}
    for path in clocks.odd(run for run in stored if run.path is not None and Path(run.path).parent in cells):
        print(
            printable(
                f"other times: {path}: not those of the cell's other runs (docs/measurements/performance.md)"
            )
        )
    return 1 if failures else 0


def run_of(key: str) -> str:
    """Return the folder of a done run, below results/."""
    return str((read_state(STATE / "done" / key) or {}).get("run"))


def failure(run: Planned) -> str | None:
    """Return the reason for a missing run, or None."""
    if (STATE / "done" / run.key).exists():
        return None
    record = read_state(STATE / "failed" / run.key)
    return str(record["reason"]) if record else "it was not run"
