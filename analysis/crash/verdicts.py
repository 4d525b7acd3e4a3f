"""Judge crash trials by recovered database, acknowledged transactions and promised durability; sum them up.

What a cell's settings promise is in model/durability.py.
"""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters import trials
from analysis.adapters.driver import Driver
from analysis.adapters.trials import RECOVERY, TRIALS, Board, count_recoveries
from analysis.crash import align, context, kills, prefixes
from analysis.crash.context import Watched
from analysis.crash.prefixes import ExpectedStates
from analysis.ledger.build import Ledger
from analysis.recorded import Recorded
from analysis.run import Run
from base.errors import FileError
from model import durability
from model.cell import Cell
from model.crash_points.cuts import Trial
from model.crash_points.policies import FAULT, POWER, PROCESS
from model.engines.survival import MOST_LOST

# Verdicts on the database, worst first.
DIED, UNMOUNTED, UNOPENED, CORRUPT, NO_PREFIX, HOLE, LOST, WHOLE = (
    "board died",
    *("not mounted", "not opened", "corrupt", "not a prefix"),
    *("hole", "lost", "whole"),
)
# Explanation of NO_PREFIX.
UNLIKE_ANY = "its rows match the state after no number of transactions"
# Columns known before a trial runs.
CUT: dict[str, type[pl.DataType]] = {
    **{"trial": pl.Int64, "command": pl.Int64, "where": pl.String, "cut_ns": pl.Int64, "policy": pl.String},
    **dict.fromkeys(["losable", "lost_commands", "torn_sectors", "acknowledged", "begun"], pl.Int64),
    # of a cell with persistent memory (crash_points/pmem_lines.py)
    **{"call": pl.Int64, "line_policy": pl.String, "losable_lines": pl.Int64, "lost_lines": pl.Int64},
}


def judge(run: Recorded, ledger: Ledger | None) -> pl.DataFrame | None:
    """Return one row per trial, in order: crash point, recovery (trials.TRIALS, RECOVERY) and verdict.

    None for a run without trials. A crash point is on the board that had the trial; for one that ended its
    board, on any. A trial with a state that no crash leaves there has no row (`unplaced`). Raises FileError
    if the expected states are unknown.
    """
    if not run.trials and run.kills is None:
        return None
    died = {int(number): reason for number, reason in run.host.get("trials_died", {}).items()}
    if run.kills is not None:
        tried, ended = kills.rows(run, died.keys(), ledger)
        # columns of a device failure are empty
        every = {**CUT, **context.BOARD, **context.LEDGER, **TRIALS, **RECOVERY}
        of_device = {name: kind for name, kind in every.items() if name not in tried.columns}
        empty = [pl.lit(None, kind).alias(name) for name, kind in of_device.items()]
        tables: list[tuple[pl.DataFrame, Driver]] = [(tried.with_columns(empty), run.timing)]
    else:
        plan = align.plan(run)
        each = [(board, align.located(run, board, plan)) for board in run.trials]
        watched = run, ledger
        tables = [(_tried(board, trials, watched), board.driver) for board, trials in each]
        ended, left = _cuts(*each[0], set(), watched), set(died)
        for board, trials in each:
            ended = pl.concat([ended, _cuts(board, trials, left, watched)])
            left.difference_update(ended["trial"])
    reasons = pl.Series([died[number] for number in ended["trial"]], dtype=pl.String)
    ended = ended.with_columns(verdict=pl.lit(DIED), said=reasons)
    phases = phases_of(run.driver)
    came_up = pl.concat([table for table, _ in tables], how="diagonal")
    try:
        expected = ExpectedStates(prefixes.states(run.cell, phases, came_up, run.timing.writers))
    except (KeyError, ValueError) as error:
        raise FileError(run.folder / "cell.json", "", f"trials of a run, but {error}", "see docs") from None
    judged = [_judged(table, expected, driver, run.cell, phases) for table, driver in tables]
    return pl.concat([*judged, ended], how="diagonal").sort("trial")


def judge_board(board: Board, cell: Cell, tried: list[Trial]) -> pl.DataFrame:
    """Return the rows of one board's trials without a watched run; tried: the trials they are of."""
    table = _tried(board, tried, None)
    phases = phases_of(board.driver)
    expected = ExpectedStates(prefixes.states(cell, phases, table, board.driver.writers))
    return _judged(table, expected, board.driver, cell, phases)


def unplaced(run: Run) -> dict[int, Board]:
    """Return the trials that ran but have no row, with the board of each."""
    if run.judged is None:
        return {}
    there = set(run.judged["trial"])
    return {number: board for board in run.trials for number in board.trials["trial"] if number not in there}


def phases_of(driver: Driver) -> list[str]:
    """Return the phases that a driver ran."""
    phases: list[str] = driver.workload_phases["phase"].to_list()
    return phases


def _tried(board: Board, tried: list[Trial], watched: Watched | None) -> pl.DataFrame:
    """Return one board's trials with their results; tried: the trials they are of."""
    return _cuts(board, tried, set(board.trials["trial"]), watched).join(board.trials, on="trial")


def _judged(
    trials: pl.DataFrame, expected: ExpectedStates, driver: Driver, cell: Cell, phases: list[str]
) -> pl.DataFrame:
    """Return trials with their verdicts; driver: of the run that crashed."""
    holds = [expected.held(row) for row in trials.iter_rows(named=True)]
    trials = trials.with_columns(prefixes.holes_of_trials(trials, holds, cell, phases, driver.writers))
    both = list(zip(holds, trials["acknowledged"], strict=True))
    missing = [expected.between(held, acknowledged) for held, acknowledged in both]
    firsts = [expected.first_between(held, acknowledged) for held, acknowledged in both]
    ends = driver.commits["end_ns"]
    since = [None if first is None else int(ends[first]) for first in firsts]
    trials = trials.with_columns(
        transactions=pl.Series(holds, dtype=pl.Int64),
        missing=pl.Series(missing, dtype=pl.Int64),
        first_lost=pl.Series(firsts, dtype=pl.Int64),
        since=pl.Series(since, dtype=pl.Int64),
    )
    lost, opened = pl.col("missing"), pl.col("opened") == 1
    trials = trials.with_columns(
        verdict=_verdict(),
        lost=pl.when(lost > 0).then(lost).when(lost <= 0).then(0),
        lost_ns=pl.when(lost > 0).then(pl.col("cut_ns") - pl.col("since")).when(lost <= 0).then(0),
        unacknowledged=pl.when(lost < 0).then(-lost).when(lost >= 0).then(0),
        recovery_ns=pl.when(opened).then(
            pl.col("opened_ns") - pl.col("shown_ns") - pl.col("looked_ns").fill_null(0)
        ),
        recovery_reads=pl.when(opened).then(pl.col("reads")),
        recovery_writes=pl.when(opened).then(pl.col("writes")),
    )
    return trials.drop("missing", "since")


def _cuts(board: Board, tried: list[Trial], numbers: Set[int], watched: Watched | None) -> pl.DataFrame:
    """Return the facts known before the trials run, for those of `numbers`."""
    ran = board.driver.commits
    begins, ends = (ran[name].to_numpy() for name in ("begin_ns", "end_ns"))
    tried = [trial for trial in tried if trial.number in numbers]
    rows = [
        {
            **{"trial": trial.number, "where": trial.where, "cut_ns": trial.moment},
            **{"command": trial.command if trial.call is None else None, "call": trial.call},
            **{"policy": trial.policy, "losable": trial.losable, "lost_commands": len(trial.lost)},
            "torn_sectors": trial.torn[1] if trial.torn else None,
            **_of_lines(trial),
            "acknowledged": int(np.searchsorted(ends, trial.moment, side="right")),
            "begun": int(np.searchsorted(begins, trial.moment, side="right")),
        }
        for trial in tried
    ]
    return pl.DataFrame(rows, schema=CUT).join(context.table(board, tried, watched), on="trial")


def _of_lines(trial: Trial) -> dict[str, Any]:
    memory = trial.memory
    if memory is None:
        return dict.fromkeys(("line_policy", "losable_lines", "lost_lines"))
    return {"line_policy": memory.policy, "losable_lines": memory.losable, "lost_lines": len(memory.lost)}


def _verdict() -> pl.Expr:
    held = pl.col("transactions")
    return (
        pl.when(pl.col("mount_error") > 0)
        .then(pl.lit(UNMOUNTED))
        .when(pl.col("opened").ne_missing(1))
        .then(pl.lit(UNOPENED))
        .when(pl.col("is_whole").ne_missing(1) | (pl.col("signal") != 0))
        .then(pl.lit(CORRUPT))
        .when(pl.col("hole_first").is_not_null())
        .then(pl.lit(HOLE))
        .when(held.is_null())
        .then(pl.lit(NO_PREFIX))
        .when(pl.col("missing") > 0)
        .then(pl.lit(LOST))
        .otherwise(pl.lit(WHOLE))
    )


def promised(cell: Cell) -> str:
    """Return in words what the cell's settings promise for its failure (model/engines/survival.py)."""
    survives = durability.promised(cell)
    if cell.crash in (POWER, FAULT):
        return survives.power
    return survives.process if cell.crash == PROCESS else survives.system


def broken(cell: Cell, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the trials that break the promise; none where nothing is promised."""
    if (promise := promised(cell)) not in MOST_LOST:
        return judged.clear()
    most = MOST_LOST[promise]
    inconsistent = ~pl.col("verdict").is_in([LOST, WHOLE])
    return judged.filter(inconsistent if most is None else inconsistent | (pl.col("lost") > most))


def summary(run: Run) -> dict[str, Any] | None:
    """Return `crash` of summary.json (docs/reference/formats.md); None for a run without trials."""
    judged, cell = run.judged, run.cell
    if judged is None:
        return None
    verdict, lost = judged["verdict"], judged["lost"].drop_nulls()
    recovery, work = (judged[name].drop_nulls() / 1e6 for name in ("recovery_ns", "lost_ns"))
    against = broken(cell, judged)
    return {
        "failure": cell.crash,
        "cuts": judged.height,
        "unplaced": len(unplaced(run)),
        "died": int((verdict == DIED).sum()),
        "mounted": int((~verdict.is_in([DIED, UNMOUNTED])).sum()),
        "opened": int((~verdict.is_in([DIED, UNMOUNTED, UNOPENED])).sum()),
        "corrupt": int((verdict == CORRUPT).sum()),
        "not_a_prefix": int((verdict.is_in([NO_PREFIX, HOLE])).sum()),
        "holes": int((verdict == HOLE).sum()),
        "lost_acknowledged": {
            "cuts": int((lost > 0).sum()),
            "max": lost.max(),
            "mean": lost.mean(),
        },
        "lost_ms": {"max": work.max(), "mean": work.mean()},
        "recovery_ms": {"median": recovery.median(), "max": recovery.max()},
        **count_recoveries(judged),
        "fsck": {
            "looked": int((judged["fsck"] >= 0).sum()),
            "complained": int((judged["fsck"] > 0).sum()),
        },
        "complaints": int((judged["complaints"] > 0).sum()),
        "zero": trials.count_sectors(judged["zero"]),
        "stale": trials.count_sectors(judged["stale"]),
        "per_hour": judged.height * 3600 / wall if (wall := run.host.get("trials_seconds")) else None,
        "promised": promised(cell),
        "broken": against.height,
        "first_broken": describe(against.row(0, named=True)) if against.height else None,
        **({"faults": kills.summarize_faults(judged, against)} if cell.crash == FAULT else {}),
    }


def describe(row: Mapping[str, Any]) -> str:
    """Describe in a line a trial and how it breaks the promise."""
    outcome = row["verdict"]
    if outcome == LOST:
        outcome = f"{row['lost']} of {row['acknowledged']} acknowledged transactions are gone"
    elif outcome == NO_PREFIX:
        outcome = f"{outcome}: {UNLIKE_ANY}"
    elif outcome == HOLE:
        outcome = f"{outcome}: {prefixes.describe_hole(row)}"
    cut = kills.describe(row) if row["policy"] is None else f"power cut {context.crash_point(row)}"
    reason = f" ({row['said']})" if row["said"] else ""
    return f"trial {row['trial']}, {cut}: {outcome}{trials.shown_sectors(row)}{reason}"
