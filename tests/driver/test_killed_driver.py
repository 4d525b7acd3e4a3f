"""A driver that is killed at every moment that makes a difference: what SQLite promises of each setting.

On this host, as neither kernel nor device fails: what a board has (workloads/trials/kill.c), under ASan and
UBSan; its folder is in memory, where syncs take no time.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import NEWEST, WORKLOADS, binary

from analysis.adapters import drivertables
from analysis.crash import kills, oracle, sampled, verdicts
from analysis.files import read_csv
from base.errors import LabError
from commitpath import looks
from commitpath.cell import make_cell
from images import artifacts

SIZES = {"ROWS": "50", "N": "2"}
# trials whose files are kept for the host
SAMPLED = "10,40,90"
SANITIZED = "CFLAGS=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.fixture(scope="module")
def trials() -> Path:
    """The program, linked with what the sanitized driver has of SQLite."""
    built = WORKLOADS / "build/test"
    library = binary(NEWEST).with_name(f"driver-{NEWEST}.objects") / "sqlite3.o"
    release = WORKLOADS / "build/sqlite" / NEWEST
    with artifacts.locked(built / "trials"):
        command = ["make", "-s", "-C", WORKLOADS / "trials", f"OUT={built}/trials", SANITIZED]
        command += [f"LIBRARY={library}", f"RELEASE_DIR={release}"]
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == 0, done.stderr
    return built / "trials"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder whose syncs take no time, where this host has one."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as folder:
        yield Path(folder)


def options(folder: Path, mode: str, sync: str) -> list[str | Path]:
    return [
        *("run", "--rows", SIZES["ROWS"], "--n", SIZES["N"], "--database", folder / "db/sample.db"),
        *("--journal-mode", mode, "--synchronous", sync, "--output-dir", folder / "out", "--vfs-log"),
    ]


def killed(
    program: Path, folder: Path, mode: str, sync: str, spoil: tuple[str, str] = ("", "")
) -> subprocess.CompletedProcess[str]:
    """Run the driver, and then once more for each moment of it; the board's words for each are in killed.csv.

    spoil: what of the plan is replaced by what.
    """
    (folder / "db").mkdir()
    driver = binary(NEWEST)
    table = ["populate", "--rows", SIZES["ROWS"], "--database", folder / "db/sample.db"]
    subprocess.run([driver, *table], check=True)
    populated = (folder / "db/sample.db").read_bytes()
    subprocess.run([driver, *options(folder, mode, sync)], check=True, stdout=subprocess.DEVNULL)
    (folder / "plan").write_text("".join(one.line() for one in planned(folder)).replace(*spoil))
    for left in (folder / "db").iterdir():
        left.unlink()
    (folder / "db/sample.db").write_bytes(populated)
    command = [program, "kill", folder / "plan", folder / "killed.csv", folder / "files", SAMPLED]
    command += options(folder, mode, sync)
    command[-2] = folder / "killed"
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cell(mode: str) -> dict[str, Any]:
    """The cell of such a run."""
    return make_cell({**SIZES, "JOURNAL_MODE": mode, "CRASH": "process"})


def planned(folder: Path) -> list[kills.Kill]:
    """Every moment of the run."""
    calls = drivertables.calls(folder / "out/vfs.csv")
    transactions = drivertables.transactions(folder / "out/transactions.csv")
    ran: Any = SimpleNamespace(vfs=calls, transactions=transactions)
    return kills.plan({"cuts": 100_000, "cut_seed": 1}, ran)


def outcomes(folder: Path) -> list[str]:
    """Of each trial: broken, lost or kept."""
    states = oracle.after_each(make_cell(SIZES), ["insert", "update", "delete"])
    known = verdicts.Known([total for _, total in states])
    found = []
    for row in read_csv(folder / "killed.csv", kills.KILLS, optional=("said",)).iter_rows(named=True):
        lost = known.between(known.held(row), row["acknowledged"])
        whole = row["opened"] and row["is_whole"] and not row["signal"]
        found.append("broken" if lost is None or not whole else "lost" if lost > 0 else "kept")
    return found


@pytest.mark.parametrize("sync", ["off", "normal", "full"])
@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal"])
def test_a_journal_on_the_disk_loses_nothing(trials: Path, memory: Path, mode: str, sync: str) -> None:
    """Whether it is synced or not: what the kernel has outlives the process."""
    done = killed(trials, memory, mode, sync)
    assert (done.returncode, done.stderr) == (0, "")
    plan, found = planned(memory), outcomes(memory)
    assert len(found) == len(plan) > 40 and set(found) == {"kept"}
    assert {one.where for one in plan} == {kills.AFTER, kills.DURING, kills.ACKNOWLEDGED}


@pytest.mark.parametrize("mode", ["memory", "off"])
def test_without_one_a_database_is_broken_in_a_transaction(trials: Path, memory: Path, mode: str) -> None:
    done = killed(trials, memory, mode, "full")
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(zip(planned(memory), outcomes(memory), strict=True))
    assert "broken" in found.values() and "lost" not in found.values()
    assert {found[one] for one in found if one.where == kills.ACKNOWLEDGED} == {"kept"}


@pytest.mark.parametrize("mode", ["wal", "off"])
def test_the_files_of_a_sampled_trial_hold_what_it_found(trials: Path, memory: Path, mode: str) -> None:
    """Kept before anything opened them: as the host looks at them (commitpath/looks.py)."""
    assert killed(trials, memory, mode, "full").returncode == 0
    rows = read_csv(memory / "killed.csv", kills.KILLS, optional=("said",))
    kept = sampled.folders(memory)
    assert {one.name for one in kept} == {one for one in SAMPLED.split(",") if int(one) < rows.height}
    for folder in kept:
        # of 91 moments the 40th is in the transactions
        of_wal = folder.name == "40" and mode == "wal"
        assert {one.name for one in folder.iterdir()} >= {"sample.db", *(["sample.db-wal"] if of_wal else [])}
        found = looks.look(trials, cell(mode), folder)
        row = rows.row(by_predicate=pl.col("trial") == int(folder.name), named=True)
        assert {name: found[name] for name in sampled.FOUND} == {name: row[name] for name in sampled.FOUND}
        (folder / "sample.db").unlink()
        assert looks.look(trials, cell(mode), folder)["opened"] == 0


def test_a_look_that_fails_is_one_line(trials: Path, tmp_path: Path) -> None:
    made = cell("wal") | {"rows": -1}
    (tmp_path / "10").mkdir()
    with pytest.raises(
        LabError, match="trial 10 cannot be looked at on this host: driver: --rows: -1 is not"
    ):
        looks.look(trials, made, tmp_path / "10")


def test_a_plan_of_another_run_is_refused(trials: Path, memory: Path) -> None:
    done = killed(trials, memory, "delete", "full", ("0 512\n", "0 513\n"))
    assert done.returncode == 1
    assert "is of 512 bytes at 0, not 513 at 0: this is another run" in done.stderr
    assert "the run ended by itself, and was to be killed" in done.stderr


def test_a_line_that_is_no_trial(trials: Path, memory: Path) -> None:
    done = killed(trials, memory, "wal", "full", ("acknowledged", "agreed"))
    assert done.returncode == 1 and "is no trial" in done.stderr
    assert len(done.stderr.splitlines()) == 1
