"""Grow files while others come and go: they get many extents, and blocks of their maps where files were."""

import os
import sqlite3
from pathlib import Path


def write(name, data, flags=0):
    fd = os.open(name, os.O_CREAT | os.O_WRONLY | flags, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


for turn in range(40):
    write(f"short{turn}", b"s" * 4096)
    write("long", b"l" * 4096, os.O_APPEND)
    Path(f"short{turn}").unlink()
database = sqlite3.connect("extents.db", isolation_level=None)
database.execute("CREATE TABLE t (a)")
for _ in range(36):
    database.execute("INSERT INTO t VALUES (?)", ("x" * 600,))
database.close()
