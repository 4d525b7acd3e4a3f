"""Back a WAL database up while a thread goes on writing: by the backup API, in steps, and by VACUUM INTO."""

import sqlite3
import threading

db = sqlite3.connect("live.db", isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE t(x)")
db.execute("INSERT INTO t SELECT zeroblob(900) FROM (VALUES(1),(2),(3),(4),(5),(6),(7),(8))")


def write() -> None:
    own = sqlite3.connect("live.db", isolation_level=None, timeout=20)
    for number in range(12):
        own.execute("INSERT INTO t VALUES(?)", (number,))
    own.close()


thread = threading.Thread(target=write)
thread.start()
copy = sqlite3.connect("copy.db")
db.backup(copy, pages=2, sleep=0.001)
db.execute("VACUUM INTO 'vacuumed.db'")
thread.join()
for path in ("copy.db", "vacuumed.db"):
    (rows,) = sqlite3.connect(path).execute("SELECT count(*) FROM t").fetchone()
    assert 8 <= rows <= 20, (path, rows)
print(db.execute("SELECT count(*) FROM t").fetchone()[0], "rows")
