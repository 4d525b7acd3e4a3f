"""Outcomes of a failure for committed transactions, as sentences; the outcomes that each engine promises."""

import functools
from collections.abc import Mapping
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS

ALL = "every committed transaction survives"
LAST = "consistent, but the last transaction may be rolled back"
RECENT = "consistent, but the transactions since the last checkpoint may be rolled back"
UNSYNCED = "consistent, but the transactions of the last seconds may be lost"
SINCE_SYNC = "consistent, but the transactions since the last synced one may be lost"
RARELY_CORRUPT = "the last transaction may be rolled back; a very small chance of corruption"
HOLES = "transactions may be lost before others that survive"
UNOPENED = "the database may refuse to open"
CORRUPT = "the database may be corrupt"

# Outcomes with a consistent database → the most committed transactions that may be lost; None: any number of
# the last. Other outcomes promise nothing.
MOST_LOST: dict[str, int | None] = {ALL: 0, LAST: 1, RECENT: None, UNSYNCED: None, SINCE_SYNC: None}

# Words of the table `promises` in experiments/engine/.
OUTCOMES = {
    **{"all": ALL, "last": LAST, "recent": RECENT, "unsynced": UNSYNCED, "since_sync": SINCE_SYNC},
    **{"holes": HOLES, "unopened": UNOPENED, "corrupt": CORRUPT},
}


def promised(engine: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return what survives a crash of the process, and of the system: an engine's first row that applies.

    Raises KeyError for a missing setting, and for settings without a row.
    """
    for row in _promises(engine):
        if all(settings[name] == value for name, value in row["when"].items()):
            return OUTCOMES[row["process"]], OUTCOMES[row["system"]]
    raise KeyError(f"{engine} promises nothing with {dict(settings)}")


@functools.cache
def _promises(engine: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = load_yaml(EXPERIMENTS / "engine" / f"{engine}.yml")["promises"]
    return rows
