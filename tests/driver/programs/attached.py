import sqlite3

c = sqlite3.connect("m.db", isolation_level=None)
c.execute("CREATE TABLE t(x)")
c.execute("ATTACH 'hist.db' AS h")
c.execute("CREATE TABLE h.old(x)")
for i in range(5):
    c.execute("INSERT INTO t VALUES(?)", (i,))
with c:
    c.execute("BEGIN")
    c.execute("INSERT INTO h.old SELECT x FROM t WHERE x < 3")
    c.execute("DELETE FROM t WHERE x < 3")
c.execute("INSERT INTO old VALUES(99)")
