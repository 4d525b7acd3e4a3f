"""Select the stored runs that `make advise` compares: TPS, p99, bytes, wear and crash trials of a setting."""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from base.errors import BadInputError
from commitpath.cells import transaction_files
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.cells.transaction_files import is_of_file
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.choice import ANY, CUTS, POWER, WITH_ANY, Key, differences, key, text, words
from commitpath.reporting.limits import Limits
from commitpath.reporting.trials import Trials, place
from commitpath.results import metrics
from commitpath.results.distinct_runs import samples
from commitpath.results.marks import left_out, transactions
from model import durability, userfile
from model.cell import SAMPLED
from model.statements import sqlfile


@dataclass(frozen=True)
class Setting:
    """One choice, measured: rates per second and bytes on the device per transaction.

    run: its newest. p99_ms: operation → latency, None if a run has none. survives: by what its settings
    promise; trials: what failures of SURVIVE took of it, None without any; cuts: the same of power cuts.
    lifetime: transactions until the flash is worn out, None if that is unknown.
    """

    key: Key
    text: str
    run: Run
    tps: float
    p99_ms: Mapping[str, float] | None
    bytes_per_transaction: float
    survives: durability.Durability
    trials: Trials | None
    cuts: Trials | None
    lifetime: float | None = None

    @property
    def slowest_p99(self) -> float | None:
        """The largest p99 of an operation, in ms."""
        return max(self.p99_ms.values()) if self.p99_ms else None

    @property
    def lost(self) -> float | None:
        """The most transactions that a power cut took; infinite if a database was unusable."""
        if self.cuts is None:
            return None
        return float(self.cuts.worst or 0) if self.cuts.usable else math.inf

    def fits(self, limits: Limits) -> bool:
        """Return whether it is within the limits. A p99 that was not measured is not."""
        slow = limits.p99_ms is not None and (self.slowest_p99 is None or self.slowest_p99 > limits.p99_ms)
        return not slow and limits.kept_by(self.trials, self.survives)


def trials_like(
    alike: Sequence[Run], runs: Sequence[Run], failure: str, names: Sequence[str]
) -> dict[Key, Trials]:
    """Return choice → its trials, of runs like `alike` in all but the chosen axes and SIZES."""
    groups: dict[Key, list[Run]] = {}
    where = fixed_place(alike[0], names)
    allowed = {(run.facts["lab"], mark) for run in alike for mark in run.marks}
    for other in runs:
        marks = {(other.facts["lab"], mark) for mark in other.marks}
        counts = other.facts["status"] == "ok" and marks <= allowed
        if counts and fixed_place(other, names) == where:
            groups.setdefault(key(other.settings, names), []).append(other)
    trials = {chosen: Trials.from_runs(samples(several), failure) for chosen, several in groups.items()}
    return {chosen: tried for chosen, tried in trials.items() if tried}


def fixed_place(run: Run, names: Sequence[str]) -> tuple[str, ...]:
    """Return the settings of a run, and its kernel, that trials depend on, without the chosen axes."""
    return tuple(part for part in place(run) if part.partition("=")[0] not in names)


def comparable(
    given: dict[str, str],
    runs: Sequence[Run],
    own: str,
    names: Sequence[str],
    keys_of: Callable[[str], Set[Key]],
) -> tuple[list[Run], list[str]]:
    """Return the ok runs with the given axes that differ only in what a developer chooses (names).

    Of several such sets that with the most settings of the choice (keys_of: those with a device), then
    the largest; empty without any; and notes on runs left out. own: the label of this lab. Its marked runs
    are left out, unless the content of a profile is named (DEVICE=constant#b1c1).
    """
    wanted = {
        name.lower(): [value_of(name, value, given)]
        for name, value in given.items()
        if name not in WITH_ANY or value != ANY
    }
    contents = [name for name, (value,) in wanted.items() if "#" in value]
    marked: list[Run] = []
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        # a sweep of the other settings could not name the file of a run
        if run.facts["status"] != "ok" or (run.cell.file and "file" not in wanted):
            continue
        if all(any(select.matches(value, v) for value in run.values(n)) for n, v in wanted.items()):
            meant = {select.other_content(name, run.cell.value(name)) for name in contents}
            if run.facts["lab"] == own and set(run.marks) - meant:
                marked.append(run)
                continue
            fixed = [name for name in select.names([run]) if name not in (*names, *CUTS, *SAMPLED)]
            alike = (*(f"{name}={run.settings.get(name)}" for name in fixed), run.facts["uname"])
            groups.setdefault(alike, []).append(run)
    notes = [f"  {without}"] if (without := left_out(marked)) else []

    def rank(alike: Sequence[Run]) -> tuple[int, int]:
        measured = {key(run.settings, names) for run in alike}
        return len(measured & keys_of(alike[0].cell.device)), len({run.facts["cell"] for run in alike})

    best = max(groups.values(), key=rank, default=[])
    if others := [run for several in groups.values() if several is not best for run in several]:
        differ = list(dict.fromkeys(n for run in others for n in differences(run, best[0], names)))
        how = f"ENGINE={ANY} includes them" if differ == ["engine"] else "name axes to choose them"
        notes.append(f"  {len(others)} runs that differ in {', '.join(differ)} are left out; {how}")
    return best, notes


def value_of(name: str, text: str, given: Mapping[str, str]) -> str:
    """Return the value of an axis as in runs: of FILE the name of its content."""
    if name != "FILE":
        return select.spelled(name.lower(), text)
    workload = given.get("WORKLOAD", str(axes()["workload"].spec["default"])).partition("#")[0]
    profile = load_profile("workload", workload)
    if not is_of_file(profile):
        raise BadInputError(
            f"FILE={text}: WORKLOAD={workload} has transactions of its own; add WORKLOAD=sql or trace"
        )
    return sqlfile.name(transaction_files.content(Path(text), userfile.kind_of(profile)))


def settings(runs: Sequence[Run], every: Sequence[Run], failure: str, names: Sequence[str]) -> list[Setting]:
    """Return the runs by setting, medians over their samples. every: the runs with the trials.

    A run without bytes or transactions does not count.
    """
    trials = trials_like(runs, every, failure, names) if runs else {}
    cuts = trials_like(runs, every, POWER, names) if runs else {}
    groups: dict[tuple[str, durability.Durability], list[Run]] = {}
    for run in runs:
        if bytes_of(run) and transactions(run):
            survives = durability.in_effect(run.document("manifest"))
            groups.setdefault((text(words(run.cell, names)), survives), []).append(run)
    made = []
    for (label, survives), several in groups.items():
        taken = samples(several)
        of_setting = key(taken[0].settings, names)
        # none of a device without endurance
        lasts = [(run.summary.get("flash") or {}).get("lifetime") for run in taken]
        lifetimes = [left["transactions"] for left in lasts if left]
        made.append(
            Setting(
                key=of_setting,
                text=label,
                run=taken[-1],
                tps=median([run.summary["tps"]["all"] for run in taken]),
                p99_ms=p99_of(taken),
                bytes_per_transaction=median([bytes_of(run) / transactions(run) for run in taken]),
                survives=survives,
                trials=trials.get(of_setting),
                cuts=cuts.get(of_setting),
                lifetime=median(lifetimes) if len(lifetimes) == len(taken) else None,
            )
        )
    return made


def p99_of(runs: Sequence[Run]) -> dict[str, float] | None:
    """Return the p99 of each operation in ms, medians over runs; None if one has none."""
    ops = list(runs[0].summary.get("latency_us", {}))
    values = {op: [metrics.value(run, "p99", op) for run in runs] for op in ops}
    found = {op: [ms for ms in each if ms is not None] for op, each in values.items()}
    if not found or any(len(each) < len(runs) for each in found.values()):
        return None
    return {op: median(each) for op, each in found.items()}


def bytes_of(run: Run) -> float:
    """Return the bytes written in a run's window, by the probes or another observer; 0 without any."""
    if written := run.summary["block"]["bytes_written"]:
        return float(written)
    counted = (run.document("manifest").get("window") or {}).get("counted") or {}
    return float(
        next((count["bytes_written"] for count in counted.values() if count.get("bytes_written")), 0)
    )
