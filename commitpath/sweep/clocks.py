"""Late clocks: stored runs that must have the same times, and have not."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analysis import repeats
from base.paths import RESULTS
from commitpath.sweep.plan import read_state


def odd(folders: Iterable[Path]) -> list[str]:
    """Ok runs in virtual time, of the cells that these runs are of, whose times are not their like's.

    Runs of one cell, its seed in it, that went on from one snapshot have the same times, whenever and by
    whichever sweep or command they were run. Paths below results/.
    """
    alike: dict[str, list[Path]] = defaultdict(list)
    summaries: dict[Path, dict[str, Any]] = {}
    for of_cell in sorted({folder.parent for folder in folders}):
        for folder in sorted(path.parent for path in of_cell.glob("*/host.json")):
            documents = (read_state(folder / f"{name}.json") for name in ("summary", "cell", "host"))
            summary, cell, host = documents
            if summary and cell and host and summary.get("status") == "ok":
                hashes = host.get("raw_sha256") or {}
                of_board = {name: value for name, value in hashes.items() if name.startswith("raw/board/")}
                alike[json.dumps([cell, of_board], sort_keys=True)].append(folder)
                summaries[folder] = summary
    found: list[str] = []
    for same in alike.values():
        ids = repeats.odd_clocks(same, [summaries[folder] for folder in same]) or []
        found += [str(folder.relative_to(RESULTS)) for folder in same if summaries[folder]["run_id"] in ids]
    return found
