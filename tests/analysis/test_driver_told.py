"""The settings that the driver tells are held against its calls.

Each check is seen to fail on a recorded run with one thing changed.
"""

import dataclasses
from collections.abc import Callable

import polars as pl
import pytest

from analysis.audit import call_order
from analysis.checks import settings
from analysis.run import Run


@pytest.mark.parametrize(
    ("sample", "setting", "value"),
    [
        ("f2fs-wal", "synchronous", "normal"),
        ("f2fs-wal", "journal_mode", "delete"),
        ("f2fs-wal", "page_size", 8192),
        ("f2fs-delete", "synchronous", "normal"),
        ("f2fs-delete", "journal_mode", "wal"),
        ("ext4-journal-truncate", "journal_mode", "delete"),
    ],
)
def test_calls_of_other_settings_are_seen(
    sample: str, setting: str, value: object, built_run: Callable[[str], Run]
) -> None:
    run = built_run(f"samples/{sample}")
    effective = {**run.driver.config["effective"], setting: value}
    config = {**run.driver.config, "effective": effective}
    run = dataclasses.replace(run, driver=dataclasses.replace(run.driver, config=config))
    found = settings.as_set(run) if setting == "page_size" else call_order.calls(run)
    assert len(found) == 1 and ("page_size is 8192, but " in found[0] or "does not use" in found[0]), found


@pytest.mark.parametrize(
    ("sample", "is_extra", "wrong"),
    [
        ("f2fs-delete", True, "is extra, but 0 of 22 deletions of the journal synced"),
        ("ext4-journal-truncate", True, None),  # nothing is deleted: the calls are FULL's
        ("f2fs-delete", False, "is full, but 22 of 22 deletions of the journal synced"),
    ],
)
def test_extra_is_what_syncs_the_directory(
    sample: str, is_extra: bool, wrong: str | None, built_run: Callable[[str], Run]
) -> None:
    run = built_run(f"samples/{sample}")
    assert run.ledger
    deletes = pl.col("op") == "delete"
    calls = run.ledger.vfs.with_columns(
        pl.when(deletes & (not is_extra)).then(1).otherwise("bytes").alias("bytes")
    )
    settings = {**run.driver.config["effective"], "synchronous": "extra" if is_extra else "full"}
    found = run.driver.engine.contradicted(settings, calls)
    assert len(found) == (wrong is not None) and (wrong or "") in "".join(found), found
