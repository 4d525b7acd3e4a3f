"""What cuts took of a setting: the trials of its runs, together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.report.terminal import seconds
from commitpath.database.select import Run

# What of a cell says how large the tried run was and who watched, and nothing of what a cut takes.
SIZES = ("rows", "n", "seed", "probes", "observers", "crash", "cuts", "cut_seed")

# That a cut took more time than it may.
MORE = "a cut took more"


@dataclass(frozen=True)
class Trials:
    """Of the cuts of one kind of failure. worst, mean: acknowledged transactions that are gone, at most and
    on average over the databases that hold the first so many; unusable: cuts after which the database is
    corrupt, holds no first so many transactions or does not open. worst and mean are None where all are.
    worst_ms, mean_ms: of work lost likewise; None also where the analysis was one that did not count it.
    zero, stale: cuts after which files had such sectors; None where not all runs say.
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

    @classmethod
    def of(cls, runs: Sequence[Run], failure: str) -> "Trials | None":
        """Those of the runs that tried that failure; None where none did."""
        told = [run.summary["crash"] for run in runs if run.summary.get("crash")]
        told = [one for one in told if one["failure"] == failure]
        if not told:
            return None
        unusable = [unusable_of(one) for one in told]
        usable = [one["cuts"] - bad for one, bad in zip(told, unusable, strict=True)]
        lost = [one["lost_acknowledged"] for one in told]
        work = [one["lost_ms"] for one in told if "lost_ms" in one]
        zero, stale = ([one[name]["cuts"] for one in told if one.get(name)] for name in ("zero", "stale"))
        all_say = len(work) == len(told)
        return cls(
            cuts=sum(one["cuts"] for one in told),
            worst=most(lost),
            mean=mean(lost, usable),
            unusable=sum(unusable),
            broken=sum(one["broken"] for one in told),
            first_broken=next((one["first_broken"] for one in told if one["first_broken"]), None),
            worst_ms=most(work) if all_say else None,
            mean_ms=mean(work, usable) if all_say else None,
            zero=sum(zero) if len(zero) == len(told) else None,
            stale=sum(stale) if len(stale) == len(told) else None,
        )

    def keeps(self, most: int | None) -> bool:
        """Whether every database was usable, and no cut took more than `most` acknowledged transactions
        (None: any number)."""
        if self.unusable or self.worst is None:
            return False
        return most is None or self.worst <= most

    def loses_at_most(self, ms: float) -> bool:
        """Whether every database was usable, and no cut took more than so many ms of the run."""
        return self.beyond(ms) is None

    def beyond(self, ms: float) -> str | None:
        """Return why it is not known that no cut took more than so many ms of the run; None where it is."""
        if self.unusable:
            return "a cut left no usable database"
        if self.worst_ms is None:
            return "its runs do not say how much time a cut took"
        return MORE if self.worst_ms > ms else None

    def text(self) -> str:
        """What was measured, in words."""
        if self.unusable:
            return f"{self.unusable} of {self.cuts} cuts left no usable database"
        spans = ""
        if self.worst and self.worst_ms is not None and self.mean_ms is not None:
            spans = f" ({seconds(self.worst_ms)} at most, {seconds(self.mean_ms)} on average)"
        return f"{self.cuts} cuts took {self.worst} at most, {self.mean:.2f} on average{spans}"


def limit_ms(text: str) -> float | None:
    """Return the ms of a LOSS that is a time, such as 1s, 500ms or 2min; None where it is none."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|min)", text)
    return float(found[1]) * {"ms": 1, "s": 1000, "min": 60_000}[found[2]] if found else None


def unpaced(loss: str, runs: Sequence[Run]) -> list[str]:
    """Return what is to be known of a LOSS that is a time, where transactions have no pace."""
    if limit_ms(loss) is None or all(run.cell.pace != "none" for run in runs):
        return []
    return [
        f"LOSS={loss} is time of the run, in which transactions follow one another at once; PACE gives them "
        "the rate of an app"
    ]


def most(lost: Sequence[Mapping[str, Any]]) -> Any:
    """The most of what several runs say was lost; None where no database holds the first so many."""
    return max((one["max"] for one in lost if one["max"] is not None), default=None)


def mean(lost: Sequence[Mapping[str, Any]], usable: Sequence[int]) -> float | None:
    """The mean over the usable databases of all runs; None where there are none."""
    means = [one["mean"] for one in lost]
    both = [(of_it, number) for of_it, number in zip(means, usable, strict=True) if of_it is not None]
    held = sum(number for _, number in both)
    return sum(of_it * number for of_it, number in both) / held if held else None


def unusable_of(told: Mapping[str, Any]) -> int:
    """Cuts of a run after which no first so many transactions were there."""
    return int(told["cuts"] - told["opened"] + told["corrupt"] + told["not_a_prefix"])


def place(run: Run) -> tuple[str, ...]:
    """What of a run a cut's outcome hangs on: all settings but the run's size, and the kernel."""
    fixed = sorted(set(run.settings) - set(SIZES))
    return (*(f"{name}={run.settings[name]}" for name in fixed), run.facts["uname"])
