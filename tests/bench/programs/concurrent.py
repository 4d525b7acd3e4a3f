"""Threads and processes at once: files of their own, databases of their own and one for all, DELETE and WAL.

Prints how many calls of SQLite said that the database is locked. usage: concurrent.py
"""

import multiprocessing
import os
import sqlite3
import threading
import time

TURNS, WORKERS = 6, 3
busy = multiprocessing.get_context("fork").Value("i", 0)


def append(name):
    """Append a page and sync it, in turns."""
    file = os.open(name, os.O_CREAT | os.O_WRONLY, 0o644)
    for _ in range(TURNS):
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
    os.close(file)


def insert(name, timeout=60):
    """Insert rows, each a transaction, and try again where the database is locked."""
    database = sqlite3.connect(name, timeout=timeout, isolation_level=None)
    for number in range(TURNS):
        while True:
            try:
                database.execute("INSERT INTO t VALUES (?)", (number,))
                break
            except sqlite3.OperationalError:
                with busy.get_lock():
                    busy.value += 1
                time.sleep(0.002)
    database.close()


def create(name, mode):
    database = sqlite3.connect(name, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.execute("CREATE TABLE t (a)")
    database.close()


def run(kind, work, arguments):
    """Run workers of a kind at once, and wait for them."""
    workers = [kind(target=work, args=one) for one in arguments]
    for one in workers:
        one.start()
    for one in workers:
        one.join()


kinds = {"thread": threading.Thread, "process": multiprocessing.get_context("fork").Process}
for kind, start in kinds.items():
    run(start, append, [(f"{kind}-{worker}.txt",) for worker in range(WORKERS)])
    for mode in ("delete", "wal"):
        own = [f"{kind}-{mode}-{worker}.db" for worker in range(WORKERS)]
        shared = f"{kind}-{mode}-shared.db"
        for name in (*own, shared):
            create(name, mode)
        # and one that does not wait for a lock
        writers = [(shared,)] * (WORKERS - 1) + [(shared, 0)]
        run(start, insert, [*((name,) for name in own), *writers])
print("busy", busy.value)
