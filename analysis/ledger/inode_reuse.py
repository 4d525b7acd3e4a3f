"""Distinguish files that had one inode number at different times, by the generations that probes record."""

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from analysis.adapters.proberecords import OWNERS, ByType
from base.arrays import Ints, ints

Lives = Mapping[int, Ints]  # inode → when each file with that number was first seen
_OF_FILES = [OWNERS.index("file"), OWNERS.index("moved")]


def lives(chunks: Iterable[ByType], dev: int) -> Lives:
    """Return the lives of a device's inode numbers."""
    seen = [
        _seen(rows, "c" if name == "pages" else "b", dev)
        for chunk in chunks
        for name, rows in chunk.items()
        if name in ("pages", "sync")
    ]
    if not seen:
        return {}
    first = (
        pl.concat(seen).group_by("inode", "generation").agg(pl.col("time_ns").min()).sort("inode", "time_ns")
    )
    return {
        int(str(inode)): ints(rows["time_ns"])
        for (inode,), rows in first.group_by("inode", maintain_order=True)
    }


def _seen(rows: np.ndarray, generation: str, dev: int) -> pl.DataFrame:
    own = rows["dev"] == dev
    if generation == "c":
        own &= np.isin(rows["flags"], _OF_FILES)
    columns = {"inode": "a", "generation": generation, "time_ns": "begin_ns"}
    return pl.DataFrame({name: ints(rows[field][own]) for name, field in columns.items()})


def life(of: Lives, inode: int, time_ns: int) -> int:
    """Return the index of the file that had the number then, from 0; 0 also before the first was seen."""
    times = of.get(inode)
    return 0 if times is None else max(int(np.searchsorted(times, time_ns, side="right")) - 1, 0)


def last(of: Lives, inode: int) -> int:
    """Return the index of the file that had the number last."""
    times = of.get(inode)
    return 0 if times is None else times.size - 1
