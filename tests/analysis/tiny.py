"""An analysed run of a few rows, each of which a test can name: for exports and diffs."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from analysis.run_files import derived
from analysis.schemas import ledger as schema

TRANSACTIONS = {
    "transaction": pl.Int64,
    "phase": pl.String,
    "op": pl.String,
    "begin_ns": pl.Int64,
    "end_ns": pl.Int64,
    "changes": pl.Int64,
}
# command, rwbs, kind, sector, bytes, queue, issue, complete, transaction, how
COMMANDS: list[tuple[Any, ...]] = [
    (0, "WS", "WAL", 800, 8192, 1_000_100, 1_000_200, 1_050_000, 0, "in"),
    # both in the device at a time
    (1, "WSM", "filesystem journal", 1600, 12288, 1_060_000, 1_060_500, 1_090_000, 0, "waited"),
    (2, "WS", "WAL", 816, 4096, 1_061_000, 1_061_500, 1_095_000, 0, "in"),
    (3, "FF", "flush", None, 0, 1_100_000, 1_100_300, 1_200_000, 0, "waited"),
    (4, "WFSM", "filesystem journal", 1624, 4096, 1_210_000, 1_210_250, 1_300_000, 0, "waited"),
    (5, "R", "read", 64, 4096, 2_000_100, 2_000_200, 2_050_000, 1, "in"),
    # what two transactions share, and what none paid for
    (6, "W", "inode/node", 2400, 4096, 2_060_000, 2_060_100, 2_100_000, None, "shared"),
    (7, "D", "discard", 8192, 65536, 3_000_000, 3_000_100, 3_050_000, None, "behind"),
]
LABELS = {0: "WAL", 1: "filesystem journal", 2: "WAL", 4: "filesystem journal", 6: "inode/node"}


def make(
    folder: Path,
    mode: str = "wal",
    sync: str = "full",
    cell: dict[str, Any] | None = None,
    costs: list[dict[str, Any]] | None = None,
    **summary: Any,
) -> Path:
    """Write the run to `folder` and return it; `cell`, `summary` and `costs` replace values."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in schema.TABLES}
    names = ("command", "rwbs", "kind", "sector", "bytes", "queue_ns", "issue_ns", "complete_ns")
    for row in COMMANDS:
        cause = {"transaction": row[8], "how": row[9], "tid": 7, "comm": "driver", "phase": "insert"}
        rows["ledger"].append(dict(zip(names, row, strict=False)) | cause)
        if row[0] in LABELS:
            piece = {"command": row[0], "bytes": row[4], "label": LABELS[row[0]], "sector": row[3]}
            rows["pieces"].append(piece | {"moved": False})
    rows["shares"] = [{"command": 6, "transaction": t, "share": 0.5} for t in (0, 1)]
    rows["vfs"] = [_timed(1_000_050, 1_310_000, call=0, op="sync", file="wal", transaction=0)]
    # the first is of before the window
    rows["syncs"] = [
        _timed(900_000, 950_000, sync=0, file="wal", name="<b>.db-wal"),
        _timed(1_000_080, 1_300_500, sync=1, file="wal", name="<b>.db-wal", transaction=0),
    ]
    rows["commits"] = [_timed(1_055_000, 1_300_100, commit=41, blocks=4, sync_commit=1)]
    rows["costs"] = costs or [cost(0, "insert", bytes=28672.0), cost(1, "insert", latency_ns=60_000)]
    (folder / "tables").mkdir(parents=True)
    for name, columns in schema.TABLES.items():
        pl.DataFrame(rows[name], schema=columns).write_parquet(folder / f"tables/{name}.parquet")
    transactions = [
        {**_timed(1_000_000, 1_310_100), "transaction": 0, "phase": "insert", "op": "insert", "changes": 1},
        {**_timed(2_000_000, 2_060_000), "transaction": 1, "phase": "insert", "op": "insert", "changes": 1},
    ]
    for row in rows["costs"][2:]:
        names = {name: row[name] for name in ("transaction", "phase", "op")}
        transactions.append({**_timed(3_000_000, 3_060_000), **names, "changes": 1})
    pl.DataFrame(transactions, schema=TRANSACTIONS).write_parquet(folder / "tables/transactions.parquet")
    phases = [{"phase": "insert", **_timed(1_000_000, 4_000_000), "transactions": len(transactions)}]
    pl.DataFrame(phases).write_parquet(folder / "tables/phases.parquet")
    latency = pl.DataFrame(rows["costs"]).select("op", pl.col("latency_ns").cast(pl.Int64))
    latency.write_parquet(folder / "tables/latencies.parquet")
    profiles = {"mode": {"journal_mode": mode}, "fs": {"type": "ext4", "mount": ["data=ordered"]}}
    engine = {"engine": "sqlite", "journal_mode": mode, "synchronous": sync}
    made = {**engine, "fs": "ext4-ordered", "n": 2, "profiles": profiles}
    (folder / "cell.json").write_text(json.dumps(made | (cell or {})))
    told = {
        "status": "ok",
        "reasons": [],
        "cell_id": f"{mode}{sync}",
        "cell_name": folder.parent.name,
        "run_id": folder.name,
        "raw_held": True,
        "clock": "virtual",
        "sql_sha256": "5" * 64,
        "virtual_seconds": 0.002,
    }
    (folder / "summary.json").write_text(json.dumps(told | summary))
    window = {"begin_ns": 1_000_000, "end_ns": 4_000_000}
    (folder / "manifest.json").write_text(json.dumps({"window": window}))
    derived.write(folder)
    return folder


def _timed(begin: int, end: int, **row: Any) -> dict[str, Any]:
    return {"begin_ns": begin, "end_ns": end, **row}


def cost(transaction: int, op: str, **values: Any) -> dict[str, Any]:
    """A row of `costs`: zeroes, but for `values`."""
    return dict.fromkeys(schema.COSTS, 0) | {"transaction": transaction, "op": op, "phase": op} | values
