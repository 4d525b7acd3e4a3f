"""Damaged rows, and text that a terminal acts on: one line, and nothing else is lost."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import Lab

from base.text import printable
from commitpath.database import checked_rows, row_checks, store
from commitpath.reporting import sample_table

Labs = Callable[[str], Lab]
ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e"


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


def faults(path: Path) -> list[str]:
    """What is wrong with the rows of a database."""
    with store.opened(path, write=False) as connection:
        found = [
            row_checks.fault(table, row)
            for table in row_checks.COLUMNS
            for row in row_checks.stored(connection, table)
        ]
    return [one for one in found if one]


MARKED = """UPDATE run SET summary = json_patch('{"mark":4.7512}', summary)"""

# What is wrong with one row each of a damaged database.
POISONED = [
    ("reasons = 'none'", "reasons: not JSON"),
    ("summary = json_set(summary, '$.tps.all', 'fast')", "summary: tps.all must be number"),
    ("host = NULL", "host: NULL"),
    ("cell = json_set(cell, '$.rows', 'x')", "cell: rows: 'x' is not a whole number"),
]


def test_a_damaged_database_lists_and_compares_and_is_repaired(labs: Labs, tmp_path: Path) -> None:
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
        f"{MARKED} WHERE lab = 'kiel' AND cell ->> '$.seed' = {len(POISONED) + 1}",
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
    assert "4 runs; 1 new" in listed.stdout
    assert len(named(listed.stderr)) == len(POISONED) + 2
    compared = here.make("compare", A="lab=local mode=delete", B="lab=kiel mode=wal")
    assert compared.returncode == 0, compared.stderr
    exported = here.make("export", FILE=str(tmp_path / "h.sqlite"), LAB="berlin")
    assert "h.sqlite: 4 runs" in exported.stdout
    named(exported.stderr)
    assert faults(tmp_path / "h.sqlite") == []
    shutil.rmtree(synthetic)  # it cannot be analysed; its row stays
    rebuilt = here.make("results", REBUILD="yes")
    assert rebuilt.returncode == 0, rebuilt.stderr
    named(rebuilt.stderr)
    assert "4 runs" in rebuilt.stdout and own.name in rebuilt.stdout
    again = here.make("results")
    assert (again.returncode, again.stderr) == (0, "")
    assert "4 runs" in again.stdout


def test_a_row_is_checked_once_and_again_when_it_changes(
    labs: Labs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = labs("here")
    here.run(MODE="wal")
    here.ok("results")
    database, checked = here.results / "results.sqlite", []

    def sound() -> list[str]:
        with store.opened(database, write=False) as connection:
            return [row["status"] for row in row_checks.sound(connection, "run")]

    fault = row_checks.fault
    monkeypatch.setattr(row_checks, "fault", lambda *row: checked.append(row) or fault(*row))
    assert sound() == ["ok"] and not checked
    poison(database, "UPDATE run SET summary = json_set(summary, '$.tps.all', 'fast')")
    assert sound() == [] and len(checked) == 1
    assert "left out: run local/" in capsys.readouterr().err
    # without a cache each row is checked each time
    poison(database, "UPDATE run SET summary = json_set(summary, '$.tps.all', 2)")
    monkeypatch.setattr(checked_rows, "CACHE", here.results / "none")
    checked_rows._file.cache_clear()
    assert sound() == sound() == ["ok"] and len(checked) == 3
    checked_rows._file.cache_clear()


def test_terminal_escapes_are_printed_as_text(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    there.run(status="rejected")
    there.run(MODE="wal")
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel")
    reasons = json.dumps([f"lost{ESCAPE}\nrun", "\u202e"])
    poison(
        tmp_path / "t.sqlite",
        f"UPDATE run SET reasons = '{reasons}' WHERE status = 'rejected'",
        "UPDATE run SET manifest = json_set(manifest, '$.board.kernel', "
        f"'Linux board 3{ESCAPE}') WHERE journal_mode = 'wal'",
    )
    here.ok("import", FILE=str(tmp_path / "t.sqlite"))
    out = here.ok("results")
    assert r"lost\x1b]0;owned\x07\x1b[2J\u202e\nrun" in out
    text = here.ok("setup-text", WHERE="lab=kiel")
    assert r"3\x1b]0;owned" in text and r"3\textbackslash{}x1b]0;owned" in text
    assert "\x1b" not in out + text and "\u202e" not in out + text


def test_a_latex_table_shows_each_sign() -> None:
    table = sample_table.as_latex(["a_b"], [["1<2|3>"]], 1).splitlines()
    assert table[2] == r"a\_b \\"
    assert table[4] == r"1\textless{}2\textbar{}3\textgreater{} \\"


def test_printable() -> None:
    assert printable("a é ‡ × … 😀") == "a é ‡ × … 😀"
    assert printable("a\tb\n\x00\x1b\x7f\x9b\u2028\u202e\u2066\ufeff\ud800") == (
        r"a\tb\n\x00\x1b\x7f\x9b\u2028\u202e\u2066\ufeff\ud800"
    )
