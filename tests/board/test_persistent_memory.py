"""A statement log in persistent memory: the board has it, maps it as it is, and its lines take their time."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from images.cellrun import RunOutput

PCM = {"ENGINE": "ssl", "LOG_MEDIUM": "pcm"}
RUN_CELL = Path(__file__).resolve().parents[2] / "playbooks/board/run-cell.sh"


def document(run: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / name).read_text())
    return found


def test_a_log_in_persistent_memory(run_cell: Callable[..., Path]) -> None:
    """No transaction writes a block; each writes lines, which take their time, in memory that is mapped with
    MAP_SYNC."""
    run = run_cell(**PCM)
    result = document(run, "summary.json")
    assert result["status"] == "ok", result["reasons"]
    for op, cost in result["per_transaction"].items():
        assert cost["block_writes"] == cost["flushes"] == result["syncs"][op] == 0, op
    config = document(run, "raw/driver/config.json")
    said, effective = config["properties"], config["effective"]
    assert (effective["log_medium"], effective["pcm_line"], effective["pcm_write_ns"]) == ("pcm", 64, 7500)
    assert said["PCM lines cleaned by"] == "dc cvap"
    assert int(said["PCM ns"]) == int(said["PCM lines"]) * 7500 == result["persistent"]["ns"]
    # to a tick of the counter, 16 ns, what it takes to read it, and the kernel's ticks, 250 a second, one of
    # which at a wait's end takes some us
    waits, ticks = int(said["logged transactions"]) + 8, int(said["PCM ns"]) // 4_000_000 + 1
    assert 0 <= config["persistent_waited_ns"] - int(said["PCM ns"]) < 100 * waits + 10_000 * ticks
    with (run / "raw/driver/persistent.csv").open() as file:
        rows = list(csv.DictReader(file))
    each = result["persistent"]["per_transaction"]
    assert len(rows) == 150 and result["persistent"]["label"] == "statement log (PCM)"
    assert each["insert"]["bytes"] > 3072 and each["insert"]["lines"] > 48
    assert 1 < each["delete"]["lines"] < 10
    mounts = (run / "raw/board/mounts").read_text().splitlines()
    assert [line for line in mounts if " /mnt/persistent ext4 " in line and "dax=always" in line]


def test_its_lines_cost_what_they_are_said_to(run_cell: Callable[..., Path]) -> None:
    """The same transactions, with lines that take nothing: the difference is theirs, and nothing else's."""
    runs = [run_cell(**PCM, PROBES="none", **more) for more in ({}, {"PCM_WRITE_NS": "0"})]
    results = [document(run, "summary.json") for run in runs]
    assert [result["status"] for result in results] == ["ok", "ok"]
    lines = [result["persistent"]["per_transaction"] for result in results]
    assert lines[0] == lines[1]
    for op in ("insert", "update", "delete"):
        ns = [1e9 / result["tps"][op] for result in results]
        charged = lines[0][op]["lines"] * 7500
        # the kernel's ticks come in other transactions
        assert abs(ns[0] - ns[1] - charged) < charged * 0.01 + 1000, op


@pytest.mark.parametrize("engine", ["ssl", "ppl"])
def test_a_killed_process_loses_nothing(run_cell: Callable[..., Path], engine: str) -> None:
    """What it had copied to the memory outlives it, cleaned or not; the log is put back for each kill as the
    database is, and the host looks at it in a file."""
    more = {"ENGINE": engine, "DEVICE": "emmc-5.0", "N": "5", "DIRTY_PAGES": "8", "PROBES": "none"}
    large = {"SECTOR_SIZE": "4096"} if engine == "ppl" else {}
    run = run_cell(**PCM | more | large, CRASH="process", CUTS="120")
    result = document(run, "summary.json")
    assert result["status"] == "ok", result["reasons"]
    found = result["crash"]
    assert found["opened"] == found["cuts"] > 60 and found["replayed"] > 20
    assert found["corrupt"] == found["not_a_prefix"] == found["lost_acknowledged"]["max"] == 0
    assert len(found["recoveries"]) > 4
    trials = pl.read_parquet(run / "tables/trials.parquet")
    log = {"ssl": "statements", "ppl": "pages"}[engine]
    assert f"copy {log}" in set(trials["engine_call"])
    # a sampled one is in the midst of transactions
    kept = {path.name for path in run.glob("crash/*/raw/files/*/*")}
    assert {"sample.db.gz", {"ssl": "sample.db-sla.gz", "ppl": "sample.db-ppl.gz"}[engine]} <= kept


def test_another_filesystem_is_no_persistent_memory(on_board: Callable[..., RunOutput]) -> None:
    """Told of a folder on the device, the driver ends before the first transaction."""
    other = "sed -i s,/mnt/persistent,/mnt/target/db, /run/commitpath/cell.env"
    output = on_board(f"{other}\n{RUN_CELL.read_text()}", **PCM, PROBES="none")
    said = output.tail("raw/driver/driver.err")
    assert (
        output.failed and "-sla is not in persistent memory: it cannot be mapped with MAP_SYNC (" in said
    ), said
