"""Parse the limits of `make advise`: SURVIVE, LOSE_AT_MOST, P99_BELOW, RATE; check trials against them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from analysis.stats.totals import DAY_S
from base.errors import BadInputError
from commitpath.reporting.choice import POWER
from commitpath.reporting.trials import Trials, limit_ms
from model import durability
from model.engines import survival

# SURVIVE → the field of durability.Durability
SURVIVE = {"process": "process", "os": "system", POWER: "power"}
_RATE = re.compile("([1-9][0-9]{0,5})/(s|min|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": DAY_S}
_TIMES = "a time such as 1s, 500ms or 2min"


@dataclass(frozen=True)
class Limits:
    """failure: SURVIVE. most: transactions that may be lost, None for any number; ms: or their time.

    p99_ms: the longest p99 of an operation. per_second: RATE.
    """

    failure: str
    loss: str
    most: int | None
    ms: float | None
    p99_ms: float | None
    per_second: float | None

    def kept_by(self, trials: Trials | None, survives: durability.Durability) -> bool:
        """Return whether a failure loses no more.

        By trials, else by the promise: a time is kept by a promise to lose nothing, as no other has a time.
        """
        if trials is not None:
            return trials.keeps(self.most) if self.ms is None else trials.beyond(self.ms) is None
        promise = getattr(survives, SURVIVE[self.failure])
        if self.failure == POWER or promise not in survival.MOST_LOST:
            return False
        lost = survival.MOST_LOST[promise]
        if self.ms is None and self.most is None:
            return True
        return lost is not None and lost <= (self.most or 0)


def read(options: Mapping[str, str]) -> Limits:
    """Return the limits of make's variables. Raises BadInputError."""
    loss = options.get("LOSE_AT_MOST", "0").casefold()
    ms = limit_ms(loss)
    if ms is None and loss != "any" and not re.fullmatch("[0-9]{1,9}", loss):
        raise BadInputError(f"LOSE_AT_MOST={loss}: it is a number of transactions, any, or {_TIMES}")
    p99 = options.get("P99_BELOW")
    if p99 is not None and not limit_ms(p99):
        raise BadInputError(f"P99_BELOW={p99}: it is a time with its unit, such as 20ms, 0.5ms or 1s")
    return Limits(
        options["SURVIVE"],
        loss,
        int(loss) if ms is None and loss != "any" else None,
        ms,
        limit_ms(p99) if p99 else None,
        per_second(options.get("RATE")),
    )


def per_second(rate: str | None) -> float | None:
    """Return a RATE as transactions a second; None without one. Raises BadInputError."""
    if rate is None:
        return None
    if (found := _RATE.fullmatch(rate.casefold())) is None:
        raise BadInputError(
            f"RATE={rate}: RATE is a number of transactions, such as 20/s, 5/min, 300/h or 1000/d"
        )
    return int(found[1]) / _SECONDS[found[2]]
