"""The settings that the driver tells are held against its calls.

Each check is seen to fail on a recorded run with one thing changed.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import polars as pl
import pytest

from analysis import stages
from analysis.audit import call_order
from analysis.checks import engine
from analysis.run import Run

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in SAMPLES.glob("*.tar.xz"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp("recorded") / name
        shutil.unpack_archive(SAMPLES / f"{name}.tar.xz", folder)
        found[name] = stages.build(folder / "run")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_true_run_is_not_refuted(name: str, recorded: dict[str, Run]) -> None:
    run = recorded[name]
    assert run.ledger
    assert engine.as_set(run) == [] == call_order.calls(run)


@pytest.mark.parametrize(
    ("sample", "setting", "value"),
    [
        ("f2fs-wal", "synchronous", "normal"),
        ("f2fs-wal", "synchronous", "off"),
        ("f2fs-wal", "journal_mode", "delete"),
        ("f2fs-wal", "page_size", 8192),
        ("f2fs-delete", "synchronous", "normal"),
        ("f2fs-delete", "journal_mode", "wal"),
        ("f2fs-delete", "journal_mode", "truncate"),
        ("ext4-journal-truncate", "journal_mode", "delete"),
        ("ext4-journal-truncate", "journal_mode", "off"),
    ],
)
def test_calls_of_other_settings_are_seen(
    sample: str, setting: str, value: object, recorded: dict[str, Run]
) -> None:
    run = recorded[sample]
    effective = {**run.driver.config["effective"], setting: value}
    config = {**run.driver.config, "effective": effective}
    run = dataclasses.replace(run, driver=dataclasses.replace(run.driver, config=config))
    found = engine.as_set(run) if setting == "page_size" else call_order.calls(run)
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
    sample: str, is_extra: bool, wrong: str | None, recorded: dict[str, Run]
) -> None:
    run = recorded[sample]
    assert run.ledger
    deletes = pl.col("op") == "delete"
    calls = run.ledger.vfs.with_columns(
        pl.when(deletes & (not is_extra)).then(1).otherwise("bytes").alias("bytes")
    )
    settings = {**run.driver.config["effective"], "synchronous": "extra" if is_extra else "full"}
    found = run.driver.engine.contradicted(settings, calls)
    assert len(found) == (wrong is not None) and (wrong or "") in "".join(found), found
