"""Stores on bad ground: another version's database, a full disk, and damaged files. The driver ends with one
line, and what was acknowledged is there; or it has the right rows. Never a crash."""

import os
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Driver, binary, ok, one_line_error
from kill_trials import looked
from test_acknowledged import acknowledged
from test_killed_stores import STORES

from analysis.adapters import drivertables
from analysis.content.crc import crc32c
from model.engines import by_name

SAMPLE = Path(__file__).parents[1] / "analysis/key-values.tar.xz"
# where a signal comes from the engine, the driver and not ASan has it
ENV = {**os.environ, "ASAN_OPTIONS": "allow_user_segv_handler=1"}
FAST = {"leveldb": "--sync off", "lmdb": "--nosync on", "rocksdb": "--sync off", "sqlitekv": "--sync off"}


def driver_of(engine: str, folder: Path) -> Driver:
    folder.mkdir(exist_ok=True)
    return Driver(binary(f"engine-{engine}"), folder)


def run(
    driver: Driver, engine: str, rows: int, *more: object, value_size: int = 3072
) -> subprocess.CompletedProcess:
    where = ["--database", driver.database, "--output-dir", driver.output, "--rows", rows]
    return driver("run", *where, "--value-size", value_size, *FAST[engine].split(), *more, env=ENV)


def rows_there(driver: Driver, engine: str, value_size: int = 3072) -> int:
    """How many rows the driver counts, which is given a wrong number."""
    line = one_line_error(run(driver, engine, 0, value_size=value_size), 1)
    found = re.search(r"the database has ([0-9]+) rows, --rows is 0$", line)
    assert found, line
    return int(found[1])


def masked(data: bytes) -> int:
    """LevelDB's checksum of a record with its type."""
    crc = int(~crc32c(np.frombuffer(data, np.uint8)[None], 0xFFFFFFFF)[0])
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def of_another_comparator(folder: Path) -> None:
    """Change the name of the order of keys in a manifest. LevelDB's files have no version."""
    manifest = max(folder.glob("MANIFEST-*"))
    content = manifest.read_bytes()
    length, kind = struct.unpack_from("<HB", content, 4)
    record = content[7 : 7 + length].replace(b"leveldb.BytewiseComparator", b"leveldb.BytewiseComparatoR")
    assert record != content[7 : 7 + length]
    head = struct.pack("<IHB", masked(bytes([kind]) + record), length, kind)
    manifest.write_bytes(head + record + content[7 + length :])


def of_another_data_version(folder: Path) -> None:
    """Each of LMDB's two meta pages has the version behind a magic number (lmdb 0.9, mdb.c, MDB_meta)."""
    with (folder / "data.mdb").open("r+b") as file:
        for page in (0, 4096):
            file.seek(page + 16)
            assert struct.unpack("<II", file.read(8)) == (0xBEEFC0DE, 1)
            file.seek(page + 20)
            file.write(struct.pack("<I", 999))


def of_another_table_format(folder: Path) -> None:
    """A table of RocksDB ends with its format's version and a magic number (table/format.cc, Footer)."""
    for table in folder.glob("*.sst"):
        content = bytearray(table.read_bytes())
        content[-12:-8] = struct.pack("<I", 99)
        table.write_bytes(content)


VERSIONS = [
    ("leveldb", of_another_comparator, "leveldb.BytewiseComparatoR does not match existing comparator"),
    ("lmdb", of_another_data_version, "MDB_VERSION_MISMATCH: Database environment version mismatch"),
    ("rocksdb", of_another_table_format, "Corruption: (Unknown|unknown|Invalid|.*version)"),
]


@pytest.mark.parametrize(("engine", "edit", "expected"), VERSIONS)
def test_a_database_of_another_version(
    engine: str, edit: Callable[[Path], None], expected: str, tmp_path: Path
) -> None:
    driver = driver_of(engine, tmp_path)
    assert driver("populate", "--database", driver.database, "--rows", 50).returncode == 0
    edit(driver.database)
    before = {path.name: path.read_bytes() for path in driver.database.iterdir()}
    assert re.search(expected, one_line_error(run(driver, engine, 50), 1))
    kept = {name for name in before if re.search(r"[.](ldb|sst|mdb)$", name) and "lock" not in name}
    assert kept and all((driver.database / name).read_bytes() == before[name] for name in kept)


def test_a_store_below_sql_is_not_one_of_keys(tmp_path: Path) -> None:
    """SQLiteKV's databases are LevelDB's, and have a mark; LevelDB knows only the length of a key."""
    for made, opened, expected in [
        ("leveldb", "sqlitekv", "is a LevelDB database of another program$"),
        ("sqlitekv", "leveldb", "a row has a key of [0-9]+ bytes, not 8"),
        ("rocksdb", "sqlitekv", "is not a LevelDB database: it has the file"),
        ("lmdb", "sqlitekv", "is not a LevelDB database: it has the file"),
    ]:
        driver = driver_of(made, tmp_path / f"{made}-{opened}")
        assert driver("populate", "--database", driver.database, "--rows", 50).returncode == 0
        driver.binary = binary(f"engine-{opened}")
        assert re.search(expected, one_line_error(run(driver, opened, 50), 1))


# A run on a small filesystem of its own, until it is full; then the filesystem grows, and rows are counted.
# With tmpfs named, the remount does not repeat the uid of the mount, which a user namespace may not know.
FULL = """
mount -t tmpfs -o size={size}k tmpfs {folder}
{populate} || exit 9
{run}; echo "ended $?" >&2
cp {folder}/out/acknowledged.bin {kept}
mount -o remount,size=64m tmpfs {folder}
{count}; echo "ended $?" >&2
"""
SMALL_TABLES = "--write-buffer-size 65536 --max-file-size 1048576"
# the size in KiB; with small tables it is a flush or a compaction that finds no room
FULL_DISKS = {
    "leveldb": (1400, SMALL_TABLES),
    "lmdb": (600, ""),
    "rocksdb": (1800, "--write-buffer-size 65536 --target-file-size-base 1048576"),
    "sqlitekv": (1400, ""),
}


def unshare() -> list[str]:
    given = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*given, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this host lets nobody mount a filesystem of his own")
    return given


@pytest.mark.parametrize("engine", FULL_DISKS)
def test_a_full_disk_loses_nothing_acknowledged(engine: str, tmp_path: Path) -> None:
    size, small = FULL_DISKS[engine]
    folder, driver = tmp_path / "disk", binary(f"engine-{engine}")
    folder.mkdir()
    where = f"--database {folder}/sample.db"
    options = f"run {where} --output-dir {folder}/out --workload kv --phases insert --n 2000 {FAST[engine]}"
    script = FULL.format(
        size=size,
        folder=folder,
        kept=tmp_path / "acknowledged.bin",
        populate=f"{driver} populate {where} --rows 20 {small}",
        run=f"{driver} {options} --rows 20 {small}",
        count=f"{driver} {options} --rows 0",
    )
    command = [*unshare(), "timeout", "300", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENV)
    full, ended, counted, last = done.stderr.splitlines()
    assert (ended, last) == ("ended 1", "ended 1")
    assert full.startswith("driver: ") and re.search("No space left|is full|the disk full", full), full
    found = re.search(r"the database has ([0-9]+) rows, --rows is 0$", counted)
    _, begun = acknowledged(tmp_path / "acknowledged.bin")
    count = sum(end > 0 for _, end, *_ in begun)
    assert found and count > 100 and 20 + count <= int(found[1]) <= 20 + len(begun), (full, counted, count)


# Rows fit on this filesystem once, and a compaction of them does not.
UNCOMPACTED = """
mount -t tmpfs -o size=1400k tmpfs {folder}
{commands}
"""


@pytest.mark.parametrize("what", ["populate", "checkpoint"])
@pytest.mark.parametrize("engine", ["leveldb", "rocksdb", "sqlitekv"])
def test_a_compaction_that_finds_no_room_fails(engine: str, what: str, tmp_path: Path) -> None:
    folder, driver = tmp_path / "disk", binary(f"engine-{engine}")
    folder.mkdir()
    where = f"--workload kv --database {folder}/sample.db"
    run = f"{driver} run {where} --rows 20 --n 280 --phases insert --checkpoint-every 280 {FAST[engine]}"
    commands = {
        "populate": f"{driver} populate {where} --rows 300",
        "checkpoint": f"{driver} populate {where} --rows 20 || exit 9\n{run} --output-dir {tmp_path}/out",
    }
    script = UNCOMPACTED.format(folder=folder, commands=commands[what])
    command = [*unshare(), "timeout", "300", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENV)
    # RocksDB may fault when it is closed after an error, which is a second line
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines and all(line.startswith("driver: ") for line in lines), done.stderr


@pytest.mark.parametrize("engine", ["leveldb", "rocksdb"])
def test_a_short_write_is_logged_as_it_was(engine: str, tmp_path: Path) -> None:
    """Its engine writes the rest by another call; no byte and no row is reported twice."""
    preloaded, driver = tmp_path / "short_writes.so", driver_of(engine, tmp_path)
    source = Path(__file__).with_name("short_writes.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", preloaded, source], check=True)
    where = ["--database", driver.database, "--workload", "kv", "--rows", 20]
    assert driver("populate", *where).returncode == 0
    where += ["--n", 60, "--phases", "insert", "--output-dir", driver.output, "--vfs-log"]
    where += [*FAST[engine].split(), "--write-buffer-size", 65536]
    env = {**ENV, "LD_PRELOAD": str(preloaded), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    ok(driver("run", *where, env=env))
    vfs = drivertables.calls(driver.output / "vfs.csv")
    opened = (pl.col("op") == "open").cast(pl.Int64).cum_sum().over("inode")
    writes = vfs.with_columns(life=opened).filter((pl.col("op") == "write") & (pl.col("file") == "table"))
    assert writes["bytes"].max() == 1000
    for _, rows in writes.group_by("inode", "life", maintain_order=True):
        ends = (rows["offset"] + rows["bytes"]).to_list()
        assert rows["offset"].to_list() == [0, *ends[:-1]]
    moved = drivertables.moved(driver.output / "moved.csv", vfs.height)
    sizes = moved.group_by("call").agg(moved=pl.col("bytes").sum()).join(vfs, on="call")
    assert sizes.height > 60 and (sizes["moved"] <= sizes["bytes"]).all()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A file with a byte of another value, or that ends early."""
    place = chance.randrange(len(content))
    if chance.randrange(3) == 0:
        return content[:place]
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


@pytest.fixture
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Driver]:
    """An engine, and a driver with a database with tables and a log of inserts, as a killed run left it."""
    shutil.unpack_archive(SAMPLE, tmp_path)
    driver = driver_of(request.param, tmp_path)
    (tmp_path / f"key-values/{request.param}").rename(driver.database)
    return request.param, driver


def content_hash(driver: Driver, engine: str, rows: int) -> str:
    options = ["--database", driver.database, "--rows", rows, "--value-size", 6000]
    return looked(engine, *options, *FAST[engine].split())["hash"]


# SQLiteKV's own are in tests/sqlitekv/test_damaged_store.py
@pytest.mark.parametrize("sample", [name for name in STORES if not by_name(name).has_sql], indirect=True)
def test_a_damaged_file_is_one_line_or_changes_no_row(sample: tuple[str, Driver]) -> None:
    """LMDB has no checksums: a changed value is another value, in silence, and a changed page may be read as
    memory that is not there, which is one line."""
    engine, driver = sample
    good, chance = driver.folder / "good", random.Random(11)
    shutil.copytree(driver.database, good)
    rows = rows_there(driver, engine, 6000)
    expected, lines = content_hash(driver, engine, rows), list[str]()
    for name in sorted(path.name for path in good.iterdir() if path.stat().st_size):
        for _ in range(4 if engine != "lmdb" else 12):
            shutil.rmtree(driver.database)
            shutil.copytree(good, driver.database)
            content = damaged((good / name).read_bytes(), chance)
            (driver.database / name).write_bytes(content)
            done = run(
                driver, engine, rows, "--workload", "mix", "--mix", "read=100", "--n", 3, value_size=6000
            )
            if done.returncode:
                lines.append(f"{name}: {one_line_error(done, 1)}")
            elif engine != "lmdb":
                assert done.stderr == ""
                assert content_hash(driver, engine, rows) == expected, (name, len(content))
    assert len(lines) > (3 if engine == "lmdb" else 5), lines
