"""make tree: what one transaction did, as wide and as coloured as the terminal is."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import synthetic_ledger

from analysis.inspect.load import Loaded
from analysis.tree.chain import Node, tree
from analysis.tree.printed_tree import Terminal, lines, show
from base.errors import BadInputError

ROOT = Path(__file__).parents[2]
PIPE = Terminal(None, False, True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_ledger.make(tmp_path_factory.mktemp("tree") / "run", n=20)


def leaves(node: Node) -> list[Node]:
    return [node, *(leaf for child in node.children for leaf in leaves(child))]


def test_the_tree_holds_every_command_of_the_transaction(run: Path) -> None:
    loaded = Loaded(run)
    ledger = pl.read_parquet(run / "tables/ledger.parquet").filter(pl.col("transaction") == 7)
    found = leaves(tree(loaded, 7))
    begins = [node.begin for node in found]
    assert all(issue in begins for issue in ledger["issue_ns"])
    written = [node.bytes for node in found if re.search(r"\bW\w* ", node.text) and node.bytes]
    assert sum(written) == ledger["bytes"].sum()
    for node in found:
        assert all(child.begin >= node.begin for child in node.children)


def test_causes_stand_above_effects(run: Path) -> None:
    shown = "\n".join(lines(Loaded(run), 7, PIPE))
    assert re.search(
        r"├─ sync journal\n.*│  └─ fdatasync sample.db-journal\n.*│     ├─ WS rollback journal", shown
    )
    assert re.search(
        r"└─ journal commit \d+, 6 blocks logged\n.*├─ WSM filesystem journal .*\(waited, jbd2/vdb-8\)", shown
    )


def test_a_checkpoint_of_the_wal_is_named_above_its_calls(
    checkpointed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(str(checkpointed), "60")
    assert re.search(
        r" sync wal\n(.*\n)+?.*[└`][─-] WAL checkpoint of 50 frames, 39 pages copied \(autocheckpoint\)\n"
        r".* {5}[├|][─-] sync wal\n.*\n.* {5}[├|][─-] 39 x write database\n",
        capsys.readouterr().out,
    )


def test_a_shared_command_carries_its_share(tmp_path: Path) -> None:
    made = synthetic_ledger.make(tmp_path / "run", mode="wal", fs="f2fs", n=50)
    shared = pl.read_parquet(made / "tables/shares.parquet").row(0, named=True)
    assert "33% of WSM checkpoint pack" in "\n".join(lines(Loaded(made), shared["transaction"], PIPE))


def test_what_it_left_to_be_written_is_shown(tmp_path: Path) -> None:
    made = synthetic_ledger.make(tmp_path / "run", mode="wal", n=50)
    left = pl.read_parquet(made / "tables/deferred.parquet").row(0, named=True)
    shown = "\n".join(lines(Loaded(made), left["transaction"], PIPE))
    assert re.search(r" 4\.0 .*deferred, by write back: WSM", shown)
    assert "4.0 KiB written later" in shown
    assert re.search(r"Of these for no transaction\n  write back ", shown)


@pytest.mark.parametrize("columns", [20, 80])
def test_no_line_is_wider_than_the_terminal(run: Path, columns: int) -> None:
    shown = lines(Loaded(run), 3, Terminal(columns, False, True))
    assert max(map(len, shown)) <= columns


def test_colours_only_on_a_terminal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(str(run), "slowest")
    assert "\x1b" not in capsys.readouterr().out
    program = f"from analysis.tree.printed_tree import show; show({str(run)!r}, 'slowest')"
    command = [sys.executable, "-c", program]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "70"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, cwd=ROOT, stdout=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    assert process.wait() == 0
    assert b"\x1b[38;5;" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert max(map(len, plain.splitlines())) <= 70


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize("asked", ["60", "-1", "x"])
def test_no_such_transaction(run: Path, capsys: pytest.CaptureFixture[str], asked: str) -> None:
    with pytest.raises(BadInputError, match="expected 0 to 59, or slowest"):
        show(str(run), asked)
    assert not capsys.readouterr().out
