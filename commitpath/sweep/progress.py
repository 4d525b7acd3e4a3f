"""A sweep's estimated time, and its progress line: counts of done, failed and remaining runs, time left."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence

from base import progress
from base.paths import EXPERIMENTS
from commitpath.cells.data_files import load
from commitpath.database.sweep_state import STATE, read_state
from commitpath.sweep.sweep_plan import Planned, with_bases

# Seconds between two counts of the marks.
SECONDS = 1.0


class Progress:
    """Count the marks of jobs; redrawn on a terminal, else a line per change."""

    def __init__(self, todo: Sequence[str], groups: Sequence[str], jobs: int, before: int) -> None:
        self.todo, self.groups, self.jobs, self.before = set(todo), set(groups), jobs, before
        self.begin = time.monotonic()
        self.line = self.counts = ""

    def marked(self, kind: str, names: set[str]) -> set[str]:
        """Return the names that have a mark of this kind."""
        return names & every(kind)

    def left_seconds(self, left: int, done: set[str], unprepared: int, prepared: set[str]) -> float | None:
        """Return the wall seconds to the end, from the mean of the jobs so far, or of earlier sweeps' jobs.

        None if there is none.
        """
        total = 0.0
        for number, kind, names in ((left, "done", done), (unprepared, "prepared", prepared)):
            took = seconds(kind, names) or seconds(kind, every(kind))
            if number and not took:
                return None
            total += number * sum(took) / len(took) if took else 0.0
        return total / self.jobs

    def text(self) -> str:
        """Return the counts and the estimated time left."""
        done, failed = self.marked("done", self.todo), self.marked("failed", self.todo)
        prepared = self.marked("prepared", self.groups)
        left = len(self.todo - done - failed)
        rest = self.left_seconds(left, done, len(self.groups - prepared), prepared)
        eta = "not known yet" if rest is None else f"about {clock(rest)}"
        boards = f"{len(prepared)} of {len(self.groups)} boards prepared, " if prepared != self.groups else ""
        counts = f"{len(done) + self.before} done, {len(failed)} failed, {left} left"
        return f"{boards}{counts}; time to the end {eta}"

    def stopped(self) -> str:
        """Return the line for an interrupted sweep."""
        done = len(self.marked("done", self.todo)) + self.before
        return f"sweep: {done} of {len(self.todo) + self.before} runs done; the same command goes on"

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the line during a `with` block; its last state stays."""
        with progress.shown(lambda: self.line) if progress.on_terminal() else contextlib.nullcontext():
            yield
        self.look()
        progress.say(self.line)

    def look(self) -> None:
        """Count the marks; without a terminal print the line if its counts changed."""
        text = self.text()
        self.line = f"sweep {clock(time.monotonic() - self.begin)}: {text}"
        counts = text.partition(";")[0]
        if counts != self.counts and not progress.on_terminal():
            progress.say(self.line)
        self.counts = counts


def duration(left: Mapping[str, Planned], jobs: int) -> str:
    """Return `about 2:50:00, at the mean of the 12 stored by sweeps` for runs that are to be made.

    A run takes as long as the mean of the runs that sweeps made here, a board as that of their boards. Before
    the first, runs of the virtual board take what experiments/advice.yml has.
    """
    boards = len(with_bases(run.group for run in left.values()))
    rest = Progress(list(left), [], jobs, 0).left_seconds(len(left), set(), boards, set())
    if rest is not None:
        return f"about {clock(rest)}, at the mean of the {len(every('done'))} stored by sweeps"
    if any(run.cell.board != "virtual" for run in left.values()):
        return "the duration is known after the first run"
    usual = load(EXPERIMENTS / "advice.yml", "advice")
    rest = len(left) * usual["seconds"] + boards * usual["board_seconds"]
    each = f"{usual['seconds']} s a run and {usual['board_seconds']} s a board"
    return f"about {clock(rest)} on two CPUs, at {each} (as make advise; no sweep was timed here)"


def every(kind: str) -> set[str]:
    """Return the names of all marks of a kind."""
    folder = STATE / kind
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def seconds(kind: str, names: set[str]) -> list[float]:
    """Return the wall seconds of marked jobs."""
    return [float((read_state(STATE / kind / name) or {}).get("seconds", 0)) for name in names]


def clock(seconds: float) -> str:
    """Return seconds as text: 90.4 as 1:30."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
