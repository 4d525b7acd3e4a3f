"""Draw random SQL transactions for `make hunt`, and leave some of them out to shrink a finding."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model.statements import sqlfile

# An update of the short text writes one page.
TABLE = "CREATE TABLE t(id INTEGER PRIMARY KEY, short TEXT, long TEXT);\nCREATE INDEX i ON t(long);\n"
STATEMENTS = (
    "UPDATE t SET short = '{short}' WHERE id = {row};",
    "UPDATE t SET long = {long} WHERE id = {row};",
    "INSERT OR REPLACE INTO t VALUES({row}, '{short}', {long});",
    "DELETE FROM t WHERE id = {row};",
)


@dataclass(frozen=True)
class Load:
    """A table with rows, and transactions, each a list of statements."""

    rows: int
    transactions: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Return the file for WORKLOAD=sql: the table, its rows, the transactions."""
        rows = "".join(f"INSERT INTO t VALUES({row}, 'a', 'b');\n" for row in range(1, self.rows + 1))
        lines = (f"BEGIN; {' '.join(statements)} COMMIT;\n" for statements in self.transactions)
        return f"{TABLE}{rows}{sqlfile.MARK}\n{''.join(lines)}"

    def write(self, path: Path) -> None:
        """Write the file for WORKLOAD=sql."""
        path.write_text(self.text())

    def without(self, begin: int, end: int) -> Load:
        """Return it without some transactions."""
        return replace(self, transactions=self.transactions[:begin] + self.transactions[end:])


def draw(draws: random.Random, drawn: Mapping[str, Any]) -> Load:
    """Return a drawn load. drawn: `load` of experiments/hunt.yml."""
    kinds = draws.sample(list(STATEMENTS), draws.choice([1, 1, 2, len(STATEMENTS)]))
    rows = draws.choice(drawn["rows"])
    fewest, longest = drawn["statements"]
    most = draws.randint(fewest, longest)
    return Load(
        max(drawn["rows"]),
        tuple(
            tuple(statement(draws, drawn, kinds, rows) for _ in range(draws.randint(fewest, most)))
            for _ in range(draws.randint(*drawn["transactions"]))
        ),
    )


def statement(draws: random.Random, drawn: Mapping[str, Any], kinds: Sequence[str], rows: int) -> str:
    """Return a drawn statement of these kinds, which changes one of the first rows, or nothing."""
    short, filler = draws.choice(drawn["texts"]), draws.choice(drawn["texts"])
    long = f"printf('%.*c', {draws.randint(1, drawn['most_bytes'])}, '{filler}')"
    return draws.choice(kinds).format(row=draws.randint(1, rows), short=short, long=long)
