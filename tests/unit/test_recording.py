"""A recording becomes a trace that can be replayed, whatever began and ended its transactions."""

import json
from pathlib import Path

import pytest

from model.statements import recording, tracefile

INSERT = "INSERT INTO t VALUES(1)"


@pytest.mark.parametrize(
    ("begin", "between", "end"),
    [
        ("", ["BEGIN", INSERT, 'COMMIT TRANSACTION "to"'], ""),
        ("", ["BEGIN", INSERT, "ROLLBACK TRANSACTION TO SAVEPOINT a"], "ROLLBACK"),
        ("BEGIN", ["SAVEPOINT a", INSERT, "RELEASE a"], "COMMIT"),
        # what Python's commit() and rollback() send
        ("BEGIN", ["SAVEPOINT a", INSERT, "COMMIT"], ""),
        ("BEGIN", ["SAVEPOINT a", INSERT, "ROLLBACK"], ""),
        ("BEGIN", ["SAVEPOINT a", 'savepoint "B"', INSERT, "release savepoint b"], "ROLLBACK"),
    ],
)
def test_each_transaction_is_whole(begin: str, between: list[str], end: str, tmp_path: Path) -> None:
    lines = [f'{number}.0 "/one.db" {json.dumps(sql)}\n' for number, sql in enumerate(between)]
    (tmp_path / recording.TRANSACTIONS).write_text("".join(lines) + "transaction 9.0\n")
    trace, _, left = recording.trace(tmp_path)
    assert [entry.sql for entry in trace.entries] == [sql for sql in (begin, *between, end) if sql]
    assert len(tracefile.parts(tracefile.write(trace)).transactions) == 1 and not left
