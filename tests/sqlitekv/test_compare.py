"""Tables of sqlitekv and SQLite's own: the same statements, under ASan and UBSan; random ones, and files in
sqllogictest's format."""

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
    """Return the numbers that compare.c prints: results, errors, rows and hits of the cache."""
    command = [program("compare"), folder, str(cache), form]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in re.findall("[0-9]+", done.stdout)]


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
    results, errors, rows, hits = compared(folder, statements.lines(seed, 1500, str(folder)), cache)
    assert results > 1000 and errors > 50 and rows > 1000
    assert (hits > 0) == (cache > 0)


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
    results, _, rows, _ = compared(folder, translated(text_of(file), folder))
    print(f"{file}: {results} results, {rows} rows")


def test_a_difference_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    lines = [*statements.created("r", str(folder)), "KINSERT INTO r VALUES(1, 2, 3)", "BSELECT * FROM r"]
    with pytest.raises(AssertionError, match="line 4: SELECT"):
        compared(folder, lines)
