"""sqlitekv's tables answer as SQLite's: random SQL, sqllogictest's files, direct answers, failed allocations.

Under ASan and UBSan.
"""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
import statements
from extension import program
from sqllogictest import files, records, text_of

FOLDER = Path(__file__).resolve().parent
CREATED = re.compile(r"CREATE TABLE (\w+)\s*\((.*)\)(\s*WITHOUT ROWID)?;?\s*", re.S)


def compared(folder: Path, lines: Iterable[str], cache: int = 0, form: str = "table") -> list[int]:
    """Return the numbers that compare.c prints: results, errors, rows, hits of the cache, direct answers."""
    command = [program("compare"), folder, str(cache), form]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in re.findall("[0-9]+", done.stdout)]


def both(name: str, columns: str, folder: Path) -> tuple[str, str]:
    """Return the lines that make a table of SQLite and one of sqlitekv."""
    virtual = f"CREATE VIRTUAL TABLE {name} USING sqlitekv('{folder}', {columns})"
    return f"PCREATE TABLE {name}({columns})", f"K{virtual}"


def translated(text: str, folder: Path) -> Iterable[str]:
    """Yield lines for compare.c. A virtual table has no index."""
    for _, sql in records(text):
        line = " ".join(sql.split("\n"))
        if created := CREATED.fullmatch(line):
            name, columns, _ = created.groups()
            yield "P" + line
            yield f"KCREATE VIRTUAL TABLE {name} USING sqlitekv('{folder}', {columns})"
        elif not re.match(r"(CREATE|DROP) (UNIQUE )?(INDEX|VIEW|TRIGGER)|REINDEX", line, re.I):
            yield "B" + line


@pytest.mark.parametrize(("seed", "cache"), [(1, 0), (2, 65536)])
def test_random_statements(seed: int, cache: int, tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    results, errors, rows, hits, direct = compared(folder, statements.lines(seed, 1500, str(folder)), cache)
    assert results > 1000 and errors > 50 and rows > 1000
    assert (hits > 0) == (direct > 0) == (cache > 0)


@pytest.mark.parametrize("seed", range(10, 30))
def test_many_random_statements(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    compared(folder, statements.lines(seed, 10000, str(folder)), 65536 * (seed % 2))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.test")), ids=lambda path: path.stem)
def test_own_files(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    results, *_ = compared(folder, translated(path.read_text(encoding="utf-8"), folder))
    assert results > 5


# with no other constraint than a key, and small
PLAYED = [
    name
    for name in files()
    if re.match(r"select|evidence/in|evidence/slt_lang_(update|replace|aggfunc)|random/", name)
]


@pytest.mark.parametrize("file", PLAYED)
def test_files_of_sqllogictest(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    results, _, rows, *_ = compared(folder, translated(text_of(file), folder))
    print(f"{file}: {results} results, {rows} rows")


# d, e and f have their rows of these keys in the cache, and d and e none of others
ANSWERED = [
    "SELECT v FROM d WHERE id=1",
    "SELECT v FROM d WHERE id=1;",
    " select V , Id,n\tfrom  D where ID = 001 ; ",
    "SELECT * FROM d WHERE id=0",
    "SELECT*FROM d WHERE id=9223372036854775807",
    "SELECT v FROM d WHERE id=2",
    "SELECT v FROM e WHERE id=1",
    "SELECT v, v, id FROM e WHERE id=1;",
    "SELECT v FROM f WHERE id=1",
]
COLUMNS = ("v w", "DISTINCT v", "'v'", '"v"', "d.v", "rowid", "", "v,", "w", "vé", "*, v")
# a function, a syntax error, and a name all the same
KEYWORDS = ("current_date", "values", "key")
TABLES = ("d, f", "main.d", "nothing", "dé", "f AS d", "'f'")
KEYS = ("id>0", "id==1", "1=id", "n=1", "rowid=1", "id IS 1")
NUMBERS = ("9223372036854775808", "0x1", "1.0", "1e0", "-1", "'1'", "1a", "")
ENDS = ("AND n>5", "OR 1", "-- end", "LIMIT 0", "UNION SELECT 'u'")
LEFT = [
    *(f"SELECT {columns} FROM d WHERE id=1" for columns in (*COLUMNS, *KEYWORDS)),
    *(f"SELECT v FROM {table} WHERE id=1" for table in TABLES),
    *(f"SELECT v FROM d WHERE {where}" for where in KEYS),
    *(f"SELECT v FROM d WHERE id={number}" for number in NUMBERS),
    *(f"SELECT v FROM d WHERE id=1 {end}" for end in ENDS),
    *("SELECT v FROM g WHERE a=1", "SELECTv FROM d WHERE id=1", "EXPLAIN SELECT v FROM nothing WHERE id=1"),
]
DECLARED = {
    "d": "id INTEGER PRIMARY KEY, v TEXT, n REAL, 'current_date' TEXT, 'key' BLOB, 'values' TEXT",
    "e": "v TEXT, id INT PRIMARY KEY",
    "f": "id INTEGER PRIMARY KEY, v TEXT",
    "g": "a INTEGER, b INTEGER, v, PRIMARY KEY(a, b)",
}
FILLED = (
    "INSERT INTO d VALUES(0, NULL, 0, 'x', x'00ff', ''), (1, 'one', 1, 'x', 1, 'y')",
    "INSERT INTO d VALUES(9223372036854775807, 'last', 1e300, 'x', NULL, NULL)",
    "INSERT INTO e VALUES('e one', 1), ('e text', 'text'), ('e real', 1.5)",
    "INSERT INTO f VALUES(1, 'f one')",
    "INSERT INTO g VALUES(1, 1, 'g')",
    # the module reads and keeps these
    *(f"SELECT v FROM d WHERE id={key} AND 1" for key in ("0", "1", "2", "9223372036854775807")),
    *(f"SELECT v FROM {table} WHERE id=1 AND 1" for table in "ef"),
)


def test_the_direct_subset(tmp_path: Path) -> None:
    """What is answered before it is compiled, and what is left to SQLite."""
    folder = tmp_path / "kv"
    lines = [line for name, columns in DECLARED.items() for line in both(name, columns, folder)]
    # a temporary table hides the other one
    hidden = ("CREATE TEMP TABLE d AS SELECT 1 AS id, 'other' AS v", ANSWERED[0], "DROP TABLE temp.d")
    lines += [f"B{sql}" for sql in (*FILLED, *ANSWERED, *LEFT, *hidden, *ANSWERED)]
    *_, direct = compared(folder, lines, 65536)
    assert direct == len(ANSWERED)


# a table's columns, the names and values of its first rows
UNKEPT = {
    "a": ("id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y", "(x, y)", "('one', 1), ('two', 2), (3, x'00')"),
    "c": (
        "p INT, q TEXT COLLATE NOCASE, w NOT NULL, PRIMARY KEY(p, q)",
        "",
        "(1, 'a', 1), ('1', 'A', 2), (1, 'b', 3)",
    ),
}
UNDONE = (
    "BEGIN; INSERT INTO c VALUES(2, 'a', 'w'); SAVEPOINT s; UPDATE a SET x = x || '!' WHERE id > 1; "
    "ROLLBACK TO s; DELETE FROM c WHERE p = 1 AND q = 'B'; COMMIT",
    "SELECT * FROM c WHERE p = 1",
    "UPDATE c SET w = zeroblob(70000), q = q || 'z' WHERE p = 1",
    "INSERT OR REPLACE INTO c VALUES(2, 'A', 9), (3, 'd', 10)",
    "INSERT INTO a SELECT id + 10, x, y FROM a",
    "DELETE FROM a WHERE id > 11",
    "INSERT INTO a(x) VALUES('last')",
)


def test_without_memory_a_statement_does_nothing(tmp_path: Path) -> None:
    """Or all of it: a table has each column and its key, whichever allocation failed."""
    lines = []
    for name, (columns, names, rows) in UNKEPT.items():
        insert = f"INSERT OR IGNORE INTO {name}{names} VALUES{rows}"
        lines += [f"{line}; {insert}" for line in both(name, columns, tmp_path / "kv")]
    lines += [f"B{line}" for line in UNDONE]
    text = "".join(f"{line}\n" for line in lines)
    command = [program("memory"), tmp_path / "kv", "65536", "7"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 200


def test_a_difference_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    lines = [*statements.created("r", str(folder)), "KINSERT INTO r VALUES(1, 2, 3)", "BSELECT * FROM r"]
    with pytest.raises(AssertionError, match="line 4: SELECT"):
        compared(folder, lines)
