"""Random SQL for tables of sqlitekv and of SQLite: values of every type, keys of every kind, transactions."""

import random
from collections.abc import Iterator

# Columns as declared, the names of the key's, the others; without a key: the rowid.
TABLES = {
    "r": ("id INTEGER PRIMARY KEY, a TEXT, b", ["id"], ["a", "b"]),
    "s": ("id INTEGER PRIMARY KEY AUTOINCREMENT, a NUMERIC NOT NULL, b REAL", ["id"], ["a", "b"]),
    "n": ("a INTEGER, b BLOB, c TEXT COLLATE NOCASE", ["rowid"], ["a", "b", "c"]),
    "t": ("k TEXT PRIMARY KEY, a, b INT", ["k"], ["a", "b"]),
    "c": ("a TEXT COLLATE NOCASE, b INTEGER, c REAL, d, PRIMARY KEY(b, a)", ["b", "a"], ["c", "d"]),
    "m": ("x NUMERIC, y TEXT COLLATE RTRIM, z BLOB, v, PRIMARY KEY(x, y, z)", ["x", "y", "z"], ["v"]),
    "u": ("k PRIMARY KEY, v", ["k"], ["v"]),
}
WITHOUT_ROWID = ("t", "c", "m", "u")
NUMBERS = (
    *("0", "1", "2", "3", "-1", "1.0", "2.5", "-0.0", "1e10", "-2.5", "1e300", "-1e300", "9e999", "-9e999"),
    *("9007199254740992", "9007199254740993", "9007199254740992.0", "-9007199254740993"),
    *("9223372036854775807", "9223372036854775806", "9223372036854774784.0", "-9223372036854775807"),
    *("9223372036854775808.0", "4611686018427387905", "1e-300", "127", "128", "-129", "65536", "16777216"),
)
TEXTS = (
    *(
        "''",
        "'a'",
        "'A'",
        "'b'",
        "'ab'",
        "'aB'",
        "'a '",
        "'a  '",
        "' a'",
        "'5'",
        "'5.0'",
        "' 5'",
        "'05'",
        "'1e1'",
    ),
    *("'ä'", "'z'", "'+x'", "'abc'", "'ABC'", "'a' || char(0)", "'a' || char(0) || 'b'", "char(0)", "'2.5'"),
    "'0123456789012345678901234567890123456789'",
)
BLOBS = ("x''", "x'00'", "x'0001'", "x'00ff'", "x'61'", "x'ff'", "x'ffff'", "zeroblob(3)")
VERBS = (
    "INSERT",
    "INSERT",
    "INSERT OR IGNORE",
    "INSERT OR REPLACE",
    "REPLACE",
    "INSERT OR FAIL",
    "INSERT OR ABORT",
)
OPERATORS = ("=", "=", "=", "==", "IS", "<", "<=", ">", ">=", "<>", "IS NOT")


def value(rng: random.Random) -> str:
    """A literal; small numbers are frequent, so that keys meet."""
    kinds = rng.random()
    if kinds < 0.45:
        return str(rng.randrange(12))
    if kinds < 0.6:
        return rng.choice(NUMBERS)
    if kinds < 0.85:
        return rng.choice(TEXTS)
    return rng.choice(BLOBS) if kinds < 0.95 else "NULL"


def stored(rng: random.Random, column: str) -> str:
    """Return a literal for a column. A rowid is a whole number: SQLite's own INSERT OR IGNORE of several rows
    does not undo the first if a later one is not. It is not the largest: SQLite draws random ones after it.
    """
    if column == "id":
        return rng.choice((str(rng.randrange(12)), str(rng.randrange(-3, 60)), "NULL"))
    return value(rng)


def new_value(rng: random.Random, column: str) -> str:
    if column == "id":
        return rng.choice((str(rng.randrange(12)), "id + 1", "id - 2", "'7'", "3.0"))
    return rng.choice((value(rng), value(rng), f"{column} || 1", f"{column} + 1"))


def columns(table: str) -> list[str]:
    _, keys, others = TABLES[table]
    return [*(key for key in keys if key != "rowid"), *others]


def condition(rng: random.Random, table: str) -> str:
    """Of the key's columns mostly."""
    _, keys, others = TABLES[table]
    terms = []
    for column in (*keys, rng.choice(others)):
        kind = rng.random()
        if kind < 0.55:
            terms.append(f"{column} {rng.choice(OPERATORS)} {value(rng)}")
        elif kind < 0.62:
            terms.append(f"{column} BETWEEN {value(rng)} AND {value(rng)}")
        elif kind < 0.7:
            terms.append(f"{column} IN ({', '.join(value(rng) for _ in range(3))})")
        elif kind < 0.75:
            terms.append(f"{column} = {value(rng)} COLLATE {rng.choice(('NOCASE', 'BINARY', 'RTRIM'))}")
        elif kind < 0.78:
            terms.append(f"{column} IS NULL")
    return " AND ".join(terms) or "1"


def order(rng: random.Random, table: str) -> str:
    """Of the whole key, so that there is one order; or none."""
    _, keys, _ = TABLES[table]
    if rng.random() < 0.4:
        return ""
    words = [f"{key}{rng.choice(('', ' DESC'))}" for key in keys] if rng.random() < 0.3 else []
    if not words:
        direction = rng.choice(("", " DESC"))
        words = [f"{key}{direction}" for key in keys]
    limit = f" LIMIT {rng.randrange(5)} OFFSET {rng.randrange(3)}" if rng.random() < 0.2 else ""
    return f" ORDER BY {', '.join(words)}{limit}"


def query(rng: random.Random, table: str) -> str:
    kind = rng.random()
    if kind < 0.1:
        key = TABLES[table][1][0]
        return f"SELECT {', '.join(columns(table))} FROM {table} WHERE {key} = {rng.randrange(12)}"
    names = ", ".join(["rowid", *columns(table)] if table not in WITHOUT_ROWID else columns(table))
    where = condition(rng, table)
    if kind < 0.6:
        return f"SELECT {names} FROM {table} WHERE {where}{order(rng, table)}"
    key = TABLES[table][1][0]
    if kind < 0.75:
        return f"SELECT count(*), min({key}), max({key}) FROM {table} WHERE {where}"
    if kind < 0.8:
        return f"SELECT DISTINCT {key} FROM {table}"
    if kind < 0.85:
        return f"SELECT {key}, count(*) FROM {table} GROUP BY {key}"
    other = rng.choice(list(TABLES))
    right = rng.choice(columns(other))
    left = rng.choice([*TABLES[table][1], *TABLES[table][2]])
    join = rng.choice(("JOIN", "LEFT JOIN"))
    return (
        f"SELECT * FROM {table} AS x {join} {other} AS y ON x.{left} = y.{right} WHERE x.{key} < {value(rng)}"
    )


def change(rng: random.Random, table: str) -> str:
    kind = rng.random()
    names = columns(table)
    if kind < 0.5:
        some = [name for name in names if rng.random() < 0.85] or names
        rows = [f"({', '.join(stored(rng, name) for name in some)})" for _ in range(rng.choice((1, 1, 1, 3)))]
        # SQLite's AUTOINCREMENT counts rows that OR IGNORE leaves out, and none of a failed INSERT OR FAIL
        verbs = [verb for verb in VERBS if table != "s" or not verb.endswith(("IGNORE", "FAIL"))]
        return f"{rng.choice(verbs)} INTO {table}({', '.join(some)}) VALUES {', '.join(rows)}"
    if kind < 0.55 and table != "s":
        return f"INSERT OR IGNORE INTO {table} SELECT * FROM {table} WHERE {condition(rng, table)}"
    if kind < 0.8:
        verb = rng.choice(("UPDATE", "UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL"))
        # nor does it count an UPDATE
        names = [name for name in names if table != "s" or name != "id"]
        which = rng.sample(names, rng.choice((1, 1, 2))) if len(names) > 1 else names
        # SQLite reads all rows before it replaces the first: a row that is replaced by then comes back
        if verb.endswith("REPLACE") and (set(which) & set(TABLES[table][1])):
            verb = "UPDATE"
        sets = [f"{name} = {new_value(rng, name)}" for name in which]
        return f"{verb} {table} SET {', '.join(sets)} WHERE {condition(rng, table)}"
    return f"DELETE FROM {table} WHERE {condition(rng, table)}"


def created(table: str, folder: str, options: str = "", name: str = "") -> Iterator[str]:
    """Its declarations, under another name if one is given."""
    declared, *_ = TABLES[table]
    without = " WITHOUT ROWID" if table in WITHOUT_ROWID else ""
    yield f"PCREATE TABLE {name or table}({declared}){without}"
    yield f"KCREATE VIRTUAL TABLE {name or table} USING sqlitekv('{folder}', {options}{declared})"


def made(rng: random.Random, number: int, folder: str) -> Iterator[str]:
    """A table that a transaction makes and may roll back, and an earlier one, which may not be there."""
    table = rng.choice([table for table in TABLES if table != "s"])
    yield from created(table, folder, name=f"n{number}")
    for name in (f"n{number}", f"n{rng.randrange(number + 1)}"):
        yield "B" + change(rng, table).replace(f" {table}", f" {name}", 1)
        yield f"BSELECT * FROM {name}"


def lines(
    seed: int, count: int, folder: str, options: str = "", tables: tuple[str, ...] = tuple(TABLES)
) -> Iterator[str]:
    """Lines for compare.c."""
    rng = random.Random(seed)
    for table in tables:
        yield from created(table, folder, options)
    depth, inside, outermost, new = 0, False, False, 0
    for number in range(count):
        table, kind = rng.choice(tables), rng.random()
        if kind < 0.5:
            yield "B" + change(rng, table)
        elif kind < 0.9:
            # a second time, a cache may have its rows
            yield from ["B" + query(rng, table)] * rng.choice((1, 1, 2))
        elif kind < 0.93 and not inside:
            outermost = rng.random() < 0.5
            yield "BSAVEPOINT p1" if outermost else "BBEGIN"
            inside, depth = True, int(outermost)
        elif inside:
            action = rng.random()
            if action < 0.35:
                depth += 1
                yield f"BSAVEPOINT p{depth}"
            elif action < 0.5 and depth:
                yield f"BRELEASE p{depth}"
                depth -= 1
                inside = depth > 0 or not outermost
            elif action < 0.8 and depth:
                yield f"BROLLBACK TO p{rng.randint(1, depth)}"
                # those after it are gone: a further release of one is an error of both
            elif action < 0.9:
                yield from made(rng, new, folder)
                new += 1
            else:
                yield rng.choice(("BCOMMIT", "BROLLBACK"))
                inside, depth = False, 0
        elif number % 5 == 0:
            yield "BROLLBACK"
            # a transaction cannot
            yield f"BDROP TABLE n{rng.randrange(new + 1)}"
            yield "R"
    yield "BROLLBACK"
    yield "R"
    yield from (f"BSELECT * FROM {table}" for table in (*tables, *(f"n{number}" for number in range(new))))
