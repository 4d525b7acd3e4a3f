"""Axes of a cell (experiments/schema.yml): allowed values, defaults, parsing; SQLite releases, probes."""

import functools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.data import load_mapping, load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, ROOT
from base.schema import schema
from base.text import choices, did_you_mean
from commitpath.cells import observers
from model import filesystems

# Most faults of DEVICE_FAULTS: each is tried on a board of its own.
MOST_COUNTED = 200
# Hint in help and errors: another way to write a whole number.
POWERS = "; 1e3 is 1000"
# Name in `probes` of the probe of the cell's filesystem, probes/<type>.bpf.c.
FILESYSTEM = "filesystem"


# Cached, as below: a grid makes hundreds of cells. Callers do not modify the result.
@functools.cache
def releases() -> dict[str, Any]:
    """Return SQLite releases by version, newest first (workloads/engines/sqlite/releases.yml)."""
    data = load_yaml(ROOT / "workloads/engines/sqlite/releases.yml")
    return dict(sorted(data.items(), key=lambda item: version_key(item[0]), reverse=True))


def newest() -> str:
    """Return the version that `newest` stands for: the newest packaged by Debian, as on the boards."""
    return next(version for version, source in releases().items() if "debian" in source)


def version_key(version: str) -> tuple[int, ...]:
    """Return '3.8.11.1' as (3, 8, 11, 1), a sort key; a user's own release has its version's."""
    return tuple(int(part) for part in version.partition("+")[0].split("."))


@dataclass(frozen=True)
class Axis:
    """One axis of the schema: its make variable and allowed values."""

    name: str
    spec: Mapping[str, Any]

    @property
    def variable(self) -> str:
        return self.name.upper()

    @property
    def also(self) -> str | None:
        """A second name of the variable, if any."""
        return str(self.spec["x-also"]).upper() if "x-also" in self.spec else None

    def among(self, variables: Collection[str]) -> str | None:
        """Return the variable among these that sets the axis, under either name; None without one."""
        return next((name for name in (self.variable, self.also) if name in variables), None)

    def files(self) -> dict[str, Path]:
        """Return the data files named after this axis's values, by value; empty for other axes."""
        return data_files(self.spec.get("x-glob"))

    def values(self) -> dict[str, str]:
        """Return the description of each allowed value, if the schema has them."""
        return dict(self.spec.get("x-values", {}))

    def given(self) -> dict[str, str]:
        """Return forms with a path of the user's, `word:<path>`, and their descriptions."""
        return dict(self.spec.get("x-given", {}))

    @property
    def numeric(self) -> bool:
        """Return whether every value is a number."""
        listed = self.spec.get("enum", [""])
        return self.spec.get("type") == "integer" or all(isinstance(value, int) for value in listed)

    def choices(self) -> list[str]:
        """Return every allowed value; empty if any value of the type is allowed."""
        if "enum" in self.spec:
            return [str(value) for value in self.spec["enum"]]
        if "x-glob-file" in self.spec:
            return ["newest", *releases()]
        if "x-glob" in self.spec:
            return list(self.files())
        return []

    def names(self) -> list[str]:
        """Return every allowed value, with its other name, and the forms with a path."""
        also = {name: f" ({alias})" for alias, name in aliases(self.name).items()}
        return [*(name + also.get(name, "") for name in self.choices()), *self.given()]

    def allowed(self) -> str:
        """Return the allowed values in words, for help and errors."""
        if names := self.names():
            return ", ".join(names)
        if "x-glob-list" in self.spec:
            others = " or ".join(observers.optional())
            return f"all, none, or some of {','.join(probe_names())}; with one of them also {others}"
        if "x-counted" in self.spec:
            return (
                f"none, or some of {', '.join(self.values())}, each with a number from 1 to 999999, "
                f"at most {MOST_COUNTED}: {next(iter(self.values()))}:5,{list(self.values())[-1]}:12"
            )
        if self.spec["type"] == "integer":
            unit = f" {self.spec['x-unit']}" if "x-unit" in self.spec else ""
            but = f" but {self.spec['not']['const']}" if "not" in self.spec else ""
            return f"a whole number from {self.spec['minimum']} to {self.spec['maximum']}{unit}{but}{POWERS}"
        return str(self.spec.get("x-allowed", "text"))

    def parse(self, text: str, where: str) -> Any:
        """Return the value of a text. where: the variable as given. Raises BadInputError."""

        def bad(near: str = "") -> BadInputError:
            shown = text if text.isprintable() else ascii(text)[1:-1]  # an error is one line
            allowed = choices(self.names(), "make help experiment") or self.allowed()
            return BadInputError(f"{where}={shown}: {near}{where} is {allowed}")

        if "x-glob-list" in self.spec:
            names = {"all", "none", *probe_names(), *observers.optional()}
            unknown = next((name for name in text.split(",") if name not in names), "")
            near = did_you_mean(unknown, names)
            return ",".join(parse_probes(text, bad(near)))
        if "x-counted" in self.spec:
            faults = text.split(",")
            form = rf"({'|'.join(self.values())}):[1-9][0-9]{{0,5}}"
            if text != "none" and (
                len(set(faults)) < len(faults)
                or len(faults) > MOST_COUNTED
                or not all(re.fullmatch(form, fault) for fault in faults)
            ):
                words = [fault.partition(":")[0] for fault in faults]
                unknown = next((word for word in words if word not in self.values()), "")
                raise bad(did_you_mean(unknown, self.values()))
            return text
        if self.numeric:
            # no axis has numbers of more digits, and int() takes no more than 4300
            if not re.fullmatch(r"[+-]?[0-9]{1,18}([eE][0-9]{1,3})?", text):
                raise bad()
            mantissa, _, exponent = text.lower().partition("e")
            value: Any = int(mantissa) * 10 ** int(exponent or 0)
        else:
            value = text
        if any(text.startswith(form.partition("<")[0]) for form in self.given()):
            return text
        known = [*self.choices(), *map(str, aliases(self.name))]
        if known and str(value) not in known:
            # no two names differ in case only
            by_lower_case = {choice.casefold(): choice for choice in known}
            if str(value).casefold() not in by_lower_case:
                raise bad(did_you_mean(str(value), known))
            value = by_lower_case[str(value).casefold()]
        value = aliases(self.name).get(value, value)
        check = {key: self.spec[key] for key in ("minimum", "maximum", "not", "pattern") if key in self.spec}
        if not check:
            return value
        # loaded late: commands without a cell do not need it
        import jsonschema

        if not jsonschema.Draft202012Validator(check).is_valid(value):
            raise bad()
        return value


@functools.cache
def data_files(pattern: str | None) -> dict[str, Path]:
    """Return the files that match a glob below experiments/, by their names without suffix."""
    path = EXPERIMENTS / (pattern or "")
    return {file.stem: file for file in sorted(path.parent.resolve().glob(path.name))} if pattern else {}


@functools.cache
def aliases(axis: str) -> dict[Any, str]:
    """Return other names of an axis's values → the value."""
    files = (axes() | run_axes())[axis].files()
    return {alias: name for name, path in files.items() for alias in load_mapping(path).get("aliases", [])}


@functools.cache
def axes() -> dict[str, Axis]:
    """Return the cell's axes by name, in the schema's order."""
    return {name: Axis(name, spec) for name, spec in schema()["properties"].items()}


def own_name(name: str) -> str:
    """Return the name of an axis from either of its names; other names unchanged."""
    return _second_names().get(name, name)


def shown(name: str, value: str) -> str:
    """Return a value as in a legend or title: a number with its axis."""
    return f"{name}={value}" if value.lstrip("-").isdigit() else value


@functools.cache
def _second_names() -> dict[str, str]:
    return {axis.spec["x-also"]: axis.name for axis in axes().values() if axis.also}


def run_axes() -> dict[str, Axis]:
    """Return the variables of a call that are not part of a cell, such as REPEAT."""
    return {name: Axis(name, spec) for name, spec in schema()["$defs"]["run"]["properties"].items()}


@functools.cache
def probe_names() -> list[str]:
    """Return every probe; those of the filesystems as one name, as a cell has one filesystem."""
    files = {path.name.removesuffix(".bpf.c") for path in (ROOT / "probes").glob("*.bpf.c")}
    return sorted(files - set(filesystems.names()) | {FILESYSTEM})


def probe_files(probes: str, kind: str) -> list[str]:
    """Return the names of the files of a cell's probes. kind: the type of its filesystem."""
    given = [name for name in probes.split(",") if name and name not in observers.names()]
    return [kind if name == FILESYSTEM else name for name in given]


def parse_probes(text: str, bad: BadInputError) -> list[str]:
    """Return the sorted names of 'sync,block', 'all', 'all' and an observer, or 'none'. bad: the error."""
    given = set() if text in ("", "none") else set(text.split(","))
    names = given - {"all"} | (set(probe_names()) if "all" in given else set())
    others = set(observers.optional())
    if not names <= {*probe_names(), *others} or (names and names <= others):
        raise bad
    return sorted(names)


def in_order(name: str, values: Iterable[str]) -> list[str]:
    """Return the distinct values of an axis or another dimension in its order, numbers by size."""
    unique = list(dict.fromkeys(values))
    if all(value.lstrip("-").isdigit() for value in unique):
        return sorted(unique, key=int)
    choices = axes()[name].choices() if name in axes() else []
    return sorted(unique, key=choices.index) if {*unique} <= {*choices} else unique
