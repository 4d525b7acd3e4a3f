"""A results database with made-up runs of given cells: for tests only, no board, no folder."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from analysis.schemas.ledger import LABELS
from base.identity import canonical
from base.version import version
from commitpath.cells.axes import probe_files
from commitpath.cells.identities import cell_id, stored
from commitpath.database import store, sync
from model.cell import Cell

OPS = ("insert", "update", "delete")
RUN_ID = "20261121T000000Z-1"
FACTOR = {"insert": 1.0, "update": 1.2, "delete": 0.8}


def add(
    path: Path,
    cells: Iterable[Cell],
    tps: Callable[[Cell], float],
    status: str = "ok",
    grid: str = "made-up",
    run_id: str = RUN_ID,
) -> None:
    """Write a run of each cell. tps: of its inserts; other operations follow by FACTOR."""
    with sqlite3.connect(path) as connection:
        for cell in cells:
            sync.insert(connection, row(cell, tps(cell), status, run_id))
            values = (store.UNNAMED, grid, cell_id(cell), 1)
            connection.execute("INSERT OR REPLACE INTO grid_run VALUES (?, ?, ?, ?)", values)


def row(cell: Cell, tps: float, status: str, run_id: str) -> dict[str, Any]:
    """A run's row."""
    ok = status == "ok"
    told = json.dumps(summary(cell, tps) | {"run_id": run_id}) if ok else None
    reasons = [] if ok else ["the board died"]
    return dict.fromkeys(sync.COLUMNS) | {
        "lab": store.UNNAMED,
        "cell_id": cell_id(cell),
        "run_id": run_id,
        "repeat": 1,
        "status": status,
        "reasons": json.dumps(reasons),
        "cell": canonical(stored(cell)),
        "summary": told,
        "manifest": json.dumps(manifest(cell, run_id)) if ok else None,
        "host": json.dumps(host(cell, run_id) | {"raw_sha256": {}}) if ok else None,
    }


def host(cell: Cell, run_id: str) -> dict[str, Any]:
    """The parts of host.json that every run has."""
    return {"run_id": run_id, "cell_id": cell_id(cell), "commitpath_commit": "abc"}


def manifest(cell: Cell, run_id: str) -> dict[str, Any]:
    """The parts of manifest.json that every run has."""
    profiles = cell.profiles
    files = probe_files(cell.probes, profiles["fs"]["type"])
    watching = {"requested": ",".join(files), "attached": 9 if cell.probes else 0}
    driver = {name: cell.value(name) for name in ("rows", "n", "value_size", "seed", "checkpoint_every")}
    return {
        "cell_id": cell_id(cell),
        "settings": [],
        "engine": cell.engine,
        "sqlite": {
            "version": cell.sqlite,
            "effective": {
                "journal_mode": cell.journal_mode,
                "synchronous": cell.synchronous,
                "page_size": cell.page_size,
                "cache_size": cell.cache_size,
                "wal_autocheckpoint": cell.wal_autocheckpoint,
                "journal_size_limit": cell.journal_size_limit,
            },
        },
        "driver": driver | {"workload": profiles["workload"]["driver_workload"]},
        "transactions": dict.fromkeys(profiles["workload"].get("phases", OPS), cell.n),
        "sql": {},
        "filesystem": {"mount": {"fs": profiles["fs"]["type"], "options": ["rw"]}},
        "device": {},
        "board": {"kernel": None},
        "run": {"probes": watching},
        "host": host(cell, run_id),
        "clock": {"kind": cell.clock, "instruction_ps": 1000 * cell.cpu_ns},
        "raw_sha256": {},
    }


def summary(cell: Cell, tps: float) -> dict[str, Any]:
    """The parts of summary.json that figures read."""
    ops = cell.profiles["workload"].get("phases", OPS)
    rates = {op: tps * FACTOR[op] for op in ops}
    seconds = sum(cell.n / rate for rate in rates.values())
    number = cell.n * len(ops)
    watched = bool(cell.probes)
    label = dict.fromkeys(LABELS, 0.0) | {"database page": 8192.0}
    costs = {"block_writes": 6.0, "bytes_written": 65536.0, "flushes": 1.5, "fua": 2.25}
    per_transaction = dict.fromkeys((*ops, "all"), label)
    return {
        "version": version(),
        "status": "ok",
        "reasons": [],
        "cell_id": cell_id(cell),
        "run_id": RUN_ID,
        "raw_held": True,
        "clock": cell.clock,
        "timing_source": "twin" if watched else "run",
        "watching_cost": {"all": 0.0} if watched else None,
        "lost_events": 0,
        "write_amplification": None,
        "tps": {**rates, "all": number / seconds},
        "virtual_seconds": seconds,
        "syncs": dict.fromkeys(ops, 3.98 if watched else None),
        "block": {
            "writes": 6 * number if watched else None,
            "bytes_written": 65536 * number if watched else None,
            "flushes": 2 * number if watched else None,
            "fua": 2 * number if watched else None,
        },
        "per_transaction": dict.fromkeys(ops, costs) if watched else {},
        "ledger": {
            "bytes": {"database page": 65536 * number},
            "unattributed_share": 0.0,
            "per_transaction": per_transaction,
        }
        if watched
        else None,
    }
