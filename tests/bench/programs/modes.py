"""K inserts of a row in each journal mode at each synchronous, a database each; and what writes nothing."""

import itertools
import sqlite3

K = 4
MODES = ("delete", "truncate", "persist", "memory", "off", "wal")
LEVELS = ("off", "normal", "full", "extra")

for mode, level in itertools.product(MODES, LEVELS):
    database = sqlite3.connect(f"{mode}-{level}.db", isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.execute(f"PRAGMA synchronous={level}")
    database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    for number in range(K):
        database.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 100))
    # begun and not written, undone, of no row: no transaction that wrote
    database.execute("BEGIN")
    database.execute("COMMIT")
    if mode != "off":
        database.execute("BEGIN")
        database.execute("DELETE FROM t")
        database.execute("ROLLBACK")
    database.execute("DELETE FROM t WHERE a = -1")
    assert database.execute("SELECT count(*) FROM t").fetchone() == (K,)
    database.close()
print("done")
