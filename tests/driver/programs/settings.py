# settings that apps give their connection, and which change what a statement does or costs
import sqlite3

con = sqlite3.connect("app.db", isolation_level=None)
for p in (
    "page_size=8192",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "wal_autocheckpoint=100",
    "cache_size=-8000",
    "temp_store=MEMORY",
    "foreign_keys=ON",
    "recursive_triggers=ON",
    "mmap_size=1000000",
    "secure_delete=ON",
    "auto_vacuum=INCREMENTAL",
    "case_sensitive_like=ON",
    "user_version=7",
):
    con.execute("PRAGMA " + p)
con.execute("CREATE TABLE parent(id INTEGER PRIMARY KEY, n TEXT)")
con.execute("CREATE TABLE child(id INTEGER PRIMARY KEY, p INT REFERENCES parent(id) ON DELETE CASCADE)")
con.execute("INSERT INTO parent VALUES(1,'Abc'),(2,'abc')")
con.execute("INSERT INTO child(p) VALUES(1),(1),(2)")
con.execute("DELETE FROM parent WHERE n LIKE 'abc'")
con.execute("DELETE FROM parent WHERE id = 1")
