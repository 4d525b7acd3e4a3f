"""WORKLOAD=trace: a trace is read, made SQL and a cell, and what is wrong with it told in a line."""

import math
from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.boards import payload
from commitpath.cells import from_variables as cells
from commitpath.cells import persistent_memory
from model.statements import sqlfile, tracefile
from model.statements.bound import Raw, Zeros, bound
from model.statements.tracefile import FIRST, Entry, Trace

# each line of the format, and what comes of it
GOLDEN = f"""\
{FIRST}
# a note

file 1 "shop.db"
file 2 "log.db"
only 1
make 1 "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)"
make 2 "CREATE TABLE line(text)"
0.000000 1 "INSERT INTO item VALUES(?,?)" -5 "a \\"b\\"\\u0000é"
0.5 2 "INSERT INTO line VALUES(?)" text:ff
1 1 "BEGIN"
1.25 1 "UPDATE item SET name=$n WHERE id IN (:id, ?1, @o)" 0x1.8p+1 9 null
1.5 1 "DELETE FROM item -- ? not one\\nWHERE name='?\\n'"
2 1 "COMMIT"
3 1 "INSERT INTO item VALUES(?1, ?3 || ?2)" zeros:3 -inf blob:00ff
"""
READ = Trace(
    {1: "shop.db", 2: "log.db"},
    1,
    (
        Entry(7, None, 1, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)", ()),
        Entry(8, None, 2, "CREATE TABLE line(text)", ()),
        Entry(9, 0.0, 1, "INSERT INTO item VALUES(?,?)", (-5, 'a "b"\0é')),
        Entry(10, 0.5, 2, "INSERT INTO line VALUES(?)", (Raw(b"\xff"),)),
        Entry(11, 1.0, 1, "BEGIN", ()),
        Entry(12, 1.25, 1, "UPDATE item SET name=$n WHERE id IN (:id, ?1, @o)", (3.0, 9, None)),
        Entry(13, 1.5, 1, "DELETE FROM item -- ? not one\nWHERE name='?\n'", ()),
        Entry(14, 2.0, 1, "COMMIT", ()),
        Entry(15, 3.0, 1, "INSERT INTO item VALUES(?1, ?3 || ?2)", (Zeros(3), -math.inf, b"\0\xff")),
    ),
)
RUN = [
    (9, "INSERT INTO item VALUES((-5),('a \"b\"'||char(0)||'é'));"),
    (
        11,
        "BEGIN;\nUPDATE item SET name=3.0 WHERE id IN (9, 3.0, NULL);\n"
        "DELETE FROM item   WHERE name=('?'||char(10));\nCOMMIT;",
    ),
    (15, "INSERT INTO item VALUES(zeroblob(3), X'00ff' || (-9e999));"),
]


def test_a_trace_is_read_and_made_sql() -> None:
    assert tracefile.read(GOLDEN) == READ
    parts = tracefile.parts(GOLDEN)
    assert [(one.line, one.text) for one in parts.transactions] == RUN
    assert [(one.line, one.words[:3]) for one in parts.schema] == [(7, ("CREATE", "TABLE", "ITEM"))]


SEVERAL = f"""\
{FIRST}
file 7 "shop.db"
file 3 "log.db"
make 3 "CREATE TABLE line(text)"
make 7 "CREATE TABLE item(name)"
0 3 "BEGIN"
0 7 "INSERT INTO item VALUES(1)"
0 7 "BEGIN"
0 3 "INSERT INTO line VALUES(?)" "a"
0 7 "DELETE FROM item"
0 3 "COMMIT"
0 7 "END"
"""


def test_a_trace_of_several_files_is_of_several_databases(tmp_path: Path) -> None:
    """In the order in which the transactions end; that a driver reads, with the number of each database but
    the first."""
    parts = tracefile.parts(SEVERAL)
    assert parts.databases == 2
    assert [(one.line, one.database, one.words[0]) for one in parts.transactions] == [
        (7, 0, "INSERT"),
        (6, 1, "BEGIN"),
        (8, 0, "BEGIN"),
    ]
    assert sqlfile.pack(parts.schema) == b"4 2\nCREATE TABLE line(text);\0" + b"5\nCREATE TABLE item(name);\0"
    assert sqlfile.pack(parts.transactions[1:2]) == (
        b"6 2\nBEGIN;\n\n\nINSERT INTO line VALUES('a');\n\nCOMMIT;\0"
    )
    (tmp_path / "mine.trace").write_text(SEVERAL)
    asked = {"WORKLOAD": "trace", "FILE": str(tmp_path / "mine.trace")}
    cell = cells.make_cell(asked)
    assert cell.profiles["file"] == {"trace": SEVERAL, "databases": 2}
    told = payload.driver_env(cell, "sample.db")["DRIVER_OPTIONS"]
    assert "--databases 2" in told
    assert "--databases 2" in payload.populated(cell)["populate_options"]
    with pytest.raises(
        BadInputError, match=r"^CRASH=power: WORKLOAD=trace has 2 databases here, and a trial "
    ):
        cells.make_cell({**asked, "CRASH": "power"})
    small = {**asked, "ENGINE": "ssl", "LOG_MEDIUM": "pcm"}
    assert persistent_memory.mib(cells.make_cell(small)) == 64
    assert persistent_memory.mib(cells.make_cell({**small, "LOG_SIZE": str(20 << 20)})) == 128
    (tmp_path / "mine.trace").write_text(SEVERAL.replace("make 3", "only 7\nmake 3"))
    cell = cells.make_cell(asked)
    assert (cell.n, "databases" in cell.profiles["file"]) == (2, False)
    assert "--databases" not in payload.driver_env(cell, "sample.db")["DRIVER_OPTIONS"]


BAD = [
    ('file 1 "a"\n0 1 "SELECT 1\\u0000;"', "line 3: a NUL in the SQL"),
    ('file 1 "a"\nfile 2 "b"\nonly 1\nonly 2', "line 5: there is one line 'only'"),
    ("commitpath trace 2\n", f"line 1: a trace begins with the line '{FIRST}'"),
    ('0 1 "SELECT 1"', "line 2: '1' is not a file of the trace; it has none"),
    ('file 1 "a"\nfile 1 "b"', "line 3: '1' is not a number of a new file"),
    ("file 1 a", "line 2: 'a' is not a JSON string"),
    ('file 1 "a"\nonly 2', "line 3: '2' is not a file of the trace; it has 1 a"),
    (
        'file 1 "a"\nwhen 1 "SELECT 1"',
        "line 3: 'when' is none of file, only, make, # and a number of seconds",
    ),
    ('file 1 "a"\n0 1', "line 3: a statement is: seconds or make, file, "),
    ('file 1 "a"\n0 1 "\\ud800"', "line 3: .* is not a JSON string"),
    ('file 1 "a"\n0 1 "SELECT ?" 0.5', "line 3: '0.5' is not a value; there are null, 5, 0x1.8p"),
    ('file 1 "a"\n0 1 "SELECT ?"', "line 3: 0 values, and a parameter '\\?' that is number 1"),
    ('file 1 "a"\n0 1 "SELECT 1; SELECT 2"', "line 3: its text has 2 statements"),
    ('file 1 "a"\n0 1 "PRAGMA journal_mode=off"', "line 3: PRAGMA journal_mode: "),
    ('file 1 "a"\nmake 1 "CREATE TABLE t(a)"', "it has no statement$"),
    (
        'file 1 "a"\nfile 2 "b"\nmake 2 "CREATE TABLE t(a)"\n0 1 "SELECT 1"',
        "file 2 b has no transaction; take it out, or choose one by a line such as 'only 1'",
    ),
    (
        "\n".join(f'file {i} "a"\n0 {i} "SELECT 1"' for i in range(33)),
        "it has 33 files, and a cell at most 32 databases; choose one by a line such as 'only 1'",
    ),
    ('file 1 "a"\nfile 2 "b"\n0 2 "BEGIN"\n0 1 "SELECT 1"', "line 4: BEGIN without a COMMIT"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.trace"
    path.write_text(text if text.startswith("commitpath") else f"{FIRST}\n{text}\n")
    with pytest.raises(BadInputError, match=f"^FILE={path}: {said}") as error:
        cells.make_cell({"WORKLOAD": "trace", "FILE": str(path)})
    assert "\n" not in str(error.value)


def test_a_trace_is_a_cells(tmp_path: Path) -> None:
    (tmp_path / "mine.trace").write_text(GOLDEN)
    cell = cells.make_cell({"WORKLOAD": "trace", "FILE": str(tmp_path / "mine.trace"), "ENGINE": "ssl"})
    assert (cell.n, cell.file, cell.profiles["file"]) == (3, sqlfile.name(GOLDEN), {"trace": GOLDEN})
    with pytest.raises(
        BadInputError, match=r"^WORKLOAD=trace takes FILE=<your trace> \(docs/how-to/trace.md\)$"
    ):
        cells.make_cell({"WORKLOAD": "trace"})


def test_a_parameter_of_tcl_is_one() -> None:
    """tokenize.c: `::` and a part in brackets belong to its name."""
    sql = "SELECT $a::b(c), $arr(k), :x, @y, $a::b(c), ':x', [@y]"
    assert bound(sql, (1, 2, 3, 4)) == "SELECT 1, 2, 3, 4, 1, ':x', [@y]"
