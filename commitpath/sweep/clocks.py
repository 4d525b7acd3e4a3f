"""Late clocks: stored runs that must have the same times, and have not."""

import json
from collections import defaultdict
from collections.abc import Iterable

from analysis.stats import repeats
from base.paths import RESULTS
from commitpath.database.select import Run


def odd(runs: Iterable[Run]) -> list[str]:
    """The paths, below results/, of ok runs in virtual time whose times are not their like's.

    Runs of one cell, its seed in it, that went on from one snapshot have the same times, whenever and by
    whichever sweep or command they were run.
    """
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.path is not None and run.facts["status"] == "ok":
            hashes = run.document("host").get("raw_sha256") or {}
            of_board = {name: value for name, value in hashes.items() if name.startswith("raw/board/")}
            alike[json.dumps([run.stored, of_board], sort_keys=True)].append(run)
    found: list[str] = []
    for same in alike.values():
        folders = [RESULTS / str(run.path) for run in same]
        ids = repeats.odd_clocks(folders, [dict(run.summary) for run in same]) or []
        found += [str(run.path) for run in same if run.summary["run_id"] in ids]
    return found
