"""What each trial came to: what the database holds beside what had been acknowledged, and whether that is
what the cell's settings promise (model/durability.py)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import polars as pl

from analysis.adapters.driver import Driver
from analysis.adapters.trials import RECOVERY, TRIALS, Board, recoveries
from analysis.crash import going_on, kills, placed, prefixes, sectors
from analysis.crash.prefixes import Known
from analysis.run import Run
from base.errors import BadInput
from model import durability
from model.cell import Cell
from model.crash_points.cuts import Trial
from model.crash_points.policies import POWER, PROCESS
from model.engines.survival import MOST_LOST

# What became of the database, the worst first.
DIED, UNMOUNTED, UNOPENED, CORRUPT, NO_PREFIX, LOST, WHOLE = (
    "board died",
    *("not mounted", "not opened", "corrupt", "not a prefix"),
    *("lost", "whole"),
)
# What NO_PREFIX is of.
UNLIKE_ANY = "its rows are those after no number of its transactions"
# What is known of a cut before it is tried.
CUT: dict[str, type[pl.DataType]] = {
    **{"trial": pl.Int64, "command": pl.Int64, "where": pl.String, "cut_ns": pl.Int64, "policy": pl.String},
    **dict.fromkeys(["losable", "lost_commands", "torn_sectors", "acknowledged", "begun"], pl.Int64),
    # of a cell with persistent memory (crash_points/lines.py)
    **{"call": pl.Int64, "line_policy": pl.String, "losable_lines": pl.Int64, "lost_lines": pl.Int64},
}


def judge(run: Run) -> pl.DataFrame | None:
    """Return one row a trial, in their order: the cut, what came up (trials.TRIALS, RECOVERY), and what that
    means.

    None of a run without trials. A moment is that of the board that had the trial, or of any for one that
    ended its board; one of a state that no cut leaves there has no row (`unplaced`). Raises BadInput where it
    cannot be told what the database holds.
    """
    if not run.trials and run.kills is None:
        return None
    died = {int(number): said for number, said in run.host.get("trials_died", {}).items()}
    if run.kills is not None:
        tried, ended = kills.rows(run, died.keys())
        # what is of a device that was cut is empty
        every = {**CUT, **going_on.BOARD, **going_on.LEDGER, **TRIALS, **RECOVERY}
        of_device = {name: kind for name, kind in every.items() if name not in tried.columns}
        empty = [pl.lit(None, kind).alias(name) for name, kind in of_device.items()]
        found: list[tuple[pl.DataFrame, Driver]] = [(tried.with_columns(empty), run.timing)]
    else:
        plan = placed.plan(run)
        each = [(board, placed.on(run, board, plan)) for board in run.trials]
        found = [(_tried(board, trials, run), board.driver) for board, trials in each]
        ended, left = _cuts(*each[0], set(), run), set(died)
        for board, trials in each:
            ended = pl.concat([ended, _cuts(board, trials, left, run)])
            left.difference_update(ended["trial"])
    said = pl.Series([died[number] for number in ended["trial"]], dtype=pl.String)
    ended = ended.with_columns(verdict=pl.lit(DIED), said=said)
    came_up = pl.concat([table for table, _ in found], how="diagonal")
    try:
        known = Known(prefixes.states(run.cell, phases_of(run.driver), came_up))
    except (KeyError, ValueError) as error:
        raise BadInput(run.folder / "cell.json", "", f"trials of a run, but {error}", "see docs") from None
    judged = [_judged(table, known, ran) for table, ran in found]
    return pl.concat([*judged, ended], how="diagonal").sort("trial")


def of_board(board: Board, cell: Cell, tried: list[Trial]) -> pl.DataFrame:
    """Return the rows of one board's trials that nobody watched; tried: they are of these."""
    table = _tried(board, tried, None)
    return _judged(table, Known(prefixes.states(cell, phases_of(board.driver), table)), board.driver)


def unplaced(run: Run) -> dict[int, Board]:
    """Return the trials that were tried and have no row, and the board of each."""
    if run.judged is None:
        return {}
    there = set(run.judged["trial"])
    return {number: board for board in run.trials for number in board.trials["trial"] if number not in there}


def phases_of(ran: Driver) -> list[str]:
    """Return the phases that a driver ran."""
    found: list[str] = ran.workload_phases["phase"].to_list()
    return found


def _tried(board: Board, tried: list[Trial], run: Run | None) -> pl.DataFrame:
    """Return what is known of one board's trials, and what came up; tried: they are of these; run: who may
    have watched it."""
    return _cuts(board, tried, set(board.trials["trial"]), run).join(board.trials, on="trial")


def _judged(found: pl.DataFrame, known: Known, ran: Driver) -> pl.DataFrame:
    """Return trials with what they come to; ran: of the driver whose run was cut."""
    holds = [known.held(row) for row in found.iter_rows(named=True)]
    both = list(zip(holds, found["acknowledged"], strict=True))
    missing = [known.between(held, acknowledged) for held, acknowledged in both]
    firsts = [known.first_between(held, acknowledged) for held, acknowledged in both]
    ends = ran.transactions["end_ns"]
    since = [None if first is None else int(ends[first]) for first in firsts]
    found = found.with_columns(
        transactions=pl.Series(holds, dtype=pl.Int64),
        missing=pl.Series(missing, dtype=pl.Int64),
        first_lost=pl.Series(firsts, dtype=pl.Int64),
        since=pl.Series(since, dtype=pl.Int64),
    )
    lost, opened = pl.col("missing"), pl.col("opened") == 1
    found = found.with_columns(
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
    return found.drop("missing", "since")


def _cuts(board: Board, tried: list[Trial], numbers: Set[int], run: Run | None) -> pl.DataFrame:
    """Return what is known before they are tried of trials of a board, or of one that did the same run."""
    ran = board.driver.transactions
    begins, ends = (ran[name].to_numpy() for name in ("begin_ns", "end_ns"))
    tried = [one for one in tried if one.number in numbers]
    rows = [
        {
            **{"trial": one.number, "where": one.where, "cut_ns": one.moment},
            **{"command": one.command if one.call is None else None, "call": one.call},
            **{"policy": one.policy, "losable": one.losable, "lost_commands": len(one.lost)},
            "torn_sectors": one.torn[1] if one.torn else None,
            **_of_lines(one),
            "acknowledged": int(np.searchsorted(ends, one.moment, side="right")),
            "begun": int(np.searchsorted(begins, one.moment, side="right")),
        }
        for one in tried
    ]
    return pl.DataFrame(rows, schema=CUT).join(going_on.going_on(board, tried, run), on="trial")


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
        .when(held.is_null())
        .then(pl.lit(NO_PREFIX))
        .when(pl.col("missing") > 0)
        .then(pl.lit(LOST))
        .otherwise(pl.lit(WHOLE))
    )


def promised(cell: Cell) -> str:
    """Return what the cell's settings promise of its failure, in words (model/engines/survival.py)."""
    survives = durability.of(cell)
    return {PROCESS: survives.process, POWER: survives.power}.get(cell.crash, survives.system)


def broken(cell: Cell, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the trials that are not as the settings promise; none where they promise nothing."""
    if (promise := promised(cell)) not in MOST_LOST:
        return judged.clear()
    most = MOST_LOST[promise]
    inconsistent = ~pl.col("verdict").is_in([LOST, WHOLE])
    return judged.filter(inconsistent if most is None else inconsistent | (pl.col("lost") > most))


def summary(run: Run) -> dict[str, Any] | None:
    """Return what summary.json says of the trials (docs/reference/formats.md); None of a run without any."""
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
        "not_a_prefix": int((verdict == NO_PREFIX).sum()),
        "lost_acknowledged": {
            "cuts": int((lost > 0).sum()),
            "max": lost.max(),
            "mean": lost.mean(),
        },
        "lost_ms": {"max": work.max(), "mean": work.mean()},
        "recovery_ms": {"median": recovery.median(), "max": recovery.max()},
        **recoveries(judged),
        "fsck": {
            "looked": int((judged["fsck"] >= 0).sum()),
            "complained": int((judged["fsck"] > 0).sum()),
        },
        "complaints": int((judged["complaints"] > 0).sum()),
        "zero": sectors.summary(judged["zero"]),
        "stale": sectors.summary(judged["stale"]),
        "per_hour": judged.height * 3600 / wall if (wall := run.host.get("trials_seconds")) else None,
        "promised": promised(cell),
        "broken": against.height,
        "first_broken": told(against.row(0, named=True)) if against.height else None,
    }


def told(row: Mapping[str, Any]) -> str:
    """Say of one trial what it is against, in one line."""
    what = row["verdict"]
    if what == LOST:
        what = f"{row['lost']} of {row['acknowledged']} acknowledged transactions are gone"
    elif what == NO_PREFIX:
        what = f"{what}: {UNLIKE_ANY}"
    cut = kills.told(row) if row["policy"] is None else f"power cut {going_on.moment(row)}"
    said = f" ({row['said']})" if row["said"] else ""
    return f"trial {row['trial']}, {cut}: {what}{sectors.shown(row)}{said}"
