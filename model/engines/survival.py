"""The possible outcomes of a failure for committed transactions, in words."""

ALL = "every committed transaction survives"
LAST = "consistent, but the last transaction may be rolled back"
RECENT = "consistent, but the transactions since the last checkpoint may be rolled back"
UNSYNCED = "consistent, but the transactions of the last seconds may be lost"
RARELY_CORRUPT = "the last transaction may be rolled back; a very small chance of corruption"
HOLES = "transactions may be lost before others that survive"
UNOPENED = "the database may refuse to open"
CORRUPT = "the database may be corrupt"

# Outcomes with a consistent database → the most committed transactions that may be lost; None: any number of
# the last. Other outcomes promise nothing.
MOST_LOST: dict[str, int | None] = {ALL: 0, LAST: 1, RECENT: None, UNSYNCED: None}
