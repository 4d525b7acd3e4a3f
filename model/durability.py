"""Derive from the settings which committed transactions survive a process crash, system crash or power loss.

The modules of model/engines/ have the promises of each engine, with sources. SQLite's howtocorrupt.html, 3:
without barriers a device's volatile cache may lose or reorder synced data. The kernel's
Documentation/filesystems: `nobarrier`, `barrier=0`, `fsync_mode=nobarrier`.

A filesystem's data mode has no influence: an engine syncs what it relies on, and fsync means the same in each
mode. Without syncs (OFF), the database may be corrupt in all modes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

from base.strict_json import UnfitError
from model import engines
from model.cell import Cell
from model.engines.survival import CORRUPT

FAILURES = ("a crash of the process", "a crash of the system", "a power failure")
NO_BARRIER = {"nobarrier", "barrier=0", "fsync_mode=nobarrier"}


@dataclass(frozen=True)
class Durability:
    """What survives each of FAILURES, in the texts of model/engines/survival.py."""

    process: str
    system: str
    power: str

    def rows(self) -> list[tuple[str, str]]:
        """Return (failure, what survives it) for each of FAILURES."""
        return list(zip(FAILURES, astuple(self), strict=True))


def rule(engine: str, settings: Mapping[str, Any], mount_options: Iterable[str]) -> Durability:
    """Return what survives of an engine's transactions; settings by their names in config.json.

    Raises KeyError for an unknown or missing value.
    """
    process, system = engines.by_name(engine).survives(settings)
    return Durability(process, system, CORRUPT if NO_BARRIER & set(mount_options) else system)


def promised(cell: Cell) -> Durability:
    """Return what survives with a cell's settings."""
    options = [*cell.profiles["fs"].get("mount", []), *cell.mount_options.split(",")]
    return rule(cell.engine, engines.by_name(cell.engine).requested(cell), options)


def in_effect(manifest: Mapping[str, Any]) -> Durability:
    """Return what survives with the settings that were read back (manifest.json of an ok run).

    Raises UnfitError for an unknown or missing one.
    """
    engine, mount = engines.name_in(manifest), manifest["filesystem"]["mount"]
    try:
        settings = engines.by_name(engine).in_effect(manifest[engine])
        return rule(engine, settings, mount["options"])
    except (KeyError, TypeError):
        raise UnfitError("the engine's settings or the mount's options were not read back") from None


def differences(a: Durability, b: Durability) -> list[tuple[str, str, str]]:
    """Return (failures, what survives them in a, in b) where they differ; equal ones are joined."""
    failures: dict[tuple[str, str], list[str]] = {}
    for (failure, in_a), (_, in_b) in zip(a.rows(), b.rows(), strict=True):
        if in_a != in_b:
            failures.setdefault((in_a, in_b), []).append(failure)
    return [(" or ".join(alike), *texts) for texts, alike in failures.items()]
