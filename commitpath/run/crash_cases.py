"""`make crash-replay CASE=…`: a power cut that a file of experiments/crash-cases describes, tried again.

A case is what is known of one cut: the shortest run that shows it, when the power goes, what the device
keeps, and what comes up. The run is done, the cut is found in its log and its transactions, and a board does
the run again and that one trial (commitpath/run/replay_trial.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.adapters.trials import Board
from analysis.crash import verdicts
from analysis.recorded import Twin
from base.errors import BadInputError, LabError
from base.paths import EXPERIMENTS
from base.progress import step
from commitpath.boards.prepared import again_if_damaged, ensure_snapshot, virtual_board
from commitpath.cells import persistent_memory
from commitpath.cells.data_files import load
from commitpath.cells.from_variables import make_cell
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from commitpath.run import crash_trials, experiment, replay_trial
from commitpath.run.plan import make
from images import programs
from model.cell import Cell
from model.crash_points import cuts, policies
from model.crash_points.durable import Cache, Commands

CASES = EXPERIMENTS / "crash-cases"


@dataclass(frozen=True)
class Case:
    """One cut of one run. cut, shows: as in the file ($defs.crash_case of experiments/schema.yml)."""

    path: Path
    description: str
    cell: Cell
    cut: Mapping[str, Any]
    shows: Mapping[str, Any]

    def trial(self, left: Twin) -> cuts.Trial:
        """Its trial in what a run left. BadInputError where that run has no such cut."""
        assert left.log is not None
        commands = Commands(left.log.entries, Cache.of(self.cell.profiles["device"]))
        command, where, moment = self.moment(commands, left.driver.transactions["end_ns"].to_numpy())
        may_lose = commands.losable(moment).tolist()
        kept = self.cut["keeps"]
        if kept == policies.EVERYTHING:
            kept = may_lose
        elif kept == policies.NOTHING:
            kept = []
        elif durable := sorted(set(kept) - set(may_lose)):
            raise BadInputError(f"{self.path}: cut.keeps: {durable[0]} cannot be lost then, only {may_lose}")
        lost = tuple(one for one in may_lose if one not in kept)
        policy = self.cut["keeps"] if isinstance(self.cut["keeps"], str) else policies.SUBSET
        return cuts.Trial(0, command, where, moment, policy, commands.arrived(moment), len(may_lose), lost)

    def on(self, board: Board, trial: cuts.Trial) -> cuts.Trial:
        """Its trial at that moment of a board's own run, whose clock is apart. LabError where other commands
        had come by then."""
        commands = Commands(board.log.entries, Cache.of(self.cell.profiles["device"]))
        command, where, moment = self.moment(commands, board.driver.transactions["end_ns"].to_numpy())
        if (arrived := commands.arrived(moment)) != trial.arrived:
            raise LabError(
                f"{self.path}: {arrived} commands had come at that moment on the board of trials, and "
                f"{trial.arrived} in the run"
            )
        return replace(trial, command=command, where=where, moment=moment)

    def moment(self, commands: Commands, ends: np.ndarray) -> tuple[int, str, int]:
        """The command that the cut is told by, where it is of that, and the ns of the board's clock."""
        if number := self.cut.get("acknowledged"):
            if number > len(ends):
                raise BadInputError(f"{self.path}: cut.acknowledged: {number} of {len(ends)} transactions")
            at = int(ends[number - 1])
            command = commands.arrived(at) - 1
            return command, "after" if 0 < commands.end[command] <= at else "during", at
        command, where = self.cut["command"], self.cut["where"]
        if command >= len(commands.begin):
            last = len(commands.begin) - 1
            raise BadInputError(f"{self.path}: cut.command: {command} is behind the run's last, {last}")
        return command, where, cuts.moment(commands, command, where)

    def compared(self, row: Mapping[str, Any]) -> str:
        """What came of it, in a line. LabError where that is not what the file says."""
        told = [
            f"{name} is {row[name]!r}, and was {was!r}"
            for name, was in self.shows.items()
            if row[name] != was
        ]
        if told:
            raise LabError(f"{self.path}: it came out another way: {'; '.join(told)}")
        return f"{self.path.stem}: {replay_trial.said(row)}; as the case has it"


def names() -> list[str]:
    """Every case there is."""
    return sorted(path.stem for path in CASES.glob("*.yml"))


def case(name: str) -> Case:
    """A case of experiments/crash-cases, or a path to a .yml file. BadInputError says what is wrong."""
    path = Path(name) if name.endswith(".yml") else CASES / f"{name}.yml"
    if not path.is_file():
        raise BadInputError(f"CASE={name}: no such case; there are {', '.join(names()) or 'none'}")
    has = load(path, "crash_case")
    # the moment is in the file: CUTS draws none
    settings = {"crash": policies.POWER, "probes": "none", **has["cell"]}
    try:
        cell = make_cell({name.upper(): str(value) for name, value in settings.items()})
    except BadInputError as error:
        raise BadInputError(f"{path}: cell: {error}") from None
    # of a killed process no device has a log to find the cut in
    if cell.crash not in (policies.POWER, policies.SYSTEM) or cell.probes:
        raise BadInputError(f"{path}: cell: a case is of a run with CRASH=power or os that nothing watches")
    if kept := persistent_memory.use(cell):
        raise BadInputError(f"{path}: cell: {kept[0]}: a case does not say what persistent memory keeps")
    return Case(path, has["description"], cell, has["cut"], has["shows"])


def crash_replay(options: dict[str, str]) -> int:
    """A trial of a stored run again, or a case; and a shell on the board as it came up, or CMD instead."""
    if "CASE" not in options:
        return replay_trial.replay(options)
    if given := [name for name in ("RUN", "TRIAL") if name in options]:
        raise BadInputError(
            f"CASE={options['CASE']}: a case has its own run and trial; leave out {given[0]}="
        )
    found = case(options["CASE"])
    ensure_packages()
    entry, driver = ansible.board(found.cell.board), programs.driver(found.cell)
    planned = make(found.cell, entry)
    assert planned.trials is not None
    of_trials = planned.trials

    def again() -> int:
        board, prepared = virtual_board(found.cell), ensure_snapshot(found.cell, driver, entry)
        with step("run the cell"):
            (ran,) = experiment.run_together(
                board, [prepared], [planned.runs[0].files], replay_trial.LIMIT_SECONDS
            )
        if ran.failed:
            raise LabError(f"the run failed: {experiment.last_words(ran)}")
        trial = found.trial(crash_trials.left(found.cell, ran))

        def told(tried: Board) -> str:
            judged = verdicts.judge_board(tried, found.cell, [found.on(tried, trial)])
            return found.compared(judged.row(0, named=True))

        files = replay_trial.files(of_trials.files, trial)
        return replay_trial.shown(board, prepared, files, found.cell, options.get("CMD"), told)

    return again_if_damaged(again)
