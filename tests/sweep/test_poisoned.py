"""Databases that somebody made to do harm, and damaged rows: one line, and nothing else is lost."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import RAW, ROOT, Lab

from base.identity import cell_id
from base.text import printable
from commitpath.database import checked, exchange, limits, store, sync
from commitpath.database.store import DatabaseError

Labs = Callable[[str], Lab]
ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e"


@pytest.fixture
def shared(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An export of a lab's one run, with its files."""
    folder = lab.run(MODE="wal")
    monkeypatch.setattr(sync, "RESULTS", lab.results)
    path = tmp_path / "shared.sqlite"
    store.create(path, "berlin")
    row, hashes = sync.read_run(folder, "berlin")
    key = [row[name] for name in ("lab", "cell_id", "run_id")]
    with store.opened(path) as connection:
        sync.insert(connection, row | {"path": None, "stamp": None})
        for name, digest in hashes.items():
            values = [*key, name, digest, zlib.compress(RAW[name])]
            connection.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?)", values)
        connection.execute("INSERT INTO grid_run VALUES (?, 'quick', ?, 1)", key[:2])
        connection.execute(
            "INSERT INTO grid_excluded VALUES ('berlin', 'quick', ?, 'no board')", ('{"fs": "f2fs"}',)
        )
    return path


def poison(path: Path, *statements: str) -> None:
    """Change a database as its checks of its own would not let anyone."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints=ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def overwrite(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a file: what SQLite itself would not write."""
    data = path.read_bytes()
    assert data.count(old) >= 1 and len(old) == len(new)
    path.write_bytes(data.replace(old, new))


def refusal(path: Path) -> str:
    """What an import says of it, in this process."""
    clean = path.with_name("clean.sqlite")
    clean.unlink(missing_ok=True)
    with pytest.raises(DatabaseError) as caught:
        checked.copy(path, clean, refuse=True)
    return str(caught.value)


def test_a_good_one_is_copied_whole(shared: Path, tmp_path: Path) -> None:
    clean = tmp_path / "clean.sqlite"
    assert checked.copy(shared, clean, refuse=True) == []
    for table in ("lab", "run", "file", "grid_run", "grid_excluded"):
        query = f"SELECT * FROM {table} ORDER BY 1, 2, 3" if table != "lab" else "SELECT * FROM lab"
        assert sqlite3.connect(clean).execute(query).fetchall() == (
            sqlite3.connect(shared).execute(query).fetchall()
        )


DEEP = "[" * 60 + "]" * 60


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE run SET reasons = 'none'", "reasons: not JSON"),
        ("UPDATE run SET reasons = '[1]'", "reasons: [0] must be string"),
        ("UPDATE run SET reasons = '{}'", "reasons: must be array"),
        ("UPDATE run SET reasons = '[\"odd\"]'", "summary: its status and reasons are not the row's"),
        ("UPDATE run SET summary = '[1,2]'", "summary: must be object"),
        ("UPDATE run SET summary = NULL", "summary: NULL in a run that is ok"),
        (
            "UPDATE run SET summary = json_set(summary, '$.tps.all', 'fast')",
            "summary: tps.all must be number",
        ),
        ("UPDATE run SET summary = json_set(summary, '$.tps.all', -1)", "summary: tps.all must be bigger"),
        ("UPDATE run SET summary = json_set(summary, '$.block', 3)", "summary: block must be object"),
        ("UPDATE run SET summary = json_remove(summary, '$.tps.all')", "summary: tps must contain ['all']"),
        ("UPDATE run SET summary = replace(summary, '4.0', '1e999')", "summary: a number that is too large"),
        (f"UPDATE run SET summary = replace(summary, '4.0', '{9**999}')", "more than 64 bits"),
        (f"UPDATE run SET summary = json_set(summary, '$.x', json('{DEEP}'))", "within each other"),
        ("UPDATE run SET summary = '{\"tps\":1,' || substr(summary, 2)", "summary: the name 'tps' is in an"),
        (
            'UPDATE run SET cell = \'{"fs":"x",\' || substr(cell, 2)',
            "cell: the name 'fs' is in an object twice",
        ),
        ('UPDATE run SET host = \'{"run_id":"x",\' || substr(host, 2)', "host: the name 'run_id' is in"),
        (
            """UPDATE grid_excluded SET settings = '{"fs":"f2fs","fs":"ext4"}'""",
            "settings: the name 'fs' is in an object twice",
        ),
        ("UPDATE run SET summary = json_set(summary, '$.tps.all', 1e300)", "tps.all must be smaller than"),
        # each fits its schema: these contradict each other
        ("UPDATE run SET summary = json_set(summary, '$.tps.all', 1e5)", "not the run's 30 transactions"),
        ("UPDATE run SET summary = json_set(summary, '$.virtual_seconds', 1)", "not the run's 30"),
        ("UPDATE run SET summary = json_set(summary, '$.run_id', 'other')", "run_id: summary says 'other'"),
        ("UPDATE run SET summary = json_set(summary, '$.clock', 'real')", "clock: cell says 'virtual'"),
        ("UPDATE run SET summary = json_set(summary, '$.lost_events', 500)", "500 events were lost"),
        (
            "UPDATE run SET summary = json_set(summary, '$.timing_source', 'traced')",
            "timing_source is 'traced'",
        ),
        ("UPDATE run SET manifest = json_set(manifest, '$.cell_id', '0000000000')", "cell_id: "),
        (
            "UPDATE run SET manifest = json_set(manifest, '$.sqlite.effective.journal_mode', 'off')",
            "journal_mode: cell says 'wal', read back says 'off'",
        ),
        (
            "UPDATE run SET manifest = json_set(manifest, '$.filesystem.mount.fs', 'btrfs')",
            "filesystem: cell says 'ext4', read back says 'btrfs'",
        ),
        (
            "UPDATE run SET manifest = json_insert(manifest, '$.filesystem.mount.options[#]', 'nobarrier')",
            "mount option nobarrier: in effect, and not requested",
        ),
        (
            'UPDATE run SET manifest = json_insert(manifest, \'$.settings[#]\', json(\'{"group": "a", '
            '"name": "b", "requested": "1", "effective": "2", "equal": false}\'))',
            "a b: requested '1', in effect '2'",
        ),
        ("UPDATE run SET manifest = json_set(manifest, '$.sql.sql_bytes', 'x')", "sql_bytes must be integer"),
        (
            "UPDATE run SET manifest = json_set(manifest, '$.sqlite.effective.synchronous', 'most')",
            "manifest: the engine's settings or the mount's options were not read back",
        ),
        (
            "UPDATE run SET manifest = json_set(manifest, '$.filesystem.mount', NULL)",
            "manifest: the engine's settings or the mount's options were not read back",
        ),
        ("UPDATE run SET manifest = json_set(manifest, '$.x', json('\"\\ud800\"'))", "not UTF-8"),
        ("UPDATE run SET manifest = json_set(manifest, '$.board', 1)", "manifest: board must be object"),
        ("UPDATE run SET manifest = json_set(manifest, '$.raw_sha256', 1)", "raw_sha256 must be object"),
        ("UPDATE run SET host = NULL", "host: NULL in a run that is ok"),
        ("UPDATE run SET host = json_set(host, '$.run_id', 'other')", "host: of another run"),
        ("UPDATE run SET host = json_set(host, '$.repeat', 'x')", "host: repeat must be integer"),
        ("UPDATE run SET repeat = 'many'", "repeat: not a number from 0"),
        ("UPDATE run SET repeat = 1.5", "repeat: not a number from 0"),
        ("UPDATE run SET repeat = -1", "repeat: not a number from 0"),
        ("UPDATE run SET status = 'fine'", "status: 'fine' is not ok|rejected|failed"),
        ("UPDATE run SET stamp = 7.5, path = '../../etc'", "path: '../../etc' would be outside"),
        ("UPDATE run SET reasons = CAST(x'5bff5d' AS TEXT)", "reasons: text that is not UTF-8"),
        ("UPDATE run SET reasons = x'5b5d'", "reasons: not a text"),
        ("UPDATE run SET cell = json_set(cell, '$.n', 'x')", "cell: n must be integer"),
        ("UPDATE run SET cell = json_set(cell, '$.n', 0)", "cell: n must be bigger than or equal to 1"),
        ("UPDATE run SET cell = json_set(cell, '$.fs', 'a b')", "cell: fs must match pattern"),
        (
            "UPDATE run SET cell = json_set(cell, '$.synchronous', 'maybe')",
            "cell: synchronous must be one of",
        ),
        ("UPDATE run SET cell = json_set(cell, '$.flavour', json('[]'))", "cell: flavour must be"),
        ("UPDATE run SET cell = json_remove(cell, '$.seed')", "cell: must contain"),
        ("UPDATE run SET cell = json_set(cell, '$.profiles.device.geometry', 7)", "geometry must be object"),
        ("UPDATE run SET cell = '[]'", "cell: must be object"),
        ("UPDATE run SET cell = json_set(cell, '$.n', 11)", "its cell has another id"),
        (f"UPDATE run SET lab = 'a{ESCAPE}'", "lab: 'a"),
        ("UPDATE run SET run_id = 'a' || char(10) || 'b'", "not a run's name"),
        ("UPDATE file SET name = 'raw/a' || char(0) || name", "is not a file's name"),
        (f"UPDATE file SET name = 'raw/{ESCAPE}' || name", "is not a file's name"),
        ("UPDATE file SET name = '/tmp/x' || name", "would be outside its folder"),
        ("UPDATE file SET name = 'raw/./' || name", "or has more than one name"),
        ("UPDATE file SET content = 'text'", "content: not a blob"),
        ("UPDATE file SET content = substr(content, 1, 10)", "it is cut short"),
        ("UPDATE file SET run_id = 'other' || rowid", "FOREIGN KEY constraint failed"),
        ("UPDATE grid_run SET repeat = 'x'", "repeat: not a number"),
        ("UPDATE grid_run SET grid = x'00'", "grid: not a text"),
        ("UPDATE grid_excluded SET settings = '[1]'", "settings: must be object"),
        ("UPDATE lab SET label = '; rm'", "is not one label"),
        ("DELETE FROM lab", "is not one label"),
    ],
)
def test_what_an_import_refuses(shared: Path, change: str, says: str) -> None:
    before = shared.read_bytes()
    poison(shared, change)
    assert shared.read_bytes() != before
    said = refusal(shared)
    assert says in said
    assert said.startswith(f"{shared}: ")


MARKED = """UPDATE run SET summary = json_patch('{"mark":4.7512}', summary)"""


@pytest.mark.parametrize(
    ("by", "says"), [(b"NaN   ", "summary: NaN is no number"), (b"1}}   ", "summary: not JSON")]
)
def test_json_that_sqlite_would_not_write(shared: Path, by: bytes, says: str) -> None:
    poison(shared, MARKED)
    overwrite(shared, b'"mark":4.7512', b'"mark":' + by)
    assert says in refusal(shared)


ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (("DROP TABLE run", f"CREATE VIEW run AS {ENDLESS}"), "run is not as schema version 5 has it"),
        (("DROP TABLE lab", f"CREATE VIEW lab AS {ENDLESS}"), "lab is not as schema version 5 has it"),
        (("CREATE VIEW more AS SELECT 1",), "view more is not as"),
        (("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",), "trigger t is not as"),
        (("CREATE TABLE more (a)",), "table more is not as"),
        (("CREATE INDEX more ON run (fs)",), "index more is not as"),
        (("CREATE VIRTUAL TABLE more USING fts5 (a)",), "is not as schema version 5 has it"),
        (("ALTER TABLE run ADD COLUMN more AS (hex(zeroblob(1000000000)))",), "table run is not as"),
        (("DROP TABLE lab", "CREATE TABLE lab (label TEXT PRIMARY KEY) WITHOUT ROWID"), "is not as"),
        (
            (
                "PRAGMA writable_schema=ON",
                "UPDATE sqlite_schema SET sql = replace(sql, 'json_valid(cell)', '1') WHERE name = 'run'",
            ),
            "table run is not as",
        ),
    ],
)
def test_a_schema_that_is_not_ours(shared: Path, changes: tuple[str, ...], says: str) -> None:
    poison(shared, *changes)
    begin = time.monotonic()
    assert says in refusal(shared)
    assert time.monotonic() - begin < 5


def test_what_an_import_takes_of_newer_and_older_labs(shared: Path, tmp_path: Path) -> None:
    cell, summary, manifest, host, file = (
        sqlite3.connect(shared)
        .execute("SELECT cell, summary, manifest, host, (SELECT count(*) FROM file) FROM run")
        .fetchone()
    )
    cell = json.loads(cell)
    del cell["mkfs_options"], cell["mount_options"]
    cell |= {"flavour": "sweet", "device": "another-labs-own"}
    for name in ("device", "mkfs_options", "mount_options"):
        cell["at_default"].remove(name)
    identity = cell_id(cell)
    summary, manifest, host = (
        json.loads(text) | {"cell_id": identity, "more": [1]} for text in (summary, manifest, host)
    )
    manifest["host"] = {name: value for name, value in host.items() if name != "raw_sha256"}
    connection = sqlite3.connect(shared)
    connection.execute(
        "UPDATE run SET cell_id = ?, cell = ?, summary = ?, manifest = ?, host = ?",
        (identity, *map(json.dumps, (cell, summary, manifest, host))),
    )
    connection.execute("UPDATE file SET cell_id = ?", (identity,))
    connection.commit()
    connection.close()
    assert checked.copy(shared, tmp_path / "clean.sqlite", refuse=True) == []
    assert file == 2


def test_a_bomb_is_not_inflated(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FILE_BYTES", 2**20)
    bomb = zlib.compress(bytes(40 * 2**20))
    poison(shared, f"UPDATE file SET content = x'{bomb.hex()}' WHERE name LIKE '%status'")
    assert "inflates to more than 1048576 bytes" in refusal(shared)
    monkeypatch.setattr(limits, "FILE_BYTES", 2**30)
    assert "content is not what its hash says" in refusal(shared)
    monkeypatch.setattr(limits, "ALL_FILES_BYTES", 2**20)
    assert "the files inflate to more than 1048576 bytes" in refusal(shared)


@pytest.mark.parametrize(
    ("limit", "value", "says"),
    [
        ("DATABASE_BYTES", 4096, "more than 4096 bytes"),
        ("ROWS", 0, "more than 0 rows in run"),
        ("TEXT_BYTES", 10, "more than 10 bytes"),
        ("PACKED_BYTES", 1000, "too big"),
    ],
)
def test_how_much_an_import_takes(
    shared: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, says: str
) -> None:
    monkeypatch.setattr(limits, limit, value)
    assert says in refusal(shared)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a file" in refusal(tmp_path / "pipe")


def limited(body: str) -> subprocess.CompletedProcess[str]:
    """Run a body within checked.limited(), in a process of its own."""
    code = f"from commitpath.database import checked, limits\n{body}"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_process_that_checks_has_limits(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = limited("limits.CPU_SECONDS = 1\nwith checked.limited():\n  while True: pass")
    assert done.returncode == -signal.SIGXCPU
    done = limited("limits.MEMORY_BYTES = 2**28\nwith checked.limited():\n  bytes(2**29)")
    assert "it takes more than 268435456 bytes of memory" in done.stderr
    monkeypatch.setattr(limits, "SECONDS", 0.01)
    with pytest.raises(DatabaseError, match=r"not read within 0.01 s; nothing was imported"):
        exchange.clean_copy(shared, shared.parent)


@pytest.mark.parametrize(
    ("dies", "says"),
    [("XCPU", "not read within 600 s of a CPU"), ("KILL", r"not be checked \(status -9")],
)
def test_the_process_that_checks_dies(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: str, says: str
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nkill -{dies} $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(DatabaseError, match=says):
        exchange.clean_copy(shared, tmp_path)


def test_ctrl_c_leaves_nothing(lab: Lab, shared: Path) -> None:
    lab.ok("results")
    holder = sqlite3.connect(shared, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")  # the process that checks waits for its end
    environment = {**os.environ, "COMMITPATH_RESULTS": str(lab.results)}
    process = subprocess.Popen(
        [sys.executable, "-m", "commitpath", "import", f"FILE={shared}"],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(lab.results.glob(".import-*")):
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    holder.close()
    assert process.returncode == 130
    assert said == "commitpath: interrupted; nothing is left running\n"
    assert not list(lab.results.glob(".*")) and not list(lab.results.glob("*-journal"))


# What is wrong with one row each of a database that was poisoned before imports were checked.
POISONED = [
    ("reasons = 'none'", "reasons: not JSON"),
    ("summary = '[1,2]'", "summary: must be object"),
    ("summary = json_set(summary, '$.tps.all', 'fast')", "summary: tps.all must be number"),
    ("host = NULL", "host: NULL"),
    ("repeat = 'many'", "repeat: not a number"),
    ("cell = json_set(cell, '$.seed', 'x')", "cell: seed must be integer"),
    (f"reasons = '{json.dumps([ESCAPE])}'", "summary: its status and reasons"),
    ("manifest = '7'", "manifest: must be object"),
]


def test_a_poisoned_database_lists_and_compares_and_is_repaired(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    for seed in range(len(POISONED) + 3):
        there.run(MODE="wal", SEED=str(seed))
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel")
    synthetic = here.run(MODE="delete")
    own = here.recorded()
    here.ok("import", FILE=str(tmp_path / "t.sqlite"))
    database = here.results / "results.sqlite"
    for seed, (change, _) in enumerate(POISONED, 1):
        poison(database, f"UPDATE run SET {change} WHERE lab = 'kiel' AND cell ->> '$.seed' = {seed}")
    poison(
        database,
        "UPDATE run SET summary = '[]' WHERE lab = 'local' AND journal_mode = 'wal'",
        "INSERT INTO grid_run VALUES ('kiel', 7, 'x', 'y')",
        f"{MARKED} WHERE lab = 'kiel' AND cell ->> '$.seed' = 9",
    )
    overwrite(database, b'"mark":4.7512', b'"mark":NaN   ')

    def named(stderr: str) -> list[str]:
        lines = [line for line in stderr.splitlines() if "left out: " in line]
        assert "Traceback" not in stderr and "\x1b" not in stderr
        assert all(line.startswith("commitpath: ") for line in lines)
        for _, what in POISONED:
            assert sum("run kiel/" in line and what in line for line in lines) == 1, what
        return lines

    listed = here.make("results")
    assert listed.returncode == 0, listed.stderr
    # two of the other lab, two of the own, of which one is written again from its folder
    assert "4 runs, 1 of them new" in listed.stdout
    assert len(named(listed.stderr)) == len(POISONED) + 2
    compared = here.make("compare", A="lab=local mode=delete", B="lab=kiel mode=wal")
    assert compared.returncode == 0, compared.stderr
    assert len(named(compared.stderr)) == len(POISONED) + 2
    exported = here.make("export", FILE=str(tmp_path / "h.sqlite"), LAB="berlin")
    assert "h.sqlite: 4 runs" in exported.stdout
    named(exported.stderr)
    assert checked.copy(tmp_path / "h.sqlite", tmp_path / "clean.sqlite", refuse=True) == []
    shutil.rmtree(synthetic)  # it cannot be analysed; its row stays
    rebuilt = here.make("results", REBUILD="yes")
    assert rebuilt.returncode == 0, rebuilt.stderr
    named(rebuilt.stderr)
    assert "4 runs" in rebuilt.stdout and own.name in rebuilt.stdout
    again = here.make("results")
    assert (again.returncode, again.stderr) == (0, "")
    assert "4 runs" in again.stdout


def test_terminal_escapes_are_printed_as_text(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    there.run(status="rejected")
    there.run(MODE="wal")
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel")
    reasons = json.dumps([f"lost{ESCAPE}\nrun", "\u202e"])
    poison(
        tmp_path / "t.sqlite",
        f"UPDATE run SET reasons = '{reasons}' WHERE status = 'rejected'",
        "UPDATE run SET summary = json_set(summary, '$.reasons', json(reasons)) WHERE status = 'rejected'",
        "UPDATE run SET manifest = json_set(manifest, '$.board.kernel', "
        f"'Linux board 3{ESCAPE}') WHERE journal_mode = 'wal'",
    )
    here.ok("import", FILE=str(tmp_path / "t.sqlite"))
    out = here.ok("results")
    assert r"lost\x1b]0;owned\x07\x1b[2J\u202e\nrun" in out
    text = here.ok("setup-text", WHERE="lab=kiel")
    assert r"3\x1b]0;owned" in text and r"3\textbackslash{}x1b]0;owned" in text
    assert "\x1b" not in out + text and "\u202e" not in out + text


def test_printable() -> None:
    assert printable("a é ‡ × … 😀") == "a é ‡ × … 😀"
    assert printable("a\tb\n\x00\x1b\x7f\x9b\u2028\u202e\u2066\ufeff\ud800") == (
        r"a\tb\n\x00\x1b\x7f\x9b\u2028\u202e\u2066\ufeff\ud800"
    )
