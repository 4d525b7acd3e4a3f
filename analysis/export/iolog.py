"""Export a run's block commands as a replay file for fio (`fio --read_iolog`) that keeps every flush.

fio reads blktrace files itself, but there a queued write that carries a flush becomes a sync
and its data is dropped (handle_trace_flush in fio's blktrace.c takes no length): each commit
block of a journal and each FUA write of an fsync is lost. It also replays bios, not the commands the
device executed.

Here each command of the ledger is one action, in the order of issue, at its time since the first
in microseconds: `read`, `write`, `trim` (a discard), and `sync` for a flush. fio has no FUA: such
a write is followed by a `sync`, which on the device is a flush. So syncs = flushes + FUA writes.
"""

from pathlib import Path

import polars as pl

from analysis.run_files.stored import Stored
from analysis.schemas import events
from base.errors import FileError

FILE = "target"  # a name; the device is the value of --replay_redirect
ACTIONS = {
    "read": "read",
    "write": "write",
    "write metadata": "write",
    "write FUA": "write",
    "flush": "sync",
    "discard": "trim",
}


def export(run: Stored, folder: Path) -> None:
    """Write a run's block commands. Raises FileError without commands, or if fio has no action for one."""
    path = folder / "replay.iolog"
    ledger = run.table("ledger", ("command", "rwbs", "sector", "bytes", "issue_ns"))
    commands = ledger.sort("command").with_columns(
        pl.col("rwbs").cast(pl.String), us=(pl.col("issue_ns") - pl.col("issue_ns").min()) // 1000
    )
    commands = commands.with_columns(events.block_kind(sectors="bytes").alias("operation"))
    if commands.is_empty():
        raise FileError(path.name, "", "the run has no block commands", "some to replay")
    unknown = commands.filter(~pl.col("operation").is_in(list(ACTIONS)))
    if not unknown.is_empty():
        names = ", ".join(unknown["rwbs"].unique().sort())
        raise FileError(path.name, "", f"{unknown.height} commands {names}", "what fio has an action for")
    sync = pl.concat_str("us", pl.lit(f" {FILE} sync 0 0\n"))
    action = pl.col("operation").replace_strict(ACTIONS, return_dtype=pl.String)
    data = pl.format(f"{{}} {FILE} {{}} {{}} {{}}\n", "us", action, pl.col("sector") * 512, "bytes")
    lines = commands.select(
        pl.when(pl.col("operation") == "flush")
        .then(sync)
        .when(pl.col("operation") == "write FUA")
        .then(data + sync)
        .otherwise(data)
    ).to_series()
    last = commands["us"][-1]
    with path.open("w") as file:
        file.write(f"fio version 3 iolog\n0 {FILE} add\n0 {FILE} open\n")
        file.writelines(lines)
        file.write(f"{last} {FILE} close\n")
