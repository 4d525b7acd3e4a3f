"""Did the engine get what was timed?"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.adapters.rendered import Rendered
from analysis.run import Run
from model.operations import Transaction

# A workload of SQL texts calls groups of statements by SQL's words (docs/reference/formats.md).
_WORDS = {"select": "read"}
# Kinds that SQL has no word of its own for.
_IN_SQL = {"scan": ("read",), "read-modify-write": ("read", "update")}
# Of several operations, each as a workload by key has them.
_BATCH = "batch"


def as_timed(run: Run) -> list[str]:
    """The transactions of rendered.gz are those of transactions.csv: as many, of the same operations.

    Those that do nothing have no text: then none has, and none changed a row.
    """
    given, rows = run.driver.rendered, run.driver.transactions
    if given is None:
        return ["raw/driver/rendered.gz is missing"]
    if not given.count and not (rows["changes"] != 0).any():
        return []
    if given.count != rows.height:
        return [f"rendered.gz has {given.count} transactions, transactions.csv {rows.height}"]
    return [
        f"rendered.gz: {count} transactions from {number} on {_told(one)}; transactions.csv has {op!r}"
        for number, count, op, one in beside(rows["op"].to_list(), given)
        if not is_one_of(op, one)
    ]


def values_as_told(run: Run) -> list[str]:
    """The bytes of values that the driver counted, over which write amplification is, are those of
    rendered.gz."""
    given, told = run.driver.rendered, run.driver.config["sql_bytes"]
    if given is None or given.values == told:
        return []
    return [f"rendered.gz has values of {given.values} bytes, sql_bytes of config.json is {told}"]


def beside(ops: list[str], given: Rendered) -> Iterator[tuple[int, int, str, Transaction]]:
    """Yield (number of the first, how many, op, what they do) of neighbours that are alike.

    There are as many in both.
    """
    number = 0
    for one, count in given.transactions:
        end = number + count
        while number < end:
            first, op = number, ops[number]
            while number < end and ops[number] == op:
                number += 1
            yield first, number - first, op, one


def is_one_of(op: str, one: Transaction) -> bool:
    """Whether a transaction is one of an op: by its operation, or a group that is called after one."""
    if op == _BATCH:
        return one.batch and len(one.operations) > 1
    word, group, _ = op.partition("_")
    word = _WORDS.get(word, word)
    if group:
        return word in one.operations
    return one.operations in ((word,), _IN_SQL.get(word)) and not one.batch


def _told(one: Transaction) -> str:
    kinds = ", ".join(dict.fromkeys(one.operations)) or "nothing"
    return f"are a batch of {len(one.operations)} ({kinds})" if one.batch else f"do {kinds}"
