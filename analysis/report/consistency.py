"""Check that a run's documents (cell, summary, manifest, host) agree with each other.

Each check compares the values that two documents give for the same thing; it reads no files. It therefore
applies to a run just analysed, a stored run, and a row of another lab's database.
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
from base.identity import contents
from base.paths import EXPERIMENTS
from model import cell as cells
from model import devices, engines, filesystems
from model.cell import Cell
from model.durability import NO_BARRIER
from model.requested.values import AXES, probes, word

Document = Mapping[str, Any]

DATA_MODES = ("journal", "ordered", "writeback")
# Required keys of a profile, by axis.
PROFILES = {
    "device": ("driver", "geometry", "timing"),
    "fs": ("type", "mkfs", "mount"),
    "workload": ("driver_workload",),
}
# Times in host.json are rounded to milliseconds.
_ROUNDED = 0.002


def reasons(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Return the contradictions between the documents.

    For a rejected run only identities are compared: other differences may be the reason for rejection.
    The documents fit analysis/schema.yml; manifest may lack its copy of the cell.
    """
    configuration = cells.from_document(cell)
    contradictions = _one_run(summary, manifest, host)
    if summary["status"] != "ok":
        return contradictions
    if emptied := _emptied(configuration):
        return contradictions + emptied
    for check in (_profiles, _effective, _unasked, _probes, _numbers, _bytes, _clocks, _cpu, _cuts):
        contradictions += check(configuration, summary, manifest, host)
    return contradictions


@functools.cache
def workloads() -> dict[str, str]:
    """Return, by driver workload, the phases that have n transactions: `each` or the `first`.

    Another lab may have more workloads.
    """
    profiles = [load_yaml(path) for path in sorted((EXPERIMENTS / "workload").glob("*.yml"))]
    return {profile["driver_workload"]: profile["transactions"] for profile in profiles}


@functools.cache
def _known(axis: str) -> dict[str, str]:
    """Return {profile name: digest of its content} of an axis."""
    profiles = {path.stem: load_yaml(path) for path in sorted((EXPERIMENTS / axis).glob("*.yml"))}
    return contents(profiles)


def _differ(what: str, **values_by_document: Any) -> list[str]:
    """Return one line if the documents differ, else an empty list."""
    values = list(values_by_document.values())
    if all(value == values[0] for value in values):
        return []
    return [
        f"{what}: "
        + ", ".join(f"{who.replace('_', ' ')} says {value!r}" for who, value in values_by_document.items())
    ]


def _one_run(summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that all documents belong to one run of one cell, with the same raw files."""
    contradictions = _differ("run_id", summary=summary["run_id"], host=host.get("run_id"))
    contradictions += _differ(
        "cell_id", summary=summary["cell_id"], manifest=manifest["cell_id"], host=host.get("cell_id")
    )
    if "raw_sha256" in host and host["raw_sha256"] != manifest["raw_sha256"]:
        contradictions.append("raw_sha256: host and manifest do not say the same")
    contradictions += _differ("raw_held", summary=summary["raw_held"], host="raw_sha256" in host)
    if manifest["host"] != {key: value for key, value in host.items() if key != "raw_sha256"}:
        contradictions.append("manifest: its copy of host.json is another")
    return contradictions


def _emptied(cell: Cell) -> list[str]:
    """Check that each profile has its required keys.

    A setting that is not requested would not be compared.
    """
    profiles = cell.profiles
    missing = [
        f"cell: the profile of {axis} has no {key}"
        for axis, keys in PROFILES.items()
        for key in keys
        if key not in profiles.get(axis, {})
    ]
    try:
        driver = devices.device_of(cell)
    except devices.UnknownDriverError as error:
        return [*missing, f"cell: {error}"]
    device, modelled = profiles.get("device", {}), driver.modelled if driver else ()
    return missing + [f"cell: the {part} of the device is empty" for part in modelled if not device.get(part)]


def _profiles(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that each axis value matches the content of its profile.

    The content of a local profile may appear under another name only if that name is unknown here.
    """
    profiles, contradictions = cell.profiles, []
    for axis, digest in contents(cell.profiles).items():
        here = _known(axis)
        same = [name for name, content in here.items() if content == digest]
        if cell.has(axis) and (name := cell.value(axis)) in here and same and name not in same:
            contradictions += _differ(f"profile of {axis}", axis=name, content=same[0])
    fs, workload = profiles["fs"], profiles["workload"]
    kind, _, data = cell.fs.partition("-")
    filesystem = filesystems.by_name(kind) if kind in filesystems.names() else None
    if filesystem:
        contradictions += _differ("filesystem", axis=kind, profile=fs["type"])
    if filesystem and filesystem.data_mode and data in DATA_MODES:
        requested = [option.removeprefix("data=") for option in fs["mount"] if option.startswith("data=")]
        contradictions += _differ("data mode", axis=[data], profile=requested)
    # a driver's workload, or one of its phases; a workload's name may have a dash
    whole = cell.workload.replace("-", "_")
    driver, _, phase = (whole, "", "") if whole in workloads() else cell.workload.partition("-")
    if driver in workloads():
        contradictions += _differ("workload", axis=driver, profile=workload["driver_workload"])
        contradictions += _differ("phases", axis=[phase] if phase else None, profile=workload.get("phases"))
    return contradictions


def _effective(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that every requested setting was effective, and that the cell requests it."""
    contradictions = [
        f"{setting['group']} {setting['name']}: requested {setting['requested']!r}, "
        f"in effect {setting['effective']!r}"
        for setting in manifest["settings"]
        if not setting["equal"] or setting["requested"] != setting["effective"]
    ]
    profiles, mount = cell.profiles, manifest["filesystem"]["mount"] or {}
    ran = engines.name_in(manifest)
    contradictions += _differ("engine", cell=cell.engine, manifest=ran)
    effective, engine = manifest[ran]["effective"], engines.by_name(ran)
    driver = {axis: manifest["driver"][axis] for axis in AXES if axis in manifest["driver"]}
    asked = {axis: cell.value(axis) for axis in AXES if cell.has(axis)}
    for wanted, had in ((engine.requested(cell), effective), (asked, driver)):
        for key in {**wanted, **had}:
            if key not in wanted and word(cell.value(key) if cell.has(key) else None) == word(had[key]):
                continue  # the engine's default, which it does not request
            if key not in wanted:
                contradictions.append(f"cell: nothing asks for {key}; in effect {had[key]!r}")
            else:
                contradictions += _differ(key, cell=word(wanted[key]), read_back=word(had.get(key)))
    contradictions += _differ(
        "workload", cell=profiles["workload"]["driver_workload"], read_back=manifest["driver"].get("workload")
    )
    if (release := engine.release(cell)) is not None:
        contradictions += _differ(engine.TITLE, cell=release, read_back=manifest[ran].get("version"))
    return contradictions + _differ("filesystem", cell=profiles["fs"]["type"], read_back=mount.get("fs"))


def _unasked(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that no setting that affects durability or writes is effective unless requested."""
    mount = manifest["filesystem"]["mount"] or {}
    asked = {*cell.profiles["fs"]["mount"], *cell.mount_options.split(",")}
    unasked = [] if NO_BARRIER & asked else sorted(NO_BARRIER & set(mount.get("options", [])))
    contradictions = [f"mount option {option}: in effect, and not requested" for option in unasked]
    ran = engines.name_in(manifest)
    engine = engines.by_name(ran)
    each = [one.get(engine.PROPERTIES, {}) for one in manifest[ran].get("databases", [manifest[ran]])]
    return contradictions + [
        f"{engine.TITLE}'s {name}: in effect {had[name]!r}, and not requested"
        for name, value in engine.UNASKED.items()
        for had in each
        if word(had.get(name, value)) != value
    ]


def _probes(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that the attached probes are those of the cell, and that timing_source fits them."""
    probes_run = manifest["run"].get("probes")
    if not isinstance(probes_run, dict):
        return ["manifest: run.probes is missing"]
    wanted = probes(cell)
    # other observers are not probes; `filesystem` is the probe of the cell's filesystem
    kind = cell.profiles["fs"]["type"]
    names = sorted(name for name in wanted if name not in observers.names())
    requested = ",".join(kind if name == "filesystem" else name for name in names)
    contradictions = _differ("probes", cell=requested, run=probes_run.get("requested"))
    if not wanted and probes_run.get("attached") != 0:
        contradictions.append(f"probes: the cell asks for none, {probes_run.get('attached')} were attached")
    sources = ["run"] if not wanted else ["twin"] if cell.clock == "virtual" else ["twin", "traced"]
    if summary["timing_source"] not in sources:
        contradictions.append(
            f"timing_source is {summary['timing_source']!r}, of such a cell {' or '.join(sources)}"
        )
    if (summary.get("watching_cost") is None) != (summary["timing_source"] != "twin"):
        contradictions.append("watching_cost: there with a twin, and only then")
    return contradictions


def _numbers(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check rates, times and counts against the transactions that the cell requests."""
    counted, tps, seconds = manifest["transactions"], summary["tps"], summary["virtual_seconds"]
    workload, n, contradictions = cell.profiles["workload"], cell.n, []
    if phases := workload.get("phases"):
        contradictions += _differ("phases", cell=phases, run=list(counted))
    if of_n := workloads().get(workload["driver_workload"]):
        due = list(counted.values())[: None if of_n == "each" else 1]
        contradictions += [f"{value} transactions in a phase, n is {n}" for value in due if value != n][:1]
        # in the workloads of this repository an op has the name of its phase
        ran = {phase for phase, number in counted.items() if number}
        contradictions += _differ("operations", tps=sorted(tps.keys() - {"all"}), transactions=sorted(ran))
    number = sum(counted.values())
    if not math.isclose(tps["all"] * seconds, number, rel_tol=1e-9, abs_tol=1e-9):
        contradictions.append(f"tps.all {tps['all']} in {seconds} s: not the run's {number} transactions")
    took = sum(counted[op] / rate for op, rate in tps.items() if op in counted and rate)
    if took > seconds * (1 + 1e-9):
        contradictions.append(f"tps of the operations: {took:.6f} s, the timed region has {seconds:.6f} s")
    if summary["lost_events"]:
        contradictions.append(f"{summary['lost_events']} events were lost")
    return contradictions


def _bytes(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that all counts of bytes agree."""
    written, contradictions = summary["block"]["bytes_written"], []
    if written is None:
        return []
    transactions = manifest["transactions"]
    each = sum(
        transactions[op] * (row.get("bytes_written") or 0)
        for op, row in summary["per_transaction"].items()
        if op in transactions
    )
    if each > written * (1 + 1e-9):
        contradictions.append(f"bytes written in transactions: {each:.0f}, in the whole window {written}")
    sql_bytes, amplification = manifest["sql"].get("sql_bytes"), summary["write_amplification"]
    if sql_bytes and not math.isclose(amplification or 0, written / sql_bytes, rel_tol=1e-9):
        contradictions.append(f"write_amplification is {amplification}, not {written} bytes over {sql_bytes}")
    if summary["ledger"]:
        contradictions += _differ(
            "bytes written",
            ledger=sum(size or 0 for size in summary["ledger"]["bytes"].values()),
            block=written,
        )
        contradictions += _causes(summary["ledger"], transactions, written)
    return contradictions


def _causes(ledger: Document, told: dict[str, int], written: int) -> list[str]:
    """Check that bytes caused by transactions and by none add up to all bytes written."""
    none = ledger["no_transaction"]
    caused = sum(
        told[op] * sum(size or 0 for size in row.values())
        for op, row in ledger["per_transaction"].items()
        if op in told
    )
    contradictions = []
    if not math.isclose(caused + none["bytes"], written, rel_tol=1e-6, abs_tol=1):
        text = f"{caused:.0f} bytes of transactions and {none['bytes']} of none"
        contradictions.append(f"bytes written: {text} are not the window's {written}")
    if none["bytes"] != sum(size or 0 for size in none["by"].values()):
        contradictions.append(f"no_transaction: the bytes by reason are not {none['bytes']}")
    return contradictions


def _clocks(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that the clocks agree and that no part of the host's time exceeds the whole."""
    clock = cell.clock
    contradictions = _differ(
        "clock", cell=clock, summary=summary["clock"], board=manifest["clock"].get("kind")
    )
    wall, run, timed, restore, start = (
        host.get(f"{name}_seconds") for name in ("wall", "run", "timed", "restore", "start")
    )
    for what, length, whole, limit in (
        ("timed_seconds", timed, "wall_seconds", wall),
        ("run_seconds and restore_seconds", _sum(run, restore), "wall_seconds", wall),
        ("start_seconds", start, "run_seconds", run),
    ):
        if length is not None and limit is not None and length > limit + _ROUNDED:
            contradictions.append(f"host: {what}, {length} s, are more than {whole}, {limit} s")
    contradictions += _differ("wall_seconds", summary=summary.get("wall_seconds"), host=wall)
    if clock == "virtual":
        contradictions += _differ("timed_wall_seconds", summary=summary.get("timed_wall_seconds"), host=timed)
    return contradictions


def _cpu(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check the time of an instruction and the CPU's share."""
    return cpu.contradictions(cell, summary, manifest)


def _cuts(cell: Cell, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Check that the crash results fit the failure that the cell requests."""
    return fits.contradictions(cell, summary)


def _sum(*parts: float | None) -> float | None:
    """Return the sum, or None if a part is missing."""
    there = [part for part in parts if part is not None]
    return sum(there) if len(there) == len(parts) else None
