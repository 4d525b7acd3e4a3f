"""Stores of keys and values after a crash: a killed driver loses nothing, whether it syncs or not; a damaged
database is a result; and a hole in a log is found."""

import os
import random
import resource
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import kill_trials
import pytest
from conftest import binary_of, ok
from kill_trials import memory, planned
from some_cell import some_cell

from analysis.adapters import drivertables
from analysis.adapters.trials import KILLS, read_table
from analysis.crash import prefixes
from model import engines
from model.cell import Cell
from model.crash_points import kill_points
from model.expected_state import oracle

__all__ = ["memory"]

KV = ["insert", "update", "read", "batch", "delete"]
SIZES = {"rows": 30, "n": 6, "value_size": 2000}
# the settings of a store that syncs, and of one that does not
STORES = {
    "leveldb": ("--sync full", "--sync off"),
    "lmdb": ("", "--nosync on"),
    "rocksdb": ("--sync full", "--sync off"),
    "sqlitekv": ("--sync full", "--sync off"),
}


class Store(NamedTuple):
    """An engine, the folder with its database, and options that the database is made with, too."""

    engine: str
    folder: Path
    more: tuple[str, ...] = ()

    @property
    def database(self) -> Path:
        return self.folder / "db/sample.db"

    def options(self, sync: bool) -> list[str | Path]:
        sizes = [word for name, size in SIZES.items() for word in (f"--{name.replace('_', '-')}", str(size))]
        settings = STORES[self.engine][not sync].split()
        settings += ["--vfs-log"] if engines.by_name(self.engine).LOGS_CALLS else []
        return ["--workload", "kv", *sizes, *settings, *self.more, "--database", self.database]

    def populate(self) -> None:
        (self.folder / "db").mkdir()
        sizes = ["--rows", str(SIZES["rows"]), "--value-size", str(SIZES["value_size"])]
        where = ["--database", self.database, *self.more]
        subprocess.run([binary_of(self.engine), "populate", *where, *sizes], check=True)

    def command(self, sync: bool) -> list[str | Path]:
        """The driver's run."""
        return [binary_of(self.engine), "run", *self.options(sync), "--output-dir", self.folder / "out"]

    def run(self, sync: bool = True) -> None:
        subprocess.run(self.command(sync), check=True, stdout=subprocess.DEVNULL)

    def looked(self) -> dict[str, str]:
        """What is found in the database; the program must not fail."""
        # a signal in an engine without sanitizers is a result
        env = {**os.environ, "ASAN_OPTIONS": "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0"}
        return kill_trials.looked(self.engine, *self.options(True), env=env)


def cell(engine: str) -> Cell:
    return some_cell(engine=engine, seed=1, profiles={"workload": {"driver_workload": "kv"}}, **SIZES)


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("engine", STORES)
def test_a_killed_store_loses_nothing(engine: str, sync: bool, memory: Path) -> None:
    held = loses_nothing(Store(engine, memory), sync)
    assert (held[0], held[-1]) == (0, 5 * SIZES["n"])


@pytest.mark.parametrize("sync", [True, False])
def test_a_kill_in_a_flush_loses_nothing(sync: bool, memory: Path) -> None:
    """Of LevelDB, which writes tables within the run."""
    loses_nothing(Store("leveldb", memory, ("--write-buffer-size", "65536")), sync, 60)
    vfs = drivertables.calls(memory / "out/vfs.csv")
    assert vfs.filter((vfs["op"] == "open") & (vfs["file"] == "table")).height > 1


def loses_nothing(one: Store, sync: bool, kills: int = 100_000) -> list[int | None]:
    """Kill a store's run at so many moments; return how many transactions are there after each."""
    one.populate()
    shutil.copytree(one.folder / "db", one.folder / "populated")
    one.run(sync)
    plan = planned(one.folder / "out", kills)
    shutil.rmtree(one.folder / "db")
    (one.folder / "populated").rename(one.folder / "db")
    lines = "".join(kill.line() for kill in plan)
    ok(kill_trials.killed(one.engine, one.folder, lines, ["run", *one.options(sync)]))
    tried = read_table(one.folder / "killed.csv", KILLS)
    states = prefixes.ExpectedStates(prefixes.states(cell(one.engine), KV, tried))
    assert tried.height == len(plan) > 5 * SIZES["n"] and set(tried["is_whole"]) == {1}
    places = {kill.where for kill in plan}
    if engines.by_name(one.engine).LOGS_CALLS:
        assert places == {kill_points.AFTER, kill_points.DURING, kill_points.ACKNOWLEDGED}
    else:
        assert places == {kill_points.BEGUN, kill_points.ACKNOWLEDGED}
    held = [states.held(row) for row in tried.iter_rows(named=True)]
    assert None not in held
    lost = [states.between(*pair) for pair in zip(held, tried["acknowledged"], strict=True)]
    assert max(number or 0 for number in lost) == 0
    return held


# Bytes at which a write to a file fails, and the driver ends: the log of its run is left as it is.
LIMIT = 100_000


@pytest.fixture
def left(tmp_path: Path) -> Store:
    """A LevelDB with a log of several blocks of 32 KiB, that nothing has opened since."""
    one = Store("leveldb", tmp_path)
    one.populate()
    done = subprocess.run(
        one.command(False),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)),
    )
    assert done.returncode == 1 and "File too large" in done.stderr
    return one


def log_of(one: Store) -> Path:
    return max(one.database.glob("*.log"), key=lambda path: path.stat().st_size)


def content(one: Store) -> int:
    """The hash of what is found in the database, which is whole."""
    found = one.looked()
    assert (found["opened"], found["is_whole"], found["said"]) == ("1", "1", "")
    return int(found["hash"], 16)


def test_a_log_that_ends_early_loses_the_last_transactions(left: Store) -> None:
    log = log_of(left)
    log.write_bytes(log.read_bytes()[:5000])
    states = oracle.after_each(cell("leveldb"), KV)
    # an insert of 2000 bytes each
    assert content(left) == states[2].hash


def test_leveldb_goes_on_behind_a_damaged_block_of_its_log(left: Store) -> None:
    """What a filesystem leaves that wrote a file's later pages first. LevelDB drops the rest of the block of
    32 KiB and goes on with the next one (db/log_reader.cc; paranoid_checks is off by default)."""
    log = log_of(left)
    damaged = bytearray(log.read_bytes())
    assert len(damaged) > 90_000
    damaged[4096:8192] = bytes(4096)
    log.write_bytes(damaged)
    total, made = content(left), cell("leveldb")
    assert total not in {held.hash for held in oracle.after_each(made, KV)}
    sought = prefixes.Sought(total, begun=5 * SIZES["n"])
    hole = prefixes.find_holes(made, KV, {sought})[sought]
    # the third insert is in the zeros, and batches are behind the block, which may write its key again
    assert 2 <= hole.first < SIZES["n"] and hole.there > 3 * SIZES["n"]


def test_leveldbs_gap_between_two_logs(tmp_path: Path) -> None:
    """google/leveldb#193: a log that is full is not synced, and a write with sync syncs the next one alone.

    The run ends as its first table is written, which exceeds a limit. The old log is cut to what was synced.
    """
    one, most = Store("leveldb", tmp_path), 65_200
    sizes = {"rows": 40, "n": 22, "value_size": 3072}
    (tmp_path / "db").mkdir()
    words = [word for name, size in sizes.items() for word in (f"--{name.replace('_', '-')}", str(size))]
    table = [*words[:2], *words[4:], "--write-buffer-size", "65536", "--database", one.database]
    subprocess.run([binary_of("leveldb"), "populate", *table], check=True)
    options = ["--workload", "kv", *words, "--sync", "full", "--sync-every", "11", *table[4:]]
    done = subprocess.run(
        [binary_of("leveldb"), "run", *options, "--output-dir", tmp_path / "out"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.returncode == 1
    logs = sorted(one.database.glob("*.log"))
    assert len(logs) == 2
    record = 3072 + 31
    # eleven were synced; one of them goes on in a new block, with a header of 7 bytes
    synced = 11 * record + 7
    assert logs[0].stat().st_size > synced + 9 * record
    os.truncate(logs[0], synced)
    total = int(kill_trials.looked("leveldb", *options)["hash"], 16)
    profiles = {"workload": {"driver_workload": "kv"}}
    made = some_cell(engine="leveldb", seed=1, profiles=profiles, **sizes)
    sought = prefixes.Sought(total, begun=22)
    assert prefixes.find_holes(made, KV, {sought}) == {sought: prefixes.Hole(11, 20, 21)}


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """A file's content with a fault."""
    place = chance.randrange(len(data) + 1)
    kind = chance.randrange(4)
    if kind == 0:
        return data[:place]
    size = chance.choice((1, 16, 512, 4096))
    other = bytes(size) if kind == 1 else chance.randbytes(size)
    return data[:place] + other + data[place + (size if kind < 3 else 0) :]


@pytest.mark.parametrize("engine", STORES)
def test_a_damaged_database_is_a_result(engine: str, tmp_path: Path) -> None:
    one = Store(engine, tmp_path)
    one.populate()
    one.run()
    shutil.copytree(one.database, tmp_path / "good")
    files, chance = sorted(path.name for path in one.database.iterdir()), random.Random(7)
    whole = one.looked()
    assert (whole["opened"], whole["is_whole"]) == ("1", "1")
    other = 0
    for _ in range(30):
        shutil.rmtree(one.database)
        shutil.copytree(tmp_path / "good", one.database)
        file = one.database / chance.choice(files)
        file.write_bytes(spoilt(file.read_bytes(), chance))
        found = one.looked()
        good = found["is_whole"] == "1" and found["signal"] == "0"
        assert good or found["said"] or found["signal"] != "0"
        other += not good or found["hash"] != whole["hash"]
    assert other > 0


@pytest.mark.parametrize("engine", STORES)
def test_what_is_no_database_of_the_engine_is_not_opened(engine: str, tmp_path: Path) -> None:
    one = Store(engine, tmp_path)
    one.database.parent.mkdir()
    others: list[dict[str, bytes]] = [
        {},
        {"CURRENT": b"MANIFEST-000001\n"},
        {"CURRENT": b"MANIFEST-000001\n", "MANIFEST-000001": bytes(500)},
        {"data.mdb": bytes(8192)},
    ]
    for files in others:
        shutil.rmtree(one.database, ignore_errors=True)
        one.database.mkdir()
        for name, data in files.items():
            (one.database / name).write_bytes(data)
        refused(one)
    shutil.rmtree(one.database)
    refused(one)
    # LevelDB makes a folder for its info log
    shutil.rmtree(one.database, ignore_errors=True)
    one.database.write_bytes(b"SQLite format 3\0" + bytes(4080))
    refused(one)


def refused(one: Store) -> None:
    found = one.looked()
    assert (found["opened"], found["signal"]) == ("0", "0") and found["said"], found
