"""Select the measured settings that `make advise` compares, with the speed, wear and trials of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.errors import BadInputError
from base.text import printable
from commitpath.cells import transaction_files
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.cells.transaction_files import is_of_file
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.choice import ANY, CHOSEN, POWER, Key, command, key, sweep
from commitpath.reporting.statistics import median
from commitpath.reporting.trials import Trials, limit_ms, place
from commitpath.results.marks import left_out, transactions
from commitpath.results.measurements import samples
from model import durability, engines, userfile
from model.cell import SAMPLED
from model.engines import survival
from model.statements import sqlfile

# LOSS → what may survive the failure named by SURVIVE.
LOSSES = {
    "none": (survival.ALL,),
    "last": (survival.ALL, survival.LAST),
    "recent": (survival.ALL, survival.LAST, survival.RECENT, survival.UNSYNCED),
}
# LOSS → the most transactions that trials may lose; None: any number.
MOST = {"none": 0, "last": 1, "recent": None}
# SURVIVE → the field of durability.Durability
SURVIVE = {"process": "process", "os": "system", POWER: "power"}
# The axes in which a cell differs from its trials.
CUTS = ("crash", "cuts", "cut_seed")
EVERY = ("ENGINE", ANY)


@dataclass(frozen=True)
class Setting:
    """One choice, measured: rates per second and bytes on the device per transaction.

    survives: by what its settings promise; trials: what cuts took of it, None without any. lifetime:
    transactions until the flash is worn out, None if that is unknown.
    """

    key: Key
    text: str
    tps: float
    bytes_per_transaction: float
    survives: durability.Durability
    trials: Trials | None
    lifetime: float | None = None

    def beaten_by(self, other: "Setting") -> bool:
        """Return whether another is better in speed or bytes, and worse in neither."""
        mine = (-self.tps, self.bytes_per_transaction)
        theirs = (-other.tps, other.bytes_per_transaction)
        return theirs != mine and all(b <= a for a, b in zip(mine, theirs, strict=True))

    def keeps(self, failure: str, loss: str) -> bool:
        """Return whether a failure loses no more than LOSS allows.

        A time without trials is kept by a promise to lose nothing: no other promise has a time.
        """
        ms = limit_ms(loss)
        if self.trials is not None:
            return self.trials.keeps(MOST[loss]) if ms is None else self.trials.beyond(ms) is None
        promises = LOSSES[loss if ms is None else "none"]
        return failure != POWER and getattr(self.survives, SURVIVE[failure]) in promises


def trials_like(
    run: Run, runs: Sequence[Run], failure: str, names: Sequence[str] = CHOSEN
) -> dict[Key, Trials]:
    """Return choice → its trials, of runs that are like `run` in all but the chosen axes and SIZES."""
    groups: dict[Key, list[Run]] = {}
    for other in runs:
        counts = other.facts["status"] == "ok" and other.facts["lab"] == run.facts["lab"]
        if counts and set(other.marks) <= set(run.marks) and elsewhere(other, names) == elsewhere(run, names):
            groups.setdefault(key(other.settings, names), []).append(other)
    trials = {chosen: Trials.from_runs(samples(several), failure) for chosen, several in groups.items()}
    return {chosen: tried for chosen, tried in trials.items() if tried}


def elsewhere(run: Run, names: Sequence[str]) -> tuple[str, ...]:
    """Return a run's place without the chosen axes."""
    return tuple(part for part in place(run) if part.partition("=")[0] not in names)


def comparable(
    given: dict[str, str],
    failure: str,
    runs: Sequence[Run],
    lab: str,
    own: str,
    names: Sequence[str] = CHOSEN,
) -> list[Run]:
    """Return the ok runs of a lab with the given axes that differ only in what a developer chooses (names).

    The largest such set. own: the label of this lab. Its marked runs are left out, unless the content of a
    profile is named (DEVICE=constant#b1c1).
    """
    wanted = {
        name.lower(): [value_of(name, text, given)] for name, text in given.items() if (name, text) != EVERY
    }
    contents = [name for name, (value,) in wanted.items() if "#" in value]
    marked: list[Run] = []
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        # a sweep of the other settings could not name the file of a run
        of_lab = run.facts["status"] == "ok" and run.facts["lab"] == lab
        if not of_lab or (run.cell.file and "file" not in wanted):
            continue
        if all(any(select.matches(value, v) for value in run.values(n)) for n, v in wanted.items()):
            meant = {select.other_content(name, run.cell.value(name)) for name in contents}
            if lab == own and set(run.marks) - meant:
                marked.append(run)
                continue
            fixed = [name for name in select.names([run]) if name not in (*names, *CUTS, *SAMPLED)]
            alike = (*(f"{name}={run.settings.get(name)}" for name in fixed), run.facts["uname"])
            groups.setdefault(alike, []).append(run)
    without = left_out(marked)
    if not groups:
        words = " ".join(f"{name}={text}" for name, text in given.items())
        raise BadInputError(
            f"no ok run of lab {lab} with {words}"
            + (f"; RUN=yes makes them ({command(sweep(given, failure))})" if lab == own else "")
            + (f"; {without}" if without else "")
        )
    if without:
        print(printable(f"({without})"))
    largest = max(groups.values(), key=lambda runs: len({run.facts["cell"] for run in runs}))
    if number := sum(select.UNVERIFIED in run.marks for run in largest):
        print(f"({number} of {len(largest)} runs are {select.UNVERIFIED})")
    if len(groups) > 1:
        others = sum(len(runs) for runs in groups.values()) - len(largest)
        print(
            f"({others} runs of other workloads, sizes, kernels or contents of a profile are left out; "
            "name axes to choose them)"
        )
    return largest


def value_of(name: str, text: str, given: Mapping[str, str]) -> str:
    """Return the value of an axis as in runs: of FILE the name of its content."""
    if name != "FILE":
        return select.spelled(name.lower(), text)
    workload = given.get("WORKLOAD", str(axes()["workload"].spec["default"])).partition("#")[0]
    profile = load_profile("workload", workload)
    if not is_of_file(profile):
        raise BadInputError(f"FILE={text}: WORKLOAD={workload} has transactions of its own; name WORKLOAD")
    return sqlfile.name(transaction_files.content(Path(text), userfile.kind_of(profile)))


def settings(runs: Sequence[Run], trials: dict[Key, Trials], names: Sequence[str] = CHOSEN) -> list[Setting]:
    """Return the runs by setting, medians over their samples.

    A run without bytes or transactions does not count.
    """
    always = {"journal_mode", "synchronous"} & {name for run in runs for name in run.settings}
    shown = [name for name in names if name in always or name in select.varying(runs)]
    groups: dict[tuple[str, durability.Durability], list[Run]] = {}
    for run in runs:
        if bytes_of(run) and transactions(run):
            survives = durability.in_effect(run.document("manifest"))
            unused = engines.unused_axes(str(run.cell.engine))
            text = select.label(run, [name for name in shown if name not in unused])
            groups.setdefault((text, survives), []).append(run)
    made = []
    for (text, survives), several in groups.items():
        taken = samples(several)
        tps = median([run.summary["tps"]["all"] for run in taken])
        written = median([bytes_of(run) / transactions(run) for run in taken])
        chosen = key(taken[0].settings, names)
        lifetimes = [left["transactions"] for run in taken if (left := lifetime_of(run))]
        lasts = median(lifetimes) if len(lifetimes) == len(taken) else None
        made.append(Setting(chosen, text, tps, written, survives, trials.get(chosen), lasts))
    return made


def lifetime_of(run: Run) -> dict[str, float] | None:
    """Return `lifetime` of a run's flash; None if its device has no endurance."""
    lasts: dict[str, float] | None = (run.summary.get("flash") or {}).get("lifetime")
    return lasts


def bytes_of(run: Run) -> float:
    """Return the bytes written in a run's window, by the probes or another observer; 0 without any."""
    if written := run.summary["block"]["bytes_written"]:
        return float(written)
    counted = (run.document("manifest").get("window") or {}).get("counted") or {}
    return float(
        next((count["bytes_written"] for count in counted.values() if count.get("bytes_written")), 0)
    )
