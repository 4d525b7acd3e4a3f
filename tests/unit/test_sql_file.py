"""WORKLOAD=sql: a user's file is cut, checked and made a cell before anything is built."""

import json
from pathlib import Path

import pytest

import model.cell
from base.errors import BadInputError
from commitpath.boards import payload
from commitpath.cells import from_variables as cells
from commitpath.cells import identities
from commitpath.run import plan
from model.cell import Cell
from model.statements import sqlfile

MARK = sqlfile.MARK
SHOP = f"""\
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
CREATE TRIGGER old AFTER DELETE ON item BEGIN
  SELECT 1; SELECT ';';
END;
{MARK}
INSERT INTO item(name) VALUES('a; b'); -- one
;
BEGIN IMMEDIATE;  -- two
  INSERT INTO item(name) VALUES('x
y');
  SAVEPOINT s; ROLLBACK TO s;
END;
SELECT/* ; */1;
begin; delete from item; rollback transaction;
"""
LATEST_BOARD = {"board_device": "/dev/target", "board_kind": "virtual"}


def make(tmp_path: Path, text: str | bytes, **variables: str) -> Cell:
    """The cell of a file of that content."""
    path = tmp_path / "mine.sql"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cells.make_cell({"WORKLOAD": "sql", "FILE": str(path), **variables})


def test_a_file_is_cut_where_sqlite_ends_its_statements() -> None:
    found = sqlfile.read(SHOP)
    assert [(one.line, one.text.split(maxsplit=1)[0]) for one in found.schema] == [
        (1, "CREATE"),
        (2, "CREATE"),
    ]
    assert [(one.line, one.text) for one in found.transactions] == [
        (6, "INSERT INTO item(name) VALUES('a; b');"),
        (8, "BEGIN IMMEDIATE;\nINSERT INTO item(name) VALUES('x\ny');\nSAVEPOINT s;ROLLBACK TO s;\nEND;"),
        (13, "SELECT/* ; */1;"),
        (14, "begin;delete from item;rollback transaction;"),
    ]
    assert [sqlfile.is_ordered(one) for one in found.transactions] == [True, False, True, False]


@pytest.mark.parametrize(
    ("off", "begin"),
    [("PRAGMA foreign_keys=OFF;", "BEGIN TRANSACTION"), ("pragma foreign_keys(0);", "BEGIN")],
)
def test_a_dump_makes_a_database(off: str, begin: str) -> None:
    made = "CREATE TABLE a(b);", "INSERT INTO a VALUES('COMMIT;');"
    found = sqlfile.read(f"{off}\n{begin};\n{''.join(made)}\nCOMMIT;\n{MARK}\nSELECT 1;")
    assert [one.text for one in found.schema] == list(made)


BAD = [
    (b"", "the file is empty"),
    (b"SELECT 1;\n\0", "line 2: a NUL byte"),
    (b"SELECT 1;\nSELECT '\xff';", "line 2: not UTF-8"),
    ("-- nothing\n", "it has no statement$"),
    (f"CREATE TABLE t(a);\n{MARK}\n", f"it has no statement after line 2, '{MARK}'"),
    ("SELECT 1;\nSELECT 2", r"line 2: the statement 'SELECT 2' has no end \(a semicolon\)"),
    ("SELECT 1;\n\nBEGIN;SELECT 2;", "line 3: BEGIN without a COMMIT, END or ROLLBACK after it"),
    ("SELECT 1;\nCOMMIT;", "line 2: COMMIT without a BEGIN before it"),
    ("BEGIN;\nBEGIN;\nEND;", "line 2: BEGIN within the transaction of line 1"),
    ("PRAGMA journal_mode=WAL;", "line 1: PRAGMA journal_mode: here there may be .*wal_checkpoint"),
    ('BEGIN; /* */ PRAGMA main . "Synchronous" = 0; COMMIT;', "line 1: PRAGMA synchronous: "),
    # they are in effect when they are prepared; a byte order mark is a blank to SQLite, anywhere
    ("SELECT 1;\nEXPLAIN PRAGMA synchronous=off;", "line 2: PRAGMA synchronous: "),
    ("SELECT 1;\n\ufeffPRAGMA synchronous=off;", "line 2: PRAGMA synchronous: "),
    (
        f"PRAGMA foreign_keys=1;\n{MARK}\nSELECT 1;",
        f"line 1: PRAGMA foreign_keys before '{MARK}': there it may be OFF alone",
    ),
    (f"BEGIN;\n{MARK}\nSELECT 1;", f"line 1: BEGIN before '{MARK}' without a COMMIT or END there"),
    (f"BEGIN;\nROLLBACK;\n{MARK}\nSELECT 1;", f"line 2: ROLLBACK before '{MARK}': all that is there is"),
    (f"{MARK}\n{MARK}\nSELECT 1;", "line 2: the second "),
    ("--commitpath: schema\nSELECT 1;", "line 1: '--commitpath: schema': the only such line is "),
    ("ATTACH 'x' AS x;", "line 1: ATTACH: a statement is of one database"),
    ("SELECT 1;\nSELECT 1, 2, 3, 4, \"Load_Extension\" /* */ ('x');", "line 2: load_extension: "),
    (".mode csv\nSELECT 1;", "line 1: .mode is a command of SQLite's shell"),
    (b"-" * (2**20 + 1), "1048577 bytes; a file has at most 1048576"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_what_no_file_may_have_is_one_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(BadInputError, match=rf"^FILE=.*/mine.sql: .*{said}") as error:
        make(tmp_path, text)
    assert "\n" not in str(error.value)


CONTRADICTIONS = [
    ({"N": "3"}, "^N=3: with FILE it is the number of the file's transactions, 4; leave it out$"),
    ({"ROWS": "10"}, "^ROWS=10: WORKLOAD=sql allows only 0 "),
    (
        {"ENGINE": "leveldb", "SYNCHRONOUS": "full"},
        "^ENGINE=leveldb: WORKLOAD=sql is for ppl, sqlite, sqlitekv, ssl only ",
    ),
    (
        {"WORKLOAD": "apsys17"},
        "^FILE=.*: WORKLOAD=apsys17 has transactions of its own; it is for WORKLOAD=requests or sql or trac",
    ),
]


@pytest.mark.parametrize(("variables", "said"), CONTRADICTIONS)
def test_what_contradicts_it_is_refused(tmp_path: Path, variables: dict[str, str], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        make(tmp_path, SHOP, **variables)


def test_the_content_is_the_cells_and_the_path_is_not(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, same = make(tmp_path, SHOP, N="4"), make(tmp_path / "other", SHOP)
    other = make(tmp_path, SHOP.replace("a; b", "a; c"))
    assert one == same
    assert identities.cell_id(one) != identities.cell_id(other)
    assert (one.n, one.profiles["file"]) == (4, {"sql": SHOP})
    assert str(tmp_path) not in json.dumps(identities.stored(one))
    # as another command reads it from cell.json
    read = model.cell.from_document(identities.stored(one))
    assert identities.cell_id(identities.complete(read)) == identities.cell_id(one)


def test_the_plan_has_the_transactions_by_hash_and_the_board_the_schema(tmp_path: Path) -> None:
    cell = make(tmp_path, SHOP)
    made = plan.make(cell, LATEST_BOARD)
    text = made.runs[0].files["transactions"]
    assert made.document["runs"]["run"]["files"]["transactions"] == plan.digest(text)
    assert made.document["runs"]["twin"]["files"]["transactions"] == plan.digest(text)
    assert text.split(b"\0")[0] == b"6\nINSERT INTO item(name) VALUES('a; b');"
    assert b"--file /run/commitpath/transactions" in made.runs[0].files["cell.env"]
    assert "--file /run/commitpath/rehearsal" in payload.rehearsal(cell)
    assert payload.texts({}) == {}
    packed = payload.texts(payload.populated(cell))
    assert packed["schema"].startswith(b"1\nCREATE TABLE") and packed["rehearsal"].count(b"\0") == 10


def test_transactions_that_do_not_fit_beside_a_cell_are_on_the_board_before(tmp_path: Path) -> None:
    most, one = payload.MOST_WITH_CELL, "SELECT '%s';\n"
    short = make(tmp_path, one % ("x" * (most - len(one))))
    assert len(payload.packed(short)[1]) == most
    assert "transactions" in payload.payload(short)
    assert set(payload.texts(payload.populated(short))) == {"schema", "rehearsal"}
    long = make(tmp_path, one % ("x" * (most - len(one) + 1)))
    assert "transactions" not in payload.payload(long)
    assert payload.texts(payload.populated(long))["transactions"] == payload.packed(long)[1]
    assert "--file /run/commitpath/transactions" in payload.driver_env(long, "a")["DRIVER_OPTIONS"]
