"""Write the operations of a mix as a trace: those that the workload itself executes with the same options."""

import re
from collections.abc import Iterator

from model.statements.bound import Value
from model.statements.tracefile import Entry, Trace
from model.workloads import Operation, Options, Phase, Random, mix

_TABLE = f"CREATE TABLE {mix.TABLE}(id INTEGER PRIMARY KEY, value TEXT NOT NULL)"
_MARK = re.compile("%([kvn])")


def trace(options: Options) -> Trace:
    """Return the trace of a mix's rows and transactions."""
    entries = [Entry(0, None, 1, _TABLE, ())]
    for key, value in mix.filled(options):
        entries += _entries(None, Operation("insert", key, value))
    random = Random(options.seed, 0)
    made = mix.transactions(Phase(mix.PHASES[0], options, options.rows, random))
    for number, transaction in enumerate(made):
        operations = [entry for one in transaction for entry in _entries(float(number), one)]
        if len(transaction) > 1:
            ends = [Entry(0, float(number), 1, word, ()) for word in ("BEGIN", "COMMIT")]
            operations = [ends[0], *operations, ends[1]]
        entries += operations
    return Trace({1: "records.db"}, None, tuple(entries))


def _entries(seconds: float | None, operation: Operation) -> Iterator[Entry]:
    given: dict[str, Value] = {
        "k": operation.key,
        "v": operation.value.decode(),
        "n": operation.rows,
    }
    for text in mix.TEXTS[operation.kind].rstrip(";").split(";"):
        values = tuple(given[mark] for mark in _MARK.findall(text))
        yield Entry(0, seconds, 1, _MARK.sub("?", text), values)
