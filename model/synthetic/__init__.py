"""Generate a synthetic SQL trace from a seed, with the published statistics of an unpublished trace.

The SQL is not an app's: a table has one row per page, and a transaction writes one row for each page.
"""

import functools
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from model.statements import tracefile
from model.statements.bound import Value, bound
from model.statements.sqlfile import SqlFile, SqlFileError
from model.statements.tracefile import Entry, Trace
from model.synthetic.draw import TEXTS, Drawn, Made, Spec, rows_before, shares_of, transactions, turns
from model.synthetic.draw import check as check
from model.synthetic.draw import from_profile as from_profile
from model.workloads import Random

# Bytes of a row: more than half a leaf page, so that each page has one.
ROW = 4040
# Largest distance of a text's length from the mean.
SPREAD = 480
# Least bytes of a text, so that it differs from the previous one.
LEAST = 8


def text_of(spec: Mapping[str, Any], seed: int, most: int | None = None) -> str:
    """Return a trace's text in a cell. most: number of its first transactions, if not all."""
    first = {"most": most} if most else {}
    return json.dumps({**spec, "seed": seed, **first}, sort_keys=True)


# a board and a check need the same, and the largest takes seconds
@functools.lru_cache(maxsize=8)
def parts(text: str) -> SqlFile:
    """Return a trace's statements by its text (text_of). Raises SqlFileError for impossible measures."""
    try:
        given = json.loads(text)
        most, seed, spec = int(given.pop("most", 0)) or None, int(given.pop("seed")), from_profile(given)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise SqlFileError(f"{text[:60]!r} has not the measures of a trace") from None
    content = tracefile.parts(tracefile.write(trace(spec, seed)))
    return content._replace(transactions=content.transactions[:most])


def trace(spec: Spec, seed: int) -> Trace:
    """Return the trace. Raises SqlFileError for impossible measures."""
    check(spec)
    each = shares_of(spec)
    drawn = [transactions(one, Drawn(seed, number)) for number, one in enumerate(each)]
    mean = mean_text(spec, [one for made in drawn for one in made])
    spread = min(mean // 2, SPREAD)
    fixed = (ROW - mean - spread) // 2 * 2
    entries = [
        entry for number, one in enumerate(each, 1) for entry in makes(number, rows_before(one), fixed, mean)
    ]
    bodies, left = texts(Random(seed, TEXTS), mean, spread), [iter(made) for made in drawn]
    for number, database in enumerate(turns(spec, seed)):
        one = next(left[database])
        lines = [statement(one, i, bodies, fixed) for i in range(len(one.statements))]
        if one.batch:
            lines = [("BEGIN", ()), *lines, ("COMMIT", ())]
        entries += [Entry(0, float(number), database + 1, sql, values) for sql, values in lines]
    ends = [f"-{number}" for number in range(1, len(each) + 1)] if len(each) > 1 else [""]
    files = {number: f"{spec.title.lower()}{end}.db" for number, end in enumerate(ends, 1)}
    return Trace(files, None, tuple(entries))


def makes(file: int, rows: int, fixed: int, mean: int) -> Iterator[Entry]:
    """Yield the statements that make a database with so many rows."""
    yield Entry(0, None, file, "CREATE TABLE item(id INTEGER PRIMARY KEY, fixed TEXT, body TEXT)", ())
    yield Entry(
        *(0, None, file),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) "
        f"INSERT INTO item SELECT i, hex(zeroblob({fixed // 2})), substr(hex(zeroblob(?)),1,?) FROM n",
        (rows, mean, mean),
    )


def statement(one: Made, number: int, bodies: Iterator[str], fixed: int) -> tuple[str, tuple[Value, ...]]:
    """Return a statement of a transaction, and its values."""
    rows = one.statements[number]
    if one.reads:
        return "SELECT body FROM item WHERE id=?", (rows[0],)
    if one.makes and number == 0:
        return f"INSERT INTO item VALUES(?,hex(zeroblob({fixed // 2})),?)", (rows[0], next(bodies))
    if len(rows) == 1:
        return "UPDATE item SET body=? WHERE id=?", (next(bodies), rows[0])
    cases = " ".join(["WHEN ? THEN ?"] * len(rows))
    sql = f"UPDATE item SET body=CASE id {cases} END WHERE id IN ({','.join('?' * len(rows))})"
    return sql, (*(value for row in rows for value in (row, next(bodies))), *rows)


def mean_text(spec: Spec, made: list[Made]) -> int:
    """Return the mean length of texts that gives the measured bytes of SQL. Raises SqlFileError."""
    each = [(one, number) for one in made if not one.reads for number in range(len(one.statements))]
    besides = sum(len(bound(*statement(one, number, itertools.repeat(""), ROW))) for one, number in each)
    count = sum(len(one.statements[number]) for one, number in each)
    mean = round((spec.sql_bytes * spec.updates - besides) / count)
    if not LEAST <= mean <= ROW // 2:
        raise SqlFileError(
            f"{spec.title}: {spec.sql_bytes} bytes of SQL in a transaction leave {mean} for each of its "
            f"texts; {LEAST} to {ROW // 2} can be"
        )
    return mean


def texts(draw: Random, mean: int, spread: int) -> Iterator[str]:
    """Yield different texts with this mean length."""
    while True:
        off = draw.below(spread + 1)
        for length in (mean - off, mean + off):
            digits = "".join(f"{draw.below(1 << 64):016x}" for _ in range(0, length, 16))
            yield digits[:length]
