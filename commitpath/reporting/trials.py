"""Sum up crash trials of several runs (lost transactions and ms, unusable databases); check LOSE_AT_MOST."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commitpath.database import select
from commitpath.database.select import Run
from commitpath.results.marks import transactions
from model.cell import SAMPLED

# Axes that do not change what a cut takes: a run's size and its observers.
IRRELEVANT_TO_LOSS = ("rows", "n", *SAMPLED, "probes", "observers", "crash", "cuts", "cut_seed")

# The reason of a cell in which a cut took more time than allowed.
MORE = "a cut took more"
# The reason of a cell with runs too short to show the most that a cut takes.
EMPTIED = "a cut took all of the run, and might take more of a longer one"


@dataclass(frozen=True)
class Trials:
    """The cuts of one kind of failure.

    worst, mean: lost acknowledged transactions, over the cuts after which the database holds exactly the
    first k transactions; None if there are none. worst_ms, mean_ms: the same of lost work; None also if an
    analysis did not count it. unusable: cuts after which the database is corrupt, holds other transactions
    than the first k, or does not open. broken: cuts that broke a promise. zero, stale: cuts after which
    files had such sectors; None unless all runs counted them. emptied: whether a cut took all transactions
    of the longest run, and might take more of a longer one.
    """

    cuts: int
    worst: int | None
    mean: float | None
    unusable: int
    broken: int
    first_broken: str | None
    worst_ms: float | None
    mean_ms: float | None
    zero: int | None
    stale: int | None
    emptied: bool = False

    @classmethod
    def from_runs(cls, runs: Sequence[Run], failure: str) -> "Trials | None":
        """Return the trials of the runs that tried a failure; None without any."""
        runs = [run for run in runs if (run.summary.get("crash") or {}).get("failure") == failure]
        if not runs:
            return None
        crashes = [run.summary["crash"] for run in runs]
        unusable = [select.unusable(crash) for crash in crashes]
        weights = [crash["cuts"] - bad for crash, bad in zip(crashes, unusable, strict=True)]
        worst, mean = lost([crash["lost_acknowledged"] for crash in crashes], weights)
        timed = all("lost_ms" in crash for crash in crashes)
        worst_ms, mean_ms = lost([crash["lost_ms"] for crash in crashes], weights) if timed else (None, None)
        zero, stale = (
            sum(crash[name]["cuts"] for crash in crashes)
            if all(crash.get(name) for crash in crashes)
            else None
            for name in ("zero", "stale")
        )
        return cls(
            cuts=sum(crash["cuts"] for crash in crashes),
            worst=worst,
            mean=mean,
            unusable=sum(unusable),
            broken=sum(crash["broken"] for crash in crashes),
            first_broken=next((crash["first_broken"] for crash in crashes if crash["first_broken"]), None),
            worst_ms=worst_ms,
            mean_ms=mean_ms,
            zero=zero,
            stale=stale,
            emptied=0 < max(map(transactions, runs)) <= (worst or 0),
        )

    @property
    def usable(self) -> bool:
        """Whether every cut left a usable database."""
        return not self.unusable and self.worst is not None

    def keeps(self, most: int | None) -> bool:
        """Return whether no cut lost a database or more than `most` transactions (None: any number).

        No number is known to be kept if a run had no more to lose.
        """
        return self.usable and (most is None or ((self.worst or 0) <= most and not self.emptied))

    def beyond(self, ms: float) -> str | None:
        """Return why it is not known that no cut took more than so many ms of the run; None if it is."""
        if self.unusable:
            return "a cut left no usable database"
        if self.worst_ms is None:
            return "its runs do not say how much time a cut took"
        if self.worst_ms > ms:
            return MORE
        return EMPTIED if self.emptied else None

    def short(self) -> str:
        """Return the most transactions that a cut took, or `✗ 3`: cuts that left no usable database."""
        return str(self.worst) if self.usable else f"✗ {self.unusable}"


def lost(each: Sequence[Mapping[str, Any]], weights: Sequence[int]) -> tuple[Any, float | None]:
    """Return (most, mean) of the losses of several runs; None without a usable database.

    weights: of the means.
    """
    most = max((loss["max"] for loss in each if loss["max"] is not None), default=None)
    means = [
        (loss["mean"], weight) for loss, weight in zip(each, weights, strict=True) if loss["mean"] is not None
    ]
    total = sum(weight for _, weight in means)
    return most, sum(mean * weight for mean, weight in means) / total if total else None


def limit_ms(text: str) -> float | None:
    """Return the ms of a LOSE_AT_MOST that is a time, such as 1s, 500ms or 2min; None for another."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|min)", text.casefold())
    return float(match[1]) * {"ms": 1, "s": 1000, "min": 60_000}[match[2]] if match else None


def unpaced(loss: str, runs: Sequence[Run]) -> list[str]:
    """Return a note if LOSE_AT_MOST is a time and transactions have no pace."""
    if limit_ms(loss) is None or all(run.cell.pace != "none" for run in runs):
        return []
    return [
        f"LOSE_AT_MOST={loss} is time of the run, in which transactions follow one another at once; PACE "
        "gives them the rate of an app"
    ]


def place(run: Run) -> tuple[str, ...]:
    """Return what the outcome of cuts depends on: the settings but IRRELEVANT_TO_LOSS, and the kernel."""
    fixed = sorted(set(run.settings) - set(IRRELEVANT_TO_LOSS))
    return (*(f"{name}={run.settings[name]}" for name in fixed), run.facts["uname"])
