"""Find runs with other times than equal runs have, although all times repeat exactly in virtual time."""

import json
from collections import defaultdict
from collections.abc import Iterable

from analysis.stats import repeats
from base.paths import RESULTS
from commitpath.database.select import Run


def odd(runs: Iterable[Run]) -> list[str]:
    """Return the paths, below results/, of ok runs with times other than those of equal runs.

    Runs of one cell and seed from one snapshot, with one plan and program, have equal times in virtual time.
    A run that does not know one of the three is compared with none.
    """
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        host = run.document("host") if run.path is not None and run.facts["status"] == "ok" else {}
        plan = host.get("raw_sha256", {}).get("raw/plan.json")
        begun = [host.get("snapshots"), plan, host.get("program")]
        if all(begun):
            alike[json.dumps([run.cell.document(), *begun], sort_keys=True)].append(run)
    paths: list[str] = []
    for same in alike.values():
        folders = [RESULTS / str(run.path) for run in same]
        ids = repeats.odd_clocks(folders, [dict(run.summary) for run in same]) or []
        paths += [str(run.path) for run in same if run.summary["run_id"] in ids]
    return paths
