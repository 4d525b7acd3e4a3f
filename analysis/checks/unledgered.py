"""What is asked of a watched run whose probes are too few for a ledger?

That only they wrote records; and what the log of the engine's calls says, which needs none: how often which
file was synced, and what was then on the device.
"""

from __future__ import annotations

import polars as pl

from analysis import content
from analysis.adapters import proberecords
from analysis.checks import calls
from analysis.ledger import costs
from analysis.ledger.frames import nullable
from analysis.ledger.timeline import edges
from analysis.run import Run
from base.arrays import inside, ints
from model import engines, filesystems

# Who writes records of a type: the recorder, and what names threads; a probe, by its name; else a
# filesystem's (probes/*.bpf.c).
_ALWAYS = ("attached", "detached", "comm")
_WRITER = {
    **{"bio": "bio", "pages": "bio", "block": "block", "flush": "flush"},
    **{"off_cpu": "wait", "writeback": "writeback"},
}
_FILESYSTEM = "filesystem"


def asked(run: Run) -> set[str]:
    """Return the probes that the cell asks for, a filesystem's own as `filesystem`."""
    names = set(run.probes)
    return names | ({_FILESYSTEM} if names & {"all", *filesystems.names()} else set())


def records(run: Run) -> list[str]:
    """probes.bin has records of those probes only that the cell asks for."""
    path, probes = run.folder / "raw/probes.bin", asked(run)
    types = [name for name in proberecords.TYPES if name not in _ALWAYS]
    unasked = [name for name in types if _WRITER.get(name, _FILESYSTEM) not in probes]
    if not probes or "all" in probes or not unasked or not path.is_file():
        return []
    number = dict.fromkeys(unasked, 0)
    for parts in proberecords.chunks(path):
        number = {name: had + parts[name].size for name, had in number.items()}
    return [
        f"raw/probes.bin has {had} records of {name}, which no probe that was asked for writes"
        for name, had in number.items()
        if had
    ]


def syncs(run: Run) -> list[str]:
    """Each of the engine's calls made the filesystem syncs it must, and nobody else did."""
    ran = run.driver
    if run.ledger is not None or _FILESYSTEM not in asked(run) or not ran.engine.LOGS_CALLS:
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
    return calls.unlike(made, due, ran.vfs)


def frames(run: Run) -> list[str]:
    """What the engine logged and synced is in what was kept of the device."""
    vfs, mount = run.driver.vfs, run.board.mount
    packed = mount is not None and any("compress" in option for option in mount.options)
    if run.ledger is not None or vfs is None or packed:
        return []
    engine, settings = engines.name_in(run.driver.config), run.driver.config["effective"]
    found = []
    for name, kept in run.contents.items():
        lost = content.unkept(engine, settings, vfs, kept)
        found += calls.first(lost, f"writes that were synced and are not in what {name} kept", "call", "page")
    return found
