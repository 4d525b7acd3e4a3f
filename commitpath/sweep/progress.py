"""A sweep's progress line: counts of done, failed and remaining runs, and the estimated time left."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from base import progress
from commitpath.database.sweep_state import STATE, read_state

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
