"""Select the distinct measurements among a cell's runs: equal results in virtual time count once."""

import json
from collections.abc import Sequence
from typing import Any

from commitpath.database.select import Run


def samples(runs: Sequence[Run]) -> list[Run]:
    """Return the distinct measurements among runs: the newest run of each outcome.

    In virtual time a run with another's seed repeats it, and a seed that changes no number adds no
    measurement. On a real clock every run is a measurement.
    """
    by_seed = {repeated(run): run for run in runs}
    return list({outcome(run): run for run in by_seed.values()}.values())


def distinct(runs: Sequence[Run], values: Sequence[float]) -> list[float]:
    """Return the distinct measurements among the values of one metric, one value per run."""
    if any(run.settings["clock"] != "virtual" for run in runs):
        return list(values)
    return list(dict.fromkeys(values))


def text(runs: int, measurements: int) -> str:
    """Return `4 runs, 1 distinct measurement`."""
    return f"{runs} run{'s' * (runs != 1)}, {measurements} distinct measurement{'s' * (measurements != 1)}"


def repeated(run: Run) -> str:
    """Return a key that is equal for runs that repeat each other."""
    again = () if run.settings["clock"] == "virtual" else (run.facts["run"],)
    return _key(sorted(run.settings.items()), *again)


def outcome(run: Run) -> str:
    """Return a key that is equal for runs of one configuration with equal results.

    Rates equal to the last digit mean times equal to the nanosecond. Trials are compared, too, as losses may
    differ.
    """
    again = () if run.settings["clock"] == "virtual" else (run.facts["run"],)
    settings = sorted((name, value) for name, value in run.settings.items() if name != "seed")
    return _key(settings, run.summary["tps"], run.summary.get("crash"), *again)


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, default=str)
