"""A driver that is killed at every moment that makes a difference: what each engine promises of a setting."""

import subprocess
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from conftest import binary_of, ok
from kill_trials import killed as kill
from kill_trials import memory, planned, trials_of

from analysis.adapters import drivertables
from analysis.adapters.trials import KILLS
from analysis.adapters.trials import read_table as trials_table
from analysis.crash import prefixes
from commitpath.cells.from_variables import make_cell
from commitpath.run import sampled_databases
from model.cell import Cell
from model.crash_points import kill_points
from model.expected_state import oracle, sampled

SIZES = {"ROWS": "50", "N": "2"}
# trials whose files are kept for the host
SAMPLED = "10,40,90"

__all__ = ["memory"]


def in_mode(mode: str, sync: str) -> list[str]:
    return ["--journal-mode", mode, "--synchronous", sync]


def killed(
    engine: str, folder: Path, settings: list[str], spoil: tuple[str, str] = ("", "")
) -> subprocess.CompletedProcess[str]:
    """Run the driver, and then once more for each moment of it; the board's words for each are in killed.csv.

    spoil: what of the plan is replaced by what.
    """
    (folder / "db").mkdir()
    table = ["--rows", SIZES["ROWS"], "--database", folder / "db/sample.db"]
    subprocess.run([binary_of(engine), "populate", *table], check=True)
    populated = (folder / "db/sample.db").read_bytes()
    run = ["run", *table, "--n", SIZES["N"], *settings, "--vfs-log"]
    first = [binary_of(engine), *run, "--output-dir", folder / "out"]
    subprocess.run(first, check=True, stdout=subprocess.DEVNULL)
    plan = "".join(one.line() for one in planned(folder / "out")).replace(*spoil)
    for left in (folder / "db").iterdir():
        left.unlink()
    (folder / "db/sample.db").write_bytes(populated)
    return kill(engine, folder, plan, run, SAMPLED)


def cell(mode: str) -> Cell:
    """The cell of such a run."""
    return make_cell({**SIZES, "JOURNAL_MODE": mode, "CRASH": "process"})


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
def test_a_journal_on_the_disk_loses_nothing(memory: Path, mode: str, sync: str) -> None:
    """Whether it is synced or not: what the kernel has outlives the process."""
    keeps_all(memory, mode, sync)


@pytest.mark.parametrize(("mode", "sync"), OTHERS)
def test_no_level_of_a_journal_loses_anything(memory: Path, mode: str, sync: str) -> None:
    keeps_all(memory, mode, sync)


def keeps_all(memory: Path, mode: str, sync: str) -> None:
    """No kill of a run with these settings loses a transaction."""
    ok(killed("sqlite", memory, in_mode(mode, sync)))
    plan, found = planned(memory / "out"), outcomes(memory)
    assert len(found) == len(plan) > 40 and set(found) == {"kept"}
    assert {one.where for one in plan} == {kill_points.AFTER, kill_points.DURING, kill_points.ACKNOWLEDGED}


@pytest.mark.parametrize("mode", ["memory", "off"])
def test_without_one_a_database_is_broken_in_a_transaction(memory: Path, mode: str) -> None:
    ok(killed("sqlite", memory, in_mode(mode, "full")))
    found = dict(zip(planned(memory / "out"), outcomes(memory), strict=True))
    assert "broken" in found.values() and "lost" not in found.values()
    assert {found[one] for one in found if one.where == kill_points.ACKNOWLEDGED} == {"kept"}


@pytest.mark.parametrize("dirty", ["0", "4"])
@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
def test_a_statement_log_loses_nothing(memory: Path, medium: str, dirty: str) -> None:
    """What the process had copied to a mapped log outlives it as what it wrote does. Of the recoveries' table
    each case is met that a process alone can leave."""
    ok(killed("ssl", memory, ["--log-medium", medium, "--dirty-pages", dirty]))
    met = nothing_lost(memory)
    assert set(met["recovery"]) >= {
        *("log reset; WAL reset", "log used; WAL reset", "log reset; WAL live"),
        *("log used; WAL torn", "WAL ahead of the log", "clean"),
    }
    assert met["replayed"].max() == (6 if dirty == "0" else 3)


def nothing_lost(memory: Path) -> pl.DataFrame:
    """What was met by the kills of a log that keeps pages, each of which left what was acknowledged."""
    plan, found = planned(memory / "out"), outcomes(memory)
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
    memory: Path, medium: str, sector: str, reading: str, replayed: int
) -> None:
    settings = ["--log-medium", medium, "--sector-size", sector, "--page-record", reading]
    ok(killed("ppl", memory, settings))
    met = nothing_lost(memory)
    assert set(met["recovery"]) >= {
        *("log reset; no merged pages", "log reset; merged pages live", "merged pages ahead of the log"),
        *("log used; no merged pages", "log used; merged pages torn", "clean"),
    }
    assert met["replayed"].max() == replayed


@pytest.mark.parametrize("mode", ["wal", "off"])
def test_the_files_of_a_sampled_trial_hold_what_it_found(memory: Path, mode: str) -> None:
    """Kept before anything opened them: as the host looks at them (commitpath/run/sampled_databases.py)."""
    assert killed("sqlite", memory, in_mode(mode, "full")).returncode == 0
    rows = trials_table(memory / "killed.csv", KILLS)
    kept = sampled.folders(memory)
    assert {one.name for one in kept} == {one for one in SAMPLED.split(",") if int(one) < rows.height}
    for folder in kept:
        # of 91 moments the 40th is in the transactions
        of_wal = folder.name == "40" and mode == "wal"
        assert {one.name for one in folder.iterdir()} >= {"sample.db", *(["sample.db-wal"] if of_wal else [])}
        found = sampled_databases.look(trials_of("sqlite"), cell(mode), folder)
        row = rows.row(by_predicate=pl.col("trial") == int(folder.name), named=True)
        assert {name: found[name] for name in sampled.FOUND} == {name: row[name] for name in sampled.FOUND}
        (folder / "sample.db").unlink()
        assert sampled_databases.look(trials_of("sqlite"), cell(mode), folder)["opened"] == 0


def test_a_plan_of_another_run_is_refused(memory: Path) -> None:
    done = killed("sqlite", memory, in_mode("delete", "full"), ("0 512\n", "0 513\n"))
    assert done.returncode == 1
    assert "is of 512 bytes at 0, not 513 at 0: this is another run" in done.stderr
    assert "the run ended by itself, and was to be killed" in done.stderr
