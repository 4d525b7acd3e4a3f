"""`make hunt`: run random settings, SQL and power cuts for MINUTES; shrink and store broken promises.

A finding is shrunk to few transactions and one crash point, and stored as a crash case in results/hunt/.
"""

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import yaml

from analysis import stages
from analysis.__main__ import main as analyse
from analysis.crash import align, verdicts
from analysis.run import Run
from base import scratch
from base.errors import BadInputError, FileError, LabError
from base.paths import EXPERIMENTS, RESULTS
from base.text import printable
from commitpath.cells.axes import axes
from commitpath.cells.data_files import load
from commitpath.cells.from_variables import make_cell
from commitpath.commands import board_commands, hunt_load
from commitpath.commands.hunt_load import Load
from commitpath.host import ansible
from commitpath.run.experiment import default_limit, run_once
from commitpath.sweep.drive import whole_number
from model.cell import Cell
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands
from model.crash_points.policies import EVERYTHING, NOTHING

DRAWN = EXPERIMENTS / "hunt.yml"
FOUND = RESULTS / "hunt"
# The call ends after so many draws in a row that are no valid cell.
MOST_REFUSED = 100


def hunt(variables: dict[str, str]) -> int:
    """Run drawn cells with crash trials for MINUTES. The exit code is 1 if one broke a promise."""
    seed = whole_number(variables, "SEED", 1, 0)
    minutes = whole_number(variables, "MINUTES", 10, 1)
    given = {name: text for name, text in variables.items() if name not in ("SEED", "MINUTES")}
    drawn, draws = load(DRAWN, "hunt"), random.Random(seed)
    for variable, text in given.items():
        axes()[variable.lower()].parse(text, variable)
    cases, tried, unjudged, end = 0, 0, 0, time.monotonic() + 60 * minutes
    of_board: dict[str, str] = {}
    while time.monotonic() < end:
        if tried % drawn["runs_per_board"] == 0:
            of_board = pick(draws, drawn["boards"], {})
        settings, statements, cell = draw(draws, drawn, of_board, given)
        tried += 1
        hidden = {*given, *map(str.upper, drawn["constants"])}
        shown = " ".join(f"{name}={text}" for name, text in settings.items() if name not in hidden)
        title = f"run {tried}: {shown}, {len(statements.transactions)} transactions"
        try:
            run = done(cell)
        except (LabError, FileError) as error:
            unjudged += 1
            print(printable(f"{title}: no verdict: {error}"), flush=True)
            continue
        print(printable(f"{title}: {outcome(run)}"), flush=True)
        if broken(run).height:
            cases += 1
            print(
                printable(keep(settings, *shrunk(settings, statements, run, drawn["shrinking"]))), flush=True
            )
    print(f"{tried} runs with SEED={seed}: {cases} broke a promise, {unjudged} had no verdict")
    if tried == unjudged:
        raise LabError("none of the runs has a verdict")
    return 1 if cases else 0


def pick(
    draws: random.Random, values: Mapping[str, Sequence[Any]], given: Mapping[str, str]
) -> dict[str, str]:
    """Return a drawn value of each axis that is not given, as make variables."""
    chosen = {axes()[name].variable: str(draws.choice(ones)) for name, ones in values.items()}
    return {name: text for name, text in chosen.items() if name not in given}


def draw(
    draws: random.Random, drawn: Mapping[str, Any], of_board: Mapping[str, str], given: Mapping[str, str]
) -> tuple[dict[str, str], Load, Cell]:
    """Return a drawn cell's variables, load, and the cell. Raises BadInputError if none is allowed."""
    constants = {name.upper(): str(value) for name, value in drawn["constants"].items()}
    for _ in range(MOST_REFUSED):
        statements = hunt_load.draw(draws, drawn["load"])
        settings = {**constants, **of_board, "CUT_SEED": str(draws.randrange(1000))}
        settings |= {**pick(draws, drawn["axes"], given), **given}
        try:
            return settings, statements, cell_of(settings, statements)
        except BadInputError as error:
            refused = error
    raise BadInputError(f"no cell that {DRAWN.name} draws is allowed; the last: {refused}")


def cell_of(settings: Mapping[str, str], statements: Load) -> Cell:
    """Return the cell of these variables with a load. Raises BadInputError."""
    with scratch.temporary("hunt") as work:
        statements.write(work / "load.sql")
        return make_cell({**settings, "FILE": str(work / "load.sql")})


def done(cell: Cell) -> Run:
    """Run a cell and return its run with its judged trials. Raises LabError if it fails or is rejected."""
    board_commands.make_ready([cell], ansible.board(cell.board), "")
    folder = run_once(cell, default_limit())
    if analyse([str(folder), "--quiet"]):
        raise LabError(board_commands.why_failed(folder))
    return stages.build(folder)


def broken(run: Run) -> pl.DataFrame:
    """Return the trials of a run that break its promise."""
    assert run.judged is not None
    return verdicts.broken(run.cell, run.judged)


def outcome(run: Run) -> str:
    """Return what the trials of a run showed, in words."""
    assert run.judged is not None
    if not (against := broken(run)).height:
        return f"{run.judged.height} cuts, the promise was kept ({run.folder.name})"
    first = verdicts.describe(against.row(0, named=True))
    return f"PROMISE BROKEN by {against.height} of {run.judged.height} cuts; {first} ({run.folder.name})"


def shrunk(settings: Mapping[str, str], statements: Load, run: Run, most: int) -> tuple[Load, Run]:
    """Return a load with fewer transactions, and its run, which breaks its promise, too.

    Transactions after the cut go first, then halves, quarters, …, single ones. most: runs for it.
    """
    left, tries = most, [(int(broken(run)["begun"].min()), len(statements.transactions))]  # type: ignore[arg-type]
    size = max(1, tries[0][0] // 2)
    while left and (tries or size):
        if not tries:
            count = len(statements.transactions)
            tries = (
                [(begin, begin + size) for begin in range(count - size, -1, -size)] if count > size else []
            )
            size //= 2
            continue
        begin, end = tries.pop(0)
        fewer = statements.without(begin, end)
        if not fewer.transactions or fewer == statements:
            continue
        left -= 1
        try:
            again = done(cell_of(settings, fewer))
        except (LabError, FileError):
            continue
        if broken(again).height:
            statements, run = fewer, again
    return statements, run


def keep(settings: Mapping[str, str], statements: Load, run: Run) -> str:
    """Store the simplest broken trial of a run as a case. Returns the command that repeats it."""
    rows = broken(run).rows(named=True)
    trials = {trial.number: trial for trial in align.plan(run)}
    simple = {EVERYTHING: 0, NOTHING: 1}
    rows.sort(
        key=lambda row: (trials[row["trial"]].torn is not None, simple.get(row["policy"], 2), row["trial"])
    )
    row, trial = rows[0], trials[rows[0]["trial"]]
    if trial.torn is not None:
        # a case has no torn sectors
        return f"again: make crash-replay RUN={run.folder} TRIAL={trial.number}"
    shown = {"verdict": row["verdict"], "acknowledged": row["acknowledged"]}
    shown |= {name: row[name] for name in ("transactions", "lost") if row[name] is not None}
    case = {
        "description": f"Found by make hunt. {verdicts.describe(row)}",
        "cell": {**{name.lower(): text for name, text in settings.items()}, "file": "load.sql"},
        "cut": {"command": trial.command, "where": trial.where, "keeps": kept(run, trial)},
        "shows": shown,
    }
    place = FOUND / run.folder.name
    with scratch.folder(FOUND, place.name) as part:
        statements.write(part / "load.sql")
        (part / "case.yml").write_text(yaml.safe_dump(case, sort_keys=False, width=110))
        scratch.keep(part, place)
    count = len(statements.transactions)
    return f"{count} transactions suffice: make crash-replay CASE={place / 'case.yml'}"


def kept(run: Run, trial: Trial) -> str | list[int]:
    """Return what the device keeps in a trial, as a case has it."""
    if trial.policy in (EVERYTHING, NOTHING):
        return trial.policy
    assert run.timed_log is not None
    commands = Commands(run.timed_log.entries, Cache.from_profile(run.cell.profiles["device"]))
    left = set(commands.losable(trial.moment).tolist()) - set(trial.lost)
    return sorted(left) or NOTHING
