"""Compare a run's documents: unrequested settings, number of transactions in a phase, host times."""

import functools
from collections.abc import Mapping
from typing import Any

from base.data import load_yaml
from base.paths import EXPERIMENTS
from model import cell as cells
from model import devices, engines
from model.cell import Cell
from model.durability import NO_BARRIER
from model.requested.values import word

Document = Mapping[str, Any]

# Times in host.json are rounded to milliseconds.
_ROUNDED = 0.002


def reasons(cell: Document, summary: Document, manifest: Document, host: Document) -> list[str]:
    """Return the contradictions between the documents of an accepted run.

    The differences of a rejected run may be the reason for its rejection.
    """
    if summary["status"] != "ok":
        return []
    configuration = cells.from_document(cell)
    return [
        *_model(configuration),
        *_unrequested(configuration, manifest),
        *_transactions(configuration, manifest),
        *_times(host),
    ]


@functools.cache
def workloads() -> dict[str, str]:
    """Return, by driver workload, the phases that have n transactions: `each` or the `first`."""
    profiles = [load_yaml(path) for path in sorted((EXPERIMENTS / "workload").glob("*.yml"))]
    return {profile["driver_workload"]: profile["transactions"] for profile in profiles}


def _model(cell: Cell) -> list[str]:
    """Check that the device's profile has each part of its model: a missing one is not requested."""
    driver, profile = devices.device_of(cell), cell.profiles.get("device", {})
    parts = driver.modelled if driver else ()
    return [f"cell: the {part} of the device is empty" for part in parts if not profile.get(part)]


def _unrequested(cell: Cell, manifest: Document) -> list[str]:
    """Check that no setting that affects durability or writes is effective unless requested."""
    mount = manifest["filesystem"]["mount"] or {}
    requested = {*cell.profiles["fs"]["mount"], *cell.mount_options.split(",")}
    options = [] if NO_BARRIER & requested else sorted(NO_BARRIER & set(mount.get("options", [])))
    ran = engines.name_in(manifest)
    engine = engines.by_name(ran)
    databases = [
        database.get(engine.PROPERTIES, {}) for database in manifest[ran].get("databases", [manifest[ran]])
    ]
    return [f"mount option {option}: in effect, and not requested" for option in options] + [
        f"{engine.TITLE}'s {name}: in effect {effective[name]!r}, and not requested"
        for name, value in engine.UNASKED.items()
        for effective in databases
        if word(effective.get(name, value)) != value
    ]


def _transactions(cell: Cell, manifest: Document) -> list[str]:
    """Check that each phase has the number of transactions that the cell requests."""
    of_n = workloads().get(cell.profiles["workload"]["driver_workload"])
    counts = list(manifest["transactions"].values())[: {"each": None, "first": 1}.get(of_n or "", 0)]
    return [f"{count} transactions in a phase, n is {cell.n}" for count in counts if count != cell.n][:1]


def _times(host: Document) -> list[str]:
    """Check that no part of the host's time exceeds the whole."""
    wall, run, timed, restore, start = (
        host.get(f"{name}_seconds") for name in ("wall", "run", "timed", "restore", "start")
    )
    both = None if run is None or restore is None else run + restore
    return [
        f"host: {name}, {part} s, are more than {limit}, {whole} s"
        for name, part, limit, whole in (
            ("timed_seconds", timed, "wall_seconds", wall),
            ("run_seconds and restore_seconds", both, "wall_seconds", wall),
            ("start_seconds", start, "run_seconds", run),
        )
        if part is not None and whole is not None and part > whole + _ROUNDED
    ]
