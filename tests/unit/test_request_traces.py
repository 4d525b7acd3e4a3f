"""A trace of requests: its format, what is refused, and the cell that it becomes."""

from pathlib import Path

import pytest

from base.errors import BadInputError
from commitpath.boards import payload
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.results.query import is_cell
from model import workloads
from model.expected_state import oracle
from model.statements.sqlfile import SqlFileError
from model.workloads import Operation, requests

TEXT = """commitpath requests 1
# a note
row 7 aa
row 9 b*5

update 7 12x*3
read 9
scan 0 50
read-modify-write 9 z
insert 1 c insert 2 d
delete 7
"""


def test_what_a_trace_is_read_as() -> None:
    made = requests.read(TEXT)
    assert [one[1:3] for one in made.rows] == [(7, b"aa"), (9, b"bbbbb")]
    assert [one[0].kind for one in made.transactions] == [
        *("update", "read", "scan", "read-modify-write", "insert", "delete")
    ]
    assert made.transactions[0] == (Operation("update", 7, b"12xxx"),)
    assert made.transactions[2] == (Operation("scan", 0, rows=50),)
    assert len(made.transactions[4]) == 2 and made.value_size == 5
    assert requests.read(requests.write(made, ["one", "two"])) == made
    packed = requests.pack(made.transactions)
    assert packed.startswith(b"1\nupdate 7 5\n12xxx\n1\nread 9 0\n\n1\nscan 0 50\n")
    assert b"\n2\ninsert 1 1\nc\ninsert 2 1\nd\n1\n" in packed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "commitpath trace 1\n",
            "line 1: a trace of requests begins with the line 'commitpath requests 1'; SQL",
        ),
        ("", "line 1: a trace of requests begins with"),
        (
            "read 1\nrow 2 a",
            "line 3: 'row' is not an operation: insert, .*, or row before the first transaction",
        ),
        ("0.5 1 read", "line 2: '0.5' is not an operation"),
        ("read", "line 2: the key of read is '', not a number from 0 to 9223372036854775807"),
        ("read -1", "line 2: the key of read is '-1'"),
        ("read 9223372036854775808", "line 2: the key of read is '9223372036854775808'"),
        ("read 1 2", "line 2: '2' is not an operation"),
        ("scan 1", "line 2: the rows of scan is ''"),
        ("update 1", "line 2: the value of update is '', not letters and digits"),
        ("update 1 it's", 'line 2: the value of update is "it\'s"'),
        ("update 1 x*900001", "line 2: a value of 900001 bytes; it has 900000 at most"),
        ("update 1 x*900000\n" * 99, "line 76: values up to here have 67500000 bytes; those of a trace have"),
        ("insert 1 a\nread 1\ninsert 1 b", "line 4: insert of key 1, which is there"),
        ("row 1 a insert 2 b\nread 1", "line 2: row has 2 rows; each has a line of its own"),
        ("row 1 a\nrow 1 a", "line 3: insert of key 1, which is there"),
        ("insert 1 a update 2 b", "line 2: the operations of a transaction are all of one kind"),
        ("read-modify-write 1 a read-modify-write 2 b", "line 2: the operations of a transaction"),
        (" ".join(["read 1"] * 1000), "line 2: 1000 operations in a transaction; there may be 999"),
        ("row 1 a", "it has no transaction"),
    ],
)
def test_what_is_no_trace_of_requests(text: str, expected: str) -> None:
    with pytest.raises(SqlFileError, match=expected):
        requests.read(text if text.startswith("commitpath") or not text else f"{requests.FIRST}\n{text}")


def written(folder: Path, text: str = TEXT) -> str:
    path = folder / "a.trace"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("engine", axes()["engine"].choices())
def test_a_cell_of_any_engine(engine: str, tmp_path: Path) -> None:
    given = {"WORKLOAD": "requests", "FILE": written(tmp_path), "ENGINE": engine}
    cell = make_cell(given)
    assert (cell.rows, cell.n, cell.value_size, workloads.phases(cell.profiles["workload"])) == (
        *(2, 6, 5),
        ("requests",),
    )
    options = payload.driver_env(cell, "/mnt/a.db")["DRIVER_OPTIONS"]
    assert "--workload requests" in options and "--file /run/commitpath/transactions" in options
    table = payload.populated(cell)
    assert table["schema"] == b"1\ninsert 7 2\naa\n1\ninsert 9 5\nbbbbb\n"
    assert table["rehearsal"].count(b"\n1\n") == payload.REHEARSED - 1
    assert payload.packed(cell)[1] == requests.pack(requests.read(TEXT).transactions)
    assert "--rows 0" in payload.rehearsal(cell) and "rehearsal" in payload.rehearsal(cell)
    assert [one.rows for one in oracle.after_each(cell, ["requests"])] == [2, 2, 2, 2, 2, 4, 3]
    if engine == "sqlite":
        assert is_cell({"workload": "requests", "file": cell.file, "n": "6"}, cell)


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        ({"ROWS": "5"}, TEXT, "ROWS=5: FILE=.* has 2; leave it out"),
        ({"N": "7"}, TEXT, "N=7: FILE=.* has 6; leave it out"),
        ({"VALUE_SIZE": "7"}, TEXT, "VALUE_SIZE=7: FILE=.* has 5; leave it out"),
        ({}, 'commitpath trace 1\nfile 1 "a"\n', "FILE=.*: line 1: a trace of requests begins with"),
        (
            {"WORKLOAD": "trace"},
            TEXT,
            "line 1: a trace begins with .*; a trace of requests is for WORKLOAD=req",
        ),
        ({"WORKLOAD": "trace", "ENGINE": "lmdb"}, TEXT, "ENGINE=lmdb: WORKLOAD=trace is for ppl, sqlite, "),
        ({"PACE": "trace"}, TEXT, "PACE=trace: WORKLOAD=requests has no recorded times"),
    ],
)
def test_what_no_cell_has(given: dict[str, str], text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=expected):
        make_cell({"WORKLOAD": "requests", "FILE": written(tmp_path, text), **given})


def test_power_cuts_are_judged(tmp_path: Path) -> None:
    given = {"WORKLOAD": "requests", "FILE": written(tmp_path), "CRASH": "power", "DEVICE": "emmc-5.0"}
    for engine in ("sqlite", "leveldb", "lmdb"):
        assert oracle.changes(make_cell({**given, "ENGINE": engine}), ["requests"])[0].held().rows == 2
