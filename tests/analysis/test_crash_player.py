"""A stranger's SQL that is played on the host: it ends, takes so much memory, and reaches no file."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from base.paths import ROOT
from model.expected_state import player
from model.statements import sqlfile

T = "CREATE TABLE t(a);\n-- commitpath: transactions\n"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "


@pytest.mark.parametrize(
    ("limits", "text", "said"),
    [
        ("SECONDS = 1", f"{ENDLESS}SELECT count(*) FROM n;", "line 4: its SQL takes more than 1 s of a CPU"),
        # a transaction alone does not, and all of them do
        (
            "SECONDS = 1",
            f"{ENDLESS}SELECT count(*) FROM (SELECT 1 FROM n LIMIT 1000000);\n" * 100,
            "line [0-9]+: its SQL takes more than 1 s of a CPU",
        ),
        (
            "MEMORY_BYTES = 256 << 20",
            f"{ENDLESS}INSERT INTO t SELECT hex(zeroblob(500000)) FROM n;",
            "line 4: it takes more than 256 MiB of memory",
        ),
    ],
)
def test_it_ends(limits: str, text: str, said: str) -> None:
    asked = json.dumps(("sql", f"{T}\n{text}", []))
    program = f"from model.expected_state import player; player.{limits}; player.main()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (player.UNKNOWN, "")
    assert sqlfile.re.fullmatch(f"{said}\n", done.stdout), done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "VACUUM INTO '{made}';",
        "ATTACH '{there}' AS o;\nINSERT INTO t SELECT a FROM o.secret;",
        "PRAGMA temp_store_directory='{folder}';",
        "PRAGMA writable_schema=1;",
        "SELECT load_extension('{there}');",
        "SELECT fts3_tokenizer('x', x'4141414141414141');",
    ],
)
def test_it_reaches_no_file(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the text's own check lets it pass."""
    made, there = tmp_path / "made", tmp_path / "there"
    with sqlite3.connect(there) as database:
        database.execute("CREATE TABLE secret(a)")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(sqlfile, "refuse", lambda *_: None)
    text = text.format(made=made, there=there, folder=tmp_path)
    said = r"^line 3: (not authorized|authorization denied|what PRAGMA )"
    with pytest.raises(player.UnknownError, match=said):
        player.Player("sql", T + text, frozenset([1])).play()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
