"""What of the committed transactions can survive a failure, in words."""

ALL = "every committed transaction survives"
LAST = "consistent, but the last transaction may be rolled back"
RECENT = "consistent, but the transactions since the last checkpoint may be rolled back"
UNSYNCED = "consistent, but the transactions of the last seconds may be lost"
RARELY_CORRUPT = "the last transaction may be rolled back; a very small chance of corruption"
CORRUPT = "the database may be corrupt"
