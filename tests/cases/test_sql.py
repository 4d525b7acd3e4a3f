"""SQL as people have it at hand; what is expected is worked out by hand (README.md)."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from base.errors import BadInputError
from commitpath.cells import transaction_files

FOLDER = Path(__file__).parent / "sql"
# by file: how many statements make its database, the line of each transaction, a query and its rows
# after all of them
PARTS: dict[str, tuple[int, list[int], str, list[tuple[Any, ...]]]] = {
    "rails-structure.sql": (
        *(4, [6, 10], "SELECT version, (SELECT total FROM orders) FROM schema_migrations ORDER BY 1"),
        [("20250101000000", 13), ("20250102030405", 13)],
    ),
    # 1 conflicts in b = 2 and becomes 10, which is b = 20; 5 is new; the largest c is that of 10
    "upsert-generated.sql": (
        *(3, [5, 6, 7], "SELECT id, a, b, c FROM t ORDER BY id"),
        [(1, 110, 220, 330), (2, 2, 4, 6), (3, 5, 10, 15)],
    ),
    "sync-trigger.sql": (
        *(3, [10, 11, 13], 'SELECT *, (SELECT "what" || n FROM [audit log]) FROM logins'),
        [(7, "end;", 2, "end;1")],
    ),
    # cut well, and SQLite refuses its second statement
    "rails-sequence.sql": (2, [4], "", []),
}


def text_of(name: str) -> str:
    return (FOLDER / name).read_text()


def test_each_file_is_tried() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*PARTS, "fts-dump.sql", "mysql-dump.sql"}


@pytest.mark.parametrize("name", PARTS)
def test_a_file_is_cut_into_its_transactions(name: str) -> None:
    schema, lines, _, _ = PARTS[name]
    _, found = transaction_files.transactions(FOLDER / name, "sql")
    assert len(found.schema) == schema
    assert [one.line for one in found.transactions] == lines


@pytest.mark.parametrize("name", [name for name, parts in PARTS.items() if parts[2]])
def test_what_is_cut_does_what_the_file_does(name: str) -> None:
    """The parts one after the other leave the same rows as the whole, and these are the right ones."""
    _, _, query, rows = PARTS[name]
    _, found = transaction_files.transactions(FOLDER / name, "sql")
    whole, parts = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    whole.executescript(text_of(name))
    for one in (*found.schema, *found.transactions):
        parts.executescript(one.text)
    assert whole.execute(query).fetchall() == parts.execute(query).fetchall() == rows


def test_a_dump_with_a_virtual_table_makes_the_database(tmp_path: Path) -> None:
    """It is written into the schema, so it is there when the database is opened anew, as on the board."""
    _, found = transaction_files.transactions(FOLDER / "fts-dump.sql", "sql")
    assert [one.line for one in found.transactions] == [22, 23]
    for statements in (found.schema, found.transactions):
        with sqlite3.connect(tmp_path / "docs.db") as db:
            for one in statements:
                db.executescript(one.text)
    db = sqlite3.connect(tmp_path / "docs.db")
    assert db.execute("SELECT rowid, body FROM docs WHERE docs MATCH 'fox'").fetchall() == [
        (1, "a quick fox"),
        (3, "another fox"),
    ]


def test_words_of_another_database_are_refused_with_their_line() -> None:
    """COMMIT ends a transaction that only MySQL's words begin."""
    with pytest.raises(BadInputError, match="line 6: COMMIT without a BEGIN"):
        transaction_files.transactions(FOLDER / "mysql-dump.sql", "sql")
