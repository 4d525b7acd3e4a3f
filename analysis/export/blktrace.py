"""Export a run as blktrace files, its recorded ones or made from its ledger, for blkparse, btt and iowatcher.

Made from the ledger: each command that the device got has a Q when the first of its bios was queued, a D when
it was issued and a C when it was done (linux/blktrace_api.h). Earlier events of a bio (G, I, M) are unknown.
If blktrace observed the run, its own files are exported, as records of version 7: blkparse 1.3 reads no
others.
"""

from pathlib import Path

import numpy as np
import polars as pl

from analysis.adapters import blkrecords as blk
from analysis.adapters import device_logs
from analysis.adapters.blkrecords import DISCARD, FLUSH, RECORD, WRITE
from analysis.run_files import stored_files
from analysis.run_files.stored import Stored
from base.errors import FileError

USE = "blkparse -i target; blkparse -i target -d t.bin && btt -i t.bin; iowatcher -t target -o t.svg"
COLUMNS = ("command", "rwbs", "sector", "bytes", "queue_ns", "issue_ns", "complete_ns", "tid", "comm")
_READ = 1 << 16
_COMM = 16  # bytes of a process's name
# the category of an action: BLK_TC_QUEUE, BLK_TC_ISSUE, BLK_TC_COMPLETE
_ACTIONS = (
    (blk.QUEUE | 1 << 20, "queue_ns"),
    (blk.ISSUE | 1 << 23, "issue_ns"),
    (blk.COMPLETE | 1 << 24, "complete_ns"),
)
_OPERATION = {"R": _READ, "W": WRITE, "F": FLUSH, "D": WRITE | DISCARD}
_AFTER = {"F": blk.FUA, "A": blk.AHEAD, "S": blk.SYNC, "M": blk.META}


def _bits(rwbs: str) -> int:
    """Return the category bits of an rwbs string (blk_fill_rwbs). Raises ValueError if unknown."""
    before = rwbs.startswith("F") and len(rwbs) > 1
    operation, after = rwbs[before : before + 1], rwbs[1 + before :].removeprefix("E")
    try:
        bits = _OPERATION[operation] | (FLUSH if before else 0)
        for letter in after:
            bits |= _AFTER[letter]
    except KeyError as error:
        raise ValueError(rwbs) from error
    return bits


def export(run: Stored, folder: Path) -> None:
    """Write the trace of a run, as recorded or from its ledger. Raises FileError."""
    source = run.folder / "raw/blktrace"
    for part in ("raw/blktrace", "raw/device.bin"):
        stored_files.check(run.folder, part)
    files = sorted(source.glob("*.blktrace.*"))
    log, reader = run.folder / "raw/device.bin", device_logs.find_reader(run.cell)
    for path in files:
        with (folder / path.name).open("wb") as file:
            file.writelines(blk.as_first(path))
    if files:
        return
    read_log = reader.read_log if reader and log.is_file() else None
    if read_log is None or not (run.folder / "tables/ledger.parquet").is_file():
        wrong = "no blktrace file, and no ledger to make one from"
        raise FileError(source, "", wrong, "a run with PROBES=all")
    write(run.table("ledger", COLUMNS), read_log(log).dev, folder / "target.blktrace.0")


def write(ledger: pl.DataFrame, device: int, path: Path) -> None:
    """Write the commands of `ledger` (COLUMNS) on `device` (major << 20 | minor) to `path`.

    Raises FileError without commands, or if blktrace cannot express one.
    """
    commands = ledger.sort("command").with_columns(pl.col("rwbs", "comm").cast(pl.String))
    if commands.is_empty():
        raise FileError(path.name, "", "the run has no block commands", "some to trace")
    try:
        bits = {word: _bits(word) for word in commands["rwbs"].unique().to_list()}
    except ValueError as error:
        raise FileError(path.name, "", f"commands {error}", "what blktrace has a word for") from None
    words = commands["rwbs"].replace_strict(bits, return_dtype=pl.Int64).to_numpy()
    records = np.zeros((len(_ACTIONS), commands.height), RECORD)
    records["magic"], records["device"] = blk.MAGIC, device
    records["sector"] = commands["sector"].fill_null(0).to_numpy()
    records["bytes"] = commands["bytes"].to_numpy()
    for row, (action, time) in zip(records, _ACTIONS, strict=True):
        row["time"], row["action"] = commands[time].fill_null(0).to_numpy(), action | words
    records["pid"][:-1] = commands["tid"].fill_null(0).to_numpy()
    # a command without bios has no Q
    ordered = records[records["time"] > 0]
    ordered = ordered[np.argsort(ordered["time"], kind="stable")]
    notes = _notes(commands, device, int(ordered["time"][0]))
    ordered["sequence"] = np.arange(len(notes) + 1, len(notes) + 1 + ordered.size)
    path.write_bytes(b"".join(notes) + ordered.tobytes())


def _notes(commands: pl.DataFrame, device: int, time: int) -> list[bytes]:
    """Return a record with the name of each process."""
    named = commands.select("tid", "comm").drop_nulls().unique("tid").sort("tid")
    notes = []
    for number, (tid, comm) in enumerate(named.rows(), 1):
        note = np.zeros(1, RECORD)
        note["magic"], note["device"], note["sequence"] = blk.MAGIC, device, number
        note["time"], note["pid"], note["pdu_len"] = time, tid, _COMM
        note["action"] = blk.NOTIFY | blk.NOTIFY_PROCESS
        notes.append(note.tobytes() + comm.encode()[: _COMM - 1].ljust(_COMM, b"\0"))
    return notes
