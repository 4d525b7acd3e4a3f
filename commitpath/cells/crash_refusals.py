"""Refuse CRASH=… for a cell if no board can run its crash trials, or their outcomes cannot be judged."""

from collections.abc import Mapping

from base.errors import BadInputError
from commitpath.cells import persistent_memory
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from images import programs
from model import devices, userfile
from model.cell import Cell
from model.crash_points.policies import FAULT, PROCESS
from model.expected_state import oracle
from model.requested import mkfs


def check(cell: Cell, variables: Mapping[str, str]) -> None:
    """Refuse a cell with impossible crash trials. Raises BadInputError."""
    for name in ("cuts", "cut_seed", "device_faults"):
        without = axes()[name].spec["x-unless"]["crash"]
        if (variable := axes()[name].among(variables)) and cell.crash in without:
            fit = [word for word in axes()["crash"].choices() if word not in without]
            raise BadInputError(
                f"{variable}={cell.value(name)}: without effect with CRASH={cell.crash}; "
                f"use CRASH={' or '.join(fit)}"
            )
    if cell.crash == "none":
        return
    setting = f"CRASH={cell.crash}"
    if (several := userfile.databases(cell.profiles.get("file", {}))) > 1:
        raise BadInputError(
            f"{setting}: WORKLOAD={cell.workload} has {several} databases here, and a trial looks at one; "
            "use CRASH=none, or a trace of one file (docs/how-to/trace.md)"
        )
    for name in ("board", "clock"):
        if cell.value(name) != "virtual":
            raise BadInputError(
                f"{setting}: {name.upper()}={cell.value(name)} does not do a run again to the bit; "
                "use BOARD=virtual and CLOCK=virtual"
            )
    if cell.crash == FAULT:
        check_faults(cell, setting)
    if cell.crash != PROCESS:
        check_history(cell, setting)
        check_ticks(cell, setting)
    if not programs.trials_folders(cell.engine):
        raise BadInputError(
            f"{setting}: ENGINE={cell.engine} has nothing that looks at a database that came up again "
            f"(workloads/engines/{cell.engine}/trials/)"
        )
    workload = axes()["workload"].files()
    if not oracle.is_known(cell.profiles["workload"]):
        fit = [name for name in workload if oracle.is_known(load_profile("workload", name))]
        raise BadInputError(
            f"{setting}: which rows WORKLOAD={cell.workload} leaves is not known beforehand; "
            f"use WORKLOAD={' or '.join(fit)}"
        )
    try:
        oracle.check(cell)
    except ValueError as error:
        where = f"FILE={variables.get('FILE') or cell.file}: " if cell.file else ""
        raise BadInputError(
            f"{setting}: {where}{error}; which rows are to come up again is known where its statements alone "
            "say it"
        ) from None


def check_faults(cell: Cell, setting: str) -> None:
    """Refuse CRASH=fault without faults, with persistent memory, or with a device that ignores commands."""
    if cell.device_faults == axes()["device_faults"].spec["default"]:
        raise BadInputError(f"{setting}: DEVICE_FAULTS is {axes()['device_faults'].allowed()}; it has none")
    if in_memory := persistent_memory.use(cell):
        raise BadInputError(f"{setting}: {in_memory[0]} is in memory that no fault of the device touches")
    if cell.profiles["device"].get("ignores"):
        raise BadInputError(
            f"{setting}: DEVICE={cell.device} ignores commands in CRASH=power only; use another profile"
        )


def check_history(cell: Cell, setting: str) -> None:
    """Refuse a device that neither shows its past states nor makes faults."""
    if devices.by_name(cell.profiles["device"]["driver"]).history is None:
        # the shortest name has no variation
        fit = next(name for name in sorted(axes()["device"].files(), key=len) if keeps_history(name))
        raise BadInputError(
            f"{setting}: DEVICE={cell.device} keeps no past states and makes no faults; use a flash device, "
            f"such as DEVICE={fit} (docs/reference/axes.md)"
        )
    device = cell.profiles["device"]
    if device["geometry"].get("meta_reliable"):
        raise BadInputError(
            f"{setting}: DEVICE={cell.device} keeps metadata like writes with FUA, which its log does not "
            f"show (experiments/device/{cell.device}.yml: meta_reliable); use a profile with 0"
        )
    if device.get("ignores") and not device["geometry"]["cache_kib"]:
        raise BadInputError(
            f"{setting}: DEVICE={cell.device} ignores {' and '.join(device['ignores'])} and has no cache to "
            f"lose (experiments/device/{cell.device}.yml: cache_kib)"
        )
    if "fua" in device.get("ignores", ()) and not device["geometry"]["fua"]:
        raise BadInputError(
            f"{setting}: DEVICE={cell.device} ignores fua, which it does not announce: the kernel sends none "
            f"(experiments/device/{cell.device}.yml)"
        )


def check_ticks(cell: Cell, setting: str) -> None:
    """Refuse a filesystem with other block commands on each board.

    Without a journal a sync writes the file's inode if a tick of the kernel's clock came between the file's
    last two writes, with lazytime too, and the boards of trials repeat the run some microseconds apart.
    """
    if not mkfs.journalled(cell):
        others = " or ".join(name for name in axes()["fs"].files() if name != cell.fs)
        raise BadInputError(
            f"{setting}: FS={cell.fs} has no journal, and whether a sync writes an inode goes by a tick of "
            f"the clock, so no board does a run's commands again; use FS={others}, or CRASH=process"
        )


def keeps_history(device: str) -> bool:
    """Return whether a device profile's driver can show past states."""
    return devices.by_name(load_profile("device", device)["driver"]).history is not None
