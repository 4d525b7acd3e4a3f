"""Cells with cuts: what is refused first, what their boards are sent, and trials whose board dies."""

import dataclasses
import gzip
import re
from itertools import product
from pathlib import Path

import pytest

from base.errors import BadInputError, LabError
from commitpath.boards import payload
from commitpath.cells import crash_refusals
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from commitpath.host import ansible
from commitpath.run import crash_trials as crash
from commitpath.run import plan
from commitpath.run.plan import PlannedRun
from images import cellrun, programs
from images.cellrun import RunOutput
from model import engines
from model.crash_points.cuts import Trial
from model.expected_state import sampled
from model.requested import expected

FLASH = {"DEVICE": "emmc-5.0", "CRASH": "power"}
KILLED = {"CRASH": "process"}


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"CRASH": "power"},
            "DEVICE=constant keeps no past states and makes no faults; use a flash device, such as DEVICE=",
        ),
        (FLASH | {"WORKLOAD": "rlbench"}, "which rows WORKLOAD=rlbench leaves is not known beforehand"),
        (FLASH | {"CLOCK": "real"}, "CLOCK=real does not do a run again to the bit"),
        (FLASH | {"CUTS": "2"}, "CUTS=2: CUTS is a whole number from 3"),
        ({"CUTS": "9"}, "CUTS=9: without effect with CRASH=none; use CRASH=power or os or process"),
        (KILLED | {"CLOCK": "real"}, "CRASH=process: CLOCK=real does not do a run again to the bit"),
    ],
)
def test_refused(variables: dict[str, str], said: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(said)):
        make_cell(variables)


def test_a_schema_of_virtual_tables_is_not_that_of_the_sql(tmp_path: Path) -> None:
    (file := tmp_path / "a.sql").write_text("CREATE TABLE t(a);\n-- run\nINSERT INTO t VALUES(1);\n")
    asked = {"WORKLOAD": "sql", "FILE": str(file), "ENGINE": "sqlitekv"}
    assert make_cell(asked).crash == "none"
    with pytest.raises(BadInputError, match="WORKLOAD=sql: ENGINE=sqlitekv takes it with CRASH=none"):
        make_cell(FLASH | asked)


def test_writes_of_two_writers_are_not_logged() -> None:
    """So no sector is compared with them."""
    entry = ansible.board("virtual")
    for writers, logged in (("1", True), ("2", False)):
        made = plan.make(make_cell(FLASH | {"WRITERS": writers}), entry)
        assert made.trials and (" --written " in made.trials.files["cell.env"].decode()) == logged


def test_a_device_with_other_durable_writes_than_its_log_shows_is_refused() -> None:
    profile = load_profile("device", "emmc-5.0")
    cell = make_cell(FLASH)
    changed = {**profile, "geometry": {**profile["geometry"], "meta_reliable": 1}}
    cell = dataclasses.replace(cell, profiles={**cell.profiles, "device": changed})
    with pytest.raises(
        BadInputError, match=r"CRASH=power: DEVICE=emmc-5\.0 keeps metadata like writes with FUA"
    ):
        crash_refusals.check(cell, FLASH)


def test_an_engine_that_nothing_looks_at_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any without SQL is looked at by what they share."""
    assert programs.trials_folders("leveldb") == ["trials/keys"]
    monkeypatch.setattr(programs, "trials_folders", lambda _: [])
    with pytest.raises(BadInputError, match="workloads/engines/sqlite/trials/"):
        make_cell(FLASH)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ('"INSERT INTO t VALUES(random())"', "line 5: what random() gives is not the same each time"),
        ('"DELETE FROM t WHERE a < ?" "now"', None),
        ('"DELETE FROM t WHERE a < datetime(?)" "now"', "line 5: what datetime('now') gives is not the same"),
        ('"INSERT INTO u VALUES(1)"', "line 5: no such table: u (SQLite "),
    ],
)
def test_a_trace_whose_rows_its_statements_do_not_tell(
    statement: str, said: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "app.trace"
    made = 'commitpath trace 1\nfile 1 "app.db"\nmake 1 "CREATE TABLE t(a)"\n0 1 "INSERT INTO t VALUES(1)"\n'
    file.write_text(f"{made}1 1 {statement}\n")
    asked = {"WORKLOAD": "trace", "FILE": str(file)}
    make_cell(asked)
    for failure in (FLASH, KILLED):
        if said is None:
            make_cell(asked | failure)
            continue
        with pytest.raises(BadInputError) as told:
            make_cell(asked | failure)
        assert str(told.value).startswith(f"CRASH={failure['CRASH']}: FILE={file}: {said}")
        assert len(str(told.value).splitlines()) == 1


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


@pytest.mark.parametrize("crash", ["power", "os"])
def test_syncs_that_go_by_a_tick_are_not_cut(crash: str) -> None:
    """Without a journal a sync writes an inode where a tick came since the last write."""
    cell = FLASH | {"FS": "ext4-nojournal"}
    for options in ("", "lazytime"):
        with pytest.raises(
            BadInputError, match=f"CRASH={crash}: FS=ext4-nojournal has no journal.*ext4-ordered"
        ):
            make_cell(cell | {"MOUNT_OPTIONS": options, "CRASH": crash})
    make_cell(cell | {"CRASH": "process"})


@pytest.mark.parametrize("device", ["emmc-5.0", "constant"])
def test_a_process_that_is_killed_needs_its_calls_and_no_past(device: str) -> None:
    made = plan.make(make_cell(KILLED | {"DEVICE": device}), ansible.board("virtual"))
    assert made.trials
    of_trials = made.document["runs"][expected.TRIALS]
    assert [step["name"] for step in of_trials["steps"]] == ["watch", "settle", "kills", "stop-watching"]
    every = [run.files["cell.env"].decode() for run in (*made.runs, made.trials)]
    assert all("--vfs-log" in one and "WATCHED_OPTIONS=''" in one for one in every)
    assert not any("DEVICE_HISTORY" in one or "DEVICE_CONTROL" in one for one in every)
    assert payload.has_trials(make_cell(KILLED | {"DEVICE": device}))


def test_what_the_driver_wrote_is_noted_on_a_board_of_trials_alone() -> None:
    """Of a device that is cut: the run that is timed does nothing besides."""
    both = [FLASH, KILLED]
    told = [[payload.cell_env(make_cell(cell), "db", tried) for tried in (False, True)] for cell in both]
    assert [[f"--written {payload.BOARD}/written" in one for one in each] for each in told] == [
        [False, True],
        [False, False],
    ]


def test_an_engine_that_writes_when_it_opens_is_opened_alike_on_every_board() -> None:
    """Its run began with another number of ext4's commits than its boards of trials."""
    fault = {"CRASH": "fault", "DEVICE_FAULTS": "eio-write:5"}
    for engine, failure in product(("sqlite", "leveldb"), ({}, fault)):
        cell = make_cell({**FLASH, **failure, "ENGINE": engine, "WORKLOAD": "kv"})
        every = [payload.cell_env(cell, "db", tried) for tried in (False, True)]
        assert [("--record-opening" in one) for one in every] == [engine == "leveldb"] * 2
        assert all("--open-on-second" in one for one in every)
    assert "--record-opening" not in payload.cell_env(make_cell({"ENGINE": "leveldb"}), "db")


@pytest.mark.parametrize(
    "variables", [{}, {"PROBES": "none"}, {"CRASH": "os"}, {"ENGINE": "leveldb", "WORKLOAD": "kv"}]
)
@pytest.mark.parametrize("filesystem", ["xfs", "ext4-journal"])
def test_boards_of_trials_do_what_the_run_does_where_a_tick_matters(
    filesystem: str, variables: dict[str, str]
) -> None:
    """A tick of the clock between two writes changed a record of the log: 'its device got other commands'."""
    made = plan.make(make_cell(FLASH | {"FS": filesystem} | variables), ansible.board("virtual"))
    assert made.trials and made.trials.files == made.runs[-1].files
    assert b"--written" not in made.trials.files["cell.env"]
    tried = crash.payload(made.trials, [])
    assert gzip.decompress(tried[crash.PLAN]) == b"trials:ok\n"
    # it finds the same up to the plan
    assert cellrun.pack_cell("cell", tried).startswith(cellrun.pack_cell("cell", made.runs[-1].files))


def test_a_cell_with_cuts_starts_from_the_same_board() -> None:
    """Nothing that a prepared board is told has a word of the cuts."""
    boards = [payload.rehearsal(make_cell(cell)) for cell in (FLASH, {"DEVICE": "emmc-5.0"})]
    assert boards[0] == boards[1] and "rehearse-trials" in boards[0]
    assert "rehearse-trials" not in payload.rehearsal(make_cell({}))


def some_trials(count: int) -> list[Trial]:
    return [Trial(n, n, "after", n, "everything", n + 1, 0, ()) for n in range(count)]


def numbers(sent: dict[str, bytes]) -> list[int]:
    """The trials of a board's plan."""
    _, *lines = gzip.decompress(sent[crash.PLAN]).decode().splitlines()
    return [int(line.split()[0]) for line in lines]


def boards_that_die(monkeypatch: pytest.MonkeyPatch, deadly: set[int]) -> list[list[int]]:
    """Boards of which each dies in the first trial that is deadly; what each is asked to try is noted."""
    asked: list[list[int]] = []

    def together(
        _board: object, _prepared: object, sent: list[dict[str, bytes]], _limit: float
    ) -> list[RunOutput | tuple[int, str]]:
        ends: list[RunOutput | tuple[int, str]] = []
        for one in sent:
            asked.append(numbers(one))
            died = [number for number in asked[-1] if number in deadly]
            ends.append((died[0], "Kernel panic") if died else RunOutput(b"", run_seconds=1))
        return ends

    monkeypatch.setattr(crash, "together", together)
    monkeypatch.setattr(crash.os, "sched_getaffinity", lambda _: {0, 1})
    return asked


def test_where_a_trial_ends_its_board_the_others_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = boards_that_die(monkeypatch, {2, 9})
    found = crash.tried(None, Path(), PlannedRun(make_cell(FLASH), {}), some_trials(10), 1)  # type: ignore[arg-type]
    assert found.died == {2: "Kernel panic", 9: "Kernel panic"}
    assert asked == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [0, 1], [3, 4], [5, 6, 7, 8]]
    assert len(found.outputs) == 3


@pytest.mark.parametrize(
    ("serial", "trial"),
    [
        ("driver: x\ntrials: 3\ntrials: 17\nKernel panic - not syncing: y\n", 17),
        ("run-cell: driver starts\n", None),
    ],
)
def test_a_board_that_died_says_in_which_trial(tmp_path: Path, serial: str, trial: int | None) -> None:
    class Run:
        class machine:
            folder = tmp_path

            @staticmethod
            def serial_tail() -> str:
                return "Kernel panic - not syncing: y"

        def wait_end(self) -> RunOutput:
            raise LabError("the board died in the run")

    (tmp_path / "serial.log").write_text(serial)
    if trial is None:
        with pytest.raises(LabError, match="the board died in the run"):
            crash.ended(Run())  # type: ignore[arg-type]
    else:
        assert crash.ended(Run()) == (17, "Kernel panic - not syncing: y")  # type: ignore[arg-type]


def test_each_board_has_neighbours_and_every_trial_is_on_one() -> None:
    trials = some_trials(7)
    assert [[trial.number for trial in share] for share in crash.shares(trials, 2)] == [
        [0, 1, 2, 3],
        [4, 5, 6],
    ]
    assert [len(share) for share in crash.shares(trials, 8)] == [1] * 7
    assert crash.shares([], 2) == []


@pytest.mark.parametrize("engine", engines.names())
def test_the_host_looks_at_databases_of_engines_that_it_has(engine: str) -> None:
    """An engine of Debian's packages, as SQLiteKV is in part, is in the build root alone."""
    cell = make_cell({**FLASH, "ENGINE": engine, "WORKLOAD": "kv", "ROWS": "10", "N": "3"})
    assert bool(sampled.numbers(cell, 100)) == (not load_profile("engine", engine)["packages"])
