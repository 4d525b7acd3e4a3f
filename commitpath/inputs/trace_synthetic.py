"""`make trace-synthetic`: write a SQL trace with published statistics, or a workload mix's operations."""

import sqlite3
from typing import Any

from base import scratch
from base.errors import BadInputError, LabError
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.profiles import load_profile
from commitpath.cells.transaction_files import MOST_BYTES
from commitpath.host import places
from model import synthetic, workloads
from model.statements import tracefile
from model.statements.sqlfile import SqlFileError
from model.synthetic import measure
from model.workloads import Operation, Phase, Random, mix, requests


def names() -> dict[str, dict[str, Any]]:
    """Return workload → the parameters of its synthetic trace."""
    profiles = ((name, load_profile("workload", name)) for name in axes()["workload"].files())
    return {name: profile["synthetic"] for name, profile in profiles if "synthetic" in profile}


def mixes() -> list[str]:
    """Return the workloads that are mixes of operations."""
    return [name for name in axes()["workload"].files() if "mix" in load_profile("workload", name)]


def trace_synthetic(variables: dict[str, str]) -> int:
    """Write the trace of the workload NAME and of SEED to FILE; LabError if it differs from the study."""
    studied, name = names(), variables.get("NAME", "")
    if name not in (*studied, *mixes()) or not variables.get("FILE"):
        raise BadInputError(
            f"NAME={name}: make trace-synthetic takes NAME={'|'.join([*studied, *mixes()])}, SEED, and "
            "FILE=<a new file>"
        )
    others = {key: text for key, text in variables.items() if key not in ("NAME", "FILE")}
    if name in mixes():
        return of_mix(name, others, variables["FILE"])
    if more := sorted(others.keys() - {"SEED"}):
        raise BadInputError(f"{more[0]}: only for a mix of operations; the trace of {name} is its study's")
    axis = axes()["seed"]
    seed = int(axis.parse(variables.get("SEED", str(axis.spec["default"])), "SEED"))
    target = places.new_file("FILE", variables["FILE"])
    profile = studied[name]
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
    scratch.write(target, text)
    rows = measure.table(spec, statistics, profile.get("told", {}))
    print(f"{name}, seed {seed}, on SQLite {sqlite3.sqlite_version} of this host; synthetic")
    print(f"{'':48}{'the study':>12}{'here':>12}")
    for words, study, here, note in rows:
        print(f"{words:48}{study:12.6g}{here:12.6g}{note and f'  {note}'}")
    print(f"{target}: {len(text.encode())} bytes")
    if far := measure.wrong(rows):
        raise LabError(f"NAME={name} SEED={seed}: {'; '.join(far)}")
    return 0


def of_mix(name: str, variables: dict[str, str], file: str) -> int:
    """Write the operations of a mix, with these axes of a cell, to a new file."""
    cell = make_cell({**variables, "WORKLOAD": name})
    target = places.new_file("FILE", file)
    options = workloads.options(cell)
    names = [axis for axis in options._fields if axis not in ("mix", "requests")]
    given = " ".join(f"{axis.upper()}={getattr(options, axis)}" for axis in names)
    notes = [
        f"SYNTHETIC: made by commitpath, WORKLOAD={name} {given}; no program did this",
        f"the operations of that workload: {options.mix}",
    ]
    phase = Phase(mix.PHASES[0], options, options.rows, Random(options.seed, 0))
    rows = (Operation("insert", key, value) for key, value in mix.filled(options))
    trace = requests.Requests(tuple(rows), tuple(mix.transactions(phase)))
    text = requests.write(trace, notes)
    if len(text) > MOST_BYTES:
        raise BadInputError(
            f"FILE={file}: the trace would have {len(text)} bytes, and WORKLOAD=requests takes {MOST_BYTES}; "
            "use fewer ROWS and N"
        )
    scratch.write(target, text)
    counts = f"{len(trace.rows)} rows, {len(trace.transactions)} transactions"
    print(f"{target}: {len(text)} bytes, {counts}; synthetic")
    return 0
