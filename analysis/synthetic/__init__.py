"""Synthetic traces: from a seed, a trace with the measures that a study tells of one it does not publish.

All that is known of such a trace are numbers, so what is made here is no app's: a table with one row to a
page, of which a transaction writes as many as it is to write pages.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.adapters import tracefile
from analysis.adapters.bound import Value, bound
from analysis.adapters.sqlfile import SqlFile, SqlFileError
from analysis.adapters.tracefile import Entry, Trace
from analysis.synthetic.draw import TEXTS, Made, transactions
from analysis.synthetic.spec import Spec, rows_before
from analysis.synthetic.spec import check as check
from analysis.synthetic.spec import of as of
from analysis.workloads import Random

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
        most, seed, spec = given.pop("most", None), int(given.pop("seed")), of(given)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SqlFileError(f"{text[:60]!r} has not the measures of a trace") from None
    found = tracefile.parts(tracefile.write(trace(spec, seed)))
    return found._replace(transactions=found.transactions[:most])


def trace(spec: Spec, seed: int) -> Trace:
    """Return the trace. Raises SqlFileError for measures that no trace has."""
    check(spec)
    made = transactions(spec, seed)
    first, mean = rows_before(spec), mean_text(spec, made)
    spread = min(mean // 2, SPREAD)
    fixed = (ROW - mean - spread) // 2 * 2
    entries = [
        Entry(0, None, 1, "CREATE TABLE item(id INTEGER PRIMARY KEY, fixed TEXT, body TEXT)", ()),
        Entry(
            *(0, None, 1),
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) "
            f"INSERT INTO item SELECT i, hex(zeroblob({fixed // 2})), substr(hex(zeroblob(?)),1,?) FROM n",
            (first, mean, mean),
        ),
    ]
    bodies = texts(Random(seed, TEXTS), mean, spread)
    for number, one in enumerate(made):
        lines = [statement(one, i, bodies, fixed) for i in range(len(one.statements))]
        if one.batch:
            lines = [("BEGIN", ()), *lines, ("COMMIT", ())]
        entries += [Entry(0, float(number), 1, sql, values) for sql, values in lines]
    return Trace({1: f"{spec.title.lower()}.db"}, None, tuple(entries))


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
