"""Build manifest.json (settings read back, board, kernel, host); find contradictions of a run's documents."""

import functools
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from analysis.checks import counts, covariates, loss, settings
from analysis.run import Run
from base.data import load_yaml
from base.paths import EXPERIMENTS
from model import cell as cells
from model import devices, engines
from model.cell import Cell
from model.durability import NO_BARRIER
from model.requested.expected import word

LIBRARIES = ("polars", "numpy", "matplotlib", "jinja2")


def build(run: Run) -> dict[str, Any]:
    """Return the manifest. A value that could not be read is None, with an entry in the run's reasons."""
    config, board = run.driver.config, run.board
    probes = board.run.get("probes")
    return {
        "cell_id": run.cell_id,
        "cell": run.cell.document(),
        "settings": [{**asdict(s), "equal": s.equal} for s in settings.compare(run)],
        **({"command": config["command"]} if "command" in config else _of_driver(run)),
        "filesystem": {
            "mount": asdict(board.mount) if board.mount else None,
            "data_mode": board.data_mode,
            "superblock": board.superblock,
            "files": board.files,
        },
        "device": {
            "parameters": board.device,
            "time": board.device_time,
            "queue": board.queue,
            "write_cache": board.queue.get("write_cache"),
        },
        "board": {
            "kernel": board.texts.get("kernel"),
            "cmdline": board.texts.get("cmdline"),
            "cpuinfo": board.texts.get("cpuinfo"),
            "meminfo": board.texts.get("meminfo"),
            "versions": board.versions,
            "covariates": covariates.manifest(run),
        },
        "run": board.run,
        "host": {key: value for key, value in run.host.items() if key != "raw_sha256"},
        "clock": {"kind": board.run.get("clock"), **config["clock"]},
        "probes": {
            "attached": probes.get("attached") if isinstance(probes, dict) else None,
            "expected": probes.get("expected") if isinstance(probes, dict) else None,
            "lost_events": loss.lost_events(run),
            **{f"{name}_{what}": n for name, seen in run.seen.items() for what, n in seen.numbers.items()},
        },
        "window": {
            "begin_ns": run.driver.window[0],
            "end_ns": run.driver.window[1],
            "empty_flush_requests": counts.empty_flushes(run),
            "counted": counts.by_source(run),
        },
        "raw_sha256": run.hashes,
        "analysis": {
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
    }


# The engine's entries of config.json, or their beginnings.
_OF_ENGINE = ("file_sizes", "databases", "writers")


def _of_driver(run: Run) -> dict[str, Any]:
    config = run.driver.config
    engine, properties = engines.name_in(config), run.driver.engine.PROPERTIES
    return {
        "engine": engine,
        engine: {
            **config[engine],
            "effective": config["effective"],
            **({"not_read_back": unread} if (unread := settings.not_read_back(run)) else {}),
            properties: config[properties],
            **{key: value for key, value in config.items() if key.startswith(_OF_ENGINE)},
        },
        "driver": config["driver"],
        "transactions": run.driver.planned,
        "sql": {key: config[key] for key in ("sql_sha256", "sql_bytes")},
    }


Document = Mapping[str, Any]

# Times in host.json are rounded to milliseconds.
_ROUNDED = 0.002


def contradictions(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Return the contradictions between the documents of an accepted run.

    The differences of a rejected run may be the reason for its rejection.
    """
    if summary["status"] != "ok":
        return []
    configuration = cells.from_document(cell)
    return [
        *_model(configuration),
        *_unrequested(configuration, manifest),
        *_transactions(configuration, manifest),
        *_times(host),
    ]


@functools.cache
def workloads() -> dict[str, str]:
    """Return, by driver workload, the phases that have n transactions: `each` or the `first`."""
    profiles = [load_yaml(path) for path in sorted((EXPERIMENTS / "workload").glob("*.yml"))]
    return {profile["driver_workload"]: profile["transactions"] for profile in profiles}


def _model(cell: Cell) -> list[str]:
    """Check that the device's profile has each part of its model: a missing one is not requested."""
    driver, profile = devices.device_of(cell), cell.profiles.get("device", {})
    parts = driver.modelled if driver else ()
    return [f"cell: the {part} of the device is empty" for part in parts if not profile.get(part)]


def _unrequested(cell: Cell, manifest: Document) -> list[str]:
    """Check that no setting that affects durability or writes is effective unless requested."""
    mount = manifest["filesystem"]["mount"] or {}
    requested = {*cell.profiles["fs"]["mount"], *cell.mount_options.split(",")}
    options = [] if NO_BARRIER & requested else sorted(NO_BARRIER & set(mount.get("options", [])))
    ran = engines.name_in(manifest)
    engine = engines.by_name(ran)
    databases = [
        database.get(engine.PROPERTIES, {}) for database in manifest[ran].get("databases", [manifest[ran]])
    ]
    return [f"mount option {option}: in effect, and not requested" for option in options] + [
        f"{engine.TITLE}'s {name}: in effect {effective[name]!r}, and not requested"
        if name in effective
        else f"{engine.TITLE}'s {name} was not read back"
        for name, value in engine.UNASKED.items()
        for effective in databases
        if name not in effective or word(effective[name]) != value
    ]


def _transactions(cell: Cell, manifest: Document) -> list[str]:
    """Check that each phase has the number of transactions that the cell requests."""
    of_n = workloads().get(cell.profiles["workload"]["driver_workload"])
    counts = list(manifest["transactions"].values())[: {"each": None, "first": 1}.get(of_n or "", 0)]
    return [f"{count} transactions in a phase, n is {cell.n}" for count in counts if count != cell.n][:1]


def _times(host: Document) -> list[str]:
    """Check that no part of the host's time exceeds the whole."""
    wall, run, timed, restore, start = (
        host.get(f"{name}_seconds") for name in ("wall", "run", "timed", "restore", "start")
    )
    both = None if run is None or restore is None else run + restore
    return [
        f"host: {name}, {part} s, are more than {limit}, {whole} s"
        for name, part, limit, whole in (
            ("timed_seconds", timed, "wall_seconds", wall),
            ("run_seconds and restore_seconds", both, "wall_seconds", wall),
            ("start_seconds", start, "run_seconds", run),
        )
        if part is not None and whole is not None and part > whole + _ROUNDED
    ]
