"""Synthetic traces: from a seed, a trace with the measures that a study tells of one it does not publish.

All that is known of such a trace are numbers, so what is made here is no app's: a table with one row to a
page, of which a transaction writes as many as it is to write pages.
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
from model.synthetic.draw import TEXTS, Drawn, Made, transactions, turns
from model.synthetic.spec import Spec, rows_before, shares
from model.synthetic.spec import check as check
from model.synthetic.spec import from_profile as from_profile
from model.workloads import Random

# A row is longer than half of what a leaf page holds, whatever its text: one to a page.
ROW = 4040
# The most that its text may be off the mean.
SPREAD = 480
# The least bytes of a text, by which it differs from the one before it.
LEAST = 8


def text_of(spec: Mapping[str, Any], seed: int, most: int | None = None) -> str:
    """Return what a cell has of such a trace. most: its first transactions alone."""
    first = {"most": most} if most else {}
    return json.dumps({**spec, "seed": seed, **first}, sort_keys=True)


# a board and a check ask for the same again, and the largest takes seconds
@functools.lru_cache(maxsize=8)
def parts(text: str) -> SqlFile:
    """Return what makes its database, and its transactions; text: as text_of gives it.

    Raises SqlFileError for measures that no trace has.
    """
    try:
        given = json.loads(text)
        most, seed, spec = int(given.pop("most", 0)) or None, int(given.pop("seed")), from_profile(given)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise SqlFileError(f"{text[:60]!r} has not the measures of a trace") from None
    found = tracefile.parts(tracefile.write(trace(spec, seed)))
    return found._replace(transactions=found.transactions[:most])


def trace(spec: Spec, seed: int) -> Trace:
    """Return the trace. Raises SqlFileError for measures that no trace has."""
    check(spec)
    each = shares(spec)
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
    title = spec.title.lower()
    names = (
        [f"{title}-{number}.db" for number in range(1, len(each) + 1)] if len(each) > 1 else [f"{title}.db"]
    )
    return Trace(dict(enumerate(names, 1)), None, tuple(entries))


def makes(file: int, rows: int, fixed: int, mean: int) -> Iterator[Entry]:
    """Yield what makes a database of so many rows."""
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
    """Return how long texts are in the mean, for the bytes of SQL to be those. Raises SqlFileError."""
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
    """Yield texts of that length in the mean, each another."""
    while True:
        off = draw.below(spread + 1)
        for length in (mean - off, mean + off):
            digits = "".join(f"{draw.below(1 << 64):016x}" for _ in range(0, length, 16))
            yield digits[:length]
