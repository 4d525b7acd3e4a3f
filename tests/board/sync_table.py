"""Known syncs per one-row transaction, by journal_mode and synchronous; check() holds a board to them."""

import csv
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from analysis.observers import probes
from images.cellrun import RunOutput

HERE = Path(__file__).parent
LEVELS = ("off", "normal", "full", "extra")
# Syncs per one-row transaction, by synchronous.
TABLE = {
    "delete": (0, 3, 4, 5),
    "truncate": (0, 3, 5, 5),
    "persist": (0, 4, 5, 5),
    "memory": (0, 1, 1, 1),
    "off": (0, 1, 1, 1),
    "wal": (0, 0, 1, 1),
}


def syncs_per_transaction(output: RunOutput, ends: list[int], run: str) -> list[int]:
    """How many of the syncs that ended at `ends` were within each transaction of one driver run."""
    with tarfile.open(fileobj=io.BytesIO(output.tar)) as tar:
        names = tar.getnames()
    assert f"raw/{run}/config.json" in names, f"{run}: the driver did not finish"
    rows = csv.DictReader(io.StringIO(output.text(f"raw/{run}/transactions.csv")))
    counted = [
        (row["op"], sum(int(row["begin_ns"]) <= end <= int(row["end_ns"]) for end in ends))
        for row in rows
        # a delete or update that hits no row syncs nothing
        if row["changes"] != "0"
    ]
    # nor does an update that writes the value that is there already: SQLite compares
    # (btreeOverwriteContent) and dirties no page
    return [count for op, count in counted if count or op != "update"]


def check(on_board: Callable[..., RunOutput], folder: Path) -> None:
    """Hold the newest release's syncs against the table."""
    wanted = f"MODES='{' '.join(TABLE)}'\nLEVELS='{' '.join(LEVELS)}'\n"
    output = on_board(HERE / "sync_table.sh", {"modes.env": wanted.encode()}, FS="ext4")
    assert output.text("run-cell.status").strip() == "0", output.text("run-cell.log")
    output.extract(folder)
    found, _ = probes.read(folder / "raw/probes.bin")
    of_driver = (pl.col("event") == "sync") & (pl.col("comm") == "driver")
    ends = found.filter(of_driver)["end_ns"].to_list()
    seen = {}
    for mode in TABLE:
        for level in LEVELS:
            counts = syncs_per_transaction(output, ends, f"{mode}-{level}")
            assert len(counts) >= 10, f"{mode}-{level}: only {len(counts)} transactions changed a row"
            # The first may create a journal or sync the directory of a new WAL.
            seen[mode, level] = set(counts[1:])
    assert seen == {(mode, level): {TABLE[mode][LEVELS.index(level)]} for mode in TABLE for level in LEVELS}
