"""Two databases of SQLite's, in journal modes DELETE and WAL, and a file of text: 114 syncs."""

import os
import sqlite3
from pathlib import Path

ROWS = 20

for mode in ("delete", "wal"):
    database = sqlite3.connect(f"{mode}.db", isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    for number in range(ROWS):
        database.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 1000))
    database.close()
with Path("notes.txt").open("w") as file:
    file.write("y" * 100000)
    file.flush()
    os.fsync(file.fileno())
print("done")
