"""make trace-record: a replay leaves the program's rows; what is left out or would differ is reported."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NEWEST, OLD, Driver, binary, ok, one_line_error

from base.errors import BadInputError, LabError
from commitpath.inputs.trace_record import header, trace_record
from model.statements import pragmas, recording, sqlfile, tracefile

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


@pytest.mark.skipif(not Path("/usr/share/i18n/locales").exists(), reason="no sources of locales")
@pytest.mark.parametrize("locale", ["de_DE", "tr_TR"])
def test_the_programs_locale_does_not_matter(locale, tmp_path, monkeypatch):
    """It has a decimal comma; in Turkish I is not the capital of i, as in BEGIN."""
    subprocess.run(["localedef", "-i", locale, "-f", "UTF-8", tmp_path / f"{locale}.UTF-8"], check=True)
    program = (
        f"import locale, sqlite3; locale.setlocale(locale.LC_ALL, '{locale}.UTF-8'); "
        "d = sqlite3.connect('one.db', isolation_level=None); d.execute('CREATE TABLE t(a)'); "
        "d.execute('BEGIN'); d.execute('INSERT INTO t VALUES(?)', (-1.5,)); d.execute('COMMIT')"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    assert trace_record({"CMD": f'{sys.executable} -c "{program}"', "FILE": "program.trace"}) == 0
    trace = tracefile.read(Path("program.trace").read_text())
    replayed = [(entry.sql, entry.values) for entry in trace.entries if entry.seconds is not None]
    assert replayed[1:] == [("BEGIN", ()), ("INSERT INTO t VALUES(?)", (-1.5,)), ("COMMIT", ())]


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
    ok(
        driver(
            *(
                "run",
                "--workload",
                "sql",
                "--file",
                tmp_path / "transactions",
                "--n",
                len(parts.transactions),
            ),
            *("--rows", 0, "--value-size", 1, "--database", driver.database, "--output-dir", driver.output),
            *own,
        )
    )
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
    for variables, message in (
        ({}, "make trace-record takes CMD="),
        ({"CMD": "true", "FILE": "there"}, "FILE=there: it exists already"),
        ({"CMD": "true", "FILE": "no/x"}, "FILE=no/x: there is no folder "),
    ):
        with pytest.raises(BadInputError, match=message):
            trace_record(variables)
    with pytest.raises(
        LabError, match="CMD ended with 3, and changed no database by the shared library of sqlite"
    ):
        trace_record({"CMD": "exit 3", "FILE": "x"})
    with sqlite3.connect("virtual.db") as database:
        database.execute("CREATE VIRTUAL TABLE f USING fts5(a)")
    database.close()
    insert = "import sqlite3; c = sqlite3.connect('virtual.db'); c.execute('CREATE TABLE a(b)')"
    with pytest.raises(LabError, match="virtual table f; a trace does not have its content"):
        trace_record({"CMD": f'{sys.executable} -c "{insert}"', "FILE": "x"})
    assert not (tmp_path / "x").exists()
    # what it did until it failed is a trace, and its exit code is returned
    failing = insert.replace("virtual.db", "plain.db") + "; c.close(); raise SystemExit(4)"
    assert trace_record({"CMD": f'{sys.executable} -c "{failing}"', "FILE": "x"}) == 4
    assert (tmp_path / "x").read_text().startswith(tracefile.FIRST)


PROGRAMS = Path(__file__).parent / "programs"


def record_here(command, tmp_path, monkeypatch, capfd):
    """The lines of a recording's trace, and what it printed."""
    monkeypatch.chdir(tmp_path)
    assert trace_record({"CMD": command, "FILE": "x.trace"}) == 0
    text = (tmp_path / "x.trace").read_text()
    return [line.split(" ", 2)[2] for line in text.splitlines() if line[0].isdigit()], capfd.readouterr().out


def test_what_changes_rows_is_recorded_and_the_rest_is_told(tmp_path, monkeypatch, capfd):
    program = PROGRAMS / "settings.py"
    lines, message = record_here(f"{sys.executable} {program}", tmp_path, monkeypatch, capfd)
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
        "left out once: PRAGMA secure_delete=on: the variable SECURE_DELETE sets it\n",
    ):
        assert words in message
    assert message.count("left out") == 9 and "beware" not in message
    assert tracefile.parts((tmp_path / "x.trace").read_text()).databases == 1


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO t VALUES(random())", "beware: 1 a.db: a replay leaves other rows: 1 missing, 1 more"),
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
    _, message = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    assert words in message and ("beware" in message) == bool(words)


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
    _, message = record_here(f"{sys.executable} p.py", tmp_path, monkeypatch, capfd)
    assert [line.partition(" a.db: ")[2] for line in message.splitlines() if line.startswith("beware: ")] == [
        "date gives another value in a replay: INSERT INTO t VALUES(date('now'), 1);",
        "randomblob gives another value in a replay: INSERT INTO t VALUES(strftime('%Y', '2024-01-01'), "
        "length(randomblob(3)));",
        "CURRENT_DATE gives another value in a replay: INSERT INTO t(x) VALUES(5);",
        "random gives another value in a replay: INSERT INTO u VALUES('random()');",
    ]


@pytest.mark.parametrize("kind", ["none", "full", "incremental"])
def test_the_auto_vacuum_of_a_database_is_in_its_header(kind, tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute(f"PRAGMA auto_vacuum={kind}")
        db.execute("CREATE TABLE t(x)")
    assert header(tmp_path / "a.db").get("auto_vacuum", "none") == kind


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("pragma Foreign_Keys(1)", None),
        ("PRAGMA foreign_keys", "PRAGMA foreign_keys"),
        ("PRAGMA 'journal_mode' = 'WAL'", "PRAGMA journal_mode=wal"),
        ("PRAGMA cache_size(-8000)", "PRAGMA cache_size=-8000"),
        ("PRAGMA fullfsync = 1", "PRAGMA fullfsync=1"),
        ("INSERT INTO pragma VALUES(1)", None),
    ],
)
def test_a_pragma_is_recorded_or_counted(sql, words):
    assert pragmas.left_out(sql) == words
    # of these one setting has no variable
    assert bool(words and pragmas.is_default(words)) == ("fullfsync" in sql)
