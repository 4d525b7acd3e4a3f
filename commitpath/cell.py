"""Cells: one complete configuration, checked against experiments/schema.yml.

A cell is a plain dict as docs/formats.md describes under cell.json. The schema is
the only list of axes, their allowed values and defaults.
"""

import difflib
import functools
import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from analysis import engines, filesystems, mkfs, mount
from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, ROOT

PROFILE_AXES = ("device", "fs", "mode", "workload")
# What of a profile is for who reads it, and changes nothing of a run.
PROSE = ("aliases", "description", "sources")
# What limits what may be asked for, or is on every board: no part of a cell.
NO_SETTINGS = ("engines", "most", "packages")
# Among the probes: that of the cell's filesystem, probes/<type>.bpf.c.
FILESYSTEM = "filesystem"
# Named among the probes, though it is none: a second witness of the block commands.
BLKTRACE = "blktrace"


# Read once: a grid makes hundreds of cells. Nobody changes what these return.
@functools.cache
def schema() -> dict[str, Any]:
    """experiments/schema.yml, as JSON Schema."""
    loaded: dict[str, Any] = load_yaml(EXPERIMENTS / "schema.yml")
    return loaded


@functools.cache
def releases() -> dict[str, Any]:
    """SQLite releases by version, newest first (workloads/engines/sqlite/releases.yml)."""
    data = load_yaml(ROOT / "workloads/engines/sqlite/releases.yml")
    return dict(sorted(data.items(), key=lambda item: version_key(item[0]), reverse=True))


def version_key(version: str) -> tuple[int, ...]:
    """'3.8.11.1' as (3, 8, 11, 1), to sort and compare by."""
    return tuple(int(part) for part in version.split("."))


@dataclass(frozen=True)
class Axis:
    """One axis of the schema: its make variable, and what it allows."""

    name: str
    spec: Mapping[str, Any]

    @property
    def variable(self) -> str:
        return self.name.upper()

    @property
    def also(self) -> str | None:
        """Another name of the variable, if it has one."""
        return self.spec.get("x-also")

    def files(self) -> dict[str, Path]:
        """The data files whose names are this axis's values; empty for other axes."""
        pattern = self.spec.get("x-glob") or self.spec.get("x-glob-list")
        if not pattern:
            return {}
        folder = (EXPERIMENTS / pattern).parent.resolve()
        return {path.stem: path for path in sorted(folder.glob(Path(pattern).name))}

    def values(self) -> dict[str, str]:
        """What each allowed value is, where the schema says it."""
        return dict(self.spec.get("x-values", {}))

    def choices(self) -> list[str]:
        """Every allowed value, or an empty list where any of a type is allowed."""
        if "enum" in self.spec:
            return [str(value) for value in self.spec["enum"]]
        if "x-glob-file" in self.spec:
            return ["newest", *releases()]
        if "x-glob" in self.spec:
            return list(self.files())
        return []

    def allowed(self) -> str:
        """What is allowed, in words, for help and errors."""
        if self.choices():
            return ", ".join(self.choices())
        if "x-glob-list" in self.spec:
            return f"all, none, or some of {','.join(probe_names())}; with one of them also {BLKTRACE}"
        if self.spec["type"] == "integer":
            unit = f" {self.spec['x-unit']}" if "x-unit" in self.spec else ""
            but = f" but {self.spec['not']['const']}" if "not" in self.spec else ""
            return f"a whole number from {self.spec['minimum']} to {self.spec['maximum']}{unit}{but}"
        return str(self.spec.get("x-allowed", "text"))

    def parse(self, text: str, where: str) -> Any:
        """The value that TEXT means; BadInputError says what is allowed."""
        bad = BadInputError(f"{where}={text}: {self.variable} is {self.allowed()}")
        if "x-glob-list" in self.spec:
            return ",".join(parse_probes(text, bad))
        if self.spec.get("type") == "integer" or all(
            isinstance(value, int) for value in self.spec.get("enum", [""])
        ):
            if not re.fullmatch(r"[+-]?[0-9]+(e[0-9]{1,3})?", text):
                raise bad
            mantissa, _, exponent = text.partition("e")
            value: Any = int(mantissa) * 10 ** int(exponent or 0)
        else:
            value = text
        choices = [*self.choices(), *map(str, aliases(self.name))]
        if choices and str(value) not in choices:
            # names are of one case only: no two differ in nothing else
            known = {choice.casefold(): choice for choice in choices}
            if str(value).casefold() not in known:
                raise BadInputError(f"{bad}{did_you_mean(str(value), choices)}")
            value = known[str(value).casefold()]
        value = aliases(self.name).get(value, value)
        check = {key: self.spec[key] for key in ("minimum", "maximum", "not", "pattern") if key in self.spec}
        if not jsonschema.Draft202012Validator(check).is_valid(value):
            raise bad
        return value


def did_you_mean(text: str, choices: Iterable[str]) -> str:
    """`; did you mean …?` of the choice that TEXT is nearest to, nothing where it is near to none."""
    # the similarity from which difflib counts words as near by itself
    known = {choice.casefold(): choice for choice in choices}
    near = difflib.get_close_matches(text.casefold(), known, 1)
    return f"; did you mean {known[near[0]]}?" if near else ""


@functools.cache
def aliases(axis: str) -> dict[Any, str]:
    """Other names of an axis's values → the value."""
    files = (axes() | run_axes())[axis].files()
    return {alias: name for name, path in files.items() for alias in load_yaml(path).get("aliases", [])}


@functools.cache
def axes() -> dict[str, Axis]:
    """The cell's axes by name, in the schema's order."""
    return {name: Axis(name, spec) for name, spec in schema()["properties"].items()}


def run_axes() -> dict[str, Axis]:
    """Variables of a call that are no part of a cell (REPEAT)."""
    return {name: Axis(name, spec) for name, spec in schema()["$defs"]["run"]["properties"].items()}


def probe_names() -> list[str]:
    """Every probe there is; that of each filesystem by one name, as a cell has one filesystem."""
    files = {path.name.removesuffix(".bpf.c") for path in (ROOT / "probes").glob("*.bpf.c")}
    return sorted(files - set(filesystems.names()) | {FILESYSTEM})


def probe_files(probes: str, kind: str) -> list[str]:
    """The names of the files of probes named as in a cell, on a filesystem of that type."""
    given = [name for name in probes.split(",") if name not in ("", BLKTRACE)]
    return [kind if name == FILESYSTEM else name for name in given]


def parse_probes(text: str, bad: BadInputError) -> list[str]:
    """'sync,block', 'all', 'all,blktrace' or 'none' as the sorted list of names."""
    given = set() if text in ("", "none") else set(text.split(","))
    names = given - {"all"} | (set(probe_names()) if "all" in given else set())
    if not names <= {*probe_names(), BLKTRACE} or names == {BLKTRACE}:
        raise bad
    return sorted(names)


def logs_itself(cell: Mapping[str, Any]) -> bool:
    """Whether the cell's device writes down each command that it gets (images/flash/log.c)."""
    return bool(cell["profiles"]["device"]["driver"] == "flash")


def is_blktraced(cell: Mapping[str, Any]) -> bool:
    """Whether blktrace watches too: where the device has no log of its own, or the cell names it."""
    return bool(cell["probes"]) and (not logs_itself(cell) or BLKTRACE in cell["probes"].split(","))


# JSON Schema takes 2.0 for an integer; a device's attribute file does not.
STRICT = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@functools.cache
def load_profile(axis: str, name: str) -> dict[str, Any]:
    """A checked preset file, such as experiments/mode/wal.yml."""
    path = axes()[axis].files()[name]
    content = load_yaml(path)
    validator = STRICT(schema()["$defs"][axis])
    for error in validator.iter_errors(content):
        key = ".".join(str(part) for part in error.absolute_path) or "file"
        what = error.message
        if error.validator in ("minimum", "maximum") and "maximum" in error.schema:
            bounds = error.schema
            what = f"{error.instance} is not allowed, only {bounds['minimum']} to {bounds['maximum']}"
        raise BadInputError(f"{path}: {key}: {what} (experiments/schema.yml, $defs.{axis})")
    if axis == "fs" and content["type"] not in filesystems.names():
        there = ", ".join(filesystems.names())
        raise BadInputError(f"{path}: type: {content['type']!r} is none of {there} (analysis/filesystems/)")
    loaded: dict[str, Any] = content
    return loaded


def make_cell(variables: Mapping[str, str]) -> dict[str, Any]:
    """The cell that make's variables (or a cell file's entries) ask for.

    Unset axes take their default. Raises BadInputError on an unknown variable, a
    value that is not allowed, or a combination that cannot exist.
    """
    known = axes()
    cell: dict[str, Any] = {name: axis.spec["default"] for name, axis in known.items()}
    for variable, text in variables.items():
        axis = known.get(variable.lower())
        if axis is None or variable != axis.variable:
            allowed = ", ".join(entry.variable for entry in known.values())
            raise BadInputError(f"{variable}: unknown variable; there are {allowed}")
        cell[axis.name] = axis.parse(text, variable)
    cell["probes"] = ",".join(parse_probes(cell["probes"], BadInputError("PROBES")))
    if cell["sqlite"] == "newest":
        cell["sqlite"] = next(iter(releases()))
    profiles = {axis: dict(load_profile(axis, cell[axis])) for axis in PROFILE_AXES}
    # a limit on what can be asked is no part of what is asked
    most, only = profiles["workload"].pop("most", {}), profiles["workload"].pop("engines", None)
    profiles["fs"].pop("packages")  # nor what is on every board
    cell["profiles"] = profiles
    check_engine(cell, variables, only)
    if not logs_itself(cell):  # blktrace is there in any case
        cell["probes"] = ",".join(name for name in cell["probes"].split(",") if name != BLKTRACE)
    for name, value in cell["profiles"]["workload"].get("fixed", {}).items():
        if known[name].variable in variables and cell[name] != value:
            raise BadInputError(
                f"{known[name].variable}={cell[name]}: WORKLOAD={cell['workload']} allows only {value} "
                f"(experiments/workload/{cell['workload']}.yml)"
            )
        cell[name] = value
    check_workload(cell, most)
    check_combination(cell)
    return cell


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
    if engine == axes()["engine"].spec["default"]:
        return
    own = {source.partition(".")[0] for source in profile["settings"].values()}
    for name, axis in axes().items():
        if axis.spec["x-of"] == "SQLite" and name not in own and axis.variable in variables:
            raise BadInputError(f"{axis.variable}: a setting of SQLite, which ENGINE={engine} does not have")


def check_workload(cell: Mapping[str, Any], most: Mapping[str, int]) -> None:
    """Refuse what the driver's workload would, once a board is prepared."""
    profile = cell["profiles"]["workload"]
    for name, limit in most.items():
        if cell[name] > limit:
            raise BadInputError(
                f"{name.upper()}={cell[name]}: WORKLOAD={cell['workload']} takes at most {limit} "
                f"(experiments/workload/{cell['workload']}.yml)"
            )
    phases = profile.get("phases", ["insert"])
    if profile["driver_workload"] == "apsys17" and cell["rows"] == 0 and phases[0] != "insert":
        raise BadInputError(
            f"ROWS=0: WORKLOAD={cell['workload']} begins with {phases[0]}, which changes nothing in an "
            "empty table; use ROWS of 1 or more"
        )


def check_combination(cell: Mapping[str, Any]) -> None:
    """Refuse what no board can run: BadInputError says why and what would fit."""
    if cell["sync"] == "extra" and version_key(cell["sqlite"]) < (3, 12):
        raise BadInputError(
            f"SYNC=extra: SQLite {cell['sqlite']} has no synchronous=EXTRA (it came with 3.12); "
            "use SYNC=full or a newer SQLITE"
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
    own = cell["profiles"]["device"]["driver"] == "own"
    if cell["board"] == "virtual" and own:
        raise BadInputError(f"DEVICE={cell['device']}: only a lab board has a device of its own")
    if cell["board"] != "virtual" and not own:
        raise BadInputError(
            f"DEVICE={cell['device']}: BOARD={cell['board']} has a device of its own; use DEVICE=own"
        )
    if cell["board"] != "virtual" and cell["probes"]:
        raise BadInputError(
            f"PROBES={cell['probes']}: BOARD={cell['board']} has its database on a partition, and block "
            "commands are watched on whole devices only (docs/lab-boards.md); use PROBES=none"
        )
    if cell["board"] == "virtual":
        need, have = database_mib(cell), cell["profiles"]["device"]["size_mib"]
        if need > have:
            raise BadInputError(
                f"ROWS={cell['rows']}: needs a device of {need} MiB with {cell['value_size']}-byte "
                f"values and {cell['page_size']}-byte pages; DEVICE={cell['device']} has {have} MiB"
            )


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


def canonical(cell: Mapping[str, Any]) -> str:
    """The cell's one form: sorted JSON without white space."""
    # the engine that there was before there were others has no name in it
    named = {key: value for key, value in cell.items() if (key, value) != ("engine", "sqlite")}
    return json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def contents(cell: Mapping[str, Any]) -> dict[str, str]:
    """Axis → SHA-256 of what its profile asks for, in canonical form: all of it but PROSE.

    A profile's name does not say it: the file may be edited, and another lab has its own.
    """
    return {
        axis: hashlib.sha256(canonical(asked(profile)).encode()).hexdigest()
        for axis, profile in sorted(cell["profiles"].items())
    }


def asked(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What of a profile is in a cell and changes a run."""
    return {name: value for name, value in profile.items() if name not in (*PROSE, *NO_SETTINGS)}


def other_profiles(cell: Mapping[str, Any]) -> list[str]:
    """Axes whose profile asks for something else than the file of that name does here: the file
    was edited since the run, or the run was given another name."""
    here = {axis: axes()[axis].files() for axis in PROFILE_AXES}
    return [
        axis
        for axis in PROFILE_AXES
        if cell[axis] in here[axis] and asked(cell["profiles"][axis]) != asked(load_profile(axis, cell[axis]))
    ]


def cell_id(cell: Mapping[str, Any]) -> str:
    """First 10 hex digits of the SHA-256 of the canonical form."""
    return hashlib.sha256(canonical(cell).encode()).hexdigest()[:10]


def cell_name(cell: Mapping[str, Any]) -> str:
    """A readable folder name, unique by the id in it."""
    named = engines.name_in(cell)
    engine = cell["mode"] if named == engines.FIRST else named
    return "-".join([cell["fs"], engine, cell["sync"], cell["workload"], cell["device"], cell_id(cell)])
