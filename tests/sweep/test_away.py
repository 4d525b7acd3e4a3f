"""A lab board that does not answer: a sweep waits for it a while, and then does not ask it again."""

from pathlib import Path

import pytest

from base.errors import LabError
from commitpath.boards import lab_board
from commitpath.commands import sweep_job as job
from commitpath.host import ansible


class Board:
    """A board that answers after some calls; each call takes a minute."""

    def __init__(self, away: int, playbook: str = job.FIRST_PLAY) -> None:
        self.calls, self.away, self.playbook = 0, away, playbook

    def run(self) -> Path:
        """A run, or the error of a board that is away."""
        self.calls += 1
        if self.calls <= self.away:
            raise ansible.UnreachableError(f"{self.playbook}: no route", self.playbook)
        return Path("run")


@pytest.fixture(autouse=True)
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State in a folder of its own, and a clock in which a look takes a minute."""
    now = [0.0]

    def monotonic() -> float:
        now[0] += 60
        return now[0]

    monkeypatch.setattr(job, "STATE", tmp_path)
    monkeypatch.setattr(job.time, "monotonic", monotonic)
    monkeypatch.setattr(job.time, "sleep", lambda seconds: None)


def test_a_board_that_boots_is_waited_for() -> None:
    board = Board(3)
    assert job.answered("pi", board.run) == Path("run")
    assert board.calls == 4


def test_a_run_that_breaks_off_is_no_such_case(tmp_path: Path) -> None:
    board = Board(1, "run.yml")
    with pytest.raises(ansible.UnreachableError):
        job.answered("pi", board.run)
    assert board.calls == 1 and not list(tmp_path.iterdir())


def test_a_board_that_stays_away_is_not_asked_again() -> None:
    board, tries = Board(99), 1 + lab_board.BOOT_LIMIT_SECONDS / 60
    with pytest.raises(
        LabError, match=r"BOARD=pi did not answer for 300 s, and is not asked again: provision"
    ):
        job.answered("pi", board.run)
    assert board.calls == tries
    with pytest.raises(LabError, match="BOARD=pi did not answer for 300 s"):
        job.answered("pi", board.run)
    assert board.calls == tries
    # another board is
    assert job.answered("pi2", Board(0).run) == Path("run")
