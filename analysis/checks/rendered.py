"""Check that the recorded input of the engine (rendered.gz) has the transactions that were timed."""

from collections.abc import Iterator

from analysis.adapters.rendered import Rendered
from analysis.run import Run
from model.operations import Transaction

# SQL words in the names of statement groups, by workloads of SQL texts (docs/reference/formats.md).
_WORDS = {"select": "read"}
# Kinds without a word of their own in SQL.
_IN_SQL = {"scan": ("read",), "read-modify-write": ("read", "update")}
# The op of transactions with several operations in workloads by key.
_BATCH = "batch"


def as_timed(run: Run) -> list[str]:
    """Check that rendered.gz has as many transactions as transactions.csv, with the same operations.

    Transactions that do nothing have no text: then rendered.gz is empty, and no row may have changed.
    """
    given, rows = run.driver.rendered, run.driver.transactions
    if given is None:
        return ["raw/driver/rendered.gz is missing"]
    if not given.count and not (rows["changes"] != 0).any():
        return []
    if given.count != rows.height:
        return [f"rendered.gz has {given.count} transactions, transactions.csv {rows.height}"]
    return [
        f"rendered.gz: {count} transactions from {number} on {_describe(transaction)}; "
        f"transactions.csv has {op!r}"
        for number, count, op, transaction in paired(rows["op"].to_list(), given)
        if not is_one_of(op, transaction, int(run.driver.config["driver"].get("batch", 1)))
    ]


def value_bytes(run: Run) -> list[str]:
    """Check that sql_bytes, the basis of write amplification, is the size of the values in rendered.gz."""
    given, counted = run.driver.rendered, run.driver.config["sql_bytes"]
    if given is None or given.values == counted:
        return []
    return [f"rendered.gz has values of {given.values} bytes, sql_bytes of config.json is {counted}"]


def paired(ops: list[str], given: Rendered) -> Iterator[tuple[int, int, str, Transaction]]:
    """Yield (first number, count, op, rendered transaction) of runs of equal transactions.

    ops and given must have the same length.
    """
    number = 0
    for transaction, count in given.transactions:
        end = number + count
        while number < end:
            first, op = number, ops[number]
            while number < end and ops[number] == op:
                number += 1
            yield first, number - first, op, transaction


def is_one_of(op: str, transaction: Transaction, batch: int = 1) -> bool:
    """Return whether a transaction has the operation of an op, or is of a group named after it.

    batch: how many times (BATCH).
    """
    if op == _BATCH:
        return transaction.batch and len(transaction.operations) > 1
    word, group, _ = op.partition("_")
    word = _WORDS.get(word, word)
    if group:
        return word in transaction.operations
    each = ((word,) * batch, _IN_SQL.get(word, ()) * batch)
    return transaction.operations in each and transaction.batch == (batch > 1)


def _describe(transaction: Transaction) -> str:
    kinds = ", ".join(dict.fromkeys(transaction.operations)) or "nothing"
    return f"are a batch of {len(transaction.operations)} ({kinds})" if transaction.batch else f"do {kinds}"
