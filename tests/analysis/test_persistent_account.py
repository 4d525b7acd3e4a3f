"""What an engine says that it wrote to persistent memory: read, added up, and refuted where it cannot be."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.adapters import drivertables
from analysis.adapters.driver import Driver
from analysis.checks import persistent as check
from analysis.ledger import sums
from analysis.report import terminal
from analysis.stats import report_tables

TEXT = "transaction,file,lines,bytes\n0,statements,5,250\n1,statements,50,3200\n2,statements,1,40\n"
# of all: a header, and a checkpoint's, besides
SAID = {"PCM lines": "58", "PCM bytes": "3618", "PCM ns": "29000"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "persistent.csv").write_text(TEXT)
    return tmp_path / "persistent.csv"


def driver(path: Path, waited: int | None = 29480, **said: str) -> Driver:
    """A run of three transactions, each of which took what its lines take at least."""
    begins, took = [0, 10000, 60000], [2500, 40000, 900]
    transactions = pl.DataFrame(
        {
            **{"transaction": [0, 1, 2], "phase": ["insert", "insert", "delete"]},
            **{"op": ["insert", "insert", "delete"], "begin_ns": begins},
            **{"end_ns": [a + b for a, b in zip(begins, took, strict=True)], "changes": [1, 1, 1]},
        }
    )
    config: dict[str, Any] = {
        **{"engine": "ssl", "effective": {"pcm_line": 64, "pcm_write_ns": 500}},
        **{"properties": {name: value for name, value in {**SAID, **said}.items() if value}},
        "persistent_waited_ns": waited,
    }
    table = drivertables.persistent(path) if path.exists() else None
    return Driver(config, transactions, pl.DataFrame(), pl.DataFrame(), None, None, table)


def wrong(own: Driver, twin: Driver | None = None) -> list[str]:
    run: Any = SimpleNamespace(driver=own, twin=twin and SimpleNamespace(driver=twin))
    return check.as_charged(run)


def test_what_it_says_is_added_up(path: Path) -> None:
    own = driver(path)
    assert wrong(own) == wrong(own, own) == []
    found = sums.persistent(own)
    assert found == {
        **{"label": "statement log (PCM)", "bytes": 3618, "lines": 58, "ns": 29000},
        "per_transaction": {
            "insert": {"bytes": 1725.0, "lines": 27.5},
            "delete": {"bytes": 40.0, "lines": 1.0},
            "all": {"bytes": 3490 / 3, "lines": 56 / 3},
        },
    }
    lines = terminal.persistent({"persistent": found})
    assert lines[0].split() == ["statement", "log", "(PCM)", "insert", "delete", "all", "all"]
    assert lines[1].split()[-4:] == ["1.68", "0.04", "1.14", "4"] and "0.029 ms" in lines[3]
    rows = report_tables._rows(own)
    assert rows["persistent_lines"].to_list() == [5, 50, 1]
    assert rows["persistent_bytes"].to_list() == [250, 3200, 40]


def test_an_account_that_is_not_there(path: Path) -> None:
    own = driver(path)
    assert "persistent.csv is missing" in wrong(dataclasses.replace(own, persistent=None))[0]
    assert (
        "it has 2 transactions, the run 3"
        in wrong(dataclasses.replace(own, persistent=own.persistent[:2]))[0]
    )


def called(path: Path, *calls: tuple[str, int, int]) -> Driver:
    """The run with what it called of the log: op, begin_ns, bytes; a call takes 100 ns."""
    rows = [(n, op, "statements", at, at + 100, 7, 1024, size, 0) for n, (op, at, size) in enumerate(calls)]
    columns = ("call", "op", "file", "begin_ns", "end_ns", "inode", "offset", "bytes", "result")
    return dataclasses.replace(driver(path), vfs=pl.DataFrame(rows, schema=columns, orient="row"))


COPIES = [(op, at + more, 250) for at in (0, 10000, 60000) for op, more in (("copy", 500), ("clean", 650))]


def cleaned(own: Driver, twin: Driver | None = None) -> list[str]:
    run: Any = SimpleNamespace(driver=own, twin=twin and SimpleNamespace(driver=twin))
    return check.cleaned(run)


def test_what_is_acknowledged_is_clean(path: Path) -> None:
    own = called(path, ("open", 0, 0), *COPIES)
    # the driver's clock and the calls' are apart by less than 250 ns
    late = [(op, 2640 if at == 650 else at, size) for op, at, size in COPIES]
    assert cleaned(own) == cleaned(own, own) == cleaned(called(path, *late)) == []
    # one that notes no calls
    assert cleaned(driver(path)) == []
    told = (
        "persistent memory: {} transactions were acknowledged before their lines were clean, "
        "first transaction {}"
    )
    later = [(op, 2800 if at == 650 else at, size) for op, at, size in COPIES]
    part = [(op, at, 250 if op == "copy" or at < 10000 else 20) for op, at, _ in COPIES]
    none = [one for one in COPIES if one[:2] != ("clean", 60650)]
    for calls, count, first in ((later, 1, 0), (part, 2, 1), (none, 1, 2)):
        assert cleaned(called(path, *calls)) == [told.format(count, first)]
        assert cleaned(own, called(path, *calls)) == ["the baseline run's " + told.format(count, first)]
