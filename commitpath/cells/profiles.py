"""Load checked profiles (engine, filesystem, device, kernel); find a cell's kernel modules and observers."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from base.data import load_mapping
from base.errors import BadInputError
from base.paths import ROOT
from base.schema import schema
from commitpath.cells import observers
from commitpath.cells.axes import axes
from commitpath.cells.data_files import check
from images import given
from model import devices, filesystems
from model.cell import Cell, Profile


def schemas(axis: str, content: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, JSON Schema) of each schema for a profile; a device's driver may have one."""
    if axis == "device" and isinstance(content, dict) and content.get("driver") in devices.names():
        path = driver_folder(content["driver"]) / "attributes.yml"
        if path.exists():
            yield str(path.relative_to(ROOT)), load_mapping(path)
    yield f"experiments/schema.yml, $defs.{axis}", schema()["$defs"][axis]


@functools.cache
def load_profile(axis: str, name: str) -> dict[str, Any]:
    """Return a checked profile, such as experiments/device/constant.yml."""
    path = axes()[axis].files()[name]
    content = completed(axis, path, load_mapping(path))
    for where, part in schemas(axis, content):
        check(path, content, part, where)
    for part_axis, key, package in (("fs", "type", filesystems), ("device", "driver", devices)):
        if axis == part_axis and content[key] not in package.names():
            names, folder = ", ".join(package.names()), package.FOLDER.relative_to(ROOT)
            raise BadInputError(f"{path}: {key}: {content[key]!r} is unknown; there are {names} ({folder}/)")
    return {key: value for key, value in content.items() if key != "like"}


def completed(axis: str, path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Return a device's profile with what it leaves to the one that it is `like`. Raises BadInputError."""
    if axis != "device" or "like" not in content:
        return content
    files, name = axes()[axis].files(), str(content["like"])
    if name not in files or "like" in load_mapping(files[name]):
        others = [other for other, file in files.items() if "like" not in load_mapping(file)]
        raise BadInputError(f"{path}: like: {name!r} is not a whole profile; there are {', '.join(others)}")
    if "description" not in content:
        raise BadInputError(f"{path}: description: missing; it distinguishes this profile from {name}")
    return with_whole(content, load_profile(axis, name))


def with_whole(content: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """Return a device's profile with what it leaves to a whole one."""
    parts = {
        part: {**whole[part], **content[part]}
        for part in ("geometry", "timing")
        if isinstance(content.get(part), dict)
    }
    return {**whole, **content, **parts}


def other_fits(device: str) -> list[str]:
    """Return the profiles that are like a device's and have its sources, not their own: they fit as well."""
    every = {name: load_mapping(path) for name, path in axes()["device"].files().items()}
    fits = [name for name, own in every.items() if own.get("like") == device and "sources" not in own]
    return [name for name in fits if load_profile("device", name)["sources"]]


def common_filesystems() -> set[str]:
    """Return the types of filesystems that every virtual board can make."""
    profiles = [load_profile("fs", name) for name in axes()["fs"].files()]
    return {profile["type"] for profile in profiles if "own_board" not in profile}


def own_packages(cell: Cell) -> list[str]:
    """Return the Debian packages of a cell's filesystem that other virtual boards lack."""
    profile = load_profile("fs", cell.fs)
    return list(profile["packages"]) if "own_board" in profile else []


def device_profile(device: str, state: str) -> dict[str, Any]:
    """Return the profile of a device in a state. Raises BadInputError for a device that has no such state."""
    profile = load_profile("device", device)
    if state == axes()["device_state"].spec["default"]:
        return profile
    if not profile["geometry"].get("gc_blocks"):
        maps = [
            name
            for name in axes()["device"].files()
            if load_profile("device", name)["geometry"].get("gc_blocks")
        ]
        raise BadInputError(
            f"DEVICE_STATE={state}: DEVICE={device} has no page map to fill and overwrite; "
            f"use DEVICE={' or '.join(maps)}"
        )
    parameters = {name: n for name, n in load_profile("device_state", state).items() if name != "description"}
    return {**profile, "geometry": {**profile["geometry"], **parameters}}


def kernel_profile(cell: Cell) -> Profile:
    """Return the profile of a cell's kernel, for a virtual board."""
    of_cell = cell.profiles.get("kernel", {})
    return of_cell if given.kind_of(of_cell) else load_profile("kernel", cell.kernel)


def has_module(folder: Path) -> bool:
    """Return whether a folder of images/devices/ or probes/ has a kernel module of ours."""
    return (folder / "Kbuild").exists()


def driver_folder(driver: str) -> Path:
    """Return the folder of a device driver."""
    return ROOT / "images/devices" / driver


def board_modules(cell: Cell) -> list[Path]:
    """Return the folders of the kernel modules on each virtual board (images/modules/).

    A user's kernel may take none.
    """
    kernel = kernel_profile(cell)
    if cell.board != "virtual" or (given.kind_of(kernel) and "no_modules" in kernel):
        return []
    return sorted(path.parent for path in (ROOT / "images/modules").glob("*/Kbuild"))


def logs_itself(cell: Cell) -> bool:
    """Return whether the cell's device logs its commands."""
    return devices.by_name(cell.profiles["device"]["driver"]).logs


def unlogged_by(cell: Cell) -> str | None:
    """Return the axis with a value that leaves the engine without a call log; None: it has one."""
    values = load_profile("engine", cell.engine).get("unlogged", {})
    return next((axis for axis, among in values.items() if cell.value(axis) in among), None)


def watching(cell: Cell) -> list[str]:
    """Return the observers of the cell's runs; none without probes.

    On a lab board no kernel module of ours can be loaded.
    """
    names = observers.watching([name for name in cell.probes.split(",") if name], logs_itself(cell))
    return [
        name for name in names if cell.board == "virtual" or not observers.profiles()[name].get("is_module")
    ]
