"""The axes of a cell and their values, as experiments/schema.yml and its data files have them.

The schema is the only list of axes, their allowed values and defaults.
"""

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from base.data import load_mapping, load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS, ROOT
from base.schema import schema
from base.text import did_you_mean
from commitpath import observers
from model import filesystems

# How a whole number may be written, too.
POWERS = "; 1e3 is 1000"
# Among the probes: that of the cell's filesystem, probes/<type>.bpf.c.
FILESYSTEM = "filesystem"


# Read once, as all that is cached here: a grid makes hundreds of cells. Nobody changes what it returns.
@functools.cache
def releases() -> dict[str, Any]:
    """SQLite releases by version, newest first (workloads/engines/sqlite/releases.yml)."""
    data = load_yaml(ROOT / "workloads/engines/sqlite/releases.yml")
    return dict(sorted(data.items(), key=lambda item: version_key(item[0]), reverse=True))


def newest() -> str:
    """What `newest` means: of the releases that Debian has, as the boards are. A later one has its number."""
    return next(version for version, source in releases().items() if "debian" in source)


def version_key(version: str) -> tuple[int, ...]:
    """'3.8.11.1' as (3, 8, 11, 1), to sort and compare by."""
    return tuple(int(part) for part in version.split("."))


@functools.cache
def data_files(pattern: Path) -> dict[str, Path]:
    """The files that a path with a glob as its name finds, by what each is called."""
    return {path.stem: path for path in sorted(pattern.parent.resolve().glob(pattern.name))}


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
        return str(self.spec["x-also"]).upper() if "x-also" in self.spec else None

    def among(self, variables: Collection[str]) -> str | None:
        """The variable of these that sets it, under either name; None: none does."""
        return next((name for name in (self.variable, self.also) if name in variables), None)

    def files(self) -> dict[str, Path]:
        """The data files whose names are this axis's values; empty for other axes."""
        pattern = self.spec.get("x-glob") or self.spec.get("x-glob-list")
        if not pattern:
            return {}
        return data_files(EXPERIMENTS / pattern)

    def values(self) -> dict[str, str]:
        """What each allowed value is, where the schema says it."""
        return dict(self.spec.get("x-values", {}))

    def given(self) -> dict[str, str]:
        """What may stand for a path of the user's, `word:<path>`, and what that is."""
        return dict(self.spec.get("x-given", {}))

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
        if choices := self.choices():
            also = {own: other for other, own in aliases(self.name).items()}
            names = [f"{name} ({also[name]})" if name in also else name for name in choices]
            return ", ".join([*names, *self.given()])
        if "x-glob-list" in self.spec:
            others = " or ".join(observers.optional())
            return f"all, none, or some of {','.join(probe_names())}; with one of them also {others}"
        if self.spec["type"] == "integer":
            unit = f" {self.spec['x-unit']}" if "x-unit" in self.spec else ""
            but = f" but {self.spec['not']['const']}" if "not" in self.spec else ""
            return f"a whole number from {self.spec['minimum']} to {self.spec['maximum']}{unit}{but}{POWERS}"
        return str(self.spec.get("x-allowed", "text"))

    def parse(self, text: str, where: str) -> Any:
        """The value that TEXT means; BadInputError says what is allowed."""

        def bad(near: str = "") -> BadInputError:
            said = text if text.isprintable() else ascii(text)[1:-1]  # an error is one line
            return BadInputError(f"{where}={said}: {near}{self.variable} is {self.allowed()}")

        if "x-glob-list" in self.spec:
            names = {"all", "none", *probe_names(), *observers.optional()}
            unknown = next((name for name in text.split(",") if name not in names), "")
            near = did_you_mean(unknown, names)
            return ",".join(parse_probes(text, bad(near)))
        if self.spec.get("type") == "integer" or all(
            isinstance(value, int) for value in self.spec.get("enum", [""])
        ):
            # no axis has numbers of more digits, and int() takes no more than 4300
            if not re.fullmatch(r"[+-]?[0-9]{1,18}([eE][0-9]{1,3})?", text):
                raise bad()
            mantissa, _, exponent = text.lower().partition("e")
            value: Any = int(mantissa) * 10 ** int(exponent or 0)
        else:
            value = text
        if any(text.startswith(form.partition("<")[0]) for form in self.given()):
            return text
        choices = [*self.choices(), *map(str, aliases(self.name))]
        if choices and str(value) not in choices:
            # names are of one case only: no two differ in nothing else
            known = {choice.casefold(): choice for choice in choices}
            if str(value).casefold() not in known:
                raise bad(did_you_mean(str(value), choices))
            value = known[str(value).casefold()]
        value = aliases(self.name).get(value, value)
        check = {key: self.spec[key] for key in ("minimum", "maximum", "not", "pattern") if key in self.spec}
        if not jsonschema.Draft202012Validator(check).is_valid(value):
            raise bad()
        return value


@functools.cache
def aliases(axis: str) -> dict[Any, str]:
    """Other names of an axis's values → the value."""
    files = (axes() | run_axes())[axis].files()
    return {alias: name for name, path in files.items() for alias in load_mapping(path).get("aliases", [])}


@functools.cache
def axes() -> dict[str, Axis]:
    """The cell's axes by name, in the schema's order."""
    return {name: Axis(name, spec) for name, spec in schema()["properties"].items()}


def own_name(name: str) -> str:
    """An axis's own name, whichever of its names is given; any other name as it is."""
    return {axis.spec["x-also"]: axis.name for axis in axes().values() if axis.also}.get(name, name)


def run_axes() -> dict[str, Axis]:
    """Variables of a call that are no part of a cell (REPEAT)."""
    return {name: Axis(name, spec) for name, spec in schema()["$defs"]["run"]["properties"].items()}


@functools.cache
def probe_names() -> list[str]:
    """Every probe there is; that of each filesystem by one name, as a cell has one filesystem."""
    files = {path.name.removesuffix(".bpf.c") for path in (ROOT / "probes").glob("*.bpf.c")}
    return sorted(files - set(filesystems.names()) | {FILESYSTEM})


def probe_files(probes: str, kind: str) -> list[str]:
    """The names of the files of probes named as in a cell, on a filesystem of that type."""
    given = [name for name in probes.split(",") if name and name not in observers.names()]
    return [kind if name == FILESYSTEM else name for name in given]


def parse_probes(text: str, bad: BadInputError) -> list[str]:
    """'sync,block', 'all', 'all' and an observer, or 'none', as the sorted list of names."""
    given = set() if text in ("", "none") else set(text.split(","))
    names = given - {"all"} | (set(probe_names()) if "all" in given else set())
    others = set(observers.optional())
    if not names <= {*probe_names(), *others} or (names and names <= others):
        raise bad
    return sorted(names)
