"""Lab: a results folder of synthetic runs, or a recorded one; call commands on it as make would."""

import atexit
import contextlib
import functools
import hashlib
import json
import math
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import pytest
from some_cell import some_cell

from analysis import figures, pipeline
from analysis.crash import verdicts
from analysis.report import manual
from analysis.run_files import derived
from base import identity, raw_files
from base.identity import canonical
from base.version import version
from commitpath.cells.axes import probe_files
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id, cell_name, stored
from model import devices, engines
from model.cell import Cell
from model.engines.survival import MOST_LOST

ROOT = Path(__file__).resolve().parents[2]
RAW = {"raw/probes.txt": b"attached\t1\n", "raw/run-cell.status": b"0\n"}
OPS = ("insert", "update", "delete")


class Lab:
    """One results folder. Runs in it are synthetic: files as docs/reference/formats.md has them, no board."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.number = 0

    def make(self, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """`make TARGET VARIABLE=…` with these results; without make, and without figures of a run."""
        words = [f"{name}={value}" for name, value in variables.items()]
        return commands.call(target, *words, figures=False, COMMITPATH_RESULTS=str(self.results))

    def ok(self, target: str, **variables: str) -> str:
        """What make prints when it succeeds."""
        done = self.make(target, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def says(self, target: str, **variables: str) -> str:
        """The one line that make says when it fails, beside what it did until then."""
        done = self.make(target, **variables)
        lines = [line for line in done.stderr.splitlines() if not line.startswith(("make: ", "analysed: "))]
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
        device: dict[str, Any] | None = None,
        took: dict[str, Any] | None = None,
        **axes: str,
    ) -> Path:
        """Store a run; its folder.

        device: what the device's profile has in place of its own. took: as `crash` has it, of a run
        whose CRASH cuts it. axes: make's variables, and in
        small letters axes that only another lab has.
        """
        known = {name: value for name, value in axes.items() if name.isupper()}
        cell = make_cell({"ROWS": "100", "N": "10", **known})
        profiles = {**cell.profiles, "device": {**cell.profiles["device"], **(device or {})}}
        others = {name: value for name, value in axes.items() if name not in known}
        cell = replace(cell, profiles=profiles, others=others)
        self.number += 1
        run_id = f"20261121T{self.number:06}Z-1"
        folder = self.results / cell_name(cell) / run_id
        (folder / "raw").mkdir(parents=True)
        raw = RAW | ({"raw/clock.txt": f"{self.number}\n".encode()} if cell.clock == "real" else {})
        for name, content in raw.items():
            (folder / name).write_bytes(content)
        (folder / "cell.json").write_text(canonical(stored(cell)) + "\n")
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in raw.items()}
        host = {
            "run_id": run_id,
            "cell_id": cell_id(cell),
            "commitpath_commit": "abc",
            "qemu": "QEMU emulator version 7.2.22",
            "wall_seconds": float(self.number),
            "raw_sha256": hashes,
        }
        if repeat is not None:
            host["repeat"] = repeat
        write(folder / "host.json", host)
        ops = cell.profiles["workload"].get("phases", OPS)
        rates = {op: tps * factor for op, factor in zip(OPS, (1, 1.1, 1.2), strict=True) if op in ops}
        rates["all"] = tps * 1.05 if len(ops) > 1 else rates[ops[0]]
        sql_bytes = bytes_written // 4
        made = manifest(cell) | {"sql": {"sql_bytes": sql_bytes}, "raw_sha256": hashes}
        made["host"] = {name: value for name, value in host.items() if name != "raw_sha256"}
        write(folder / "manifest.json", made)
        watched = bool(cell.probes)
        each = bytes_written / (len(ops) * cell.n)
        costs = {"block_writes": 2.0, "bytes_written": each, "flushes": 1.0, "fua": 0.1}
        summary = {
            "version": version(),
            "status": status,
            "reasons": [] if status == "ok" else ["2 events lost"],
            "cell_id": cell_id(cell),
            "run_id": run_id,
            "raw_held": True,
            "wall_seconds": host["wall_seconds"],
            "clock": cell.clock,
            "timing_source": "twin" if watched else "run",
            "watching_cost": dict.fromkeys((*ops, "all"), 0.0) if watched else None,
            "cpu_ns": cell.cpu_ns if cell.clock == "virtual" else None,
            "cpu_share": None,
            "tps": rates,
            "syncs": dict.fromkeys(ops, 4.0 if watched else None),
            "block": {"writes": 60, "bytes_written": bytes_written, "flushes": 30, "fua": 3},
            "per_transaction": dict.fromkeys(ops, costs if watched else dict.fromkeys(costs)),
            "ledger": None,
            "crash": crash(cell, **took or {}) if cell.crash != "none" else None,
            "write_amplification": bytes_written / sql_bytes if sql_bytes else None,
            "lost_events": 0,
            "virtual_seconds": len(ops) * cell.n / rates["all"],
        }
        write(folder / "summary.json", summary)
        derived.write(folder)
        return folder

    def recorded(self) -> Path:
        """Store a run that was recorded, with its raw files, and analyse it; its folder."""
        run = analysed()
        cell, host = (json.loads((run / f"{name}.json").read_text()) for name in ("cell", "host"))
        folder = self.results / identity.cell_name(cell) / str(host["run_id"])
        shutil.copytree(run, folder)
        return folder


def of_grid(lab: Lab, name: str) -> None:
    """Make all runs of a lab those of a grid."""
    lab.ok("results")
    with contextlib.closing(sqlite3.connect(lab.results / "results.sqlite")) as connection, connection:
        connection.execute(f"INSERT OR IGNORE INTO grid_run SELECT lab, '{name}', cell_id, repeat FROM run")


def one_line(printed: str) -> str:
    """What was printed, as one line."""
    return " ".join(printed.split())


def table_lines(printed: str) -> list[int]:
    """Return how many lines each table of LaTeX takes, of 45 characters of its second column."""
    tables = re.findall(r"begin.tabular.*?end.tabular", printed, re.S)
    values = [re.findall(r" & (.*) \\\\$", table, re.M) for table in tables]
    return [sum(max(1, math.ceil(len(value.replace("\\", "")) / 45)) for value in rows) for rows in values]


@functools.cache
def analysed() -> Path:
    """A recorded run, analysed without figures, once for all copies; its folder is gone with this process."""
    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place)
    with tarfile.open(ROOT / "tests/analysis/sample-f2fs-wal.tar.xz") as archive:
        archive.extractall(place)
    run = place / "run"
    host = json.loads((run / "host.json").read_text())
    write(run / "host.json", host | {"raw_sha256": raw_files.hashes(run)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "render_all", commands.draw_nothing)
        patch.setattr(manual, "write", commands.document_nothing)
        pipeline.analyse(run)
    return run


def edit(path: Path, analysed: bool = True, **values: Any) -> None:
    """Change a document of a run. analysed: as an analysis would, else by hand."""
    write(path, json.loads(path.read_text()) | values)
    if analysed:
        derived.write(path.parent)


def write(path: Path, content: dict[str, Any]) -> None:
    """JSON as the lab writes it."""
    path.write_text(json.dumps(content, indent=2) + "\n")


def manifest(cell: Cell) -> dict[str, Any]:
    """The parts of a manifest that reporting reads."""
    name = cell.engine
    engine = engines.by_name(name)
    requested = engine.requested(cell)
    told: dict[str, Any] = {
        "version": engine.release(cell) or "1.23",
        "effective": {key: value for key, value in requested.items() if key not in engine.NOT_READ_BACK},
        "not_read_back": {key: requested[key] for key in engine.NOT_READ_BACK},
    }
    if name == identity.FIRST_ENGINE:
        told["compile_options"] = ["THREADSAFE=1"]
    else:
        told[engine.PROPERTIES] = {"compression": "none"}
    options = ["rw", *cell.profiles["fs"]["mount"]]
    workload = cell.profiles["workload"]
    driver = {name: cell.value(name) for name in ("rows", "n", "value_size", "seed", "checkpoint_every")}
    files = probe_files(cell.probes, cell.profiles["fs"]["type"])
    probes = {"requested": ",".join(files), "attached": len(cell.probes.split(","))}
    return {
        "cell_id": cell_id(cell),
        "cell": cell.document(),
        "settings": [],
        "transactions": dict.fromkeys(workload.get("phases", OPS), cell.n),
        "run": {"probes": probes if cell.probes else probes | {"attached": 0}},
        # as long as a loop of 100 000 instructions shows it
        "clock": {"kind": cell.clock, "instruction_ps": 1000 * cell.cpu_ns + 1},
        "engine": name,
        name: told,
        "driver": driver | {"workload": workload["driver_workload"]},
        "filesystem": {"mount": {"fs": cell.profiles["fs"]["type"], "options": options}},
        "device": {
            "write_cache": "write back",
            "queue": {"scheduler": "[none] mq-deadline"},
            "parameters": parameters(cell.profiles["device"]),
        },
        "board": {
            "kernel": "Linux board 6.12.1-arm64 #1 SMP aarch64",
            "cmdline": "console=ttyAMA0 mitigations=off",
            "versions": {"e2fsprogs": "1.47.2-3", "f2fs-tools": "1.16.0-1", "xfsprogs": "6.13.0-2"},
            "cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08",
            "meminfo": "MemTotal:        3496968 kB\nMemFree:         3349952 kB",
        },
    }


def crash(
    cell: Cell, worst: int = 0, mean: float = 0.0, corrupt: int = 0, unopened: int = 0
) -> dict[str, Any]:
    """What summary.json says of a run's trials; every second one lost something, if any did."""
    promised, cuts = verdicts.promised(cell), cell.cuts
    most = MOST_LOST.get(promised, cuts)
    broken = (corrupt + unopened or int(worst > (cuts if most is None else most))) * (promised in MOST_LOST)
    return {
        "failure": cell.crash,
        "cuts": cuts,
        "died": 0,
        "mounted": cuts,
        "opened": cuts - unopened,
        "corrupt": corrupt,
        "not_a_prefix": 0,
        "lost_acknowledged": {"cuts": cuts // 2 if worst else 0, "max": worst, "mean": mean or worst / 2},
        "lost_ms": {"max": 4.5 * worst, "mean": 4.5 * (mean or worst / 2)},
        "recovery_ms": {"median": 20.0, "max": 30.0},
        "fsck": {"looked": cuts // 10, "complained": 0},
        "complaints": 0,
        "promised": promised,
        "broken": broken,
        "first_broken": "trial 3, power cut before command 7" if broken else None,
    }


def parameters(device: Mapping[str, Any]) -> dict[str, str]:
    """A device's attributes as its driver shows them."""
    size = devices.device_of(some_cell(profiles={"device": device})).size(device["size_mib"])
    told = {**device["geometry"], **device["timing"], **size, "power": 1}
    return {name: str(value) for name, value in told.items()}
