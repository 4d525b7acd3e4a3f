"""`make trace-synthetic`: write a synthetic trace and compare it with the study (docs/how-to/trace.md)."""

import sqlite3
from typing import Any

from base import scratch
from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.host import places
from model import synthetic
from model.statements import tracefile
from model.statements.sqlfile import SqlFileError
from model.synthetic import measure


def names() -> dict[str, dict[str, Any]]:
    """Return workload → the parameters of its synthetic trace."""
    profiles = ((name, load_profile("workload", name)) for name in axes()["workload"].files())
    return {name: profile["synthetic"] for name, profile in profiles if "synthetic" in profile}


def trace_synthetic(variables: dict[str, str]) -> int:
    """Write the trace of the workload NAME and of SEED to FILE; LabError if it differs from the study."""
    workloads, name = names(), variables.get("NAME", "")
    if name not in workloads or not variables.get("FILE"):
        raise BadInputError(
            f"NAME={name}: make trace-synthetic takes NAME={'|'.join(workloads)}, SEED, and FILE=<a new file>"
        )
    axis = axes()["seed"]
    seed = int(axis.parse(variables.get("SEED", str(axis.spec["default"])), "SEED"))
    target = places.new_file("FILE", variables["FILE"])
    profile = workloads[name]
    spec = synthetic.from_profile(profile)
    notes = [
        f"SYNTHETIC: made by commitpath, WORKLOAD={name} SEED={seed}; no program did this",
        f"fitted to the published statistics of the trace {spec.title} (experiments/workload/{name}.yml)",
    ]
    try:
        text = tracefile.write(synthetic.trace(spec, seed), notes)
        statistics = measure.executed(tracefile.parts(text), spec.checkpoints)
    except SqlFileError as error:
        raise LabError(f"NAME={name}: {error}") from None
    with scratch.whole(target) as part:
        part.write_text(text)
    rows = measure.table(spec, statistics, profile.get("told", {}))
    print(f"{name}, seed {seed}, on SQLite {sqlite3.sqlite_version} of this host; synthetic")
    print(f"{'':48}{'the study':>12}{'here':>12}")
    for words, study, here, note in rows:
        print(f"{words:48}{study:12.6g}{here:12.6g}{note and f'  {note}'}")
    print(f"{target}: {len(text.encode())} bytes")
    if far := measure.wrong(rows):
        raise LabError(f"NAME={name} SEED={seed}: {'; '.join(far)}")
    return 0
