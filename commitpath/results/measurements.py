"""Which runs of a cell count: equal outcomes in virtual time are one measurement."""

import json
from collections.abc import Sequence
from typing import Any

from commitpath.database.select import Run


def samples(runs: Sequence[Run]) -> list[Run]:
    """Return the distinct measurements among runs: of runs with one outcome the newest.

    In virtual time a run with the seed of another repeats it, and a seed that changes no measured number
    adds no measurement. On a real clock every run is a measurement.
    """
    by_seed: dict[str, Run] = {}
    for run in runs:
        by_seed[repeated(run)] = run
    by_outcome: dict[str, Run] = {}
    for run in by_seed.values():
        by_outcome[outcome(run)] = run
    return list(by_outcome.values())


def distinct(runs: Sequence[Run], values: Sequence[float]) -> list[float]:
    """Return the distinct measurements among the values of one metric, one value per run."""
    if any(run.settings["clock"] != "virtual" for run in runs):
        return list(values)
    return list(dict.fromkeys(values))


def text(runs: int, measurements: int) -> str:
    """Return `4 runs, 1 distinct measurement`."""
    return f"{runs} run{'s' * (runs != 1)}, {measurements} distinct measurement{'s' * (measurements != 1)}"


def repeated(run: Run) -> str:
    """Return a key that runs have in common when one repeats the other."""
    again = () if run.settings["clock"] == "virtual" else (run.facts["run"],)
    return _key(sorted(run.settings.items()), *again)


def outcome(run: Run) -> str:
    """Return a key that runs of one configuration have in common when they measured the same.

    Two runs with equal rates to the last digit took equally long to the nanosecond. Trials are compared
    too, as equal rates can go with other losses.
    """
    again = () if run.settings["clock"] == "virtual" else (run.facts["run"],)
    settings = sorted((name, value) for name, value in run.settings.items() if name != "seed")
    return _key(settings, run.summary["tps"], run.summary.get("crash"), *again)


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, default=str)
