"""A sync of more than a bio holds is split alike wherever the run is done again: in the baseline, and on
boards of trials, whose page caches are others."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from analysis import stages
from analysis.__main__ import main as analyse
from analysis.adapters import device_logs
from analysis.crash.align import Ran
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment
from model.block_operations import FUA, OP, WRITE

# KiB of a bio with a page in each of its 256 vectors
BIO_KIB = 1024
# A cell in which there is one; test_flash.py has it, too.
LARGE = {"FS": "ext4", "DEVICE": "emmc-5.0", "MODE": "wal", "SYNC": "normal", "N": "100"}
# a transaction has 20 rows of two indexes, so that 150 of them fill the log until a checkpoint twice
ROWS, TRANSACTIONS = 20, 150


def largest_sync_kib(ran: Ran) -> int:
    """The most that was written with no FLUSH or FUA between."""
    entries = ran.log.within(*ran.driver.window)
    kinds = entries["operation"]
    ends = (kinds & OP != WRITE) | (kinds & FUA > 0)
    written = np.where(kinds & OP == WRITE, entries["sectors"].astype(int), 0)
    return int(max(part.sum() for part in np.split(written, np.flatnonzero(ends)))) // 2


def boards(folder: Path) -> tuple[Ran, Ran]:
    """The run and its baseline."""
    run = stages.build(folder)
    assert run.twin is not None and run.log is not None and run.twin.log is not None
    return Ran(run.driver, run.log), Ran(run.twin.driver, run.twin.log)


def alike_until_the_drain(one: Ran, other: Ran) -> bool:
    """In the drain several threads of the kernel write at once, in any order."""
    first, drain, _ = Ran(*one).numbers
    both = (ran.log.within(*ran.driver.window) for ran in (one, other))
    return device_logs.common_prefix(*both) >= drain - first > 0


def test_a_watched_run_and_its_baseline_split_a_large_sync_alike(run_cell: Callable[..., Path]) -> None:
    """A checkpoint of the default 1000 pages syncs 4 MiB of log, which no commit has synced with NORMAL."""
    folder = run_cell(**LARGE)
    result = json.loads((folder / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    both = boards(folder)
    assert min(map(largest_sync_kib, both)) > BIO_KIB
    assert alike_until_the_drain(*both)
    # what was hooked on the board says that it was asked
    said = stages.build(folder).board.modules["bio_vectors"]
    assert int(said["kept_apart"]) > 100


def large_load() -> Iterator[str]:
    yield "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT, c BLOB);"
    yield "CREATE INDEX ta ON t(a); CREATE INDEX tb ON t(b);"
    yield (
        "INSERT INTO t(a, b, c) "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        "SELECT printf('%08x', i * 2654435761 % 4294967296), printf('%08x', i * 40503 % 65537), "
        "zeroblob(600) FROM n;"
    )
    yield "-- commitpath: transactions"
    for number in range(TRANSACTIONS):
        keys = range(ROWS * number, ROWS * (number + 1))
        rows = (
            f"('{(key + 5000) * 2654435761 % 2**32:08x}', '{key * 48271 % 65537:08x}', zeroblob(500))"
            for key in keys
        )
        yield f"INSERT INTO t(a, b, c) VALUES {', '.join(rows)};"


@pytest.fixture
def busy() -> Iterator[None]:
    """A loop that takes all of a CPU that it gets."""
    loop = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    yield
    loop.kill()
    loop.wait()


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("probes", ["all", "none"])
@pytest.mark.parametrize(("fs", "device"), [("ext4", "microsd-class10"), ("f2fs", "emmc-5.0")])
def test_boards_of_trials_split_large_syncs_alike(tmp_path: Path, fs: str, device: str, probes: str) -> None:
    """Else they did another run, and it is rejected."""
    (tmp_path / "large.sql").write_text("\n".join(large_load()) + "\n")
    cell = {"FS": fs, "DEVICE": device, "PROBES": probes, "MODE": "wal", "SYNC": "normal"}
    load = {"WORKLOAD": "sql", "FILE": str(tmp_path / "large.sql"), "CRASH": "power", "CUTS": "20"}
    folder = experiment.run_once(make_cell(cell | load))
    analyse([str(folder)])
    result = json.loads((folder / "summary.json").read_text())
    assert result["status"] == "ok", result["reasons"]
    assert result["crash"]["cuts"] == 20 and result["crash"]["unplaced"] == 0
    run = stages.build(folder)
    assert run.log is not None and largest_sync_kib(Ran(run.driver, run.log)) > 2 * BIO_KIB
    if probes == "all":
        assert alike_until_the_drain(*boards(folder))
