"""The items that must be reported (experiments/reporting.yml, engine/*.yml), and their values in a run."""

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from base import identity
from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, RESULTS
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.database.select import Run
from commitpath.reporting.facts import facts
from commitpath.results import distinct_runs
from model.cell import SAMPLED


@dataclass(frozen=True)
class Item:
    """An item, with the fields of the data file; place: `from`. engine: the one that has it, or None: all."""

    name: str
    label: str
    why: str
    place: str
    engine: str | None
    essential: bool = False
    when: Mapping[str, list[str]] = field(default_factory=dict)
    unless: Mapping[str, list[str]] = field(default_factory=dict)
    allowed: Sequence[str] = ()

    def applies(self, values: Mapping[str, str]) -> bool:
        """Return whether it applies with the values of other items; it does if one is unknown."""
        wanted = all(values.get(name, words[0]).lower() in words for name, words in self.when.items())
        return wanted and not any(
            values.get(name, "").lower() in words for name, words in self.unless.items()
        )


def items(engine: str | None = None) -> list[Item]:
    """Return the items in order, those of engines first. engine: without those of others."""
    names = axes()["engine"].choices() if engine is None else [engine]
    lists: list[tuple[str | None, Any]] = [(name, load_profile("engine", name)["report"]) for name in names]
    lists.append((None, load_yaml(EXPERIMENTS / "reporting.yml")))
    return [
        Item(name, place=entry["from"], engine=engine, **{key: entry[key] for key in entry if key != "from"})
        for engine, entries in lists
        for name, entry in entries.items()
    ]


def same_cell(run: Run, runs: Sequence[Run]) -> list[Run]:
    """Return the ok runs of a run's cell on any seed and board, on the same kernel in the same lab."""
    settings = {**run.settings, **dict.fromkeys(SAMPLED)}
    return [
        other
        for other in runs
        if {**other.settings, **dict.fromkeys(SAMPLED)} == settings
        and other.facts["status"] == "ok"
        and all(other.facts[name] == run.facts[name] for name in ("lab", "uname"))
    ]


def repeats(run: Run, runs: Sequence[Run]) -> dict[str, str]:
    """Return the number of runs of a run's cell, and of several (max − min)/median of their TPS."""
    others = same_cell(run, runs)
    if not others:
        return {}
    tps = [other.summary["tps"]["all"] for other in others]
    seeds = len({other.settings["seed"] for other in others})
    texts = {"runs": f"{len(others)} with {seeds} seed{'s' if seeds > 1 else ''}"}
    if (number := len(distinct_runs.samples(others))) < len(others):
        texts["runs"] += f" ({number} sample{'s' * (number != 1)})"
    if len(tps) > 1:
        texts["spread"] = f"{(max(tps) - min(tps)) / statistics.median(tps):.2g}"
    return texts


def values(run: Run, runs: Sequence[Run]) -> dict[str, str]:
    """Return item → value of a run, without missing values."""
    documents: dict[str, Any] = {
        "cell": {**run.cell.document(), **run.settings},
        "summary": run.summary,
        "manifest": run.document("manifest"),
        "repeats": repeats(run, runs),
        "read": facts(run),
    }
    texts = {}
    for item in items(run.cell.engine):
        value: Any = documents
        for part in item.place.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            value = ",".join(map(str, value))
        if value is not None and str(value).strip():
            texts[item.name] = str(value)
    return texts


def run_of_folder(name: str, runs: Sequence[Run]) -> Run:
    """Return the run in a folder below results/, or in a link to one.

    Raises BadInputError for another folder, and for the run of a watched command, which has no cell.
    """
    # Path.resolve raises at a link that leads to itself
    folder = os.path.realpath(name)
    for run in runs:
        if run.path and os.path.realpath(RESULTS / run.path) == folder:
            return run
    if (Path(folder) / identity.document({"load": identity.COMMAND})).is_file():
        raise BadInputError(f"{name}: a watched command's run; only those of a cell have reported parameters")
    raise BadInputError(f"{name}: not the folder of a run in {RESULTS} (make results lists them)")
