"""`make advise`: for an app developer, the settings worth choosing among, from the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis import durability
from analysis.engines import survival
from base.errors import BadInputError
from base.text import printable, printable_lines
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.items import database
from commitpath.reporting.marks import left_out, transactions
from commitpath.reporting.statistics import median
from commitpath.variables import axes_of

# Which committed transactions may be lost after the failure named by SURVIVE.
LOSSES = {
    "none": (survival.ALL,),
    "last": (survival.ALL, survival.LAST),
    "recent": (survival.ALL, survival.LAST, survival.RECENT, survival.UNSYNCED),
}
# SURVIVE → the field of durability.Durability
SURVIVE = {"process": "process", "os": "system", "power": "power"}
# What an app developer sets; all else of a cell is where and with what it was measured.
CHOSEN = (
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "checkpoint_every",
)
GRID = "advise"


@dataclass(frozen=True)
class Setting:
    """One choice, measured: rates per second and bytes on the device per transaction."""

    text: str
    tps: float
    bytes_per_transaction: float
    runs: int
    survives: durability.Durability

    def beaten_by(self, other: "Setting") -> bool:
        """Whether another is no worse in both, and better in one."""
        mine = (-self.tps, self.bytes_per_transaction)
        theirs = (-other.tps, other.bytes_per_transaction)
        return theirs != mine and all(b <= a for a, b in zip(mine, theirs, strict=True))


def advise(options: dict[str, str]) -> int:
    """Print the Pareto set of one lab; RUN=yes first runs what the grid `advise` has for the choice."""
    names = axes_of("advise")
    failure, loss = options.get("SURVIVE", ""), options.get("LOSS", "none")
    if (
        failure not in SURVIVE
        or loss not in LOSSES
        or options.get("RUN", "yes") != "yes"
        or "FS" not in options
    ):
        missing = " and ".join(name for name in ("FS", "SURVIVE") if name not in options)
        raise BadInputError(
            f"{missing + ': missing; ' if missing else ''}make advise takes FS=<filesystem>, "
            f"SURVIVE={'|'.join(SURVIVE)} (what the data must survive), "
            f"LOSS={'|'.join(LOSSES)} (committed transactions that may be lost then), LAB=<label> (another "
            "lab's runs), RUN=yes (run what is missing), and axes to choose runs by, such as DEVICE"
        )
    given = {name: text for name, text in options.items() if name in names}
    if "RUN" in options:
        run_missing(given)
    measured = settings(comparable(given, options.get("LAB")))
    kept = [one for one in measured if getattr(one.survives, SURVIVE[failure]) in LOSSES[loss]]
    if not kept:
        raise BadInputError(
            f"SURVIVE={failure} LOSS={loss}: none of the {len(measured)} settings measured keeps that "
            "promise; LOSS=last allows more, RUN=yes measures more"
        )
    print(printable_lines(report(measured, kept, failure)))
    return 0


def run_missing(given: dict[str, str]) -> None:
    """Sweep the grid for this device and filesystem."""
    from commitpath.sweep.drive import sweep

    sweep({"GRID": GRID, **given})


def comparable(given: dict[str, str], lab: str | None) -> list[Run]:
    """Ok runs of a lab with the given axes that differ only in what a developer chooses.

    The largest such set. lab: None for this one. A marked run of this lab is left out; but who names
    the content of a profile (DEVICE=constant#b1c1) means that one, not the file of here.
    """
    wanted = {name.lower(): [select.spelled(name.lower(), text)] for name, text in given.items()}
    runs, own = database()
    contents = [name for name, (value,) in wanted.items() if "#" in value]
    marked: list[Run] = []
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        if run.facts["status"] != "ok" or run.facts["lab"] != (lab or own):
            continue
        if all(any(select.matches(value, v) for value in run.values(n)) for n, v in wanted.items()):
            meant = {select.other_content(name, run.cell[name]) for name in contents}
            if run.facts["lab"] == own and set(run.marks) - meant:
                marked.append(run)
                continue
            fixed = [name for name in select.names([run]) if name not in (*CHOSEN, "seed")]
            key = (*(f"{name}={run.settings.get(name)}" for name in fixed), run.facts["uname"])
            groups.setdefault(key, []).append(run)
    without = left_out(marked)
    if not groups:
        words = " ".join(f"{name}={text}" for name, text in given.items())
        raise BadInputError(
            f"no ok run of lab {lab or own} with {words}"
            + (f"; RUN=yes makes them (make sweep GRID={GRID} {words})" if lab in (None, own) else "")
            + (f"; {without}" if without else "")
        )
    if without:
        print(printable(f"({without})"))
    largest = max(groups.values(), key=lambda runs: len({run.facts["cell"] for run in runs}))
    if len(groups) > 1:
        others = sum(len(runs) for runs in groups.values()) - len(largest)
        print(
            f"({others} runs of other workloads, sizes, kernels or contents of a profile are left out; "
            "name axes to choose them)"
        )
    return largest


def settings(runs: Sequence[Run]) -> list[Setting]:
    """The runs by setting, medians over their seeds; a run without bytes or transactions does not count."""
    always = {"journal_mode", "synchronous"} & {name for run in runs for name in run.settings}
    shown = [name for name in CHOSEN if name in always or name in select.varying(runs)]
    groups: dict[tuple[str, durability.Durability], list[Run]] = {}
    for run in runs:
        if bytes_of(run.summary) and transactions(run):
            survives = durability.in_effect(run.document("manifest"))
            groups.setdefault((select.label(run, shown), survives), []).append(run)
    return [
        Setting(
            text,
            median([run.summary["tps"]["all"] for run in of_it]),
            median([bytes_of(run.summary) / transactions(run) for run in of_it]),
            len(of_it),
            survives,
        )
        for (text, survives), of_it in groups.items()
    ]


def bytes_of(summary: Any) -> float:
    """Bytes written to the device in a run's window; 0 where no probe counted them."""
    return float(summary["block"]["bytes_written"] or 0)


def report(measured: Sequence[Setting], kept: Sequence[Setting], failure: str) -> list[str]:
    """The Pareto set among those kept, the fastest first, and what each gives up."""
    best = [one for one in kept if not any(one.beaten_by(other) for other in kept)]
    best.sort(key=lambda one: -one.tps)
    width = max(len(one.text) for one in best)
    lines = [f"{'':{width}}  {'TPS':>10}  {'KiB/tx':>8}  gives up"]
    least = min(one.bytes_per_transaction for one in best)
    for one in best:
        gives_up = [f"after {name}: {what}" for name, what in one.survives.rows() if what != survival.ALL]
        if one.tps < best[0].tps:
            gives_up.append(f"{1 - one.tps / best[0].tps:.0%} of the fastest's speed")
        if one.bytes_per_transaction > least:
            gives_up.append(f"{one.bytes_per_transaction / least - 1:.0%} more flash wear than the least")
        kib = one.bytes_per_transaction / 1024
        lines.append(f"{one.text:{width}}  {one.tps:10.1f}  {kib:8.1f}  {'; '.join(gives_up) or 'nothing'}")
    lines.append(
        f"{len(measured)} settings measured, {len(kept)} keep the promise (SURVIVE={failure}), "
        f"{len(kept) - len(best)} of these are beaten in both speed and wear by one above"
    )
    return lines
