"""A trial of a stored run is done again on the board, which is then as it came up."""

from collections.abc import Callable
from pathlib import Path

import commands
import polars as pl

CELL = {"DEVICE": "emmc-5.0", "ROWS": "1000", "N": "10", "PROBES": "none", "CRASH": "power", "CUTS": "40"}


def test_a_trial_again(run_cell: Callable[..., Path]) -> None:
    """One that lost the last transaction of DELETE: the journal that undoes it is there, as its deletion is
    not, and nothing has opened the database yet."""
    folder = run_cell(**CELL)
    lost = pl.read_parquet(folder / "tables/trials.parquet").filter(pl.col("verdict") == "lost")
    trial = lost["trial"][0]
    look = "cd /mnt/target/db && head -c 8 sample.db-journal | od -An -tx1 && exit 7"
    done = commands.call("crash-replay", f"RUN={folder}", f"TRIAL={trial}", f"CMD={look}")
    told, journal = done.stdout.splitlines()
    assert told.startswith(f"trial {trial}: the power was cut ") and told.endswith("are there; as stored")
    assert journal.split() == ["d9", "d5", "05", "f9", "20", "a1", "63", "d7"]
    assert done.returncode == 7, done.stderr
