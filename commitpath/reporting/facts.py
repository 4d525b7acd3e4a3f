"""What a run's documents say of its board and device, as a set-up text and a report card have it.

Only what was read back or recorded: a value that is not there is left out, and told as missing.
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
# What a disk calls itself, by its kind: of a SCSI or NVMe disk, of an eMMC or SD card.
MODELS = ("model", "name")


def facts(run: Run) -> dict[str, str]:
    """Name → value, of those that are known."""
    manifest = run.document("manifest")
    board = manifest.get("board") or {}
    found = {
        "processor": processor(str(board.get("cpuinfo") or "")),
        "memory": memory(str(board.get("meminfo") or "")),
        "cpu_ns": cpu.effective(manifest.get("clock") or {}),
        "mkfs": mkfs(run.cell, manifest),
        "scheduler": scheduler(manifest),
        **device(run.cell.profiles.get("device", {}), manifest),
    }
    return {name: value for name, value in found.items() if value}


def processor(cpuinfo: str) -> str | None:
    """How many cores of which kind, of /proc/cpuinfo; None where it does not say."""
    pairs = [line.partition(":") for line in cpuinfo.splitlines()]
    told = [(name.strip(), value.strip()) for name, _, value in pairs if value.strip()]
    number = sum(name == "processor" for name, _ in told)
    first = dict(reversed(told))
    arm = (first.get("CPU implementer"), first.get("CPU part"))
    name = first.get("model name") or CORES.get(arm)  # type: ignore[arg-type]
    if name is None and all(arm):
        name = f"implementer {arm[0]}, part {arm[1]}"
    return f"{number} × {name}" if number and name else None


def memory(meminfo: str) -> str | None:
    """MiB that the kernel has, of /proc/meminfo; None where it does not say."""
    told = re.search(r"^MemTotal:\s+([0-9]{1,18}) kB$", meminfo, re.M)
    return f"{int(told[1]) / 1024:.0f} MiB" if told else None


def mkfs(cell: Cell, manifest: Mapping[str, Any]) -> str | None:
    """The release of the packages that make a run's filesystem, as the board lists them, and the options."""
    profile = cell.profiles.get("fs") or {}
    if cell.fs not in axes()["fs"].choices():
        return None
    # what is installed is no part of a setting
    packages = load_profile("fs", cell.fs)["packages"]
    versions = (manifest.get("board") or {}).get("versions") or {}
    options = [*profile.get("mkfs", []), *str(cell.mkfs_options).split()]
    if not all(versions.get(name) for name in packages):
        return None
    releases = ", ".join(f"{name} {versions[name]}" for name in packages)
    return f"mkfs.{profile.get('type')} {' '.join(options)} ({releases})"


def scheduler(manifest: Mapping[str, Any]) -> str | None:
    """The I/O scheduler in effect: /sys/block/…/queue/scheduler has it in brackets, or alone."""
    told = str(((manifest.get("device") or {}).get("queue") or {}).get("scheduler") or "").strip()
    chosen = re.search(r"\[([a-z0-9-]+)\]", told)
    return chosen[1] if chosen else told or None


def device(profile: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """The model of a device and its numbers as read back; a real one is what its disk says of itself.

    Nothing of another lab's driver that is not known here.
    """
    had: dict[str, str] = (manifest.get("device") or {}).get("parameters") or {}
    try:
        driver = devices.by_name(profile["driver"])
    except devices.UnknownDriverError:
        return {}
    if not driver.made:
        names = [had[name] for name in MODELS if had.get(name)]
        return {"device_model": names[0] if names else None, "device_parameters": pairs(had)}
    asked = [*profile.get("geometry", {}), *profile.get("timing", {}), *driver.size(0)]
    read = {name: had[name] for name in asked if name in had}
    model = f"{profile['driver']}: {profile.get('description', profile['driver'])}"
    return {"device_model": model, "device_parameters": pairs(read) if len(read) == len(asked) else None}


def pairs(values: Mapping[str, Any]) -> str:
    """`name=value` of each, separated by commas."""
    return ",".join(f"{name}={value}" for name, value in values.items())
