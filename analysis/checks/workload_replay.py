"""Check the engine's recorded input against timed transactions, row counts, and the workload or SQL file.

The input is rendered.gz; the workload follows from the cell's parameters.
"""

import functools
import hashlib
from collections.abc import Iterator
from typing import Any

from analysis.adapters.rendered import Rendered
from analysis.run import Run
from analysis.run_files import databases
from model import userfile, workloads
from model.engines import Engine
from model.operations import Transaction
from model.statements import sqlfile
from model.workloads import Options

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


def transactions(run: Run) -> list[str]:
    """Check each transaction's text and row count against a replay from seed, rows, n and value_size.

    Skipped for workloads that have no generator in Python (model/workloads).
    """
    given, config = run.driver.rendered, run.driver.config["driver"]
    workload = workloads.by_name(str(config.get("workload")))
    if workload is None or given is None or not given.count:
        return []
    try:
        options = Options.read(config)._replace(requests=workloads.options(run.cell).requests)
    except ValueError as error:
        return [f"config.json: {error}"]
    changes = run.driver.transactions["changes"].to_list()
    phases = run.driver.workload_phases["phase"].to_list()
    due = options.n * len(phases)
    least = options.value_size if given.values and options.value_size_distribution == "constant" else 0
    if least > given.bytes or len({due, len(changes), given.count}) > 1:
        has = f"rendered.gz has {given.count} transactions in {given.bytes} bytes"
        return [f"{has}; {len(phases)} phases of {_words(options)} make {due}"]
    if unknown := set(phases) - set(workload.PHASES):
        return [f"phases.csv: {config['workload']} has no phase {min(unknown)!r}"]
    try:
        return _compared(run, options, phases, changes, given)
    except ValueError as error:
        return [f"config.json: {error}, with {_words(options)}: impossible parameters"]


def sql_file(run: Run) -> list[str]:
    """Check that a run of a user's SQL file (FILE) rendered the transactions of that file."""
    profile, given = run.cell.profiles.get("file"), run.driver.rendered
    ran = "file" in run.driver.config["driver"]
    if ran != (profile is not None):
        return [
            "config.json: a user's SQL file was run, but the cell has none"
            if ran
            else "config.json: the cell's SQL file was not run"
        ]
    # `transactions` compares operations
    if profile is None or userfile.REQUESTS in profile:
        return []
    try:
        parts = userfile.parts(profile)
    except sqlfile.SqlFileError as error:
        return [f"the cell's file: {error}"]
    wanted = sqlfile.rendered(parts.transactions)
    reasons = _databases(run, parts)
    if given is not None and hashlib.sha256(wanted).hexdigest() != given.sha256:
        reasons.append("rendered.gz differs from the transactions of the cell's file")
    return reasons


def _databases(run: Run, parts: sqlfile.SqlFile) -> list[str]:
    """Compare the databases of config.json with the file's: their number, paths, transactions and changes."""
    config, count = run.driver.config, parts.databases
    has = {userfile.databases(run.cell.profiles["file"]), databases.count(config)}
    if has != {count}:
        return [f"the cell's file has {count} databases; the cell and config.json have {sorted(has)}"]
    if count == 1:
        return []
    changes = run.driver.transactions["changes"].to_list()
    reasons, most = list[str](), len(changes)
    for index, (entry, path) in enumerate(zip(config["databases"], databases.paths(config), strict=True)):
        if entry["path"] != path:
            reasons.append(f"config.json: path of database {index + 1} is {entry['path']}, expected {path}")
        numbers = [number for number, each in enumerate(parts.transactions[:most]) if each.database == index]
        due = {"transactions": len(numbers), "changes": sum(changes[number] for number in numbers)}
        reasons += [
            f"config.json: {name} of database {index + 1} is {entry[name]}, expected {number}"
            for name, number in due.items()
            if entry[name] != number
        ]
    return reasons


def _compared(
    run: Run,
    options: Options,
    phases: list[str],
    changes: list[int | None],
    given: Rendered,
) -> list[str]:
    config = run.driver.config
    digest, due, rows = _generated(config["driver"]["workload"], options, tuple(phases), run.driver.engine)
    reasons = []
    if digest != given.sha256:
        reasons.append(
            f"rendered.gz differs from what {config['driver']['workload']} generates with {_words(options)}"
        )
    wrong = [
        number
        for number, (actual, expected) in enumerate(zip(changes, due, strict=True))
        if actual not in (None, expected)
    ]
    if wrong:
        first = wrong[0]
        reasons.append(
            f"transactions.csv: {len(wrong)} transactions have a wrong number of changed rows, first "
            f"transaction {first}: {changes[first]}, expected {due[first]}"
        )
    if None in changes and rows != config["rows_after"]:
        reasons.append(f"config.json: rows_after is {config['rows_after']!r}, expected {rows}")
    return reasons


# a run and its baseline run are of one workload
@functools.lru_cache(maxsize=1)
def _generated(
    name: str, options: Options, phases: tuple[str, ...], engine: Engine
) -> tuple[str, list[int], int]:
    """Return the SHA-256 of a workload's text, the rows that each transaction changes, and those after it."""
    workload = workloads.by_name(name)
    assert workload
    table = workloads.table(workload, options, engine.ADDS_MISSING)
    digest, due = hashlib.sha256(), list[int]()
    for transaction in workloads.transactions(workload, options, list(phases)):
        digest.update(engine.rendered(transaction, workload.TEXTS))
        due.append(table.apply(transaction))
    return digest.hexdigest(), due, table.rows


def _words(options: Options) -> str:
    preset = options._field_defaults
    given = {
        name: value
        for name, value in options._asdict().items()
        if value != preset.get(name) and name != "requests"
    }
    return ", ".join(f"{name} {value}" for name, value in given.items())


def row_counts(run: Run) -> list[str]:
    """Check that rows_before is the number requested, and rows_after follows from the transactions."""
    config, given, table = run.driver.config, run.driver.rendered, run.driver.transactions
    before, after = config["rows_before"], config["rows_after"]
    requested = config["driver"].get("rows", None)
    reasons = (
        [f"config.json: rows_before is {before!r}, requested rows {requested!r}"]
        if requested not in (None, before)
        else []
    )
    if given is None or given.count not in (0, table.height) or type(before) is not int:
        return reasons
    left: Any = before
    if given.count:
        changes = table["changes"].to_list()
        if None in changes:
            return reasons  # `transactions` checks rows_after then
        for number, count, _, transaction in paired(table["op"].to_list(), given):
            kinds = set(transaction.operations)
            if {"insert", "delete"} <= kinds:
                return reasons  # the number of each is not recorded
            changed = sum(changes[number : number + count])
            left += changed if "insert" in kinds else -changed if "delete" in kinds else 0
            left = 0 if "drop" in kinds else left
    if left != after:
        reasons.append(f"config.json: rows_after is {after!r}, expected {left}")
    return reasons
