"""LevelDB in the driver: calls that fit its options, owners of rows in tables, recovery from damaged logs."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Driver, one_line_error
from kill_trials import looked
from log_files import log_of
from store_runs import assert_writes_are_the_files, calls_of, of_two_runs, orders, populated, run_store

from analysis.adapters import drivertables
from analysis.content import leveldb as content
from analysis.crash import prefixes, verdicts
from analysis.ledger import contents
from base.arrays import ints
from commitpath.cells.from_variables import make_cell
from model import engines
from model.expected_state import hashes, oracle

ROWS, N = 500, 200
SMALL = ("--write-buffer-size", 65536)
LEVELDB = engines.by_name("leveldb")


@pytest.fixture
def leveldb(tmp_path: Path) -> Driver:
    return populated("leveldb", tmp_path, "--rows", ROWS, *SMALL)


def run(driver: Driver, *more: object, sync: str = "off") -> None:
    run_store(driver, "--rows", ROWS, "--n", N, "--sync", sync, *SMALL, *more)


def test_debians_library_keeps_all_indexes(leveldb: Driver) -> None:
    """`levels-0-1` needs the patched one (test_index_blocks.py)."""
    run(leveldb, "--index-blocks", "all")
    assert leveldb.config()["effective"]["index_blocks"] == "all"
    where = ["--database", leveldb.database, "--output-dir", leveldb.folder / "other", "--rows", ROWS]
    done = leveldb("run", *where, "--n", N, "--sync", "off", *SMALL, "--index-blocks", "levels-0-1")
    assert "--index-blocks levels-0-1: this LevelDB has only all" in one_line_error(done, 1)


def test_two_runs_are_equal(leveldb: Driver) -> None:
    """Calls, their data's owners, and files but for the info log, which has times."""

    def made() -> tuple[list[Any], list[Any], dict[str, bytes]]:
        run(leveldb, "--vfs-log", "--checkpoint-every", 100)
        files = [path for path in leveldb.database.iterdir() if not path.name.startswith("LOG")]
        vfs = calls_of(leveldb)
        calls = vfs.filter(pl.col("file") != "info").select("op", "file", "offset", "bytes")
        moved = drivertables.moved(leveldb.output / "moved.csv", vfs.height)
        return calls.rows(), moved.rows(), {path.name: path.read_bytes() for path in files}

    calls, moved, _ = of_two_runs(leveldb, made)
    assert any(source is not None for _, source, _ in moved)
    assert Counter(op for op, file, *_ in calls if file == "table")["open"] > 10


def test_a_flush_without_rows_is_no_failed_call(tmp_path: Path) -> None:
    """LevelDB removes a table that it did not make, as where a checkpoint comes after reads."""
    where = ["--workload", "kv", "--rows", 50]
    leveldb = populated("leveldb", tmp_path, *where)
    run_store(leveldb, *where, "--n", 10, "--sync", "off", "--checkpoint-every", 5, "--vfs-log")
    assert set(calls_of(leveldb)["result"]) == {0}


@pytest.mark.parametrize("sync", ["off", "full"])
def test_calls_are_those_of_the_settings(leveldb: Driver, sync: str) -> None:
    run(leveldb, "--vfs-log", sync=sync)
    vfs, settings = calls_of(leveldb), LEVELDB.in_effect(leveldb.config())
    assert leveldb.config()["effective"] == {"background": "inline", "index_blocks": "all"}
    assert settings["sync"] == sync
    assert LEVELDB.logs_calls(leveldb.config())
    assert orders(leveldb, vfs) == []
    assert orders(leveldb, vfs, "requested", sync={"off": "full", "full": "off"}[sync])
    # a manifest's sync is one of the folder, too
    syncs = vfs.filter(pl.col("op") == "sync")
    assert set(syncs.filter(pl.col("file") == "manifest")["offset"]) == {1}
    assert set(syncs.filter(pl.col("file") != "manifest")["offset"]) == {0}
    assert (syncs.filter(pl.col("file") == "log").height > 0) == (sync == "full")


def test_writes_are_the_files(leveldb: Driver) -> None:
    run(leveldb, "--vfs-log")
    assert_writes_are_the_files(leveldb, "*.ldb")


def test_a_flush_belongs_to_the_writes_that_it_moves(leveldb: Driver) -> None:
    """Each row of a table is one transaction's, or from before; and the parts of a call add up."""
    run(leveldb, "--vfs-log")
    vfs = calls_of(leveldb)
    owner = ints(vfs["transaction"])
    moved = drivertables.moved(leveldb.output / "moved.csv", vfs.height)
    assert set(vfs["file"].gather(moved["call"])) == {"table"}
    assert set(vfs["file"].gather(moved["source"].drop_nulls())) == {"log"}
    assert (moved.group_by("call").agg(pl.col("bytes").sum()).join(vfs, on="call")["bytes"] > 3000).all()
    owners = contents.owners(vfs, owner, moved)
    tables = np.flatnonzero(((vfs["op"] == "write") & (vfs["file"] == "table")).to_numpy())
    shares = [
        owners.weights[f : f + c].sum()
        for f, c in zip(owners.firsts[tables], owners.counts[tables], strict=True)
    ]
    assert max(shares) == pytest.approx(1) and min(shares) >= 0
    # an insert's row is moved by the call of a later transaction, or its own
    inserted = {number for number in owners.transactions.tolist() if number < N}
    assert len(inserted) == N
    later = np.repeat(owner, owners.counts)
    assert (later[later >= 0] >= owners.transactions[later >= 0]).all()


def test_a_row_larger_than_the_buffer_is_of_all_its_writes(tmp_path: Path) -> None:
    """LevelDB writes a full buffer of 64 KiB and the rest by itself, and later the end of the block."""
    sizes = ["--workload", "kv", "--value-size", 200_000, "--rows", 20]
    driver = populated("leveldb", tmp_path, *sizes)
    run_store(driver, *sizes, "--n", 6, "--phases", "insert", "--sync", "off", *SMALL, "--vfs-log")
    vfs = calls_of(driver)
    moved = drivertables.moved(driver.output / "moved.csv", vfs.height)
    bytes_moved = dict(moved.group_by("call").agg(pl.col("bytes").sum()).rows())
    large = vfs.filter((pl.col("op") == "write") & (pl.col("file") == "table") & (pl.col("bytes") >= 65536))
    assert set(large["bytes"][::2]) == {65536} and large["bytes"][1::2].min() > 134_000  # type: ignore[operator]
    for call, size in large.select("call", "bytes").rows():
        assert size - 20 < bytes_moved[call] <= size


def test_a_log_ends_with_the_write_buffer_and_a_table_with_its_size(leveldb: Driver) -> None:
    run(leveldb, "--vfs-log")
    vfs = calls_of(leveldb)
    ends = vfs.filter((pl.col("op") == "write") & (pl.col("file") == "log")).select("offset", "bytes")
    sizes = [last + size for (last, size), (first, _) in itertools.pairwise(ends.rows()) if first == 0]
    # the memtable also has room for a block of 4 KiB
    assert sizes and all(65536 - 8192 < size < 65536 + 8192 for size in sizes), sizes


def test_filters_are_in_the_tables(tmp_path: Path) -> None:
    found = []
    for bits in (0, 10):
        folder = tmp_path / str(bits)
        folder.mkdir()
        driver = populated("leveldb", folder, "--rows", ROWS, "--bloom-bits", bits)
        tables = b"".join(path.read_bytes() for path in driver.database.glob("*.ldb"))
        found.append(b"filter.leveldb.BuiltinBloomFilter2" in tables)
    assert found == [False, True]


def log_records(file: content._File) -> Iterator[content._Part]:
    return content.records(file.bytes)


def test_content_rules_hold_for_what_leveldb_writes(leveldb: Driver) -> None:
    """Every byte of a manifest, which is a log, and of a table's blocks; and a changed byte is noticed."""
    run(leveldb)
    found = Counter[str]()
    for path in leveldb.database.iterdir():
        rule = {".log": log_records, ".ldb": content._blocks}.get(path.suffix)
        rule = log_records if path.name.startswith("MANIFEST") else rule
        if rule is None or not path.stat().st_size:
            continue
        data = np.frombuffer(path.read_bytes(), np.uint8).copy()
        file = content._File(np.empty(0, np.int64), data, np.ones(1, bool))
        parts = list(rule(file))
        assert all(is_right for _, is_right in content.checked(parts))
        covered = sum(part.end - part.begin for part in parts) + 48 * (path.suffix == ".ldb")
        assert data.size - 7 * (data.size // 32768) <= covered <= data.size
        data[parts[-1].end - 8] ^= 1
        assert sum(not is_right for _, is_right in content.checked(list(rule(file)))) == 1
        found[path.suffix] += 1
    # the last log became a table when the driver opened the database once more
    assert found[""] == 1 and found[".ldb"] > 1


def test_a_damaged_table_is_one_line(leveldb: Driver) -> None:
    table = max(leveldb.database.glob("*.ldb"))
    content = table.read_bytes()
    table.write_bytes(content[:1000])
    where = ["--database", leveldb.database, "--output-dir", leveldb.output, "--rows", ROWS, "--sync", "off"]
    assert re.search("Corruption|IO error|corrupt", one_line_error(leveldb("run", *where), 1))


@pytest.mark.parametrize(
    ("logs", "found"),
    [
        ((log_of(101, 102), log_of(103)), {101, 102, 103}),
        # google/leveldb#193: the older log's end did not reach the device, and the newer one did
        ((log_of(101), log_of(103)), {101, 103}),
        # the older log has its size and none of its data
        ((bytes(500), log_of(103)), {103}),
        # a block was not written, and the next one was
        ((log_of(103, skip=1),), {103}),
    ],
)
def test_recovery_does_not_notice_a_hole(tmp_path: Path, logs: tuple[bytes, ...], found: set[int]) -> None:
    """Without SYNC=full a power cut may leave these logs. The oracle of trials says which have a hole."""
    row = recovered(tmp_path, 100, logs)
    assert row["rows"] == 100 + len(found)
    hashed = [hashes.row_hash((key, hashes.Text(b"i"))) for key in range(1, 101)]
    hashed += [hashes.row_hash((key, hashes.Text(b"v"))) for key in found]
    assert int(row["hash"], 16) == sum(hashed) & (1 << 64) - 1


def recovered(folder: Path, rows: int, logs: tuple[bytes, ...]) -> dict[str, Any]:
    """What a trial finds in a database that had these logs; it opens without an error."""
    where = ["--rows", rows, "--value-size", 1]
    driver = populated("leveldb", folder, *where)
    for number, log in enumerate(logs, 900):
        (driver.database / f"{number:06}.log").write_bytes(log)
    given = ["--database", driver.database, "--rows", rows, "--sync", "off"]
    row: dict[str, Any] = looked("leveldb", *given)
    row |= {name: int(row[name]) for name in ("opened", "is_read", "is_whole", "signal", "rows")}
    assert [row[name] for name in ("opened", "is_read", "is_whole", "signal")] == [1, 1, 1, 0]
    return row


def test_a_log_of_zeros_is_a_loss(tmp_path: Path) -> None:
    """LevelDB opens it as an empty one (db/log_reader.cc); the verdict of a trial is by the rows."""
    row = recovered(tmp_path, 0, (bytes(len(log_of(*range(1, 11)))),))
    assert row["rows"] == 0
    cell = make_cell({"ENGINE": "leveldb", "WORKLOAD": "apsys17-insert", "ROWS": "0", "N": "10"})
    known = prefixes.ExpectedStates(dict(enumerate(oracle.after_each(cell, ["insert"]))))
    held = known.held({**row, "begun": 10})
    judged = {"mount_error": 0, "hole_first": None, "transactions": held, "missing": known.between(held, 10)}
    assert judged["missing"] == 10
    assert pl.DataFrame([{**row, **judged}]).select(verdicts._verdict()).item() == verdicts.LOST
