"""A driver that is killed at every moment that makes a difference: what each engine promises of each setting.

On this host, as neither kernel nor device fails: what a board has (workloads/trials/kill.c), under ASan and
UBSan; its folder is in memory, where syncs take no time.
"""

import functools
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import polars as pl
import pytest
from conftest import NEWEST, WORKLOADS, binary, library
from made import make
from some_cell import some_cell

from analysis.adapters import drivertables
from analysis.adapters.trials import KILLS
from analysis.adapters.trials import read_table as trials_table
from analysis.crash import prefixes
from commitpath.cells.from_variables import make_cell
from commitpath.run import sampled_databases
from images import artifacts
from model.cell import Cell
from model.crash_points import kill_points
from model.expected_state import oracle, sampled

SIZES = {"ROWS": "50", "N": "2"}
# trials whose files are kept for the host
SAMPLED = "10,40,90"
SANITIZED = "CFLAGS=-O0 -g -DON_A_HOST -fsanitize=address,undefined -fno-sanitize-recover=all"


class Programs(NamedTuple):
    """What is linked with one engine, sanitized."""

    driver: Path
    trials: Path


@functools.cache
def programs(driver: Path, engine: str) -> Programs:
    """The driver, and the program of trials, which has what the driver has of SQLite."""
    built = driver.parent / f"trials-{engine}"
    release = WORKLOADS / "build/sqlite" / NEWEST
    with artifacts.locked(built):
        linked = [f"LIBRARY={library(NEWEST)}", f"RELEASE_DIR={release}"]
        make(WORKLOADS / "trials", f"OUT={built}", f"ENGINE={engine}", SANITIZED, *linked)
    return Programs(driver, built)


@pytest.fixture(scope="module")
def sqlite() -> Programs:
    return programs(binary(NEWEST), "sqlite")


@pytest.fixture(scope="module")
def statements() -> Programs:
    return programs(binary("engine-ssl"), "ssl")


@pytest.fixture(scope="module")
def pages() -> Programs:
    return programs(binary("engine-ppl"), "ppl")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder whose syncs take no time, where this host has one."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else tmp_path) as folder:
        yield Path(folder)


def in_mode(mode: str, sync: str) -> list[str]:
    return ["--journal-mode", mode, "--synchronous", sync]


def options(folder: Path, settings: list[str]) -> list[str | Path]:
    return [
        *("run", "--rows", SIZES["ROWS"], "--n", SIZES["N"], "--database", folder / "db/sample.db"),
        *(*settings, "--output-dir", folder / "out", "--vfs-log"),
    ]


def killed(
    linked: Programs, folder: Path, settings: list[str], spoil: tuple[str, str] = ("", "")
) -> subprocess.CompletedProcess[str]:
    """Run the driver, and then once more for each moment of it; the board's words for each are in killed.csv.

    spoil: what of the plan is replaced by what.
    """
    (folder / "db").mkdir()
    table = ["populate", "--rows", SIZES["ROWS"], "--database", folder / "db/sample.db"]
    subprocess.run([linked.driver, *table], check=True)
    populated = (folder / "db/sample.db").read_bytes()
    subprocess.run([linked.driver, *options(folder, settings)], check=True, stdout=subprocess.DEVNULL)
    (folder / "plan").write_text("".join(one.line() for one in planned(folder)).replace(*spoil))
    for left in (folder / "db").iterdir():
        left.unlink()
    (folder / "db/sample.db").write_bytes(populated)
    command = [linked.trials, "kill", folder / "plan", folder / "killed.csv", folder / "files", SAMPLED]
    command += options(folder, settings)
    command[-2] = folder / "killed"
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cell(mode: str) -> Cell:
    """The cell of such a run."""
    return make_cell({**SIZES, "JOURNAL_MODE": mode, "CRASH": "process"})


def planned(folder: Path) -> list[kill_points.Kill]:
    """Every moment of the run."""
    calls = drivertables.calls(folder / "out/vfs.csv")
    transactions = drivertables.transactions(folder / "out/transactions.csv")
    ran: Any = SimpleNamespace(vfs=calls, transactions=transactions)
    return kill_points.plan(some_cell(cuts=100_000, cut_seed=1), ran)


def outcomes(folder: Path) -> list[str]:
    """Of each trial: broken, lost or kept."""
    states = oracle.after_each(make_cell(SIZES), ["insert", "update", "delete"])
    known = prefixes.ExpectedStates(dict(enumerate(states)))
    found = []
    for row in trials_table(folder / "killed.csv", KILLS).iter_rows(named=True):
        lost = known.between(known.held(row), row["acknowledged"])
        whole = row["opened"] and row["is_whole"] and not row["signal"]
        found.append("broken" if lost is None or not whole else "lost" if lost > 0 else "kept")
    return found


# Each journal with one of the levels; with the others in `make test-long`.
ONCE = (("delete", "off"), ("truncate", "normal"), ("persist", "full"), ("wal", "normal"))
OTHERS = [pair for pair in product(dict(ONCE), ("off", "normal", "full")) if pair not in ONCE]


@pytest.mark.parametrize(("mode", "sync"), ONCE)
def test_a_journal_on_the_disk_loses_nothing(sqlite: Programs, memory: Path, mode: str, sync: str) -> None:
    """Whether it is synced or not: what the kernel has outlives the process."""
    keeps_all(sqlite, memory, mode, sync)


@pytest.mark.parametrize(("mode", "sync"), OTHERS)
def test_no_level_of_a_journal_loses_anything(sqlite: Programs, memory: Path, mode: str, sync: str) -> None:
    keeps_all(sqlite, memory, mode, sync)


def keeps_all(sqlite: Programs, memory: Path, mode: str, sync: str) -> None:
    """No kill of a run with these settings loses a transaction."""
    done = killed(sqlite, memory, in_mode(mode, sync))
    assert (done.returncode, done.stderr) == (0, "")
    plan, found = planned(memory), outcomes(memory)
    assert len(found) == len(plan) > 40 and set(found) == {"kept"}
    assert {one.where for one in plan} == {kill_points.AFTER, kill_points.DURING, kill_points.ACKNOWLEDGED}


@pytest.mark.parametrize("mode", ["memory", "off"])
def test_without_one_a_database_is_broken_in_a_transaction(sqlite: Programs, memory: Path, mode: str) -> None:
    done = killed(sqlite, memory, in_mode(mode, "full"))
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(zip(planned(memory), outcomes(memory), strict=True))
    assert "broken" in found.values() and "lost" not in found.values()
    assert {found[one] for one in found if one.where == kill_points.ACKNOWLEDGED} == {"kept"}


@pytest.mark.parametrize("dirty", ["0", "4"])
@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
def test_a_statement_log_loses_nothing(statements: Programs, memory: Path, medium: str, dirty: str) -> None:
    """What the process had copied to a mapped log outlives it as what it wrote does. Of the recoveries' table
    each case is met that a process alone can leave."""
    done = killed(statements, memory, ["--log-medium", medium, "--dirty-pages", dirty])
    assert (done.returncode, done.stderr) == (0, "")
    met = nothing_lost(memory)
    assert set(met["recovery"]) >= {
        *("log reset; WAL reset", "log used; WAL reset", "log reset; WAL live"),
        *("log used; WAL torn", "WAL ahead of the log", "clean"),
    }
    assert met["replayed"].max() == (6 if dirty == "0" else 3)


def nothing_lost(memory: Path) -> pl.DataFrame:
    """What was met by the kills of a log that keeps pages, each of which left what was acknowledged."""
    plan, found = planned(memory), outcomes(memory)
    assert len(found) == len(plan) > 25 and set(found) == {"kept"}
    calls = drivertables.calls(memory / "out/vfs.csv")
    assert "keep" in calls["op"]
    kept = set(calls.filter(calls["op"] == "keep")["call"])
    assert not kept & {one.call for one in plan[1:-1]}
    met = trials_table(memory / "killed.csv", KILLS)
    assert met["recovery"].null_count() == met["replayed"].null_count() == 0
    return met


# whole cells in a sector that a row fits in; bytes in one that none does, so that most commits are merges
@pytest.mark.parametrize(("sector", "reading", "replayed"), [("4096", "cells", 6), ("512", "bytes", 2)])
@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
def test_a_page_log_loses_nothing(
    pages: Programs, memory: Path, medium: str, sector: str, reading: str, replayed: int
) -> None:
    settings = ["--log-medium", medium, "--sector-size", sector, "--page-record", reading]
    done = killed(pages, memory, settings)
    assert (done.returncode, done.stderr) == (0, "")
    met = nothing_lost(memory)
    assert set(met["recovery"]) >= {
        *("log reset; no merged pages", "log reset; merged pages live", "merged pages ahead of the log"),
        *("log used; no merged pages", "log used; merged pages torn", "clean"),
    }
    assert met["replayed"].max() == replayed


@pytest.mark.parametrize("mode", ["wal", "off"])
def test_the_files_of_a_sampled_trial_hold_what_it_found(sqlite: Programs, memory: Path, mode: str) -> None:
    """Kept before anything opened them: as the host looks at them (commitpath/run/sampled_databases.py)."""
    assert killed(sqlite, memory, in_mode(mode, "full")).returncode == 0
    rows = trials_table(memory / "killed.csv", KILLS)
    kept = sampled.folders(memory)
    assert {one.name for one in kept} == {one for one in SAMPLED.split(",") if int(one) < rows.height}
    for folder in kept:
        # of 91 moments the 40th is in the transactions
        of_wal = folder.name == "40" and mode == "wal"
        assert {one.name for one in folder.iterdir()} >= {"sample.db", *(["sample.db-wal"] if of_wal else [])}
        found = sampled_databases.look(sqlite.trials, cell(mode), folder)
        row = rows.row(by_predicate=pl.col("trial") == int(folder.name), named=True)
        assert {name: found[name] for name in sampled.FOUND} == {name: row[name] for name in sampled.FOUND}
        (folder / "sample.db").unlink()
        assert sampled_databases.look(sqlite.trials, cell(mode), folder)["opened"] == 0


def test_a_plan_of_another_run_is_refused(sqlite: Programs, memory: Path) -> None:
    done = killed(sqlite, memory, in_mode("delete", "full"), ("0 512\n", "0 513\n"))
    assert done.returncode == 1
    assert "is of 512 bytes at 0, not 513 at 0: this is another run" in done.stderr
    assert "the run ended by itself, and was to be killed" in done.stderr
