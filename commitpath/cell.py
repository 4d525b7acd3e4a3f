"""Cells: one complete configuration, checked against experiments/schema.yml.

A cell is a plain dict as docs/formats.md describes under cell.json.
"""

import functools
import re
import shlex
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from analysis import devices, engines, filesystems, mkfs, mount, synthetic
from analysis.adapters import sqlfile
from analysis.crash import oracle
from analysis.crash.cuts import PROCESS
from base import identity
from base.data import load_mapping, load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, ROOT
from base.schema import schema
from commitpath import observers, persistent, userfiles
from commitpath.axes import FILESYSTEM, axes, newest, own_name, parse_probes, version_key
from commitpath.schema import check
from images import artifacts, given

PROFILE_AXES = ("device", "fs", "workload")


def logs_itself(cell: Mapping[str, Any]) -> bool:
    """Whether the cell's device writes down each command that it gets."""
    return devices.find(cell["profiles"]["device"]["driver"]).read_log is not None


def watching(cell: Mapping[str, Any]) -> list[str]:
    """The observers of the cell's runs; none where no probe is asked for.

    A lab board has a kernel of its own, for which no module of ours is built.
    """
    found = observers.watching([name for name in cell["probes"].split(",") if name], logs_itself(cell))
    virtual = cell["board"] == "virtual"
    return [name for name in found if virtual or not observers.profiles()[name].get("is_module")]


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


def kernel_profile(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The profile of a cell's kernel, which a virtual board has."""
    of_cell: dict[str, Any] = cell["profiles"].get("kernel", {})
    return of_cell if given.kind_of(of_cell) else load_profile("kernel", cell["kernel"])


def has_module(folder: Path) -> bool:
    """Whether a part has a kernel module of ours: its folder in images/devices/ or probes/."""
    return (folder / "Kbuild").exists()


def driver_folder(driver: str) -> Path:
    """What the host has of a device driver."""
    return ROOT / "images/devices" / driver


def make_cell(variables: Mapping[str, str]) -> dict[str, Any]:
    """The cell that make's variables (or a cell file's entries) ask for.

    Unset axes take their default. Raises BadInputError on an unknown variable, a
    value that is not allowed, or a combination that cannot exist.
    """
    known = axes()
    cell: dict[str, Any] = {name: axis.spec["default"] for name, axis in known.items()}
    for variable, text in variables.items():
        axis = known.get(own_name(variable.lower()))
        if axis is None or variable not in (axis.variable, axis.also):
            allowed = ", ".join(entry.variable for entry in known.values())
            raise BadInputError(f"{variable}: unknown variable; there are {allowed}")
        cell[axis.name] = axis.parse(text, variable)
    cell["probes"] = ",".join(parse_probes(cell["probes"], BadInputError("PROBES")))
    if load_profile("engine", cell["engine"]).get("release") == "sqlite" and cell["sqlite"] == "newest":
        cell["sqlite"] = newest()
    profiles = {axis: load_profile(axis, cell[axis]) for axis in PROFILE_AXES}
    # an axis that came after the rule of ids: at its default it is no part of one
    if own := given.split(cell["kernel"]):
        cell["kernel"], profiles["kernel"] = given.look(*own)
    elif cell["kernel"] != known["kernel"].spec["default"]:
        profiles["kernel"] = load_profile("kernel", cell["kernel"])
    cell["profiles"] = {
        axis: {name: value for name, value in profile.items() if name not in identity.NO_SETTINGS}
        for axis, profile in profiles.items()
    }
    take_script(cell)
    check_engine(cell, variables, profiles["workload"].get("engines"))
    check_clock(cell, variables)
    there = observers.unnamed(logs_itself(cell))
    cell["probes"] = ",".join(name for name in cell["probes"].split(",") if name not in there)
    for name, value in cell["profiles"]["workload"].get("fixed", {}).items():
        if known[name].variable in variables and cell[name] != value:
            raise BadInputError(
                f"{known[name].variable}={cell[name]}: WORKLOAD={cell['workload']} allows only {value} "
                f"(experiments/workload/{cell['workload']}.yml)"
            )
        cell[name] = value
    take_file(cell, variables)
    check_workload(cell, profiles["workload"])
    check_kernel(cell, profiles["fs"])
    check_combination(cell)
    persistent.check(cell, variables)
    check_crash(cell, variables)
    return cell


def take_script(cell: dict[str, Any]) -> None:
    """Put the content of the script that OBSERVERS names into a cell, and its observer among the probes."""
    asked = cell["observers"]
    first, comma, path = asked.partition(",")
    ends = {end: name for name, end in observers.scripted().items()}
    if first != "all" or (comma and Path(path).suffix not in ends):
        raise BadInputError(
            f"OBSERVERS={asked}: {axes()['observers'].variable} is {axes()['observers'].allowed()}"
        )
    if not comma:
        return
    if not cell["probes"]:
        raise BadInputError(f"OBSERVERS={asked}: a script runs beside the probes, and PROBES is none")
    name, text = ends[Path(path).suffix], userfiles.script(Path(path))
    cell["observers"], cell["profiles"]["observers"] = f"all,{sqlfile.name(text)}", {name: text}
    cell["probes"] = ",".join(sorted([*cell["probes"].split(","), name]))


def take_file(cell: dict[str, Any], variables: Mapping[str, str]) -> None:
    """Put the content of FILE into a cell whose workload has its transactions from there.

    Then `file` is the name of the content, and n how many transactions it has.
    """
    profile = cell["profiles"]["workload"]
    path, takes = cell["file"], is_of_file(profile)
    kind = "trace" if profile.get("trace") else "sql"
    if bool(path) != takes:
        there = [name for name in axes()["workload"].files() if is_of_file(load_profile("workload", name))]
        raise BadInputError(
            f"FILE={path}: WORKLOAD={cell['workload']} has transactions of its own; it is for "
            f"WORKLOAD={' or '.join(there)}"
            if path
            else f"WORKLOAD={cell['workload']} takes FILE=<your {'trace' if kind == 'trace' else 'SQL'}> "
            f"(docs/{kind}.md)"
        )
    if "synthetic" in profile:
        take_synthetic(cell, variables)
    if not path:
        return
    text, parts = userfiles.transactions(Path(path), kind)
    cell["file"], cell["profiles"]["file"] = sqlfile.name(text), {kind: text}
    if cell["journal_mode"] == "wal" and (line := sqlfile.vacuum(parts.transactions)):
        raise BadInputError(
            f"FILE={path}: line {line}: VACUUM in MODE=wal logs pages that no checkpoint writes home, which "
            "the checks do not know; use another MODE"
        )
    count = len(parts.transactions)
    if "N" in variables and cell["n"] != count:
        raise BadInputError(
            f"N={cell['n']}: with FILE it is the number of the file's transactions, {count}; leave it out"
        )
    cell["n"] = count


def is_of_file(profile: Mapping[str, Any]) -> bool:
    """Whether a workload has its transactions from a file of the user's."""
    return bool(profile.get("file")) and "synthetic" not in profile


def take_synthetic(cell: dict[str, Any], variables: Mapping[str, str]) -> None:
    """Put what a synthetic trace is made from into a cell; N may be less than all of its transactions."""
    measures = cell["profiles"]["workload"]["synthetic"]
    try:
        synthetic.check(spec := synthetic.of(measures))
    except sqlfile.SqlFileError as error:
        raise BadInputError(f"experiments/workload/{cell['workload']}.yml: synthetic: {error}") from None
    count = spec.transactions
    if "N" not in variables:
        cell["n"] = count
    if cell["n"] > count:
        raise BadInputError(
            f"N={cell['n']}: the trace of WORKLOAD={cell['workload']} has {count} transactions"
        )
    most = cell["n"] if cell["n"] < count else None
    cell["profiles"]["file"] = {"synthetic": synthetic.text_of(measures, cell["seed"], most)}


def check_engine(cell: Mapping[str, Any], variables: Mapping[str, str], only: list[str] | None) -> None:
    """Refuse a workload that the engine cannot run, and a setting that it does not have.

    only: the engines that run the workload; None: all do.
    """
    engine = cell["engine"]
    if only is not None and engine not in only:
        raise BadInputError(
            f"ENGINE={engine}: WORKLOAD={cell['workload']} is for {', '.join(only)} only "
            f"(experiments/workload/{cell['workload']}.yml)"
        )
    profile = load_profile("engine", engine)
    for name, values in profile.get("allowed", {}).items():
        if cell[name] not in values:
            raise BadInputError(
                f"{name.upper()}={cell[name]}: ENGINE={engine} takes {', '.join(values)} "
                f"(experiments/engine/{engine}.yml)"
            )
    for name, values in profile.get("only_with", {}).items():
        for other, fit in values.get(cell[name], {}).items():
            if cell[other] not in fit:
                raise BadInputError(
                    f"{name.upper()}={cell[name]}: ENGINE={engine} takes it with {other.upper()}="
                    f"{' or '.join(one or 'none' for one in fit)}, not {cell[other]} "
                    f"(experiments/engine/{engine}.yml)"
                )
    for name, (times, part) in profile.get("at_least", {}).items():
        if cell[name] < times * cell[part]:
            raise BadInputError(
                f"{name.upper()}={cell[name]}: ENGINE={engine} takes {times * cell[part]} or more with "
                f"{part.upper()}={cell[part]} (experiments/engine/{engine}.yml)"
            )
    fs = load_profile("fs", cell["fs"])
    for name, values in profile.get("needs_of_fs", {}).items():
        if (needed := values.get(cell[name])) and needed not in fs:
            have = [each for each in axes()["fs"].files() if needed in load_profile("fs", each)]
            raise BadInputError(
                f"{name.upper()}={cell[name]}: FS={cell['fs']} has no {needed}; use FS={' or '.join(have)}"
            )
    for name in sorted(engines.lacking(engine)):
        if (variable := axes()[name].variable) in variables:
            of = axes()[name].spec["x-of"]
            raise BadInputError(f"{variable}: a setting of {of}, which ENGINE={engine} does not have")


def check_clock(cell: Mapping[str, Any], variables: Mapping[str, str]) -> None:
    """Refuse a time for each instruction where no clock counts instructions."""
    if "CPU_NS" not in variables:
        return
    for name in ("board", "clock"):
        if cell[name] != "virtual":
            raise BadInputError(
                f"CPU_NS={cell['cpu_ns']}: {name.upper()}={cell[name]} has a CPU that takes its own time; "
                "CPU_NS is for CLOCK=virtual on the virtual board"
            )


def check_workload(cell: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
    """Refuse what the driver's workload would, once a board is prepared."""
    most, least = profile.get("most", {}), profile.get("least", {})
    beyond = [(name, "most", limit) for name, limit in most.items() if cell[name] > limit]
    beyond += [(name, "least", limit) for name, limit in least.items() if cell[name] < limit]
    for name, end, limit in beyond:
        raise BadInputError(
            f"{name.upper()}={cell[name]}: WORKLOAD={cell['workload']} takes at {end} {limit} "
            f"(experiments/workload/{cell['workload']}.yml)"
        )


def check_kernel(cell: Mapping[str, Any], fs: Mapping[str, Any]) -> None:
    """Refuse what the cell's kernel cannot do. fs: the profile of its filesystem."""
    name, kernel = f"KERNEL={cell['kernel']}", kernel_profile(cell)
    if cell["board"] != "virtual" and cell["kernel"] != axes()["kernel"].spec["default"]:
        raise BadInputError(f"{name}: BOARD={cell['board']} has a kernel of its own")
    driver = driver_folder(cell["profiles"]["device"]["driver"])
    of_driver = load_yaml(driver / "options.yml") if (driver / "options.yml").exists() else []
    needed = [(f"FS={cell['fs']}", fs["options"]), (f"DEVICE={cell['device']}", of_driver)]
    if in_memory := persistent.asked(cell):
        needed.append((in_memory[0], load_yaml(given.OPTIONS)["persistent"]))
    for variable, options in needed:
        if missing := given.lacking(kernel, options):
            raise BadInputError(f"{variable}: {name} lacks {missing} in its config")
    if not mounts(kernel, fs):
        fit = [each for each in axes()["fs"].files() if mounts(kernel, load_profile("fs", each))]
        raise BadInputError(
            f"FS={cell['fs']}: what its mkfs makes is mounted by Linux {fs['since']} and later, and {name} "
            f"is {kernel['release']} (experiments/fs/{cell['fs']}.yml); use FS={' or '.join(fit)}"
        )
    why = kernel.get("no_modules")
    if why and has_module(driver):
        fit = [each for each in axes()["device"].files() if fits_any_kernel(each)]
        raise BadInputError(
            f"DEVICE={cell['device']}: its driver is a kernel module of ours, and none can be built for "
            f"{name}: {why}; use DEVICE={' or '.join(fit)}"
        )
    if not cell["probes"]:
        return
    for each in watching(cell):
        if missing := given.lacking(kernel, observers.profiles()[each].get("options", [])):
            raise BadInputError(
                f"PROBES={cell['probes']}: {name} lacks {missing} in its config, which the observer {each} "
                f"needs (experiments/observer/{each}.yml); use PROBES=none"
            )
    by_module = [each for each in watching(cell) if has_module(ROOT / "probes" / each)]
    if unwatched := kernel.get("unwatched") or (by_module and why):
        raise BadInputError(
            f"PROBES={cell['probes']}: {name} cannot be watched: {unwatched}; use PROBES=none"
        )


def mounts(kernel: Mapping[str, Any], fs: Mapping[str, Any]) -> bool:
    """Whether a kernel is of a release that mounts what a filesystem's mkfs makes."""
    if "since" not in fs:
        return True
    numbers = re.match(r"[0-9]+([.][0-9]+)*", kernel["release"])
    return numbers is not None and version_key(numbers[0]) >= version_key(fs["since"])


def fits_any_kernel(device: str) -> bool:
    """Whether a device profile needs no kernel module of ours on the virtual board."""
    driver = load_profile("device", device)["driver"]
    return devices.find(driver).made and not has_module(driver_folder(driver))


def check_combination(cell: Mapping[str, Any]) -> None:
    """Refuse what no board can run: BadInputError says why and what would fit."""
    if cell["synchronous"] == "extra" and version_key(cell["sqlite"]) < (3, 12):
        raise BadInputError(
            f"SYNCHRONOUS=extra: SQLite {cell['sqlite']} has no synchronous=EXTRA (it came with 3.12); "
            "use SYNCHRONOUS=full or a newer SQLITE"
        )
    kind = cell["profiles"]["fs"]["type"]
    if refused := mkfs.refused(kind, cell["mkfs_options"]):
        raise BadInputError(
            f"MKFS_OPTIONS={cell['mkfs_options']}: mkfs.{kind} may not be given {' '.join(refused)}; what it "
            f"may, with values that the superblock shows, is {mkfs.allowed(kind)} "
            f"(analysis/filesystems/{kind}.py)"
        )
    if refused := mkfs.refused(kind, shlex.join(cell["profiles"]["fs"]["mkfs"])):
        raise BadInputError(
            f"{EXPERIMENTS}/fs/{cell['fs']}.yml: mkfs.{kind} may not be given {' '.join(refused)}; what it "
            f"may is {mkfs.allowed(kind)} (analysis/filesystems/{kind}.py)"
        )
    for where, options in (
        (f"MOUNT_OPTIONS={cell['mount_options']}", cell["mount_options"].split(",")),
        (f"{EXPERIMENTS}/fs/{cell['fs']}.yml", cell["profiles"]["fs"]["mount"]),
    ):
        if refused := mount.refused(kind, [option for option in options if option]):
            raise BadInputError(
                f"{where}: {kind} may not be mounted with {' '.join(refused)}; it may with "
                f"{mount.allowed(kind)} (analysis/filesystems/{kind}.py)"
            )
    made = devices.find(cell["profiles"]["device"]["driver"]).made
    if cell["board"] == "virtual" and not made:
        raise BadInputError(f"DEVICE={cell['device']}: only a lab board has a device of its own")
    if cell["board"] != "virtual" and made:
        raise BadInputError(
            f"DEVICE={cell['device']}: BOARD={cell['board']} has a device of its own; use DEVICE=own"
        )
    if cell["board"] == "virtual":
        need, have = database_mib(cell), cell["profiles"]["device"]["size_mib"]
        if need > have:
            raise BadInputError(
                f"ROWS={cell['rows']}: needs a device of {need} MiB with {cell['value_size']}-byte "
                f"values and {cell['page_size']}-byte pages; DEVICE={cell['device']} has {have} MiB"
            )


def check_crash(cell: Mapping[str, Any], variables: Mapping[str, str]) -> None:
    """Refuse cuts that no board can try, or whose outcome nobody could judge."""
    if cell["crash"] == "none":
        for name in ("cuts", "cut_seed"):
            if (variable := axes()[name].variable) in variables:
                raise BadInputError(f"{variable}={cell[name]}: CRASH=none cuts nothing; use CRASH=power")
        return
    asked = f"CRASH={cell['crash']}"
    for name in ("board", "clock"):
        if cell[name] != "virtual":
            raise BadInputError(
                f"{asked}: {name.upper()}={cell[name]} does not do a run again to the bit; "
                "use BOARD=virtual and CLOCK=virtual"
            )
    if cell["crash"] != PROCESS:
        check_history(cell, asked)
    if not artifacts.trials_folders(cell["engine"]):
        raise BadInputError(
            f"{asked}: ENGINE={cell['engine']} has nothing that looks at a database that came up again "
            f"(workloads/engines/{cell['engine']}/trials/)"
        )
    workload = axes()["workload"].files()
    if not oracle.can_tell(cell["profiles"]["workload"]):
        fit = [name for name in workload if oracle.can_tell(load_profile("workload", name))]
        raise BadInputError(
            f"{asked}: which rows WORKLOAD={cell['workload']} leaves is not known beforehand; "
            f"use WORKLOAD={' or '.join(fit)}"
        )
    try:
        oracle.check(cell)
    except ValueError as error:
        where = f"FILE={variables.get('FILE') or cell['file']}: " if cell["file"] else ""
        raise BadInputError(
            f"{asked}: {where}{error}; which rows are to come up again is known where its statements alone "
            "say it"
        ) from None


def check_history(cell: Mapping[str, Any], asked: str) -> None:
    """Refuse a device that cannot show what it would have kept."""
    if devices.find(cell["profiles"]["device"]["driver"]).history is None:
        fit = [name for name in axes()["device"].files() if keeps_history(name)]
        raise BadInputError(
            f"{asked}: DEVICE={cell['device']} keeps no past states; use DEVICE={' or '.join(fit)}"
        )
    device = cell["profiles"]["device"]
    if device.get("ignores") and not device["geometry"]["cache_kib"]:
        raise BadInputError(
            f"{asked}: DEVICE={cell['device']} ignores {' and '.join(device['ignores'])} and has no cache to "
            f"lose (experiments/device/{cell['device']}.yml: cache_kib)"
        )


def keeps_history(device: str) -> bool:
    """Whether a device profile's driver can show past states."""
    return devices.find(load_profile("device", device)["driver"]).history is not None


def database_mib(cell: Mapping[str, Any]) -> int:
    """MiB of device that a cell's database, WAL, journal and filesystem need at most.

    A table leaf holds the rows that fit into page_size - 8 bytes of header, each with
    2 bytes of cell pointer and up to 12 of varints; a longer row spills to overflow
    pages (SQLite file format, section 1.6). On top: the inserted rows once more in the
    WAL and once in the database, a quarter for the filesystem, and 96 MiB of its fixed
    structures (segments, a journal).
    """
    row = cell["value_size"] + 14
    usable = cell["page_size"] - 8
    pages_per_row = 1 / (usable // row) if row <= usable else -(-row // (cell["page_size"] - 4)) + 0.1
    rows = cell["rows"] + 2 * cell["n"]
    return int(rows * pages_per_row * cell["page_size"] * 1.25 / 2**20) + 96


def at_default(cell: Mapping[str, Any]) -> list[str]:
    """The axes of a cell that are at their default, in alphabetical order."""
    return sorted(name for name, axis in axes().items() if cell.get(name) == axis.spec["default"])


def stored(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as cell.json has it (base/identity.py)."""
    return {**cell, "at_default": at_default(cell)}


def complete(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A stored cell with the axes' names of now, and what it lacks at its default."""
    known = {name: axis.spec["default"] for name, axis in axes().items()}
    made = {**known, **identity.current(cell)}
    made["profiles"] = {**made["profiles"], "device": devices.current(made["profiles"]["device"])}
    if identity.is_first_rule(cell):
        made["probes"] = renamed_probes(made["probes"], made["profiles"]["fs"]["type"])
    return made


def current_id(cell: Mapping[str, Any], apart: Set[str] = frozenset()) -> str:
    """The id by the rule of now of a stored cell, whichever rule made it.

    An axis that is not known here was at its default if the cell says so. apart: such axes that are
    part of the id all the same, as others have another value at their default.
    """
    made = complete(cell)
    unknown = set(cell.get("at_default", ())) - axes().keys() - apart
    return identity.cell_id({**made, "at_default": sorted({*at_default(made), *unknown})})


def renamed_probes(probes: str, kind: str) -> str:
    """Probes of a cell by rule 1, which had those of a filesystem under several names."""
    earlier: frozenset[str] = (
        filesystems.find(kind).earlier_probes if kind in filesystems.names() else frozenset()
    )
    given = set(probes.split(","))
    if not earlier or not given >= earlier:
        return probes
    every = {name for one in filesystems.names() for name in filesystems.find(one).earlier_probes}
    return ",".join(sorted(given - every | {FILESYSTEM}))


def other_profiles(cell: Mapping[str, Any]) -> list[str]:
    """Axes whose profile asks for something else than the file of that name does here: the file
    was edited since the run, or the run was given another name."""
    known = axes()
    return [
        axis
        for axis in cell["profiles"]
        if axis in known
        and cell[axis] in known[axis].files()
        and identity.asked(cell["profiles"][axis]) != identity.asked(load_profile(axis, cell[axis]))
    ]


def cell_id(cell: Mapping[str, Any]) -> str:
    """The id of a cell that was made here, or is complete."""
    return identity.cell_id(stored(cell))


def cell_name(cell: Mapping[str, Any]) -> str:
    """The name of its folder."""
    return identity.cell_name(stored(cell))
