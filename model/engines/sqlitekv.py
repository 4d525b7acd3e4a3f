"""SQLiteKV, SQLite's SQL over LevelDB: SQLite's statements, LevelDB's files, calls and promise.

A transaction is one write batch of LevelDB, which is recovered whole or not at all.

Class Engine of model/engines loads the module by name.
"""

import re
from collections.abc import Mapping
from typing import Any

from model.cell import Cell
from model.engines import leveldb, sqlite

TITLE = "SQLiteKV"
FILES = leveldb.FILES
LOGS_CALLS = True
WRITES_ON_OPEN = True
CALLS = leveldb.CALLS
UNORDERED = leveldb.UNORDERED
# counters of the query cache
COUNTED = re.compile("cache (hits|misses|evictions)")

# axes that came after the engine
_LATER = ("index_blocks", "query_cache_place")

role = leveldb.role
order = leveldb.order
maintenance = leveldb.maintenance
survives = leveldb.survives
release = sqlite.release
transactions = sqlite.transactions
transactions_of_file = sqlite.transactions_of_file
rendered = sqlite.rendered


def requested(cell: Cell) -> Mapping[str, Any]:
    """Return the options that a cell requests; of an older cell without those that came later."""
    requested = {"sync": cell.synchronous, "query_cache": cell.query_cache, "form": cell.kv_form}
    return requested | {name: cell.value(name) for name in _LATER if cell.has(name)}
