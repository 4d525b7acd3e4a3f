"""Are the numbers of another lab's run what its files give?"""

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commitpath.database import files, process, rows
from commitpath.database.store import DatabaseError

# What two versions of the analysis may word in two ways, or say of themselves; host is compared
# as a document of its own.
_WORDING = {"reasons", "cell_name", "settings", "analysis", "host"}
# Other processors round sums in another way.
_ROUNDING = 1e-6
# Of a summary what is measured: whoever tells of more than its files give made it up. An older
# analysis may tell of less.
_MEASURED = {
    *("tps", "syncs", "latency_us", "per_transaction", "block", "ledger", "content"),
    *("watching_cost", "cpu_ns", "cpu_share", "unchanged", "pace", "flash"),
}


def check(source: Path, theirs: sqlite3.Connection, part: Path, there: str, row: Mapping[str, Any]) -> None:
    """Unpack a run's files to PART and analyse them; refuse numbers that they do not give (DatabaseError).

    there: the run's lab in the import; row: as it would be here. Where the import has no
    contents, files are looked at that are here from an older one.
    """
    query = "SELECT name, content FROM file WHERE lab = ? AND cell_id = ? AND run_id = ?"
    contents = theirs.execute(query, (there, row["cell_id"], row["run_id"]))
    unpacked = files.unpack(part, row, contents)
    folder = unpacked or files.folder_below(files.IMPORTED, row)
    if row["summary"] is None or not folder.is_dir():
        return
    what = f"{source}: {rows.name('run', row)}"
    try:
        kept = ("kept",) if unpacked else ()
        found = json.loads(process.run(what, "recomputed", str(folder), *kept).stdout)
    except DatabaseError as error:
        said = str(error).replace(f"{folder}/", "")
        raise DatabaseError(f"{what}: its files cannot be analysed: {said}; nothing was imported") from None
    for column in ("summary", "manifest"):
        for difference in differences(json.loads(row[column]), found[column]):
            raise DatabaseError(f"{what}: {column}: {difference}; nothing was imported")


def differences(told: Mapping[str, Any], found: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Say of each value that both have, and that is not the same but for rounding, what it is in both.

    Another version of the analysis may have written more of them, or fewer; but of _MEASURED nothing
    is told that is not found.
    """
    for key in sorted(told.keys() - _WORDING):
        place = f"{where}{key}"
        if key not in found:
            if place.partition(".")[0] in _MEASURED:
                yield f"{place} is {json.dumps(told[key])[:100]}, its files give no such number"
            continue
        one, other = told[key], found[key]
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other, f"{place}.")
        elif isinstance(one, int | float) and isinstance(other, int | float):
            if not math.isclose(one, other, rel_tol=_ROUNDING):
                yield f"{place} is {one}, its files give {other}"
        elif one != other:
            yield f"{place} is {json.dumps(one)[:100]}, its files give {json.dumps(other)[:100]}"
