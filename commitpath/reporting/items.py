"""Items that a paper must report, and their values in a run or over the repeats of its cell.

experiments/reporting.yml and engine/*.yml name them. Values of a run's board and device are
those read back or recorded; a missing one is reported as such.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.instrument import cpu
from analysis.stats import spread
from base import identity
from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, RESULTS
from base.text import counted
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.database.select import Run
from commitpath.results import distinct_runs, run_folders
from model import devices
from model.cell import SAMPLED, Cell


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
    """Return the ok runs of a run's cell on any seed and board, on the same kernel in the same lab.

    A run of another folder than results has no others.
    """
    if "lab" not in run.facts:
        return [run] if run.facts["status"] == "ok" else []
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
    seeds, boards = (len({other.settings[name] for other in others}) for name in ("seed", "board_number"))
    texts = {"runs": f"{len(others)} with {counted(seeds, 'seed')}"}
    if boards > 1:
        texts["runs"] += f" on {boards} boards"
    if (number := len(distinct_runs.samples(others))) < len(others):
        texts["runs"] += f" ({counted(number, 'sample')})"
    if len(tps) > 1:
        texts["spread"] = f"{spread.spread(tps):.2g}"
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
    """Return the run in a folder, or in a link to one.

    Raises BadInputError for a folder without one, and for the run of a watched command, which has no cell.
    """
    # Path.resolve raises at a link that leads to itself
    folder = os.path.realpath(name)
    for run in runs:
        if run.path and os.path.realpath(RESULTS / run.path) == folder:
            return run
    if (Path(folder) / identity.document({"load": identity.COMMAND})).is_file():
        raise BadInputError(f"{name}: a watched command's run; only those of a cell have reported parameters")
    if (Path(folder) / "cell.json").is_file():
        return run_folders.read(Path(folder))
    raise BadInputError(f"{name}: not the folder of a run (make results lists them)")


# (implementer, part) of /proc/cpuinfo → the core's name: MIDR_EL1 in its Technical Reference Manual
CORES = {("0x41", "0xd08"): "Cortex-A72", ("0x41", "0xd0b"): "Cortex-A76"}
# The parameter with the name of a disk: of a SCSI or NVMe disk, of an eMMC or SD card.
MODELS = ("model", "name")


def facts(run: Run) -> dict[str, str]:
    """Return name → value, without missing values."""
    manifest = run.document("manifest")
    board = manifest.get("board") or {}
    kib = re.search(r"^MemTotal:\s+([0-9]{1,18}) kB$", str(board.get("meminfo") or ""), re.M)
    values = {
        "processor": processor(str(board.get("cpuinfo") or "")),
        "memory": f"{int(kib[1]) / 1024:.0f} MiB" if kib else None,
        "cpu_ns": cpu.effective(manifest.get("clock") or {}),
        "mkfs": mkfs(run.cell, manifest),
        "scheduler": scheduler(manifest),
        **device(run.cell.profiles.get("device", {}), manifest),
    }
    return {name: value for name, value in values.items() if value}


def processor(cpuinfo: str) -> str | None:
    """Return the number and kind of cores in /proc/cpuinfo; None if it lacks them."""
    lines = [line.partition(":") for line in cpuinfo.splitlines()]
    entries = [(name.strip(), value.strip()) for name, _, value in lines if value.strip()]
    number = sum(name == "processor" for name, _ in entries)
    first = dict(reversed(entries))
    implementer, part = first.get("CPU implementer"), first.get("CPU part")
    name = first.get("model name") or CORES.get((str(implementer), str(part)))
    if name is None and implementer and part:
        name = f"implementer {implementer}, part {part}"
    return f"{number} × {name}" if number and name else None


def mkfs(cell: Cell, manifest: Mapping[str, Any]) -> str | None:
    """Return the options of mkfs, and the releases of its packages on the board."""
    profile = cell.profiles.get("fs") or {}
    if cell.fs not in axes()["fs"].choices():
        return None
    # a stored profile has no packages
    packages = load_profile("fs", cell.fs)["packages"]
    versions = (manifest.get("board") or {}).get("versions") or {}
    options = [*profile.get("mkfs", []), *str(cell.mkfs_options).split()]
    if not all(versions.get(name) for name in packages):
        return None
    releases = ", ".join(f"{name} {versions[name]}" for name in packages)
    return f"mkfs.{profile.get('type')} {' '.join(options)} ({releases})"


def scheduler(manifest: Mapping[str, Any]) -> str | None:
    """Return the I/O scheduler in effect: in brackets in /sys/block/…/queue/scheduler, or alone."""
    text = str(((manifest.get("device") or {}).get("queue") or {}).get("scheduler") or "").strip()
    chosen = re.search(r"\[([a-z0-9-]+)\]", text)
    return chosen[1] if chosen else text or None


def device(profile: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the model of a device and its parameters as read back; nothing for an unknown driver.

    The model of a real device is the name that it reports.
    """
    parameters: dict[str, str] = (manifest.get("device") or {}).get("parameters") or {}
    try:
        driver = devices.by_name(profile["driver"])
    except devices.UnknownDriverError:
        return {}
    if not driver.made:
        model = next((parameters[name] for name in MODELS if parameters.get(name)), None)
        return {"device_model": model, "device_parameters": pairs(parameters)}
    names = [*profile.get("geometry", {}), *profile.get("timing", {}), *driver.size(0)]
    complete = all(name in parameters for name in names)
    return {
        "device_model": f"{profile['driver']}: {profile.get('description', profile['driver'])}",
        "device_parameters": pairs({name: parameters[name] for name in names}) if complete else None,
    }


def pairs(values: Mapping[str, Any]) -> str:
    """Return `name=value` of each, separated by commas."""
    return ",".join(f"{name}={value}" for name, value in values.items())
