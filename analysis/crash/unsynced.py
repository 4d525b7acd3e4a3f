"""Which acknowledgements no FLUSH stands behind: the first moments at which to cut the power.

Where the settings promise that what is acknowledged survives, a transaction that changed anything is
acknowledged once a FLUSH or a write with FUA was done since it began; on a device without a volatile cache,
once a write was. One with none of these was not made durable by whoever should have: by SQLite's calls, the
VFS, the filesystem or the kernel. Which one a run has is rare or none at all, so no seed is to find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from analysis import durability
from analysis.adapters.driver import Driver
from analysis.crash.durable import Commands
from analysis.engines.survival import MOST_LOST
from analysis.ledger.arrays import ints


def before(cell: Mapping[str, Any], commands: Commands, ran: Driver) -> list[int]:
    """Return the commands that came next behind such acknowledgements, each once, in their order: until one
    comes the device is as the transaction left it. None where the settings promise nothing of each."""
    survives = durability.of(cell)
    promise = survives.power if cell["crash"] == "power" else survives.system
    if MOST_LOST.get(promise) is None:
        return []
    changed = ran.transactions.filter(pl.col("changes") > 0)
    begins, ends = (ints(changed[name]) for name in ("begin_ns", "end_ns"))
    barriers = commands.is_flush | commands.is_fua if commands.cache.bytes else commands.is_write
    done = np.sort(commands.end[barriers & (commands.end > 0)])
    has_one = np.searchsorted(done, begins) < np.searchsorted(done, ends, side="right")
    last = commands.arrived(ran.window[1])
    following = np.unique(np.searchsorted(commands.begin, ends[~has_one], side="right"))
    return [number for number in following.tolist() if number < last]
