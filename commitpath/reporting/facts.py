"""Read a run's board and device from its manifest: processor, memory, mkfs, scheduler, device model.

Only values that were read back or recorded; a missing value is left out, and reported as missing.
"""

import re
from collections.abc import Mapping
from typing import Any

from analysis.instrument import cpu
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.database.select import Run
from model import devices
from model.cell import Cell

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
