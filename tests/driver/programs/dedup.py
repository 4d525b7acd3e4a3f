# two connections of one thread, a rollback, a function of its own, a savepoint, executemany
import sqlite3

con = sqlite3.connect("a.db")
con.create_function("half", 1, lambda x: x // 2)
con.executescript(
    "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w TEXT DEFAULT CURRENT_TIMESTAMP); CREATE TABLE log(m);"
)
con.executemany("INSERT INTO t(v) VALUES(?)", [(i,) for i in range(20)])
con.commit()
con.execute("UPDATE t SET v = half(v)")
con.commit()
con.execute("INSERT INTO t(v) VALUES(:a)", {"a": "x\0y"})
con.execute("INSERT INTO t(v) VALUES(?)", (b"\0\1",))
con.commit()
con.execute("INSERT INTO log VALUES('gone')")
con.rollback()
with con:
    con.execute("INSERT INTO log VALUES(?)", (float("1e300"),))
try:
    with con:
        con.execute("INSERT INTO t(id) VALUES(1)")
except sqlite3.IntegrityError:
    pass
con.isolation_level = None
con.execute("SAVEPOINT s")
con.execute("INSERT INTO log VALUES('s')")
con.execute("RELEASE s")
con.execute("BEGIN IMMEDIATE")
con.execute("INSERT INTO log VALUES('i')")
con.execute("END")
print(con.execute("SELECT count(*) FROM t").fetchone(), con.execute("SELECT count(*) FROM log").fetchone())
