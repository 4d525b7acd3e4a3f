"""Drop repeats from a cell's runs: in virtual time, runs with one seed on one board are one sample."""

import json
from collections.abc import Sequence

from commitpath.database.select import Run


def samples(runs: Sequence[Run]) -> list[Run]:
    """Return the newest run of each sample.

    In virtual time runs with one seed on one board repeat each other. On a real clock every run is a sample.
    """
    newest = {}
    for run in runs:
        again = () if run.settings["clock"] == "virtual" else (run.facts["run"],)
        newest[json.dumps([sorted(run.settings.items()), *again], default=str)] = run
    return list(newest.values())
