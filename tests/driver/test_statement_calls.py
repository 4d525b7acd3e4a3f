"""SQLite/SSL's vfs.csv and counts fit its settings; a checkpoint's writes belong to who changed the page."""

import itertools

import polars as pl
import pytest
from conftest import Driver, binary, ok
from test_order import _of_transactions, faults, faults_of_each, ran
from test_vfs_log import calls, inside

from analysis.ledger import contents
from base.arrays import ints
from model.engines import ssl

# (populate, run): one row a transaction; ten, with a cache that they do not fit in; checkpoints of each kind
LOADS = {
    "one row": ((), ()),
    "a small cache": (("--workload", "kv"), ("--workload", "kv", "--cache-size", 10)),
    "dirty pages": ((), ("--dirty-pages", 12)),
    "log full": ((), ("--log-size", 65536, "--log-full", 50)),
    "too large for the log": ((), ("--log-size", 4096, "--log-full", 100)),
}


@pytest.fixture
def statements(tmp_path):
    return Driver(binary("engine-ssl"), tmp_path)


def run(driver, *more, medium="fdatasync", n=20):
    where = ("--database", driver.database, "--output-dir", driver.output)
    ok(driver("run", *where, "--rows", 50, "--n", n, "--vfs-log", "--log-medium", medium, *more))


def miscounted(driver, engine=ssl, calls=True, **counts):
    """Return the faults of a run's counts, with these changed."""
    done = ran(driver)
    config = done.config | {"properties": done.config["properties"] | counts}
    return " ".join(engine.miscounted(config, done.transactions.height, done.vfs if calls else None))


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
@pytest.mark.parametrize("synchronous", ["full", "normal"])
def test_each_transaction_is_in_order(statements, synchronous, medium, load):
    populated, more = LOADS[load]
    statements.populate(*populated)
    run(statements, *more, "--synchronous", synchronous, medium=medium)
    settings = statements.config()["effective"]
    assert ssl.contradicted(settings, _of_transactions(statements)) == []
    assert faults(ran(statements)) == "" == miscounted(statements)
    allowed, log = ssl.order(settings), calls(statements)
    rows = statements.table("transactions.csv")
    named = [[f"{call['file']}.{call['op']}" for call in inside(log, row)] for row in rows]
    texts = ["".join(ssl.CALLS[one] for one in each) for each in named]
    assert all(allowed.fullmatch(text) for text in texts)
    # one sync a transaction, or none, which the other level does not allow; persistent memory, with none, is
    # a board's (test_persistent_memory.py)
    logged = [text for text in texts if text and "w" not in text]
    other = ssl.order(settings | {"synchronous": {"full": "normal", "normal": "full"}[synchronous]})
    assert not any(other.fullmatch(text) for text in logged)
    assert any("kw" in text for text in texts) == (load == "too large for the log")
    assert {text.count("L") for text in logged} <= {int(synchronous == "full")}
    assert any("D" in text for text in texts) == (load not in ("one row", "a small cache"))


def test_atomic_writes_are_refused_where_there_are_none(statements):
    """Of a filesystem of this host; what there was is as it was."""
    statements.populate()
    before = statements.database.read_bytes()
    where = ("--database", statements.database, "--output-dir", statements.output)
    done = statements("run", *where, "--rows", 50, "--n", 20, "--checkpoint-write", "atomic")
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0 and "sample.db: its filesystem has no atomic writes (" in line
    # as SQLite's WAL mode has it, in which each of its logs begins
    after = statements.database.read_bytes()
    assert len(after) == len(before) and after[18:20] == b"\2\2"
    assert sorted(path.name for path in statements.folder.glob("sample.db*")) == ["sample.db"]


@pytest.mark.parametrize("medium", ["fdatasync", "msync"])
def test_an_explicit_checkpoint_is_behind_each_nth_transaction(statements, medium):
    statements.populate()
    run(statements, "--checkpoint-every", 3, medium=medium)
    done = ran(statements)
    assert faults(done) == "" == miscounted(statements)
    assert "in no transaction" in faults_of_each(done, 2)
    assert "no checkpoint follows" in faults_of_each(done, 1)


@pytest.mark.parametrize(
    ("more", "setting", "value", "expected"),
    [
        (LOADS["dirty pages"][1], "dirty_pages", 11, "no checkpoint"),
        (LOADS["dirty pages"][1], "dirty_pages", 0, "a checkpoint"),
        (LOADS["log full"][1], "log_full", 70, "a checkpoint"),
        (LOADS["log full"][1], "log_size", 32768, "no checkpoint"),
        ((), "page_size", 1024, "writes to the database have another size"),
    ],
)
def test_other_settings_are_contradicted(statements, more, setting, value, expected):
    statements.populate()
    run(statements, *more, *(("--dirty-pages", 12) if not more else ()))
    settings = statements.config()["effective"] | {setting: value}
    (found, *_) = ssl.contradicted(settings, _of_transactions(statements))
    assert expected in found


COUNTED = (
    *(
        "checkpoints: dirty pages",
        "checkpoints: requested",
        "transactions",
        "logged transactions",
        "log syncs",
    ),
    *("WAL pages", "WAL syncs", "database pages", "database syncs"),
    "transactions executed again",
)
# what nothing but the engine measures has bounds
BOUND = {
    "dirty pages of checkpoints": 1000,
    "most dirty pages of one": 1000,
    "longest checkpoint, ns": 10**12,
    "log bytes": 10**9,
}


def test_another_count_is_contradicted(statements):
    """By the others, where nobody logged the calls; where all agree, by the calls."""
    statements.populate()
    run(statements, "--dirty-pages", 12)
    properties = statements.config()["properties"]
    assert miscounted(statements) == miscounted(statements, calls=False) == ""
    for name in (*COUNTED, *BOUND):
        number = int(properties[name])
        for other in (number - 1, number + 1) if name in COUNTED else (BOUND[name],):
            assert miscounted(statements, calls=False, **{name: str(other)}), (name, other)
    assert miscounted(statements, **{"log syncs": ""}) == "log syncs is '', not a number"
    for more in ({"WAL pages": 1, "database pages": 1}, {"log bytes": 1}):
        other = {name: str(int(properties[name]) + by) for name, by in more.items()}
        assert miscounted(statements, calls=False, **other) == ""
        assert f"{next(iter(more))}: " in miscounted(statements, **other)


def written_home(log, pages):
    """(pages that were kept; how many checkpoints wrote, to the file of frames and to the database; how many
    of these were another transaction's), once each is seen to be of who had it kept."""
    owners = contents.contents(log, ints(log["transaction"].fill_null(-1)))
    kept, written, others = {}, 0, 0
    for call, content in zip(log.iter_rows(named=True), owners.tolist(), strict=True):
        if call["op"] == "keep":
            assert call["inode"] == 0 and call["bytes"] == 4096
            kept[call["page"]] = call["transaction"]
        page = call["page"]
        if call["op"] == "write" and call["file"] == "database":
            page = call["offset"] // 4096 + 1
        if call["op"] == "write" and page is not None:
            # page 1 has the log's mark, whoever changed it
            assert content == kept.get(page, call["transaction"] if call["transaction"] is not None else -1)
            written, others = written + 1, others + (content != call["transaction"])
    frames = log.filter((pl.col("file") == pages) & (pl.col("op") == "write"))
    for first, second in itertools.pairwise(frames.iter_rows(named=True)):
        if second["page"] is not None:
            assert second["bytes"] == 24 + 4096 and second["offset"] == first["offset"] + first["bytes"]
    return set(kept), written, others


def test_what_a_checkpoint_writes_is_of_who_had_it_kept(statements):
    """To the WAL and to the database; and each page that was kept comes home."""
    statements.populate()
    run(statements, "--dirty-pages", 12)
    log = _of_transactions(statements).with_columns(pl.col("transaction").cast(pl.Int64))
    kept, written, others = written_home(log, "wal")
    assert written > 100 and others > written / 2
    home = log.filter((pl.col("file") == "database") & (pl.col("op") == "write"))
    assert kept <= {offset // 4096 + 1 for offset in home["offset"]}
