"""wal_autocheckpoint and journal_size_limit are held against what transactions called."""

from typing import Any

import polars as pl
import pytest

from model.engines import _wal_limits

SETTINGS = {"wal_autocheckpoint": 4, "journal_size_limit": 20_000, "page_size": 4096}
FRAME = 24 + 4096


def calls(*transactions: tuple[int, int, bool, int | None]) -> pl.DataFrame:
    """Of each transaction: its first frame, how many there are then, if it copies them, what it cuts to."""
    rows: list[dict[str, Any]] = []
    for number, (first, frames, copies, cut) in enumerate(transactions):
        made = [("write", "wal", 0, 32)] if first == 0 else []
        made += [("write", "wal", 32 + place * FRAME, FRAME) for place in range(first, frames)]
        made += [("truncate", "wal", cut, None)] if cut is not None else []
        made += [("write", "database", 0, 4096)] if copies else []
        rows += [
            {"transaction": number, "op": op, "file": file, "offset": offset, "bytes": size}
            for op, file, offset, size in made
        ]
    return pl.DataFrame(rows)


# three transactions, a checkpoint with five frames, and the log begun again and cut
TRUE = calls((0, 2, False, None), (2, 5, True, None), (0, 1, False, 20_000), (1, 3, False, None))


def test_what_sqlite_does_is_in_order() -> None:
    assert _wal_limits.contradicted(SETTINGS, TRUE) == []


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        (
            "wal_autocheckpoint",
            6,
            "is 6, but 1 transactions contradict it: first transaction 1, a checkpoint",
        ),
        ("wal_autocheckpoint", 0, "first transaction 1, a checkpoint with 5 frames"),
        ("wal_autocheckpoint", 3, "first transaction 3, no checkpoint with 3 frames"),
        ("journal_size_limit", -1, "is -1, but transaction 2 leaves the log longer or shorter"),
        ("journal_size_limit", 10_000, "is 10000, but transaction 2 leaves"),
        ("journal_size_limit", 30_000, "is 30000, but transaction 2 leaves"),
        ("page_size", "4096", "page_size is '4096', not a whole number"),
    ],
)
def test_other_settings_are_seen(setting: str, value: object, said: str) -> None:
    (found,) = _wal_limits.contradicted(SETTINGS | {setting: value}, TRUE)
    assert said in found


def test_a_log_that_is_not_cut_is_seen() -> None:
    (found,) = _wal_limits.contradicted(SETTINGS, calls((0, 5, True, None), (0, 1, False, None)))
    assert "transaction 1 leaves the log longer or shorter" in found
    assert (
        _wal_limits.contradicted(
            SETTINGS | {"journal_size_limit": -1}, calls((0, 5, True, None), (0, 1, False, None))
        )
        == []
    )
