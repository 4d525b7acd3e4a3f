"""Check runs whose probes are too few for a ledger.

Only the requested probes may have written records. The log of the engine's calls shows which files were
synced, and what had to be on the device then.
"""

from __future__ import annotations

import polars as pl

from analysis import content
from analysis.adapters import proberecords
from analysis.checks import file_calls
from analysis.ledger import costs
from analysis.ledger.frames import nullable
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import inside, ints
from model import engines, filesystems

# The probe that writes records of each type, else a filesystem's (probes/*.bpf.c). The recorder itself writes
# the types in _ALWAYS.
_ALWAYS = ("attached", "detached", "comm")
_WRITER = {
    **{"bio": "bio", "pages": "bio", "block": "block", "flush": "flush"},
    **{"off_cpu": "wait", "writeback": "writeback"},
}
_FILESYSTEM = "filesystem"


def requested(run: Run) -> set[str]:
    """Return the probes that the cell requests, with a filesystem's own as `filesystem`."""
    names = set(run.probes)
    return names | ({_FILESYSTEM} if names & {"all", *filesystems.names()} else set())


def records(run: Run) -> list[str]:
    """Check that probes.bin has only records of requested probes."""
    path, probes = run.folder / "raw/probes.bin", requested(run)
    types = [name for name in proberecords.TYPES if name not in _ALWAYS]
    unasked = [name for name in types if _WRITER.get(name, _FILESYSTEM) not in probes]
    if not probes or "all" in probes or not unasked or not path.is_file():
        return []
    number = dict.fromkeys(unasked, 0)
    for parts in proberecords.chunks(path):
        number = {name: had + parts[name].size for name, had in number.items()}
    return [
        f"raw/probes.bin has {had} records of {name}, but no requested probe writes them"
        for name, had in number.items()
        if had
    ]


def syncs(run: Run) -> list[str]:
    """Check that the engine's calls caused exactly the filesystem syncs that they must."""
    ran = run.driver
    if run.ledger is not None or _FILESYSTEM not in requested(run) or not ran.engine.LOGS_CALLS:
        return []
    if ran.vfs is None:
        return [] if run.missing else ["raw/driver/vfs.csv is missing"]
    begin, end = ran.window
    made = run.events.filter(
        (pl.col("source") == "probe")
        & (pl.col("event") == "sync")
        & pl.col("reason").is_in(["fsync", "fdatasync"])
        & pl.col("begin_ns").is_between(begin, end)
        & (pl.col("dev").is_in(run.devices) if run.devices else pl.lit(True))
    )
    call = inside(ints(made["begin_ns"]), *edges(ran.vfs))
    made = made.select("inode", "is_directory", vfs_call=nullable(call))
    due = costs.witnessed_syncs(ran.vfs.with_columns(transaction=pl.lit(None, pl.Int64)))
    return file_calls.sync_mismatches(made, due, ran.vfs)


def frames(run: Run) -> list[str]:
    """Check that the observers' content of the device has all that the engine logged and synced."""
    vfs, mount = run.driver.vfs, run.board.mount
    packed = mount is not None and any("compress" in option for option in mount.options)
    if run.ledger is not None or vfs is None or packed:
        return []
    engine, settings = engines.name_in(run.driver.config), run.driver.config["effective"]
    reasons = []
    for name, kept in run.contents.items():
        lost = content.unkept(engine, settings, vfs, kept)
        reasons += file_calls.first(lost, f"synced writes missing from what {name} kept", "call", "page")
    return reasons
