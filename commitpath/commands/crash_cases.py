"""`make crash-replay CASE=…`: run a case file's cell, repeat its power cut, compare, open a board shell.

A case of experiments/crash-cases has a short run, a crash point, the writes that the device keeps, and the
recovered state. The run is done, the cut is located in its log and transactions, and a board repeats the run
and that one trial (commitpath/commands/replay_trial.py).
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
from commitpath.commands import replay_trial
from commitpath.host import ansible
from commitpath.host.packages import ensure_packages
from commitpath.run import crash_trials, experiment
from commitpath.run.plan import make
from images import programs
from model.cell import Cell
from model.crash_points import cuts, policies
from model.crash_points.durable import Cache, Commands

CASES = EXPERIMENTS / "crash-cases"


@dataclass(frozen=True)
class Case:
    """One cut of a run. cut, shows: as in the file ($defs.crash_case of experiments/schema.yml)."""

    path: Path
    cell: Cell
    cut: Mapping[str, Any]
    shows: Mapping[str, Any]

    def trial(self, left: Twin) -> cuts.Trial:
        """Return its trial in the records of a run. BadInputError if that run has no such cut."""
        assert left.log is not None
        commands = Commands(left.log.entries, Cache.from_profile(self.cell.profiles["device"]))
        command, where, moment = self.moment(commands, left.driver.commits["end_ns"].to_numpy())
        may_lose = commands.losable(moment).tolist()
        kept = self.cut["keeps"]
        if kept == policies.EVERYTHING:
            kept = may_lose
        elif kept == policies.NOTHING:
            kept = []
        elif durable := sorted(set(kept) - set(may_lose)):
            raise BadInputError(f"{self.path}: cut.keeps: {durable[0]} cannot be lost then, only {may_lose}")
        lost = tuple(number for number in may_lose if number not in kept)
        policy = self.cut["keeps"] if isinstance(self.cut["keeps"], str) else policies.SUBSET
        return cuts.Trial(0, command, where, moment, policy, commands.arrived(moment), len(may_lose), lost)

    def on_board(self, board: Board, trial: cuts.Trial) -> cuts.Trial:
        """Return its trial by a board's clock. Raises LabError if other commands had arrived by then."""
        commands = Commands(board.log.entries, Cache.from_profile(self.cell.profiles["device"]))
        command, where, moment = self.moment(commands, board.driver.commits["end_ns"].to_numpy())
        if (arrived := commands.arrived(moment)) != trial.arrived:
            raise LabError(
                f"{self.path}: {arrived} commands had arrived by the cut on the board of trials, and "
                f"{trial.arrived} in the run"
            )
        return replace(trial, command=command, where=where, moment=moment)

    def moment(self, commands: Commands, ends: np.ndarray) -> tuple[int, str, int]:
        """Return the cut's command, its place relative to that, and its ns of the board's clock."""
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
        """Return its result in a line. LabError if it differs from the file."""
        if different := [
            f"{name} is {row[name]!r}, and was {was!r}"
            for name, was in self.shows.items()
            if row[name] != was
        ]:
            raise LabError(f"{self.path}: it came out another way: {'; '.join(different)}")
        return f"{self.path.stem}: {replay_trial.result(row)}; as the case has it"


def names() -> list[str]:
    """Return the names of all cases."""
    return sorted(path.stem for path in CASES.glob("*.yml"))


def case(name: str) -> Case:
    """Return a case of experiments/crash-cases, or of a path to a .yml file. Raises BadInputError."""
    path = Path(name) if name.endswith(".yml") else CASES / f"{name}.yml"
    if not path.is_file():
        raise BadInputError(f"CASE={name}: no such case; there are {', '.join(names()) or 'none'}")
    content = load(path, "crash_case")
    settings = {"crash": policies.POWER, "probes": "none", **content["cell"]}
    if file := settings.get("file"):
        # cases are shared
        if Path(file).name != file:
            raise BadInputError(f"{path}: cell.file: {file}: it must be in the case's folder")
        settings["file"] = path.parent / file
    try:
        cell = make_cell({name.upper(): str(value) for name, value in settings.items()})
    except BadInputError as error:
        raise BadInputError(f"{path}: cell: {error}") from None
    # a killed process has no cut in a device's log
    if cell.crash not in (policies.POWER, policies.SYSTEM) or cell.probes:
        raise BadInputError(f"{path}: cell: a crash case needs CRASH=power or os, and PROBES=none")
    if used := persistent_memory.use(cell):
        raise BadInputError(f"{path}: cell: {used[0]}: a case does not say what persistent memory keeps")
    return Case(path, cell, content["cut"], content["shows"])


def crash_replay(options: dict[str, str]) -> int:
    """Repeat a trial of a stored run, or a case, and open a shell on the recovered board, or run CMD."""
    if "CASE" not in options:
        return replay_trial.replay(options)
    if given := [name for name in ("RUN", "TRIAL") if name in options]:
        raise BadInputError(
            f"CASE={options['CASE']}: a case has its own run and trial; leave out {given[0]}="
        )
    chosen = case(options["CASE"])
    cell = chosen.cell
    ensure_packages()
    entry, driver = ansible.board(cell.board), programs.driver(cell)
    planned = make(cell, entry)
    assert planned.trials is not None
    of_trials = planned.trials

    def again() -> int:
        board, prepared = virtual_board(cell), ensure_snapshot(cell, driver, entry)
        with step("run the cell"):
            (ran,) = experiment.run_together(
                board, [prepared], [planned.runs[0].files], replay_trial.LIMIT_SECONDS
            )
        if ran.failed:
            raise LabError(f"the run failed: {experiment.last_words(ran)}")
        trial = chosen.trial(crash_trials.read_unwatched(cell, ran))

        def result(tried: Board) -> str:
            judged = verdicts.judge_board(tried, cell, [chosen.on_board(tried, trial)])
            return chosen.compared(judged.row(0, named=True))

        files = crash_trials.payload(of_trials, [trial], replay_trial.HOLD)
        return replay_trial.hold(board, prepared, files, cell, options.get("CMD"), result)

    return again_if_damaged(again)
