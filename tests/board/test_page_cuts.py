"""A page log on the board, as a statement log (test_statement_cuts.py): what a watched run tells of it, and
what comes up after a cut."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from test_statement_cuts import LONG, RECORDS, SHORT, crash, nothing_lost, table

# a row is larger than a sector of 512 bytes, so that most commits are merges; in one of 4096 most are logged
PAGES = {"ENGINE": "ppl", "DIRTY_PAGES": "20"}
LARGE = {"SECTOR_SIZE": "4096"}
MAPPED = LARGE | {"LOG_MEDIUM": "msync"}
CELL = SHORT | PAGES | LARGE
# by whole cells, and by bytes
CELLS, BYTES = {"PAGE_RECORD": "cells"}, {"PAGE_RECORD": "bytes"}
EXT4, F2FS = {"FS": "ext4-ordered"}, {"FS": "f2fs"}


def test_a_short_cell_loses_nothing(run_cell: Callable[..., Path]) -> None:
    folder = run_cell(**CELL)
    found = crash(folder)
    nothing_lost(found)
    assert {"log used; no merged pages", "log used; merged pages live"} & set(found["recoveries"])
    trials = table(folder, "trials")
    assert trials["replayed"].sum() == found["replayed"] > 0
    assert (trials["engine_call"].drop_nulls() == "sync pages").any()


def test_a_transaction_is_its_records_and_a_sync_or_a_merge(run_cell: Callable[..., Path]) -> None:
    """What the ledger, the calls and the engine itself tell of the log, its merges and its checkpoints."""
    folder = run_cell(**CELL)
    vfs, costs, deferred = (table(folder, name) for name in ("vfs", "costs", "deferred"))
    config = json.loads((folder / "raw/driver/config.json").read_text())
    did = {name: int(value) for name, value in config["properties"].items() if value.isdecimal()}
    within = vfs.filter(pl.col("transaction").is_not_null())
    log = within.filter((pl.col("file") == "pages") & (pl.col("op") == "write"))
    merging = within.filter((pl.col("file") == "merge") & (pl.col("op") == "sync"))
    logged = set(log.filter(~pl.col("bytes").is_in([16, 128]))["transaction"])
    assert len(logged) == did["logged transactions"] > 10
    assert log.filter((pl.col("offset") >= RECORDS) & (pl.col("bytes") > 16)).height == did["page records"]
    merges = sum(did.get(f"checkpoints: {why}", 0) for why in ("sector full", "larger than a sector"))
    assert merges > 0 and merging.height == merges + did["checkpoints: dirty pages"]
    # of a transaction that is logged the log alone is written and synced, once
    alone = costs.filter(pl.col("transaction").is_in(list(logged - set(merging["transaction"]))))
    assert alone.height > 10 and set(alone["vfs_syncs"]) == set(alone["syncs"]) == {1}
    assert alone["page log"].min() > 0 and not alone["merged page"].sum() and not alone["database page"].sum()
    # and a checkpoint's pages are of those that had them kept
    assert set(deferred["made_by"].drop_nulls()) <= set(merging["transaction"]) and deferred.height > 0


@pytest.mark.parametrize(
    "more",
    [
        *(EXT4 | CELLS, F2FS | BYTES),
        *(EXT4 | BYTES | LARGE, F2FS | CELLS | LARGE),
        *(EXT4 | CELLS | MAPPED, F2FS | BYTES | MAPPED),
    ],
    ids=lambda more: " ".join(more.values()),
)
def test_an_honest_device_loses_nothing(run_cell: Callable[..., Path], more: dict[str, str]) -> None:
    found = crash(run_cell(**LONG | PAGES | more))
    nothing_lost(found)
    assert {"log reset; merged pages live", "log used; merged pages live"} & set(found["recoveries"])
