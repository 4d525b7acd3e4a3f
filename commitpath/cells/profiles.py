"""Preset files, checked, and what a cell's parts ask of a board."""

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
    """(where it is, JSON Schema) of what a preset file must be; first what its device's driver asks."""
    if axis == "device" and isinstance(content, dict) and content.get("driver") in devices.names():
        path = driver_folder(content["driver"]) / "attributes.yml"
        if path.exists():
            yield str(path.relative_to(ROOT)), load_mapping(path)
    yield f"experiments/schema.yml, $defs.{axis}", schema()["$defs"][axis]


@functools.cache
def load_profile(axis: str, name: str) -> dict[str, Any]:
    """A checked preset file, such as experiments/device/constant.yml."""
    path = axes()[axis].files()[name]
    content = load_mapping(path)
    for where, asks in schemas(axis, content):
        check(path, content, asks, where)
    for part_axis, key, part in (("fs", "type", filesystems), ("device", "driver", devices)):
        if axis == part_axis and content[key] not in part.names():
            there, folder = ", ".join(part.names()), part.FOLDER.relative_to(ROOT)
            raise BadInputError(f"{path}: {key}: {content[key]!r} is none of {there} ({folder}/)")
    loaded: dict[str, Any] = content
    return loaded


def kernel_profile(cell: Cell) -> Profile:
    """The profile of a cell's kernel, which a virtual board has."""
    of_cell = cell.profiles.get("kernel", {})
    return of_cell if given.kind_of(of_cell) else load_profile("kernel", cell.kernel)


def has_module(folder: Path) -> bool:
    """Whether a part has a kernel module of ours: its folder in images/devices/ or probes/."""
    return (folder / "Kbuild").exists()


def driver_folder(driver: str) -> Path:
    """What the host has of a device driver."""
    return ROOT / "images/devices" / driver


def board_modules(cell: Cell) -> list[Path]:
    """The folders of the kernel modules that each virtual board has (images/modules/); none on a user's
    kernel that takes no module of ours."""
    kernel = kernel_profile(cell)
    if cell.board != "virtual" or (given.kind_of(kernel) and "no_modules" in kernel):
        return []
    return sorted(path.parent for path in (ROOT / "images/modules").glob("*/Kbuild"))


def logs_itself(cell: Cell) -> bool:
    """Whether the cell's device writes down each command that it gets."""
    return devices.by_name(cell.profiles["device"]["driver"]).logs


def watching(cell: Cell) -> list[str]:
    """The observers of the cell's runs; none where no probe is asked for.

    A lab board has a kernel of its own, for which no module of ours is built.
    """
    found = observers.watching([name for name in cell.probes.split(",") if name], logs_itself(cell))
    virtual = cell.board == "virtual"
    return [name for name in found if virtual or not observers.profiles()[name].get("is_module")]
