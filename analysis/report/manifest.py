"""Build manifest.json: settings as read back, and the board, kernel, host and libraries of a run."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from analysis.checks import counts, covariates, loss, settings
from analysis.run import Run
from model import engines

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
