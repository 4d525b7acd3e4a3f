"""What a program did, recorded, and replayed by each engine with SQL: the rows are the same."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NEWEST, OLD, Driver, binary, linked_with_sqlite, one_line_error

from analysis.adapters import pragmas, recording, sqlfile, tracefile
from base.errors import BadInputError, LabError
from commitpath.trace_record import trace_record

# What there is before: what a table may have, and rows that only typed values give.
BEFORE = """\
CREATE TABLE kept(a INTEGER PRIMARY KEY AUTOINCREMENT, b DEFAULT 'x');
CREATE TABLE plain(b, "rowid of" TEXT);
CREATE TABLE without(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO kept(b) VALUES(0.1 + 0.2), (CAST(x'ff' AS TEXT)), (-9223372036854775808);
DELETE FROM kept WHERE a=3;
INSERT INTO plain(rowid, b) VALUES(7, x'00ff'), (9, 1e308);
INSERT INTO without VALUES('a''b', NULL);
CREATE INDEX by_b ON kept(b);
CREATE VIEW seen AS SELECT * FROM kept;
CREATE TRIGGER noted AFTER INSERT ON kept BEGIN INSERT INTO plain(b) VALUES(new.a); END;
PRAGMA user_version=5;
"""
PROGRAM = """\
import sqlite3
one, two = sqlite3.connect("one.db"), sqlite3.connect("two.db", isolation_level=None)
one.execute("INSERT INTO kept(b) VALUES(?)", (0.1 + 0.2,))
two.execute("PRAGMA journal_mode=wal")
two.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c)")
one.execute("UPDATE without SET v=:v WHERE k LIKE 'a%' --'?", {"v": -7})
rows = [("it's\\n\\0 \\"\\\\é",), (b"",), (None,), (float("-inf"),)]
one.executemany("INSERT INTO kept(b) VALUES(?)", rows)
one.commit()
for values in [(1, 2**63 - 1), (2, -5e-324), (1, 3), (4, "?")]:
    try:
        two.execute("INSERT INTO t VALUES(?2 + 0, ?1, 'a\\n?')", (values[1], values[0]))
    except sqlite3.IntegrityError:
        print("failed")
two.execute("SAVEPOINT s")
two.execute("DELETE FROM t WHERE a=?", (2,))
two.execute("RELEASE s")
two.execute("BEGIN")
two.execute("DELETE FROM t")
two.execute("ROLLBACK")
one.execute("DELETE FROM plain WHERE b=?", (b"\\0\\xff",))
one.commit()
one.close()
"""
# its shell binds values by sqlite3_bind_value
SHELL = "sqlite3 two.db '.parameter init' '.parameter set ?1 2.5' 'INSERT INTO t(b, c) VALUES(?1, 7)'"


@pytest.fixture(scope="module", name="recorded")
def record(tmp_path_factory):
    """A folder with the program's databases, and the trace of both, with the preload under ASan and UBSan."""
    folder = tmp_path_factory.mktemp("recorded")
    with sqlite3.connect(folder / "one.db") as database:
        database.executescript(BEFORE)
    database.close()
    (folder / "program.py").write_text(PROGRAM)
    sanitizer = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CFLAGS", "-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all")
        patch.setenv("LD_PRELOAD", sanitizer)
        patch.setenv("ASAN_OPTIONS", f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0")
        command = f"{sys.executable} program.py && {SHELL}"
        assert trace_record({"CMD": command, "FILE": "program.trace"}) == 0
    return folder


def content(path):
    """All that makes a database."""
    return [tracefile.line_of(entry) for entry in recording.dump(path, 1)]


def test_what_is_recorded(recorded):
    trace = tracefile.read((recorded / "program.trace").read_text())
    assert trace.files == {1: "two.db", 2: "one.db"}
    replayed = [entry for entry in trace.entries if entry.seconds is not None]
    assert min(entry.seconds for entry in replayed) == 0
    of_two = [entry for entry in replayed if entry.file == 1]
    assert [sqlfile.first_words(entry.sql)[0] for entry in of_two] == [
        *("CREATE", "INSERT", "INSERT", "INSERT"),
        *("BEGIN", "SAVEPOINT", "DELETE", "RELEASE", "COMMIT"),
        *("BEGIN", "DELETE", "ROLLBACK", "INSERT"),
    ]
    assert of_two[2].values == (-5e-324, 2) and of_two[-1].values == (2.5,)
    assert all(entry.file == 2 for entry in trace.entries if entry.seconds is None)


@pytest.mark.parametrize("engine", [NEWEST, OLD, "engine-ssl"])
@pytest.mark.parametrize("number", [1, 2])
def test_its_replay_leaves_the_same_rows(recorded, tmp_path, engine, number):
    trace = tracefile.read((recorded / "program.trace").read_text())
    parts = tracefile.parts(tracefile.write(trace._replace(only=number)))
    (tmp_path / "schema").write_bytes(sqlfile.pack(parts.schema))
    (tmp_path / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    driver = Driver(binary(engine), tmp_path)
    driver.populate("--workload", "sql", "--file", tmp_path / "schema", rows=0, value_size=1)
    own = [] if engine == "engine-ssl" else ["--journal-mode", "wal", "--synchronous", "normal"]
    done = driver(
        *("run", "--workload", "sql", "--file", tmp_path / "transactions", "--n", len(parts.transactions)),
        *("--rows", 0, "--value-size", 1, "--database", driver.database, "--output-dir", driver.output),
        *own,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert content(driver.database) == content(recorded / trace.files[number])


def test_a_statement_that_fails_is_told_with_its_line(tmp_path):
    text = f"""\
{tracefile.FIRST}
file 1 "a"
make 1 "CREATE TABLE t(a UNIQUE)"
0 1 "BEGIN"
1 1 "INSERT\\nINTO t VALUES(?)" "x\\ny"
2 1 "INSERT INTO t VALUES(?)" "x\\ny"
2 1 "END"
"""
    parts = tracefile.parts(text)
    (tmp_path / "schema").write_bytes(sqlfile.pack(parts.schema))
    (tmp_path / "transactions").write_bytes(sqlfile.pack(parts.transactions))
    driver = Driver(binary(NEWEST), tmp_path)
    driver.populate("--workload", "sql", "--file", tmp_path / "schema", rows=0, value_size=1)
    done = driver.run(
        "--workload", "sql", "--value-size", 1, "--file", tmp_path / "transactions", rows=0, n=1
    )
    assert "line 6 of FILE: step failed: SQLite error 2067" in one_line_error(done, 1)


def test_what_cannot_be_recorded_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("")
    for variables, said in (
        ({}, "make trace-record takes CMD="),
        ({"CMD": "true", "FILE": "there"}, "FILE=there: it exists already"),
        ({"CMD": "true", "FILE": "no/x"}, "FILE=no/x: there is no folder "),
    ):
        with pytest.raises(BadInputError, match=said):
            trace_record(variables)
    with pytest.raises(
        LabError, match="CMD ended with 3, and changed no database by the shared library of sqlite"
    ):
        trace_record({"CMD": "exit 3", "FILE": "x"})
    with sqlite3.connect("virtual.db") as database:
        database.execute("CREATE VIRTUAL TABLE f USING fts5(a)")
    database.close()
    insert = "import sqlite3; c = sqlite3.connect('virtual.db'); c.execute('CREATE TABLE a(b)')"
    with pytest.raises(LabError, match="virtual table f, whose content no trace has"):
        trace_record({"CMD": f'{sys.executable} -c "{insert}"', "FILE": "x"})
    assert not (tmp_path / "x").exists()
    # what it did until it failed is a trace, and its exit code is told
    failing = insert.replace("virtual.db", "plain.db") + "; c.close(); raise SystemExit(4)"
    assert trace_record({"CMD": f'{sys.executable} -c "{failing}"', "FILE": "x"}) == 4
    assert (tmp_path / "x").read_text().startswith(tracefile.FIRST)


def test_a_recording_that_lost_something_is_no_trace(tmp_path, monkeypatch):
    """A copy of the database as it was before is cut short, as on a full disk; Python ignores SIGXFSZ."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("large.db") as database:
        database.execute("CREATE TABLE t(a)")
        database.execute("INSERT INTO t VALUES(zeroblob(300000))")
    database.close()
    insert = "import sqlite3; c = sqlite3.connect('large.db', isolation_level=None)"
    insert += "; c.execute('UPDATE t SET a=1 WHERE 0'); c.execute('PRAGMA user_version=1')"
    with pytest.raises(
        LabError,
        match=r"CMD: the recording is incomplete: .*large\.db: ",
    ):
        trace_record({"CMD": f'ulimit -f 200; {sys.executable} -c "{insert}"', "FILE": "x"})
    assert not Path("x").exists()


PROGRAMS = Path(__file__).parent / "programs"


def record_here(command, tmp_path, monkeypatch, capfd):
    """The lines of a recording's trace, and what it printed."""
    monkeypatch.chdir(tmp_path)
    assert trace_record({"CMD": command, "FILE": "x.trace"}) == 0
    text = (tmp_path / "x.trace").read_text()
    return [line.split(" ", 2)[2] for line in text.splitlines() if line[0].isdigit()], capfd.readouterr().out


def test_what_changes_rows_is_recorded_and_the_rest_is_told(tmp_path, monkeypatch, capfd):
    program = PROGRAMS / "settings.py"
    lines, said = record_here(f"{sys.executable} {program}", tmp_path, monkeypatch, capfd)
    assert [line for line in lines if "PRAGMA" in line] == [
        '"PRAGMA foreign_keys=ON"',
        '"PRAGMA recursive_triggers=ON"',
        '"PRAGMA case_sensitive_like=ON"',
        '"PRAGMA user_version=7"',
    ]
    for words in (
        "1 app.db is as of a cell with PAGE_SIZE=8192 JOURNAL_MODE=wal\n",
        "left out once: PRAGMA synchronous=normal: the variable SYNCHRONOUS sets it\n",
        "left out once: PRAGMA wal_autocheckpoint=100: the variable WAL_AUTOCHECKPOINT sets it\n",
        "left out once: PRAGMA secure_delete=on: no variable sets it, a cell has SQLite's default\n",
    ):
        assert words in said
    assert said.count("left out") == 9 and "beware" not in said
    assert tracefile.parts((tmp_path / "x.trace").read_text()).databases == 1


def test_what_is_of_an_attached_file_is_left_out_with_its_transaction(tmp_path, monkeypatch, capfd):
    program = PROGRAMS / "attached.py"
    lines, said = record_here(f"{sys.executable} {program}", tmp_path, monkeypatch, capfd)
    assert lines == ['"CREATE TABLE t(x)"', *(f'"INSERT INTO t VALUES(?)" {i}' for i in range(5))]
    for words in (
        "left out once: ATTACH\n",
        # by its name, in a transaction, and without the name of its file
        "left out 3 times: a statement of an attached file\n",
        "left out once: what else its transaction has\n",
        "beware: 1 m.db: a replay leaves other rows: 0 missing, 3 more; the first: make",
    ):
        assert words in said


def test_what_only_reads_an_attached_file_is_of_it(tmp_path, monkeypatch, capfd):
    (tmp_path / "p.py").write_text("""\
import sqlite3
c = sqlite3.connect("m.db", isolation_level=None)
c.execute("CREATE TABLE t(x)")
c.execute("ATTACH 'o.db' AS \\"o p\\"")
c.execute("CREATE TABLE \\"o p\\".u(x)")
c.execute("INSERT INTO t SELECT count(*) FROM u")
c.execute("CREATE TEMP TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO u VALUES(old.x); END")
c.execute("DELETE FROM t")
c.execute("PRAGMA \\"o p\\".user_version=3")
c.execute("INSERT INTO t VALUES(7)")
c.execute("DETACH \\"o p\\"")
c.execute("INSERT INTO t VALUES(8)")
""")
    lines, said = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    assert lines[0] == '"CREATE TABLE t(x)"'
    assert lines[-2:] == ['"INSERT INTO t VALUES(7)"', '"INSERT INTO t VALUES(8)"']
    assert not [line for line in lines if "SELECT count" in line or "DELETE FROM" in line]
    assert "left out once: PRAGMA o p.user_version\n" in said and "beware" not in said


def test_a_database_that_was_there_is_told_as_it_is(tmp_path, monkeypatch, capfd):
    with sqlite3.connect(tmp_path / "old.db") as database:
        database.executescript("PRAGMA page_size=1024; PRAGMA encoding='UTF-16le'; CREATE TABLE t(a);")
    database.close()
    insert = "import sqlite3; c=sqlite3.connect('old.db'); c.execute('INSERT INTO t VALUES(?)', ('\xfc',))"
    lines, said = record_here(f'{sys.executable} -c "{insert}; c.commit()"', tmp_path, monkeypatch, capfd)
    assert lines[1] == '"INSERT INTO t VALUES(?)" "\xfc"'
    assert "1 old.db is as of a cell with PAGE_SIZE=1024\n" in said
    assert "1 old.db has its texts in UTF-16le; a cell's database has them in UTF-8\n" in said
    assert "beware" not in said


def test_a_connection_that_is_closed_leaves_its_transaction_to_none(tmp_path, monkeypatch, capfd):
    """Of the close's own rollback nothing is in the trace, which leaves the rows that the program left."""
    program = linked_with_sqlite("closed", tmp_path)
    lines, said = record_here(str(program), tmp_path, monkeypatch, capfd)
    assert lines == [
        *('"CREATE TABLE t(a)"', '"BEGIN;"', "\"INSERT INTO t VALUES('kept 1')\"", '"COMMIT"', '"BEGIN"'),
        *("\"INSERT INTO t VALUES('kept 2')\"", '"COMMIT"'),
        "\"INSERT INTO t VALUES('kept 3') RETURNING a\"",
        "\"INSERT INTO t VALUES('kept 4')\"",
    ]
    assert "beware" not in said


def test_a_child_has_none_of_a_transaction_that_its_parent_closed(tmp_path, monkeypatch, capfd):
    (tmp_path / "p.py").write_text("""\
import os, sqlite3
def connect():
    return sqlite3.connect("a.db", isolation_level=None)
c = connect()
c.execute("CREATE TABLE t(x)")
c.execute("BEGIN")
c.execute("INSERT INTO t VALUES('lost')")
c.close()
for i in range(3):
    if os.fork() == 0:
        c = connect()
        c.execute("INSERT INTO t VALUES(?)", (i,))
        c.execute("SAVEPOINT s")
        c.execute("INSERT INTO t VALUES('lost')")
        c.close()
        connect().execute("INSERT INTO t VALUES(?)", (i,))
        os._exit(0)
    os.wait()
""")
    lines, said = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    inserts = [f'"INSERT INTO t VALUES(?)" {i}' for i in range(3) for _ in range(2)]
    assert lines == ['"CREATE TABLE t(x)"', *inserts]
    assert "beware" not in said


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "INSERT INTO t VALUES(random())",
            "beware: 1 a.db: a replay leaves other rows: 1 missing, 1 more",
        ),
        (
            "INSERT INTO t VALUES(f())",
            "beware: 1 a.db: a replay fails: line 4 of the trace: no such function: f",
        ),
        ("INSERT INTO t VALUES(1)", ""),
    ],
)
def test_other_rows_of_a_replay_are_told(tmp_path, monkeypatch, capfd, statement, words):
    (tmp_path / "p.py").write_text(f"""\
import sqlite3
c = sqlite3.connect("a.db", isolation_level=None)
c.create_function("f", 0, lambda: 5)
c.execute("CREATE TABLE t(x)")
c.execute("{statement}")
""")
    _, said = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    assert words in said and ("beware" in said) == bool(words)


def test_what_a_replay_has_of_chance_and_time_is_named(tmp_path, monkeypatch, capfd):
    """By its first statement, though this replay is of the same day."""
    (tmp_path / "p.py").write_text("""\
import sqlite3
c = sqlite3.connect("a.db", isolation_level=None)
c.execute("CREATE TABLE t(x, d DEFAULT CURRENT_DATE)")
c.execute("CREATE TABLE u(x)")
c.execute("CREATE TRIGGER g AFTER INSERT ON u BEGIN INSERT INTO t VALUES(random() * 0, 1); END")
c.execute("INSERT INTO t VALUES(date('now'), 1)")
c.execute("INSERT INTO t VALUES(date(?, ?), 2)", ("now", "+1 day"))
c.execute("INSERT INTO t VALUES(strftime('%Y', '2024-01-01'), length(randomblob(3)))")
c.execute("INSERT INTO t(x) VALUES(5)")
c.execute("INSERT INTO u VALUES('random()')")
""")
    _, said = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    assert [line.partition(" a.db: ")[2] for line in said.splitlines() if line.startswith("beware: ")] == [
        "date gives another value in a replay: INSERT INTO t VALUES(date('now'), 1);",
        "randomblob gives another value in a replay: INSERT INTO t VALUES(strftime('%Y', '2024-01-01'), "
        "length(randomblob(3)));",
        "CURRENT_DATE gives another value in a replay: INSERT INTO t(x) VALUES(5);",
        "random gives another value in a replay: INSERT INTO u VALUES('random()');",
    ]


def test_settings_of_two_files_and_a_function_of_the_program(tmp_path, monkeypatch, capfd):
    program = PROGRAMS / "page_size_wal.sh"
    lines, said = record_here(f"sh {program}", tmp_path, monkeypatch, capfd)
    assert sum("VACUUM" in line for line in lines) == 2
    assert "2 delete.db is as of a cell with PAGE_SIZE=8192\n" in said and "beware" not in said
    assert "left out 2 times: PRAGMA page_size=8192: the variable PAGE_SIZE sets it\n" in said
    (tmp_path / "x.trace").unlink()
    _, said = record_here(f"{sys.executable} {PROGRAMS / 'dedup.py'}", tmp_path, monkeypatch, capfd)
    assert "beware: 1 a.db: a replay fails: line 27 of the trace: no such function: half\n" in said


def test_each_of_sqlites_pragmas_has_its_place():
    database = sqlite3.connect(":memory:")
    of_host = {name for (name,) in database.execute("SELECT name FROM pragma_pragma_list")}
    assert of_host <= pragmas.known()
    sets = [pragmas.RECORDED, frozenset(pragmas.SETTINGS), pragmas.DEFAULTS, pragmas.NOTHING]
    assert sum(map(len, sets)) == len(pragmas.known())
    # what a trace has a workload may have
    assert pragmas.RECORDED <= sqlfile.ALLOWED


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("pragma Foreign_Keys(1)", None),
        ("/* a */ PRAGMA main.defer_foreign_keys = ON;", None),
        ("PRAGMA wal_checkpoint", None),
        ("PRAGMA foreign_keys", "PRAGMA foreign_keys"),
        ("PRAGMA h.foreign_keys=1", "PRAGMA h.foreign_keys"),
        ("PRAGMA 'journal_mode' = 'WAL'", "PRAGMA journal_mode=wal"),
        ("PRAGMA cache_size(-8000)", "PRAGMA cache_size=-8000"),
        ("PRAGMA table_info(t)", "PRAGMA table_info"),
        ("INSERT INTO pragma VALUES(1)", None),
    ],
)
def test_a_pragma_is_recorded_or_counted(sql, words):
    assert pragmas.left_out(sql) == words
