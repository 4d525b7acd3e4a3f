"""After a cut a file may show sectors never written with ext4's data=writeback, and none with ordered.

A cache of ten pages spills a large insert: the database grows by pages that nothing has synced, and then
the journal is synced once more, which commits that growth. Without delayed allocation it has its blocks by
then.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from test_crash import CELL, crash

SPILLED = CELL | {
    **{"ROWS": "20", "N": "8", "CUTS": "60", "VALUE_SIZE": "100000", "CACHE_SIZE": "10"},
    **{"MODE": "delete", "SYNC": "full"},
}
NONE = {"cuts": 0, "max": 0}


def found(folder: Path) -> tuple[Any, Any]:
    said = crash(folder)
    # the journal is whole, and cuts the database off where it ended
    assert said["opened"] == said["cuts"] and said["broken"] == 0
    return said["zero"], said["stale"]


def test_writeback_shows_what_was_never_written(run_cell: Callable[..., Path]) -> None:
    """The positive control."""
    zero, stale = found(run_cell(**SPILLED | {"FS": "ext4-writeback", "MOUNT_OPTIONS": "nodelalloc"}))
    assert zero["cuts"] + stale["cuts"] > 0 and zero["max"] + stale["max"] >= 8


def test_ordered_writes_data_first(run_cell: Callable[..., Path]) -> None:
    """In the same cell."""
    assert found(run_cell(**SPILLED | {"FS": "ext4-ordered", "MOUNT_OPTIONS": "nodelalloc"})) == (NONE, NONE)
