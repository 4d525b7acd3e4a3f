"""Trials whose files the host looks at, too: a recorded run, with a database as a sampled trial's."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import edit, edit_trial
from some_cell import some_cell

from analysis import checks, stages
from analysis.checks import crash_trials
from analysis.run import Run
from model import engines, workloads
from model.cell import Cell
from model.expected_state import oracle, sampled
from model.workloads import Options

PHASES = ["insert", "update", "delete"]
SAMPLED = 10


def database(path: Path, cell: Cell, transactions: int) -> None:
    """Make the database of a cell's run as it is after so many transactions."""
    options = Options(cell.rows, cell.n, cell.value_size, cell.seed)
    again = workloads.by_name(cell.profiles["workload"]["driver_workload"])
    assert again
    made, render = sqlite3.connect(path, isolation_level=None), engines.by_name("sqlite").rendered
    made.execute("CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL)")
    made.execute("BEGIN")
    rows = [("i" * options.value_size,)] * options.rows
    made.executemany("INSERT INTO sample(value) VALUES(?)", rows)
    for transaction in [*workloads.transactions(again, options, PHASES)][:transactions]:
        made.execute(render(transaction, again.TEXTS).decode())
    made.execute("COMMIT")
    made.close()


def pack(files: list[Path], into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for file in files:
        (into / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))


def document(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text())
    return found


def place(folder: Path) -> Path:
    return folder / f"crash/1/raw/files/{SAMPLED}"


@pytest.fixture
def run_dir(built_run: Callable[[str], Run], copy_run: Callable[[str], Path], tmp_path: Path) -> Path:
    """DELETE with FULL, 40 cuts of 15 transactions, of which trial 10 is sampled."""
    judged, folder = built_run("sample-crash").judged, copy_run("sample-crash")
    assert judged is not None
    row = judged.row(SAMPLED, named=True)
    shutil.rmtree(place(folder), ignore_errors=True)
    database(tmp_path / "sample.db", some_cell(**document(folder, "cell.json")), row["transactions"])
    pack([tmp_path / "sample.db"], place(folder))
    found = {name: row[name] for name in sampled.FOUND}
    edit(folder / "host.json", trials_looks={str(SAMPLED): found | {"said": ""}})
    return folder


def test_the_host_finds_what_the_board_did(run_dir: Path) -> None:
    assert not checks.reasons(stages.build(run_dir))


def another_look(**values: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        looks = document(folder, "host.json")["trials_looks"]
        edit(folder / "host.json", trials_looks={str(SAMPLED): looks[str(SAMPLED)] | values})

    return spoil


def unread(folder: Path) -> None:
    (place(folder) / "sample.db.gz").unlink()
    (place(folder) / sampled.UNREAD).write_text("Input/output error\n")
    edit(folder / "host.json", trials_looks={})


def unread_and_broken(folder: Path) -> None:
    unread(folder)
    edit_trial(folder, SAMPLED, is_whole=0)


def no_database(folder: Path) -> None:
    made = folder.parent / "sample.db"
    made.write_bytes(b"no database" * 1000)
    pack([made], place(folder))


def unmounted(folder: Path) -> None:
    shutil.rmtree(place(folder))
    edit(folder / "host.json", trials_looks={})
    edit_trial(folder, SAMPLED, mount_error=117, opened=0, is_read=0, is_whole=0)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (another_look(hash="0" * 16), ", host 0000000000000000"),
        (lambda folder: edit_trial(folder, SAMPLED, is_whole=0), "is_whole: board 0, host 1"),
        (lambda folder: edit(folder / "host.json", trials_looks={}), "the host did not read its files"),
        (lambda folder: shutil.rmtree(place(folder)), "its board stored no files for the host"),
        (unread, "its board found the database intact, but could not read it"),
        (no_database, "; its files have nothing"),
        (unread_and_broken, None),
        (unmounted, None),
    ],
)
def test_a_difference_rejects_the_run(
    run_dir: Path, spoil: Callable[[Path], None], reason: str | None
) -> None:
    spoil(run_dir)
    found = crash_trials.sampled_databases(stages.build(run_dir))
    if reason is None:
        assert not found
    else:
        assert len(found) == 1 and found[0].startswith("trial 10: ") and reason in found[0], found
        assert found[0] in checks.reasons(stages.build(run_dir))


def test_a_journal_is_played_back(tmp_path: Path) -> None:
    """Files of a transaction that is under way: its database is as before."""
    profiles = {"workload": {"driver_workload": "apsys17"}}
    cell = some_cell(rows=200, n=1, value_size=3072, seed=1, profiles=profiles)
    database(tmp_path / "sample.db", cell, 0)
    made = sqlite3.connect(tmp_path / "sample.db", isolation_level=None)
    made.execute("PRAGMA cache_size=1")
    made.execute("BEGIN")
    made.execute("UPDATE sample SET value='changed' WHERE id<150")
    pack(sorted(tmp_path.glob("sample.db*")), tmp_path / "kept")
    made.execute("COMMIT")
    assert len([*(tmp_path / "kept").iterdir()]) == 2
    assert sampled.rows(tmp_path / "kept", "sample") == oracle.after_each(cell, [])[0]
    (tmp_path / "kept/sample.db-journal.gz").unlink()
    assert sampled.rows(tmp_path / "kept", "sample") != oracle.after_each(cell, [])[0]
