"""Do a run's documents (cell, summary, manifest, host) tell one story?

Nothing is read and nothing is measured here: each check compares what two of the documents say of
the same thing. So the same function holds for a run that was just analysed, for a stored one, and
for a row of another lab's database.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

from analysis import observers
from analysis.crash import fits
from analysis.instrument import cpu
from base.data import load_yaml
from base.identity import contents, settings
from base.paths import EXPERIMENTS
from model import devices, engines, filesystems
from model.durability import NO_BARRIER
from model.requested.values import AXES, probes, word

Document = Mapping[str, Any]

DATA_MODES = ("journal", "ordered", "writeback")
# What a profile of each axis has at least.
PROFILES = {
    "device": ("driver", "geometry", "timing"),
    "fs": ("type", "mkfs", "mount"),
    "workload": ("driver_workload",),
}
# Times in host.json are rounded to milliseconds.
_ROUNDED = 0.002


def reasons(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Return what contradicts what; empty if nothing does. Of a rejected run only whose documents
    they are: the rest may be why it is rejected.

    The documents fit analysis/schema.yml; manifest may lack its copy of the cell.
    """
    cell = settings(cell)
    found = _one_run(summary, manifest, host)
    if summary["status"] != "ok":
        return found
    if emptied := _emptied(cell):
        return found + emptied
    for check in (_profiles, _effective, _unasked, _probes, _numbers, _bytes, _clocks, _cpu, _cuts):
        found += check(cell, summary, manifest, host)
    return found


@functools.cache
def workloads() -> dict[str, str]:
    """What n is the number of, `each` phase's transactions or the `first`'s, by the driver's workload.

    Another lab may have more.
    """
    known = [load_yaml(path) for path in sorted((EXPERIMENTS / "workload").glob("*.yml"))]
    return {profile["driver_workload"]: profile["transactions"] for profile in known}


@functools.cache
def _known(axis: str) -> dict[str, str]:
    """What each profile of an axis that is known here asks for, as its digest, by the profile's name."""
    profiles = {path.stem: load_yaml(path) for path in sorted((EXPERIMENTS / axis).glob("*.yml"))}
    return contents({"profiles": profiles})


def _differ(what: str, **said: Any) -> list[str]:
    """Say that documents differ; nothing if they say the same."""
    values = list(said.values())
    if all(value == values[0] for value in values):
        return []
    return [f"{what}: " + ", ".join(f"{who.replace('_', ' ')} says {value!r}" for who, value in said.items())]


def _one_run(summary: Document, manifest: Document, host: Document) -> list[str]:
    """All are of one run of one cell, with the same raw files."""
    found = _differ("run_id", summary=summary["run_id"], host=host.get("run_id"))
    found += _differ(
        "cell_id", summary=summary["cell_id"], manifest=manifest["cell_id"], host=host.get("cell_id")
    )
    if "raw_sha256" in host and host["raw_sha256"] != manifest["raw_sha256"]:
        found.append("raw_sha256: host and manifest do not say the same")
    found += _differ("raw_held", summary=summary["raw_held"], host="raw_sha256" in host)
    if manifest["host"] != {key: value for key, value in host.items() if key != "raw_sha256"}:
        found.append("manifest: its copy of host.json is another")
    return found


def _emptied(cell: Document) -> list[str]:
    """Each profile says what a run of it needs: what is not requested is compared with nothing."""
    profiles = cell["profiles"]
    missing = [
        f"cell: the profile of {axis} has no {key}"
        for axis, keys in PROFILES.items()
        for key in keys
        if key not in profiles.get(axis, {})
    ]
    try:
        driver = devices.of(cell)
    except devices.UnknownDriverError as error:
        return [*missing, f"cell: {error}"]
    device, modelled = profiles.get("device", {}), driver.modelled if driver else ()
    return missing + [f"cell: the {part} of the device is empty" for part in modelled if not device.get(part)]


def _profiles(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Each axis names what its profile is, as far as a name says that; none has the content that is known
    here under another name, but for a name that nobody here knows."""
    profiles, found = cell["profiles"], []
    for axis, own in contents(cell).items():
        here = _known(axis)
        same = [name for name, content in here.items() if content == own]
        if cell.get(axis) in here and same and cell[axis] not in same:
            found += _differ(f"profile of {axis}", axis=cell[axis], content=same[0])
    fs, workload = profiles["fs"], profiles["workload"]
    kind, _, data = cell["fs"].partition("-")
    known = filesystems.find(kind) if kind in filesystems.names() else None
    if known:
        found += _differ("filesystem", axis=kind, profile=fs["type"])
    if known and known.data_mode and data in DATA_MODES:
        asked = [option.removeprefix("data=") for option in fs["mount"] if option.startswith("data=")]
        found += _differ("data mode", axis=[data], profile=asked)
    # a driver's workload, or one of its phases; one may have a dash in its name
    whole = cell["workload"].replace("-", "_")
    driver, _, phase = (whole, "", "") if whole in workloads() else cell["workload"].partition("-")
    if driver in workloads():
        found += _differ("workload", axis=driver, profile=workload["driver_workload"])
        found += _differ("phases", axis=[phase] if phase else None, profile=workload.get("phases"))
    return found


def _effective(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Everything that was asked for was in effect, and it is what the cell asks for."""
    found = [
        f"{setting['group']} {setting['name']}: requested {setting['requested']!r}, "
        f"in effect {setting['effective']!r}"
        for setting in manifest["settings"]
        if not setting["equal"] or setting["requested"] != setting["effective"]
    ]
    profiles, mount = cell["profiles"], manifest["filesystem"]["mount"] or {}
    ran = engines.name_in(manifest)
    found += _differ("engine", cell=engines.name_in(cell), manifest=ran)
    effective, engine = manifest[ran]["effective"], engines.of(ran)
    driver = {axis: manifest["driver"][axis] for axis in AXES if axis in manifest["driver"]}
    asked = {axis: cell[axis] for axis in AXES if axis in cell}
    for wanted, had in ((engine.requested(cell), effective), (asked, driver)):
        for key in {**wanted, **had}:
            if key not in wanted and word(cell.get(key)) == word(had[key]):
                continue  # an engine's own default, which it does not ask for
            if key not in wanted:
                found.append(f"cell: nothing asks for {key}; in effect {had[key]!r}")
            else:
                found += _differ(key, cell=word(wanted[key]), read_back=word(had.get(key)))
    found += _differ(
        "workload", cell=profiles["workload"]["driver_workload"], read_back=manifest["driver"].get("workload")
    )
    if (release := engine.release(cell)) is not None:
        found += _differ(engine.TITLE, cell=release, read_back=manifest[ran].get("version"))
    return found + _differ("filesystem", cell=profiles["fs"]["type"], read_back=mount.get("fs"))


def _unasked(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Nothing is in effect that changes what survives or what is written and was not asked for."""
    mount = manifest["filesystem"]["mount"] or {}
    asked = {*cell["profiles"]["fs"]["mount"], *str(cell.get("mount_options", "")).split(",")}
    unasked = [] if NO_BARRIER & asked else sorted(NO_BARRIER & set(mount.get("options", [])))
    found = [f"mount option {option}: in effect, and not requested" for option in unasked]
    ran = engines.name_in(manifest)
    engine = engines.of(ran)
    each = [one.get(engine.PROPERTIES, {}) for one in manifest[ran].get("databases", [manifest[ran]])]
    return found + [
        f"{engine.TITLE}'s {name}: in effect {had[name]!r}, and not requested"
        for name, value in engine.UNASKED.items()
        for had in each
        if word(had.get(name, value)) != value
    ]


def _probes(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """What watched is what the cell asks for, and the times are named by it."""
    told = manifest["run"].get("probes")
    if not isinstance(told, dict):
        return ["manifest: run.probes is missing"]
    wanted = probes(cell)
    # other observers are none of them; `filesystem` is that of the cell's
    kind = cell["profiles"]["fs"]["type"]
    names = sorted(name for name in wanted if name not in observers.names())
    asked = ",".join(kind if name == "filesystem" else name for name in names)
    found = _differ("probes", cell=asked, run=told.get("requested"))
    if not wanted and told.get("attached") != 0:
        found.append(f"probes: the cell asks for none, {told.get('attached')} were attached")
    sources = ["run"] if not wanted else ["twin"] if cell.get("clock") == "virtual" else ["twin", "traced"]
    if summary["timing_source"] not in sources:
        found.append(f"timing_source is {summary['timing_source']!r}, of such a cell {' or '.join(sources)}")
    if (summary.get("watching_cost") is None) != (summary["timing_source"] != "twin"):
        found.append("watching_cost: there with a twin, and only then")
    return found


def _numbers(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Rates, times and counts are those of the transactions that the cell asks for."""
    counted, tps, seconds = manifest["transactions"], summary["tps"], summary["virtual_seconds"]
    workload, n, found = cell["profiles"]["workload"], cell["n"], []
    if phases := workload.get("phases"):
        found += _differ("phases", cell=phases, run=list(counted))
    if of_n := workloads().get(workload["driver_workload"]):
        due = list(counted.values())[: None if of_n == "each" else 1]
        found += [f"{value} transactions in a phase, n is {n}" for value in due if value != n][:1]
        # of each workload that is known here the op is the phase's name
        ran = {phase for phase, number in counted.items() if number}
        found += _differ("operations", tps=sorted(tps.keys() - {"all"}), transactions=sorted(ran))
    number = sum(counted.values())
    if not math.isclose(tps["all"] * seconds, number, rel_tol=1e-9, abs_tol=1e-9):
        found.append(f"tps.all {tps['all']} in {seconds} s: not the run's {number} transactions")
    took = sum(counted[op] / rate for op, rate in tps.items() if op in counted and rate)
    if took > seconds * (1 + 1e-9):
        found.append(f"tps of the operations: {took:.6f} s, the timed region has {seconds:.6f} s")
    if summary["lost_events"]:
        found.append(f"{summary['lost_events']} events were lost")
    return found


def _bytes(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Bytes are the same wherever they are counted."""
    written, found = summary["block"]["bytes_written"], []
    if written is None:
        return []
    told = manifest["transactions"]
    each = sum(
        told[op] * (row.get("bytes_written") or 0)
        for op, row in summary["per_transaction"].items()
        if op in told
    )
    if each > written * (1 + 1e-9):
        found.append(f"bytes written in transactions: {each:.0f}, in the whole window {written}")
    sql_bytes, amplification = manifest["sql"].get("sql_bytes"), summary["write_amplification"]
    if sql_bytes and not math.isclose(amplification or 0, written / sql_bytes, rel_tol=1e-9):
        found.append(f"write_amplification is {amplification}, not {written} bytes over {sql_bytes}")
    if summary["ledger"]:
        found += _differ(
            "bytes written",
            ledger=sum(size or 0 for size in summary["ledger"]["bytes"].values()),
            block=written,
        )
        found += _causes(summary["ledger"], told, written)
    return found


def _causes(ledger: Document, told: dict[str, int], written: int) -> list[str]:
    """What transactions made written and what was for none is all that was written."""
    none = ledger["no_transaction"]
    caused = sum(
        told[op] * sum(size or 0 for size in row.values())
        for op, row in ledger["per_transaction"].items()
        if op in told
    )
    found = []
    if not math.isclose(caused + none["bytes"], written, rel_tol=1e-6, abs_tol=1):
        text = f"{caused:.0f} bytes of transactions and {none['bytes']} of none"
        found.append(f"bytes written: {text} are not the window's {written}")
    if none["bytes"] != sum(size or 0 for size in none["by"].values()):
        found.append(f"no_transaction: the bytes by reason are not {none['bytes']}")
    return found


def _clocks(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """One clock, and no part of the host's time is longer than the whole."""
    clock = cell.get("clock")
    found = _differ("clock", cell=clock, summary=summary["clock"], board=manifest["clock"].get("kind"))
    wall, run, timed, restore, start = (
        host.get(f"{name}_seconds") for name in ("wall", "run", "timed", "restore", "start")
    )
    for what, length, whole, limit in (
        ("timed_seconds", timed, "wall_seconds", wall),
        ("run_seconds and restore_seconds", _sum(run, restore), "wall_seconds", wall),
        ("start_seconds", start, "run_seconds", run),
    ):
        if length is not None and limit is not None and length > limit + _ROUNDED:
            found.append(f"host: {what}, {length} s, are more than {whole}, {limit} s")
    found += _differ("wall_seconds", summary=summary.get("wall_seconds"), host=wall)
    if clock == "virtual":
        found += _differ("timed_wall_seconds", summary=summary.get("timed_wall_seconds"), host=timed)
    return found


def _cpu(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """An instruction took what it was to take, and the CPU's share is one of the run's transactions."""
    return cpu.contradictions(cell, summary, manifest)


def _cuts(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """What cuts took is of the failure that the cell asks for."""
    return fits.contradictions(cell, summary)


def _sum(*parts: float | None) -> float | None:
    """Return the sum of numbers; None if one is not there."""
    there = [part for part in parts if part is not None]
    return sum(there) if len(there) == len(parts) else None
