"""The list of what must be reported (experiments/reporting.yml, engine/*.yml), read from runs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, RESULTS
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.database.select import Run
from commitpath.reporting.facts import facts
from commitpath.results import measurements


@dataclass(frozen=True)
class Item:
    """One thing to report; the fields are those of the data file. engine: whose runs it is for; None: all."""

    name: str
    label: str
    why: str
    place: str
    essential: bool
    when: Mapping[str, list[str]]
    unless: Mapping[str, list[str]]
    allowed: Sequence[str]
    engine: str | None

    def asked(self, values: Mapping[str, str]) -> bool:
        """Whether it means something beside the other values; an unknown one does not excuse it."""
        wanted = all(values.get(name, words[0]).lower() in words for name, words in self.when.items())
        return wanted and not any(
            values.get(name, "").lower() in words for name, words in self.unless.items()
        )


def items(engine: str | None = None) -> list[Item]:
    """The list, in its order: first what only an engine has. engine: without what others have."""
    named = axes()["engine"].choices() if engine is None else [engine]
    lists: list[tuple[str | None, Any]] = [(name, load_profile("engine", name)["report"]) for name in named]
    lists.append((None, load_yaml(EXPERIMENTS / "reporting.yml")))
    return [
        Item(
            name,
            entry["label"],
            entry["why"],
            entry["from"],
            entry.get("essential", False),
            entry.get("when", {}),
            entry.get("unless", {}),
            entry.get("allowed", []),
            whose,
        )
        for whose, entries in lists
        for name, entry in entries.items()
    ]


def same_cell(run: Run, runs: Sequence[Run]) -> list[Run]:
    """Ok runs of a run's cell, whatever their seed, on the same kernel in the same lab."""
    settings = {**run.settings, "seed": 0}
    return [
        other
        for other in runs
        if {**other.settings, "seed": 0} == settings
        and other.facts["status"] == "ok"
        and all(other.facts[name] == run.facts[name] for name in ("lab", "uname"))
    ]


def repeats(run: Run, runs: Sequence[Run]) -> dict[str, str]:
    """How often a run's cell was run, and (max − min)/median of its TPS; no spread of a single run."""
    others = same_cell(run, runs)
    tps = sorted(other.summary["tps"]["all"] for other in others)
    seeds = len({other.settings["seed"] for other in others})
    found = {"runs": f"{len(others)} with {seeds} seed{'s' if seeds > 1 else ''}"} if others else {}
    if (distinct := len(measurements.samples(others))) < len(others):
        found["runs"] += f" ({distinct} distinct measurement{'s' * (distinct != 1)})"
    if len(tps) > 1:
        median = (tps[(len(tps) - 1) // 2] + tps[len(tps) // 2]) / 2
        found["spread"] = f"{(tps[-1] - tps[0]) / median:.2g}"
    return found


def values(run: Run, runs: Sequence[Run]) -> dict[str, str]:
    """Item → what the run says of it; without those it says nothing of."""
    documents: dict[str, Any] = {
        "cell": {**run.cell.document(), **run.settings},
        "summary": run.summary,
        "manifest": run.document("manifest"),
        "repeats": repeats(run, runs),
        "read": facts(run),
    }
    found = {}
    for item in items(run.cell.engine):
        value: Any = documents
        for part in item.place.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            value = ",".join(map(str, value))
        if value is not None and str(value).strip():
            found[item.name] = str(value)
    return found


def run_of_folder(name: str, runs: Sequence[Run]) -> Run:
    """The run in a folder below results/ (a link to one will do)."""
    # Path.resolve raises at a link that leads to itself
    folder = os.path.realpath(name)
    for run in runs:
        if run.path and os.path.realpath(RESULTS / run.path) == folder:
            return run
    raise BadInputError(f"{name}: not the folder of a run in {RESULTS} (make results lists them)")
