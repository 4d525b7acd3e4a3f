"""The calls of each transaction are those that analysis/engines/sqlite.py says a journal mode demands.

The directory is synced with a journal's deletion by EXTRA, and by nothing else.
"""

import polars as pl
import pytest
from test_vfs_log import calls, inside

from analysis.engines import sqlite

LEVELS = ("off", "normal", "full", "extra")
# (populate, run): one row a transaction; ten, with a cache that they do not fit in; with checkpoints
LOADS = {
    "one row": ((), ()),
    "a small cache": (("--workload", "kv"), ("--workload", "kv", "--cache-size", 10)),
    "checkpoints": ((), ("--wal-autocheckpoint", 20, "--journal-size-limit", 8192)),
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "memory", "off", "wal"])
def test_each_transaction_is_in_order(driver, mode, load):
    populated, more = LOADS[load]
    for level in LEVELS:
        if level == "extra" and driver.binary.name.endswith("3.8.11.1"):
            continue
        driver.populate(*populated)
        driver.run_ok("--vfs-log", *more, mode=mode, synchronous=level)
        assert sqlite.contradicted(driver.config()["effective"], _of_transactions(driver)) == [], level
        allowed = sqlite.order({"journal_mode": mode, "synchronous": level})
        log = [call for call in calls(driver) if call["file"] not in sqlite.UNORDERED]
        deleted = [int(call["bytes"]) for call in log if call["op"] == "delete" and call["file"] == "journal"]
        assert set(deleted) <= {int(level == "extra")}, level
        told = {
            "".join(sqlite.CALLS.get(f"{call['file']}.{call['op']}", "?") for call in inside(log, row))
            for row in driver.table("transactions.csv")
        }
        assert all(allowed.fullmatch(text) for text in told), (level, told)
        assert any(told), level


def _of_transactions(driver):
    """The calls with the transaction that each is in, as the ledger has them."""
    log = [call | {"transaction": None} for call in calls(driver)]
    for number, row in enumerate(driver.table("transactions.csv")):
        inner = {call["call"] for call in inside(log, row)}
        log = [call | {"transaction": number} if call["call"] in inner else call for call in log]
    return pl.DataFrame(log, infer_schema_length=None)
