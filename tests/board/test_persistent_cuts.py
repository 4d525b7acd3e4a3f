"""A log in persistent memory, and a power cut: what comes up by what was stored and what was cleaned."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import polars as pl
import pytest
from test_statement_cuts import SHORT, nothing_lost, summary, table

from model.crash_points import pmem_lines

CELL = SHORT | {"LOG_MEDIUM": "pcm"}
LONG = CELL | {"N": "20", "CUTS": "120", "PROBES": "none"}
ENGINES = {"ssl": {"ENGINE": "ssl"}, "ppl": {"ENGINE": "ppl", "SECTOR_SIZE": "4096"}}
LYING = {"DEVICE": "emmc-5.0-ignores-flush", "CUTS": "60"}


def crash(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = summary(folder)["crash"]
    return found


def record_lost(trials: pl.DataFrame) -> pl.DataFrame:
    """Those whose cut took all lines of a record, and no header's, which is one."""
    return trials.filter((pl.col("line_policy") == pmem_lines.NOTHING) & (pl.col("losable_lines") > 1))


def test_a_short_cell_loses_what_was_not_cleaned_alone(run_cell: Callable[..., Path]) -> None:
    """A record that is copied is there or not, and once its lines are cleaned it is there."""
    folder = run_cell(**CELL)
    nothing_lost(crash(folder))
    trials = table(folder, "trials")
    of_calls = trials.filter(pl.col("call").is_not_null())
    assert of_calls.height > 10 and of_calls["command"].null_count() == of_calls.height
    assert set(of_calls["engine_call"]) == {"copy statements", "clean statements"}
    # its place in the watched run is known, of each
    assert of_calls["watched_ns"].null_count() == 0
    lost = record_lost(trials)
    assert {"before", "during"} <= set(lost.filter(pl.col("engine_call") == "clean statements")["where"])
    assert lost["transactions"].to_list() == lost["acknowledged"].to_list()
    kept = of_calls.filter((pl.col("line_policy") == pmem_lines.EVERYTHING) & (pl.col("losable_lines") > 1))
    assert kept.height and kept["transactions"].to_list() == [n + 1 for n in kept["acknowledged"]]
    # where the close has deleted the log nothing says which is so
    assert {pmem_lines.GONE, pmem_lines.THERE} <= set(trials["line_policy"])
    config = json.loads((folder / "raw/driver/config.json").read_text())
    assert config["file_sizes_before_close"]["statements"] == config["effective"]["log_size"]
    vfs = table(folder, "vfs").filter(pl.col("file") == "statements")
    assert vfs.filter(pl.col("op") == "copy").height == vfs.filter(pl.col("op") == "clean").height > 30


@pytest.mark.parametrize("failure", ["power", "os"])
@pytest.mark.parametrize("engine", [*ENGINES])
@pytest.mark.parametrize("fs", ["ext4-ordered", "f2fs"])
def test_an_honest_device_loses_nothing(
    run_cell: Callable[..., Path], fs: str, engine: str, failure: str
) -> None:
    folder = run_cell(**LONG | ENGINES[engine] | {"FS": fs, "CRASH": failure})
    found = crash(folder)
    nothing_lost(found)
    assert len(found["recoveries"]) > 4 and found["replayed"] > 50
    assert found["unplaced"] == 0
    # the log's file is in no other place
    cut = {path.name for path in folder.glob("crash/*/raw/files/*/*")}
    assert {"ssl": "sample.db-sla.gz", "ppl": "sample.db-ppl.gz"}[engine] in cut


@pytest.mark.parametrize("engine", [*ENGINES])
def test_a_device_that_ignores_a_flush_breaks_the_promise(run_cell: Callable[..., Path], engine: str) -> None:
    """Not by the log, which is in no cache of its: by checkpoints, behind which the log has begun anew."""
    found = crash(run_cell(**LONG | ENGINES[engine] | LYING))
    assert found["broken"] > 0


def test_a_trial_is_tried_again(run_cell: Callable[..., Path]) -> None:
    """The board then has the log in its memory as the first one had it, and nothing has opened it."""
    folder = run_cell(**CELL)
    (stored,) = folder.glob("crash/*/raw/files/10/sample.db-sla.gz")
    command = "sha256sum /mnt/persistent/sample.db-sla"
    done = commands.call("crash-replay", f"RUN={folder}", "TRIAL=10", f"CMD={command}")
    assert done.returncode == 0, done.stderr
    told, digest = done.stdout.splitlines()
    assert re.match(r"trial 10: the power was cut \w+ c\w+ \d+ \(.*, and \w+ of \d+ lines; ", told)
    assert told.endswith("as stored")
    assert digest.split()[0] == hashlib.sha256(gzip.decompress(stored.read_bytes())).hexdigest()
