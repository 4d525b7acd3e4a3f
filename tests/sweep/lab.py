"""A results folder with synthetic runs, and make on it."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from commitpath.cell import canonical, cell_id, cell_name, make_cell

ROOT = Path(__file__).resolve().parents[2]
RAW = {"raw/probes.txt": b"attached\t1\n", "raw/run-cell.status": b"0\n"}
OPS = ("insert", "update", "delete")


class Lab:
    """One results folder. Runs in it are synthetic: files as docs/formats.md has them, no board."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.number = 0

    def make(self, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """`make TARGET VARIABLE=…` with these results."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        return subprocess.run(
            ["make", "-s", "-C", str(ROOT), target, *(f"{k}={v}" for k, v in variables.items())],
            capture_output=True,
            text=True,
            check=False,
            env={**environment, "COMMITPATH_RESULTS": str(self.results)},
            timeout=1200,
        )

    def ok(self, target: str, **variables: str) -> str:
        """What make prints when it succeeds."""
        done = self.make(target, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def says(self, target: str, **variables: str) -> str:
        """The one line that make says when it fails."""
        done = self.make(target, **variables)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ")]
        assert done.returncode != 0
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("commitpath: ")
        return lines[0]

    def run(
        self,
        tps: float = 100.0,
        repeat: int | None = 1,
        status: str = "ok",
        bytes_written: int = 300_000,
        **axes: str,
    ) -> Path:
        """Store a run; its folder."""
        cell = make_cell({"ROWS": "100", "N": "10", **axes})
        self.number += 1
        run_id = f"20261121T{self.number:06}Z-1"
        folder = self.results / cell_name(cell) / run_id
        (folder / "raw").mkdir(parents=True)
        for name, content in RAW.items():
            (folder / name).write_bytes(content)
        (folder / "cell.json").write_text(canonical(cell) + "\n")
        host = {"run_id": run_id, "cell_id": cell_id(cell), "commitpath_commit": "abc"}
        if repeat is not None:
            host["repeat"] = repeat
        write(folder / "host.json", host)
        sql_bytes = bytes_written // 4
        made = manifest(cell) | {"host": host, "sql": {"sql_bytes": sql_bytes}}
        write(folder / "manifest.json", made)
        watched = bool(cell["probes"])
        each = bytes_written / (len(OPS) * cell["n"])
        costs = {"block_writes": 2.0, "bytes_written": each, "flushes": 1.0, "fua": 0.1}
        summary = {
            "status": status,
            "reasons": [] if status == "ok" else ["2 events lost"],
            "cell_id": cell_id(cell),
            "run_id": run_id,
            "clock": cell["clock"],
            "timing_source": "twin" if watched else "run",
            "watching_cost": dict.fromkeys((*OPS, "all"), 0.0) if watched else None,
            "tps": {"insert": tps, "update": tps * 1.1, "delete": tps * 1.2, "all": tps * 1.05},
            "syncs": dict.fromkeys(OPS, 4.0 if watched else None),
            "block": {"writes": 60, "bytes_written": bytes_written, "flushes": 30, "fua": 3},
            "per_transaction": dict.fromkeys(OPS, costs if watched else dict.fromkeys(costs)),
            "ledger": None,
            "write_amplification": bytes_written / sql_bytes if sql_bytes else None,
            "lost_events": 0,
            "virtual_seconds": len(OPS) * cell["n"] / (tps * 1.05),
        }
        write(folder / "summary.json", summary)
        return folder


def write(path: Path, content: dict[str, Any]) -> None:
    """JSON as the lab writes it."""
    path.write_text(json.dumps(content, indent=2) + "\n")


def manifest(cell: dict[str, Any]) -> dict[str, Any]:
    """The parts of a manifest that reporting reads."""
    effective = {
        "journal_mode": cell["profiles"]["mode"]["journal_mode"],
        "synchronous": cell["sync"],
        "page_size": cell["page_size"],
        "cache_size": cell["cache_size"],
        "wal_autocheckpoint": cell["autocheckpoint"],
        "journal_size_limit": cell["journal_limit"],
    }
    options = ["rw", *cell["profiles"]["fs"]["mount"]]
    workload = cell["profiles"]["workload"]
    driver = {name: cell[name] for name in ("rows", "n", "value_size", "seed", "checkpoint_every")}
    probes = {"requested": cell["probes"], "attached": len(cell["probes"].split(","))}
    return {
        "cell_id": cell_id(cell),
        "cell": cell,
        "settings": [],
        "transactions": dict.fromkeys(workload.get("phases", OPS), cell["n"]),
        "run": {"probes": probes if cell["probes"] else probes | {"attached": 0}},
        "clock": {"kind": cell["clock"]},
        "sqlite": {"version": cell["sqlite"], "compile_options": ["THREADSAFE=1"], "effective": effective},
        "driver": driver | {"workload": workload["driver_workload"]},
        "filesystem": {"mount": {"fs": cell["profiles"]["fs"]["type"], "options": options}},
        "device": {"write_cache": "write back"},
        "board": {"kernel": "Linux board 6.12.1-arm64 #1 SMP aarch64"},
        "raw_sha256": {name: hashlib.sha256(content).hexdigest() for name, content in RAW.items()},
    }
