"""Trials on boards whose commands came in another order than the timed run's: where each is placed on its
board, which are left out, and which reject the run."""

import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from edited import device_log, trials
from some_cell import some_cell

from analysis import checks, pipeline, stages
from analysis.adapters.device_logs import ENTRY
from analysis.crash import align, context
from analysis.crash.align import Numbers
from analysis.report import terminal
from model.block_operations import FLUSH, FUA, WRITE
from model.crash_points import cuts, policies
from model.crash_points.cuts import Trial
from model.crash_points.durable import Cache, Commands

CACHED = Cache(bytes=512 * 1024, reorders=False, block=512, unit=32768)
OTHER = "did not repeat the run: its device got other commands"
IMPOSSIBLE = "showed a state that no crash leaves, by its board's log"


def entries(*commands: tuple[int, int]) -> np.ndarray:
    """Commands of (operation, sectors), one after the other, 10 ns each, from 10 ns on."""
    rows = [(10 * n, 10 * n + 8, 100 * n, size, kind) for n, (kind, size) in enumerate(commands, 1)]
    return np.array(rows, dtype=ENTRY)


def log(*commands: tuple[int, int]) -> Commands:
    """The same, as a cut takes them."""
    return Commands(entries(*commands), CACHED)


def trial(command: int, where: str, lost: tuple[int, ...] = (), torn: tuple[int, int] | None = None) -> Trial:
    """One of the plan; its policy is told where all is as planned."""
    arrived = command + (where != "before")
    return Trial(5, command, where, 0, PLANNED, arrived, len(lost), lost, torn)


PLANNED = policies.SUBSET
ANY = (
    policies.EVERYTHING,
    policies.NOTHING,
    policies.PREFIX,
    policies.TORN,
    policies.SUBSET,
    policies.SUFFIX,
)
IN_ORDER = ANY[:4]
W, F = (WRITE, 8), (FLUSH, 0)
# the drain is from command 2 on
DRAIN = Numbers(0, 2, 6)
# the plan's log has W F | W W F W
BOARD = log(W, F, W, F, W, W)


@pytest.mark.parametrize(
    ("planned", "there"),
    [
        # as planned, but that the flush was there before
        (trial(4, "before"), (4, "before", PLANNED, 0)),
        # nothing of 2 is kept: before the flush, and not behind it
        (trial(4, "before", (2, 3)), (3, "during", policies.NOTHING, 1)),
        # the flush is no change
        (trial(4, "after"), (4, "after", policies.EVERYTHING, 1)),
        # what the plan's flush was is lost with what came behind it
        (trial(5, "after", (5,)), (5, "after", policies.PREFIX, 2)),
        # a part of a write that is none
        (trial(4, "before", (3,), (3, 4)), (4, "before", policies.EVERYTHING, 0)),
    ],
)
def test_a_state_is_where_a_cut_may_leave_it(planned: Trial, there: tuple[int, str, str, int]) -> None:
    found = align.locate(BOARD, DRAIN, ANY, planned)
    assert found is not None and found.number == 5
    assert (found.command, found.where, found.policy, found.losable) == there
    assert found.moment == cuts.moment(BOARD, found.command, found.where)
    assert found.torn is None and found.arrived == BOARD.arrived(found.moment)


def states(board: Commands, numbers: Numbers, reorders: bool) -> Iterator[tuple[Any, ...]]:
    """Every state that a cut in the drain leaves, by its moment: what is whole, and which may be torn."""
    for command in range(numbers.drain, numbers.behind):
        for where in ("before", "during", "after"):
            at = cuts.moment(board, command, where)
            may_lose = board.losable(at).tolist()
            came = {n for n in range(board.arrived(at)) if board.changes[n]}
            for size in range(len(may_lose) + 1):
                some = combinations(may_lose, size) if reorders else [may_lose[len(may_lose) - size :]]
                for lost in some:
                    newest = [*lost] == may_lose[len(may_lose) - size :]
                    yield at, came - {*lost}, lost[0] if lost and newest else None


@pytest.mark.parametrize("reorders", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_place_is_found_where_there_is_one(seed: int, reorders: bool) -> None:
    generator = random.Random(seed)
    own = [W, F] + [generator.choice([W, W, (WRITE, 16), (WRITE | FUA, 8), F]) for _ in range(8)]
    drain, numbers = own[2:], Numbers(0, 2, 10)
    generator.shuffle(drain)
    geometry = {"cache_kib": 512, "cache_reorder": reorders, "block_bytes": 512, "program_bytes": 4096}
    cell = some_cell(crash="power", cuts=40, cut_seed=seed, profiles={"device": {"geometry": geometry}})
    board = log(*own[:2], *drain)
    possible = list(states(board, numbers, reorders))
    for one in cuts.plan(cell, entries(*own), (0, 1000)):
        found = align.locate(board, numbers, ANY if reorders else IN_ORDER, one)
        shown = {n for n in range(one.arrived) if n not in one.lost and board.changes[n]}
        torn = one.torn[0] if one.torn and board.changes[one.torn[0]] else None
        if one.torn and torn is not None and one.torn[1] >= board.sectors[torn]:
            # a part of a write that is all of a smaller one
            shown, torn = {*shown, torn}, None
        fits = [at for at, whole, may_tear in possible if whole == shown and torn in (None, may_tear)]
        assert (found is not None) == bool(fits) or one.arrived <= numbers.drain, one
        if found and one.arrived > numbers.drain:
            assert found.moment in fits and found.torn == (one.torn if torn is not None else None)


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """DELETE with FULL, watched, 30 cuts of 9 transactions; its drain is from command 93 on."""
    return copy_run("sample-crash-watched")


def spoil(folder: Path, how: Callable[[np.ndarray], None], board: int = 2) -> None:
    device_log(folder / f"crash/{board}/raw", how)


def order(*numbers: int) -> Callable[[np.ndarray], None]:
    """Have the commands of those numbers come in that order, in their time."""

    def how(entries: np.ndarray) -> None:
        for name in ("sector", "sectors", "operation"):
            entries[name][sorted(numbers)] = entries[name][[*numbers]]

    return how


def other_sector(entries: np.ndarray) -> None:
    entries["sector"][60] += 8


def flushed_at_once(entries: np.ndarray) -> None:
    """Trial 9 is after command 34, whose end is made that of the flush behind it."""
    flush = 35 + int(np.flatnonzero(entries["operation"][35:] == FLUSH)[0])
    entries["end_ns"][34] = entries["end_ns"][flush] = entries["begin_ns"][flush]


LEDGER = [*context.LEDGER]


def test_another_order_in_the_drain_is_the_same_run(run_dir: Path) -> None:
    before = stages.build(run_dir).judged
    # a write, the flush and the commit block, behind the next
    spoil(run_dir, order(96, 93, 94, 95, 98, 97))
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    assert result["crash"]["cuts"] == 30 and result["crash"]["broken"] == 0
    after = stages.build(run_dir).judged
    assert before is not None and after is not None
    of_drain = after["trial"] >= 26
    assert after.filter(~of_drain).equals(before.filter(~of_drain))
    # which command of the watched run it was is known no more
    rows = after.filter(of_drain)
    assert rows.height == 4 and rows.select(LEDGER).null_count().row(0) == (4,) * len(LEDGER)
    assert rows["verdict"].to_list() == before.filter(of_drain)["verdict"].to_list()


def one_more_in_the_drain(entries: np.ndarray) -> np.ndarray:
    """A file's new time is written, which moves what comes behind it."""
    more = entries[95:96].copy()
    more["sector"] += 4096
    more["begin_ns"], more["end_ns"] = entries["end_ns"][94] + 1, entries["begin_ns"][95] - 1
    return np.concatenate([entries[:95], more, entries[95:]])


def test_a_drain_may_have_another_command(run_dir: Path) -> None:
    """The first trials of the drain are as planned, later ones are the board's own, or of no cut of it."""
    before = stages.build(run_dir).judged
    device_log(run_dir / "crash/2/raw", one_more_in_the_drain)
    run = stages.build(run_dir)
    assert before is not None and run.judged is not None
    assert checks.reasons(run) == []
    of_window = before["trial"] < 26
    assert run.judged.filter(pl.col("trial") < 26).equals(before.filter(of_window))


def both(*orders: Callable[[np.ndarray], None]) -> Callable[[np.ndarray], None]:
    def how(entries: np.ndarray) -> None:
        for one in orders:
            one(entries)

    return how


def test_what_comes_by_a_clock_may_come_elsewhere(run_dir: Path) -> None:
    """A trial behind that is of the same state on either board, and one within is the board's own."""
    run = stages.build(run_dir)
    spoil(run_dir, order(42, 43, 41))
    assert not checks.reasons(stages.build(run_dir))
    (_, board) = stages.build(run_dir).trials
    before, within, behind = (trial(command, "before") for command in (41, 43, 60))
    told = [align.may_be_unplaced(run, board, one) for one in (before, within, behind)]
    assert told == [False, True, False]
    # what is lost is told by the numbers from there on
    assert align.may_be_unplaced(run, board, trial(60, "before", (42,)))
    assert not align.may_be_unplaced(run, board, trial(60, "before", (59,)))


@pytest.mark.parametrize(
    ("how", "board", "reason"),
    [
        (order(93, 92), 2, OTHER),
        # oftener than a clock, in a run of no second
        (both(order(42, 43, 41), order(71, 70)), 2, OTHER),
        (other_sector, 2, OTHER),
        (flushed_at_once, 1, f"trial 9 {IMPOSSIBLE}"),
    ],
)
def test_what_else_differs_rejects_the_run(
    run_dir: Path, how: Callable[[np.ndarray], None], board: int, reason: str
) -> None:
    spoil(run_dir, how, board)
    reasons = checks.reasons(stages.build(run_dir))
    assert any(reason in one for one in reasons), reasons


def keeps_what_came_behind(run: Any, *numbers: int) -> list[Trial]:
    """The plan, in which those trials keep command 97 and not 96, as if the former were a FUA write."""
    plan = align.plan(run)
    for number in numbers:
        plan[number] = Trial(number, 97, "after", plan[number].moment, PLANNED, 98, 1, (96,))
    return plan


@pytest.fixture
def nowhere(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """The run, with trials of states that their board's log does not have; board 2 has them all."""

    def made(*numbers: int) -> Path:
        plan = keeps_what_came_behind(stages.build(run_dir), *numbers)
        trials(run_dir, lambda row: row.update(plan=plan[row["trial"]].digest))
        monkeypatch.setattr(align, "plan", lambda run: plan)
        return run_dir

    return made


def test_what_is_of_no_cut_where_the_drain_came_in_another_order_is_left_out(
    nowhere: Callable[..., Path],
) -> None:
    folder = nowhere(26, 28)
    spoil(folder, order(97, 96))
    result = pipeline.analyse(folder)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert (crash["cuts"], crash["unplaced"], crash["mounted"]) == (28, 2, 28)
    judged = stages.build(folder).judged
    assert judged is not None and not {26, 28} & {*judged["trial"]}
    text = " ".join(terminal.table(result, folder / "report.html").split())
    assert "28 cuts (power): 28 mounted" in text and "2 more are of no cut of their boards" in text
    page = " ".join((folder / "report.html").read_text().split())
    assert "28 cuts (power)" in page and "2 more are left out" in page


@pytest.mark.parametrize(
    ("numbers", "how", "reason"),
    [
        # the board had the order of the run
        ((28,), lambda entries: None, f"trial 28 {IMPOSSIBLE}"),
        ((25, 26, 27, 28), order(97, 96), "4 of 30 trials showed states that no crash"),
    ],
)
def test_what_is_of_no_cut_rejects_the_run(
    nowhere: Callable[..., Path], numbers: tuple[int, ...], how: Callable[[np.ndarray], None], reason: str
) -> None:
    folder = nowhere(*numbers)
    spoil(folder, how)
    reasons = checks.reasons(stages.build(folder))
    assert any(reason in one for one in reasons), reasons
