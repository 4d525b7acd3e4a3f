"""Parse EXPECT, such as `syncs.insert<=1.1`; refuse limits that decide nothing and metrics that a cell lacks.

    expectations = expectation, { blanks, expectation }
    expectation  = name, comparison, number
    name         = metric, [ ".", operation ]

The metrics are those of `make figure` (metrics.py). Without an operation a name means all transactions.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from base import identity
from base.errors import BadInputError
from base.text import choices, did_you_mean
from commitpath.cells.axes import axes
from commitpath.results import metrics
from commitpath.results.metrics import METRICS, WHOLE
from commitpath.results.run_folders import OF_COMMANDS
from model import workloads
from model.cell import Cell

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
EXAMPLE = "EXPECT='syncs.insert<=1.1 kib.all<=26'"
_BLANKS, _METRIC = re.compile(r"\s*"), re.compile(r"\w+")
# also the weights of a mix
_OPERATION = re.compile(r"[\w:-]+")
_COMPARISON = re.compile("|".join(COMPARISONS))
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?(?=\s|$)")
# Metrics that a mix of operations has, computed from those of its operations.
_OF_MIXES = ("tps", "ops", "tx_latency")


@dataclass(frozen=True)
class Name:
    """A metric of an operation, of all transactions, or a statistic of it."""

    metric: str
    op: str = WHOLE

    def __str__(self) -> str:
        """Return `syncs.insert`."""
        return f"{self.metric}.{self.op}"


@dataclass(frozen=True)
class Expectation:
    """A comparison of a number of a run with a limit. place: where it stands in EXPECT, for messages."""

    name: Name
    comparison: str
    limit: float
    text: str
    place: str = field(compare=False, default="EXPECT")

    def holds(self, value: float) -> bool:
        """Return whether a measured value meets it."""
        return COMPARISONS[self.comparison](value, self.limit)


class Scanner:
    """Reads a text from left to right; an error has its place."""

    def __init__(self, text: str, source: str) -> None:
        """source: EXPECT, or a line of a file."""
        self.text, self.source, self.at = text, source, 0
        self.skip()

    def skip(self) -> None:
        """Skip blanks."""
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def place(self, at: int) -> str:
        """Return a place as `EXPECT, character 3`."""
        return f"{self.source}, character {at + 1}"

    def rest(self) -> str:
        """Return the next word, or `the end`, for messages."""
        words = self.text[self.at :].split(maxsplit=1)
        return repr(words[0]) if words else "the end"

    def take(self, pattern: re.Pattern[str], expected: str) -> str:
        """Return the text here that a pattern matches. Raises BadInputError if it does not."""
        found = pattern.match(self.text, self.at)
        if not found:
            raise BadInputError(f"{self.place(self.at)}: expected {expected}, not {self.rest()}")
        self.at = found.end()
        return found[0]

    def name(self) -> Name:
        """Return the metric and operation at the current place, checked."""
        begin = self.at
        metric = self.take(_METRIC, "a metric").casefold()
        if metric not in METRICS:
            near = did_you_mean(metric, METRICS)
            known = choices(METRICS, "make help figure")
            raise BadInputError(f"{self.place(begin)}: unknown metric {metric}; {near}it is {known}")
        op, at = WHOLE, self.at
        if self.text[self.at : self.at + 1] == ".":
            self.at = at = self.at + 1
            op = self.take(_OPERATION, f"an operation after {metric}.").casefold()
        if wrong := unfit(metric, op):
            raise BadInputError(f"{self.place(at)}: {wrong}")
        return Name(metric, op)

    def end(self) -> None:
        """Refuse a text that does not end here."""
        self.skip()
        if self.at < len(self.text):
            raise BadInputError(f"{self.place(self.at)}: expected the end, not {self.rest()}")

    def number(self, after: str) -> float:
        """Return the number at the current place. after: the text before it, for messages."""
        return float(self.take(_NUMBER, f"a number such as 26 or 1.5e3 after {after}"))


def unfit(metric: str, op: str) -> str | None:
    """Return why a metric never has such an operation; None if it may."""
    spec = METRICS[metric]
    if op == WHOLE:
        return None if spec.whole else f"{metric} is of one operation, such as {metric}.insert"
    if ":" in op:
        try:
            metrics.check_op(op)
        except BadInputError as error:
            return str(error)
        return None if metric in _OF_MIXES else f"weights are for {', '.join(_OF_MIXES)}"
    if spec.each or op in spec.statistics:
        return None
    return f"{metric} has no {op}; it has {', '.join((WHOLE, *spec.statistics))}"


def undecided(metric: str, comparison: str, limit: float) -> str | None:
    """Return why a comparison holds for all values of a metric, or for none; None if it decides."""
    least, most = METRICS[metric].least, METRICS[metric].most
    # a comparison changes at its limit only
    near = (math.nextafter(limit, -math.inf), limit, math.nextafter(limit, math.inf))
    places = [least, most, *(at for at in near if least <= at <= most)]
    results = {COMPARISONS[comparison](at, limit) for at in places}
    if len(results) > 1:
        return None
    span = f"from {least:g} to {most:g}" if math.isfinite(most) else f"{least:g} or more"
    return f"it cannot {'fail' if True in results else 'hold'}: in a run that counts {metric} is {span}"


def parse(text: str) -> list[Expectation]:
    """Return the expectations of EXPECT. Raises BadInputError with the place."""
    scanner = Scanner(text, "EXPECT")
    if not scanner.text[scanner.at :]:
        raise BadInputError(f"EXPECT=: no expectation; {EXAMPLE}")
    expectations = []
    while scanner.at < len(text):
        begin = scanner.at
        name = scanner.name()
        scanner.skip()
        comparison = scanner.take(_COMPARISON, f"one of {' '.join(COMPARISONS)} after {name}")
        scanner.skip()
        limit = scanner.number(f"{name}{comparison}")
        shown = "".join(text[begin : scanner.at].split())
        if wrong := undecided(name.metric, comparison, limit):
            raise BadInputError(f"{scanner.place(begin)}: {shown}: {wrong}")
        expectations.append(Expectation(name, comparison, limit, shown, scanner.place(begin)))
        scanner.skip()
    return expectations


def check(expectations: Sequence[Expectation], cells: Iterable[Cell]) -> None:
    """Refuse an expectation of a number that a run of a cell would not have. Raises BadInputError."""
    for cell in cells:
        for expected in expectations:
            if lacking := lacks(cell, expected.name):
                raise BadInputError(f"{expected.place}: {expected.name}: {lacking}")


def lacks(cell: Cell, name: Name) -> str | None:
    """Return why runs of a cell do not have a number; None if they may."""
    metric = METRICS[name.metric]
    if cell.load == identity.COMMAND:
        known = ", ".join(OF_COMMANDS)
        return (
            None if name.metric in OF_COMMANDS else f"a watched command has no {name.metric}; it has {known}"
        )
    ops = workloads.ops(cell.profiles["workload"])
    if metric.each and ops and name.op != WHOLE and name.op not in ops and ":" not in name.op:
        near = did_you_mean(name.op, ops)
        return f"{near}WORKLOAD={cell.workload} has {', '.join((*ops, WHOLE))}"
    if ":" in name.op and ops and len(name.op.split(":")) != len(ops):
        return f"WORKLOAD={cell.workload} takes a weight for each of {', '.join(ops)}"
    if metric.needs:
        axis, value = metric.needs
        if str(cell.value(axis)) != value:
            return f"only a run with {axes()[axis].also or axes()[axis].variable}={value} has it"
    if metric.cuts:
        return "only a run with CRASH has it" if cell.crash == "none" else None
    return None if metric.timed or cell.probes else "PROBES=none does not record it"
