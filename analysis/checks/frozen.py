"""Is a copy in the journal that is of no mapping one that could have been frozen?

The journal copies a block's page itself. Of a block that the next transaction is about to change it writes a
frozen copy, which belongs to no mapping. Somebody must have run in the next transaction for that.
"""

from __future__ import annotations

import polars as pl

from analysis.checks.calls import first
from analysis.checks.processor import spans
from analysis.content.verdicts import COPY
from analysis.ledger.arrays import Intervals, ints, length_within, union
from analysis.ledger.build import Ledger
from analysis.ledger.timeline import driver_tids


def copies(made: Ledger) -> list[str]:
    """None was written in a commit throughout which the driver was off the CPU, up to then, and no round of
    the flusher was under way. By their bytes: where these were not kept nothing is said."""
    threads = driver_tids(made.few)
    if threads.size != 1:
        return []
    kept = (pl.col("label") == "filesystem journal") & pl.col("of").is_null()
    commands = made.ledger.select("command", "commit", "queue_ns")
    rows = (
        made.pieces.filter(kept & (pl.col("rule").cast(pl.String) == COPY))
        .join(commands, on="command")
        .join(made.commits.select("commit", "begin_ns"), on="commit")
    )
    begins, ends = ints(rows["begin_ns"]), ints(rows["queue_ns"])
    asleep = union([Intervals(*spans(made.few["off_cpu"], int(threads[0])))])
    rounds = union([Intervals(*spans(made.few["writeback"]))])
    alone = length_within(asleep, begins, ends) == ends - begins
    alone &= length_within(rounds, begins, ends) == 0
    wrong = rows.filter(pl.Series(alone, dtype=pl.Boolean))
    return first(wrong, "copies in the journal of no mapping that nobody can have frozen", "sector", "commit")
