"""Generate rows and transactions of workloads/workloads/mix.c: operations mixed by shares, as in YCSB."""

from collections.abc import Iterator
from typing import Any

from model import operations
from model.workloads import Operation, Options, Phase, Random
from model.workloads._distributions import Records, Zipf

PHASES = ("mix",)
TABLE = "records"
TEXTS = {
    "insert": "INSERT INTO records(id,value) VALUES(%k,%v);",
    "update": "UPDATE records SET value=%v WHERE id=%k;",
    "delete": "DELETE FROM records WHERE id=%k;",
    "read": "SELECT value FROM records WHERE id=%k;",
    "scan": "SELECT value FROM records WHERE id>=%k ORDER BY id LIMIT %n;",
    "read-modify-write": "SELECT value FROM records WHERE id=%k;UPDATE records SET value=%v WHERE id=%k;",
}
_DIGITS, _LEAST_SIZE, _MOST_SCANNED = 8, 64, 100


def shares(mix: str) -> dict[str, int]:
    """Return the per cent of each kind in a text such as read=95,insert=5, in the kinds' order.

    Raises ValueError for an invalid text.
    """
    pairs = [share.partition("=") for share in mix.split(",")]
    given = {kind: int(share) for kind, _, share in pairs}
    if len(given) < len(pairs) or not given.keys() <= set(TEXTS) or sum(given.values()) != 100:
        raise ValueError(f"mix {mix!r}")
    return {kind: given[kind] for kind in operations.kinds() if kind in given}


def transactions(phase: Phase) -> Iterator[tuple[Operation, ...]]:
    """Yield the transactions of a phase."""
    options, random = phase.options, phase.random
    records = Records(options.request_distribution, random, options.rows)
    sizes, kinds = _Sizes(options, random), shares(options.mix)
    for number in range(options.n):
        kind, value = _kind(kinds, random.below(100)), _value(b"w", number, options)
        made = []
        for request in range(number * options.batch, (number + 1) * options.batch):
            record, rows, size = records.now, 0, 0
            if kind == "insert":
                records.now += 1
            else:
                record = records.draw(request)
            if kind == "scan":
                rows = 1 + random.below(_MOST_SCANNED)
            elif kind != "delete" and operations.kinds()[kind].mutates:
                size = sizes.draw()
            made.append(Operation(kind, _key(record, options), value[:size], rows))
        yield tuple(made)


def filled(options: Options) -> Iterator[tuple[int, bytes]]:
    """Yield the rows before a run, which do not depend on its seed."""
    sizes = _Sizes(options, Random(0, 0))
    for record in range(options.rows):
        yield _key(record, options), _value(b"i", record, options)[: sizes.draw()]


def keys(options: Options) -> set[int]:
    """Return the keys before a run."""
    return {_key(record, options) for record in range(options.rows)}


def row(key: int, value: Any) -> tuple[Any, ...]:
    """Return the columns of a row."""
    return key, value


class _Sizes:
    def __init__(self, options: Options, random: Random) -> None:
        self._options, self._random, self._zipf = options, random, Zipf()

    def draw(self) -> int:
        most = self._options.value_size
        if self._options.value_size_distribution != "zipfian" or most <= _LEAST_SIZE:
            return most
        return _LEAST_SIZE - 1 + self._zipf.draw(self._random, most - _LEAST_SIZE + 1)


def _kind(kinds: dict[str, int], point: int) -> str:
    for kind, share in kinds.items():
        if point < share:
            return kind
        point -= share
    raise AssertionError("the shares add up to 100")


def _key(record: int, options: Options) -> int:
    key = record + 1
    if options.insert_order == "hashed":
        key = Random.mixed(key)
        while key >> 63:
            key = Random.mixed(key)
    return key


def _value(letter: bytes, number: int, options: Options) -> bytes:
    return (b"%08d" % (number % 10**_DIGITS) + letter * options.value_size)[: options.value_size]
