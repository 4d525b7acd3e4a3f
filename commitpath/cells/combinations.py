"""Refuse a cell with settings that no board can run together; the error names values that can."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.paths import ROOT
from commitpath.cells import filesystem_options, observers, persistent_memory
from commitpath.cells.axes import POWERS, axes, newest, version_key
from commitpath.cells.profiles import driver_folder, has_module, kernel_profile, load_profile, watching
from images import given
from model import devices, engines, pace, workloads
from model.cell import MIX, Cell
from model.crash_points.policies import FAULT

# LEAST_SIZE and DIGITS of workloads/workloads/mix.c
LEAST_ZIPFIAN_SIZE, LEAST_CHANGED_SIZE = 64, 8


def check_engine(cell: Cell, only: list[str] | None) -> None:
    """Refuse a workload that the engine cannot run, and values that it does not take.

    only: the engines that run the workload; None for all.
    """
    engine = cell.engine
    if only is not None and engine not in only:
        raise BadInputError(
            f"ENGINE={engine}: WORKLOAD={cell.workload} is for {', '.join(only)} only "
            f"(experiments/workload/{cell.workload}.yml)"
        )
    profile = load_profile("engine", engine)
    for name, values in profile.get("allowed", {}).items():
        if cell.value(name) not in values:
            raise BadInputError(
                f"{name.upper()}={cell.value(name)}: ENGINE={engine} takes {', '.join(values)} "
                f"(experiments/engine/{engine}.yml)"
            )
    for name, values in profile.get("only_with", {}).items():
        for other, fit in values.get(cell.value(name), {}).items():
            if str(cell.value(other)) in fit:
                continue
            if str(cell.value(name)) == str(axes()[name].spec["default"]):
                # the user gave the other one
                raise BadInputError(
                    f"{other.upper()}={cell.value(other)}: ENGINE={engine} takes it with another "
                    f"{name.upper()} than {cell.value(name)} (experiments/engine/{engine}.yml)"
                )
            raise BadInputError(
                f"{name.upper()}={cell.value(name)}: ENGINE={engine} takes it with {other.upper()}="
                f"{' or '.join(one or 'none' for one in fit)}, not {cell.value(other)} "
                f"(experiments/engine/{engine}.yml)"
            )
    for name, (times, part) in profile.get("at_least", {}).items():
        if cell.value(name) < (least := times * cell.value(part)):
            raise BadInputError(
                f"{name.upper()}={cell.value(name)}: ENGINE={engine} takes {least} or more with "
                f"{part.upper()}={cell.value(part)} (experiments/engine/{engine}.yml)"
            )
    fs = load_profile("fs", cell.fs)
    for name, values in profile.get("needs_of_fs", {}).items():
        if (needed := values.get(cell.value(name))) and needed not in fs:
            have = [each for each in axes()["fs"].files() if needed in load_profile("fs", each)]
            raise BadInputError(
                f"{name.upper()}={cell.value(name)}: FS={cell.fs} has no {needed}; use FS={' or '.join(have)}"
            )


def check_settings(cell: Cell, variables: Mapping[str, str]) -> None:
    """Refuse settings that the engine lacks, and those without effect."""
    engine = cell.engine
    for name in sorted(engines.unused_axes(engine)):
        if variable := axes()[name].among(variables):
            raise BadInputError(f"{variable}: not a setting of ENGINE={engine}; {engines_with(name)}")
    for name in engines.setting_axes(engine):
        for other, without in axes()[name].spec.get("x-unless", {}).items():
            if (variable := axes()[name].among(variables)) and cell.value(other) in without:
                fit = [word for word in words(engine, other) if word not in without]
                raise BadInputError(
                    f"{variable}={cell.value(name)}: without effect with "
                    f"{other.upper()}={cell.value(other)}; use {other.upper()}={' or '.join(fit)}"
                )


def words(engine: str, name: str) -> list[str]:
    """Return the values of an axis that an engine takes; empty if the axis is a number."""
    allowed = load_profile("engine", engine).get("allowed", {}).get(name)
    return [str(value) for value in allowed or axes()[name].choices()]


def engines_with(name: str) -> str:
    """Return the engines that have a setting, with the values that each takes."""
    by_values: dict[str, list[str]] = {}
    for engine in engines.names():
        if name not in engines.unused_axes(engine):
            takes = ", ".join(words(engine, name)) or axes()[name].allowed().removesuffix(POWERS)
            by_values.setdefault(takes, []).append(engine)
    return "; ".join(f"ENGINE={' or '.join(names)} takes {takes}" for takes, names in by_values.items())


def check_clock(cell: Cell, variables: Mapping[str, str]) -> None:
    """Refuse CPU_NS on a clock that does not count instructions."""
    if "CPU_NS" not in variables:
        return
    for name in ("board", "clock"):
        if cell.value(name) != "virtual":
            raise BadInputError(
                f"CPU_NS={cell.cpu_ns}: {name.upper()}={cell.value(name)} has a CPU that takes its own time; "
                "CPU_NS is for CLOCK=virtual on the virtual board"
            )


def check_workload(cell: Cell, profile: Mapping[str, Any]) -> None:
    """Refuse values that the driver's workload would refuse later, on a prepared board."""
    if cell.pace == pace.RECORDED and not profile.get("trace"):
        raise BadInputError(
            f"PACE={cell.pace}: WORKLOAD={cell.workload} has no recorded times; use WORKLOAD=trace, or "
            "a rate such as PACE=1/s"
        )
    if cell.writers != "1" and profile.get("file"):
        raise BadInputError(
            f"WRITERS={cell.writers}: WORKLOAD={cell.workload} has transactions of a file, which may begin "
            "their own; use another, such as apsys17"
        )
    if "mix" not in profile:
        for axis in axes().values():
            if axis.spec["x-of"] == MIX and cell.value(axis.name) != axis.spec["default"]:
                raise BadInputError(
                    f"{axis.variable}: WORKLOAD={cell.workload} is not a mix of operations; use one that is, "
                    "such as ycsb-a (docs/reference/mixes.md)"
                )
    elif cell.batch > 1 and "read-modify-write" in profile["mix"]:
        raise BadInputError(
            f"BATCH={cell.batch}: WORKLOAD={cell.workload} has read-modify-writes, and a key-value store's "
            "batch does not read what it writes; use BATCH=1"
        )
    updates = {"update", "read-modify-write"} & profile.get("mix", {}).keys()
    if updates and cell.value_size < LEAST_CHANGED_SIZE:
        raise BadInputError(
            f"VALUE_SIZE={cell.value_size}: WORKLOAD={cell.workload} has updates, and a value begins with "
            f"{LEAST_CHANGED_SIZE} digits; shorter ones are equal, and an update would change nothing"
        )
    if cell.value_size_distribution == "zipfian" and cell.value_size <= LEAST_ZIPFIAN_SIZE:
        raise BadInputError(
            f"VALUE_SIZE={cell.value_size}: with VALUE_SIZE_DISTRIBUTION=zipfian sizes are from "
            f"{LEAST_ZIPFIAN_SIZE} to VALUE_SIZE, which is more"
        )
    most, least = profile.get("most", {}), profile.get("least", {})
    beyond = [(name, "most", limit) for name, limit in most.items() if cell.value(name) > limit]
    beyond += [(name, "least", limit) for name, limit in least.items() if cell.value(name) < limit]
    for name, end, limit in beyond:
        raise BadInputError(
            f"{name.upper()}={cell.value(name)}: WORKLOAD={cell.workload} takes at {end} {limit} "
            f"(experiments/workload/{cell.workload}.yml)"
        )


def check_kernel(cell: Cell, fs: Mapping[str, Any]) -> None:
    """Refuse a kernel that lacks what the cell needs. fs: the profile of its filesystem."""
    name, kernel = f"KERNEL={cell.kernel}", kernel_profile(cell)
    if cell.board != "virtual" and cell.kernel != axes()["kernel"].spec["default"]:
        raise BadInputError(f"{name}: BOARD={cell.board} has a kernel of its own")
    driver = driver_folder(cell.profiles["device"]["driver"])
    if given.kind_of(kernel):
        given.check(kernel, needed_options(cell, fs, driver))
    if not mounts(kernel, fs):
        fit = [each for each in axes()["fs"].files() if mounts(kernel, load_profile("fs", each))]
        raise BadInputError(
            f"FS={cell.fs}: what its mkfs makes is mounted by Linux {fs['since']} and later, and {name} "
            f"is {kernel['release']} (experiments/fs/{cell.fs}.yml); use FS={' or '.join(fit)}"
        )
    why = kernel.get("no_modules")
    if why and has_module(driver):
        fit = [each for each in axes()["device"].files() if fits_any_kernel(each)]
        raise BadInputError(
            f"DEVICE={cell.device}: its driver is a kernel module of ours, which cannot be built for "
            f"{name}: {why}; use DEVICE={' or '.join(fit)}"
        )
    watched = watching(cell)
    by_module = [each for each in watched if has_module(ROOT / "probes" / each)]
    if unwatched := watched and (kernel.get("unwatched") or (by_module and why)):
        raise BadInputError(f"PROBES={cell.probes}: {name} cannot be watched: {unwatched}; use PROBES=none")


def needed_options(cell: Cell, fs: Mapping[str, Any], driver: Path) -> dict[str, list[str]]:
    """Return the options that a kernel's config needs, by what needs them."""
    of_boards = load_yaml(given.OPTIONS)
    needed: dict[str, list[str]] = {"the virtual board": of_boards["board"], f"FS={cell.fs}": fs["options"]}
    if (of_driver := driver / "options.yml").exists():
        needed[f"DEVICE={cell.device}"] = load_yaml(of_driver)
    if in_memory := persistent_memory.use(cell):
        needed[in_memory[0]] = of_boards["persistent"]
    for each in watching(cell):
        needed[f"the observer {each} (not with PROBES=none)"] = observers.profiles()[each].get("options", [])
    return needed


def mounts(kernel: Mapping[str, Any], fs: Mapping[str, Any]) -> bool:
    """Return whether a kernel's release mounts what a filesystem's mkfs makes."""
    if "since" not in fs:
        return True
    numbers = re.match(r"[0-9]+([.][0-9]+)*", kernel["release"])
    return numbers is not None and version_key(numbers[0]) >= version_key(fs["since"])


def fits_any_kernel(device: str) -> bool:
    """Return whether a device profile needs no kernel module of ours on the virtual board."""
    driver = load_profile("device", device)["driver"]
    return devices.by_name(driver).made and not has_module(driver_folder(driver))


def check_device(cell: Cell) -> None:
    """Refuse a device, such as one of the user's, if its parameters contradict physics or each other.

    On a new machine, which has no compiler yet, only the board refuses the latter.
    """
    profile, place = cell.profiles["device"], f"(experiments/device/{cell.device}.yml)"
    driver, parameters = devices.by_name(profile["driver"]), {**profile["geometry"], **profile["timing"]}
    for name, (nearest, why) in driver.impossible(parameters).items():
        raise BadInputError(
            f"DEVICE={cell.device}: {name}: {parameters[name]} is impossible, the nearest possible value is "
            f"{nearest}: {why} {place}"
        )
    if not driver.model_sources or not shutil.which("cc"):
        return
    # loaded late: other devices need neither NumPy nor a compiler
    from images import flash_model

    try:
        flash_model.checked(profile)
    except BadInputError as error:
        raise BadInputError(f"DEVICE={cell.device}: {error} {place}") from None


def check_combination(cell: Cell) -> None:
    """Refuse settings that the release, filesystem, cache or device lacks. Raises BadInputError."""
    if cell.synchronous == "extra" and version_key(cell.sqlite) < (3, 12):
        raise BadInputError(
            f"SYNCHRONOUS=extra: SQLite {cell.sqlite} has no synchronous=EXTRA (it came with 3.12); "
            "use SYNCHRONOUS=full or a newer SQLITE"
        )
    if cell.secure_delete == "fast" and version_key(cell.sqlite) < (3, 20):
        raise BadInputError(
            f"SECURE_DELETE=fast: SQLite {cell.sqlite} has no secure_delete=FAST (it came with 3.20); use "
            "SECURE_DELETE=on or a newer SQLITE"
        )
    # other origins lack ext/misc/, and another release's checksum VFS would not match the cell's
    if cell.checksums == "yes" and cell.sqlite != newest():
        raise BadInputError(
            f"CHECKSUMS=yes: SQLite {cell.sqlite} comes without its checksum VFS; use SQLITE={newest()}"
        )
    if cell.board_number != 1 and cell.clock != "virtual":
        raise BadInputError(
            f"BOARD_NUMBER={cell.board_number}: with CLOCK={cell.clock} each run prepares its board "
            "afresh, so runs are of different boards without it; use REPEAT, or CLOCK=virtual"
        )
    filesystem_options.check(cell)
    check_cache(cell)
    made = devices.by_name(cell.profiles["device"]["driver"]).made
    if cell.board != "virtual":
        if made:
            raise BadInputError(
                f"DEVICE={cell.device}: BOARD={cell.board} has a device of its own; use DEVICE=own"
            )
    elif not made:
        raise BadInputError(f"DEVICE={cell.device}: only a lab board has a device of its own")
    else:
        need, have = database_mib(cell), cell.profiles["device"]["size_mib"]
        if need > have:
            raise BadInputError(
                f"ROWS={cell.rows}: needs a device of {need} MiB with {cell.value_size}-byte "
                f"values and {cell.page_size}-byte pages; DEVICE={cell.device} has {have} MiB"
            )


def check_cache(cell: Cell) -> None:
    """Refuse a cold cache with cuts and kills, and where nothing knows how many rows a run changes."""
    if cell.cache != "cold":
        return
    if cell.crash not in ("none", FAULT):
        raise BadInputError(
            f"CACHE=cold: the boards of CRASH={cell.crash} have their programs in memory, and dropping "
            "the cache would drop these; use CRASH=none or fault"
        )
    ran = str(cell.profiles["workload"]["driver_workload"])
    if engines.by_name(cell.engine).ADDS_MISSING and workloads.by_name(ran) is None:
        raise BadInputError(
            f"CACHE=cold: ENGINE={cell.engine} does not count changed rows, and WORKLOAD={cell.workload} is "
            "not computed on the host, so the rows before the run are known by a scan only"
        )


def database_mib(cell: Cell) -> int:
    """Return the MiB that a cell's database, WAL, journal and filesystem need at most.

    A table leaf holds the rows that fit into page_size - 8 bytes of header, each with
    2 bytes of cell pointer and up to 12 of varints; a longer row spills to overflow
    pages (SQLite file format, section 1.6). On top: the inserted rows once more in the
    WAL and once in the database, a quarter for the filesystem, and 96 MiB of its fixed
    structures (segments, a journal).
    """
    row = cell.value_size + 14
    usable = cell.page_size - 8
    pages_per_row = 1 / (usable // row) if row <= usable else -(-row // (cell.page_size - 4)) + 0.1
    rows = cell.rows + 2 * cell.n * cell.batch
    return int(rows * pages_per_row * cell.page_size * 1.25 / 2**20) + 96
