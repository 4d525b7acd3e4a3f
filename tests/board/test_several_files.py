"""A trace of three files on the board: a database each, whose bytes are told apart."""

import json
from pathlib import Path

import polars as pl
import pytest

from analysis.__main__ import main as analyse
from commitpath.cells.from_variables import make_cell
from commitpath.run import experiment

FILES = (1, 2, 3)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Transactions of each file in turn; every tenth is a batch."""
    lines = ["commitpath trace 1", *(f'file {file} "{file}.db"' for file in FILES)]
    lines += [f'make {file} "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"' for file in FILES]
    for i in range(90):
        file, batch = i % 3 + 1, i % 10 == 0
        lines += [f'{i} {file} "BEGIN"'] * batch
        lines += [f'{i} {file} "INSERT INTO t(v) VALUES(hex(zeroblob(?)))" {700 + i}']
        lines += [f'{i} {file} "UPDATE t SET v=? WHERE id=1" "{i}"', f'{i} {file} "COMMIT"'] * batch
    (tmp_path / "three.trace").write_text("\n".join(lines))
    return tmp_path / "three.trace"


@pytest.mark.parametrize(
    "settings",
    [
        {"MODE": "delete"},
        {"MODE": "wal", "CHECKPOINT_EVERY": "7"},
        {"ENGINE": "ssl", "LOG_MEDIUM": "pcm", "DIRTY_PAGES": "5"},
    ],
    ids=["delete", "wal", "pcm"],
)
def test_each_files_bytes_are_its_own(trace: Path, settings: dict[str, str]) -> None:
    run = experiment.run_once(make_cell({"WORKLOAD": "trace", "FILE": str(trace), **settings}))
    analyse([str(run)])
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["status"], summary["reasons"]) == ("ok", [])
    config = json.loads((run / "raw/driver/config.json").read_text())
    assert [one["transactions"] for one in config["databases"]] == [30, 30, 30]
    assert [one["path"].rpartition("/")[2] for one in config["databases"]] == [
        "sample.db",
        "sample-2.db",
        "sample-3.db",
    ]
    vfs, pieces = (pl.read_parquet(run / f"tables/{name}.parquet") for name in ("vfs", "pieces"))
    calls = vfs.filter(pl.col("transaction").is_not_null())
    assert calls.select((pl.col("database") == pl.col("transaction") % 3 + 1).all()).item()
    # each database has bytes of its own, of as many inodes as it has files
    own = pieces.join(vfs.select(vfs_call="call", database="database"), on="vfs_call")
    assert sorted(own["database"].unique()) == [1, 2, 3]
    of_database = own.filter(pl.col("file").cast(pl.String) == "database")
    assert of_database["inode"].n_unique() == of_database.select("database", "inode").n_unique() == 3
