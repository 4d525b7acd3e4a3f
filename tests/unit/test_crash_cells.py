"""Cells with cuts: what is refused before anything is built, and what their boards are told."""

import re

import pytest

from analysis import expected
from analysis.crash.cuts import Trial
from base.errors import BadInputError
from commitpath import ansible, crash, payload, plan
from commitpath.cell import cell_id, make_cell

FLASH = {"DEVICE": "emmc-5.0", "CRASH": "power"}


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"CRASH": "power"}, "CRASH=power: DEVICE=constant keeps no past states; use DEVICE=emmc-5.0"),
        (FLASH | {"WORKLOAD": "rlbench"}, "which rows WORKLOAD=rlbench leaves is not known beforehand"),
        (FLASH | {"WORKLOAD": "mobibench"}, "use WORKLOAD=apsys17"),
        (FLASH | {"ENGINE": "leveldb", "WORKLOAD": "kv"}, "workloads/engines/leveldb/trials/"),
        (FLASH | {"CLOCK": "real"}, "CLOCK=real does not do a run again to the bit"),
        (FLASH | {"CUTS": "2"}, "CUTS=2: CUTS is a whole number from 3"),
        (FLASH | {"CUT_SEED": "-1"}, "CUT_SEED=-1"),
        ({"CUTS": "9"}, "CUTS=9: CRASH=none cuts nothing"),
        ({"CUT_SEED": "9"}, "CUT_SEED=9: CRASH=none cuts nothing"),
        (FLASH | {"CRASH": "powr"}, "did you mean power? CRASH is none, power, os"),
    ],
)
def test_refused(variables: dict[str, str], said: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(said)):
        make_cell(variables)


def test_a_cell_without_cuts_is_the_cell_that_it_was() -> None:
    made = make_cell({"DEVICE": "emmc-5.0"})
    assert cell_id(made) == cell_id(make_cell({"DEVICE": "emmc-5.0", "CRASH": "none"}))
    assert cell_id(make_cell(FLASH)) != cell_id(made)


def test_its_plan_has_boards_of_trials() -> None:
    entry = ansible.board("virtual")
    made = plan.make(make_cell(FLASH), entry)
    assert made.trials and list(made.document["runs"]) == ["run", "twin", expected.TRIALS]
    of_trials = made.document["runs"][expected.TRIALS]
    assert [step["name"] for step in of_trials["steps"]][-1] == expected.TRIALS and not of_trials["probes"]
    environment = made.trials.files["cell.env"].decode()
    assert "DEVICE_CONTROL=/sys/block/target/flashsim" in environment and "FSCK='e2fsck -fn'" in environment
    # the device keeps its past in every run of the cell, so that all are the same
    assert all(b"DEVICE_HISTORY=1" in run.files["cell.env"] for run in made.runs)
    without = plan.make(make_cell({"DEVICE": "emmc-5.0"}), entry)
    assert without.trials is None and b"HISTORY" not in without.runs[0].files["cell.env"]


def test_a_cell_with_cuts_starts_from_the_same_board() -> None:
    """Nothing that a prepared board is told has a word of the cuts."""
    boards = [payload.rehearsal(make_cell(cell), "/dev/target") for cell in (FLASH, {"DEVICE": "emmc-5.0"})]
    assert boards[0] == boards[1] and "rehearse-trials" in boards[0]
    assert "rehearse-trials" not in payload.rehearsal(make_cell({}), "/dev/target")


def test_each_board_has_neighbours_and_every_trial_is_on_one() -> None:
    trials = [Trial(n, n, "after", n, "everything", n + 1, 0, ()) for n in range(7)]
    assert [[trial.number for trial in share] for share in crash.shares(trials, 2)] == [
        [0, 1, 2, 3],
        [4, 5, 6],
    ]
    assert [len(share) for share in crash.shares(trials, 8)] == [1] * 7
    assert crash.shares([], 2) == []
