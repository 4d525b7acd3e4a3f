"""Runs of the database, and selectors of them: `fs=ext4-* mode=wal|delete lab=here`.

A selector is terms separated by blanks, all of which hold; a term is a name, `=`, and
values separated by `|`, in which `*` stands for anything. An empty selector is every run.

A profile's name may have several contents: its file was edited between two runs, or another lab
has another one. Then each is told by the first digits of its hash, `device=constant#b1c1`.

An axis that a run's engine does not have has no value in that run: `-` is shown, and no term is true of it.

Where a lab's runs have several values of an axis that is not known here, each at its default there, the
id of their folder is that of several cells, and selects all of them (unknown_axes.py).
"""

import fnmatch
import functools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.run_files.stored_files import NOT_HELD
from base import identity
from base.errors import BadInputError
from base.paths import RESULTS, is_closed
from base.text import did_you_mean
from commitpath.cells.axes import axes, newest, own_name
from commitpath.cells.identities import complete, current_id, other_profiles
from commitpath.database import row_checks, store, unknown_axes
from model import cell as cells
from model import engines
from model.cell import Cell

# What is shown where a run has no such axis.
NONE = "-"
# What a run has beside its cell's axes.
FACTS = {
    "lab": "label of the lab that ran it",
    "uname": "release of the board's kernel, as uname -r has it",
    "commit": "git commit of commitpath",
    "status": "ok, rejected, failed",
    "grid": "a grid that asks for it",
    "cell": "cell id",
    "run": "run id",
    "repeat": "which of a sweep's runs of the cell",
}
UNVERIFIED = "unverified: its files are not here, so its numbers could not be computed again"
CLOSED = "unverified: its folder may not be read"


@dataclass(frozen=True)
class Run:
    """One run of the database.

    settings: those of its cell's axes that its engine has, with NAME#HASH for a profile that has
    other contents in other runs; facts: FACTS less grid, as text.
    """

    settings: Mapping[str, Any]
    facts: Mapping[str, str]
    grids: frozenset[str]
    path: str | None
    reasons: tuple[str, ...]
    cell: Cell
    stored: Mapping[str, Any] = field(repr=False)  # cell.json
    summary: Mapping[str, Any] = field(repr=False)
    _documents: Mapping[str, str | None] = field(repr=False)
    marks: tuple[str, ...] = ()  # what is to be known of it, though it counts
    apart: Set[str] = frozenset()  # as of commitpath.cells.from_variables.current_id

    @functools.cached_property
    def contents(self) -> dict[str, str]:
        """As base.identity.contents."""
        return identity.contents(self.cell.profiles)

    @functools.cached_property
    def cell_id(self) -> str:
        """The cell's id by the rule of now; that of its folder is facts["cell"]."""
        return current_id(self.stored, self.apart)

    def document(self, name: str) -> dict[str, Any]:
        """manifest or host; empty where there is none."""
        text = self._documents[name]
        return json.loads(text) if text else {}

    def values(self, name: str) -> list[str]:
        """What a selector's term is held against."""
        if name == "grid":
            return sorted(self.grids)
        if name == "cell":
            return [self.facts["cell"], self.cell_id]
        if name in self.contents:
            profile = str(self.cell.value(name)) if self.cell.has(name) else ""
            return [profile, f"{profile}#{self.contents[name]}"]
        return [self.shown(name)] if name in FACTS or name in self.settings else []

    def shown(self, name: str) -> str:
        """What a run has of an axis, or of FACTS but grid, as it is told to the user."""
        return self.facts[name] if name in FACTS else str(self.settings.get(name, NONE))


def load(connection: sqlite3.Connection, selector: str = "") -> list[Run]:
    """The runs that a selector names, oldest first. A damaged row is left out, and named on stderr."""
    grids: dict[tuple[str, str, int], set[str]] = {}
    for row in row_checks.sound(connection, "grid_run"):
        grids.setdefault((row["lab"], row["cell_id"], row["repeat"]), set()).add(row["grid"])
    # only there a path says where the folder is: an export has none
    is_own = Path(store.path_of(connection)).resolve() == store.DATABASE.resolve()
    own = store.label(connection) if is_own else None
    found = [
        (row, json.loads(row["cell"])) for row in row_checks.sound(connection, "run", "run_id, lab, cell_id")
    ]
    several = unknown_axes.several_defaults((row["lab"], stored) for row, stored in found)
    runs = []
    for row, stored in found:
        apart = unknown_axes.defaults(stored) & several.get(row["lab"], set())
        now = current_id(stored, apart)
        cell = complete(cells.from_document(stored))
        without = {*engines.unused_axes(cell.engine)}
        told = {name: json.loads(row[name] or "{}") for name in ("summary", "manifest", "host")}
        kernel = str((told["manifest"].get("board") or {}).get("kernel") or "").split()
        runs.append(
            Run(
                settings={name: value for name, value in cell.axes() if name not in without},
                facts={
                    "lab": row["lab"],
                    "uname": kernel[2] if len(kernel) > 2 else "",
                    "commit": told["host"].get("commitpath_commit") or "",
                    "status": row["status"],
                    "cell": row["cell_id"],
                    "run": row["run_id"],
                    "repeat": str(row["repeat"] or ""),
                },
                grids=frozenset(
                    grid
                    # which of the cells with the id of its folder a grid asks for, it does not say
                    for name in ({now} if apart else {now, row["cell_id"]})
                    for grid in grids.get((row["lab"], name, row["repeat"]), ())
                ),
                path=row["path"],
                reasons=tuple(json.loads(row["reasons"])),
                cell=cell,
                stored=stored,
                summary=told["summary"],
                _documents={"manifest": row["manifest"], "host": row["host"]},
                marks=tuple(marks(row, cell, told["summary"], own)),
                apart=apart,
            )
        )
    return selected(told_apart(runs), selector)


def marks(row: row_checks.Row, cell: Cell, summary: Mapping[str, Any], own: str | None) -> Iterator[str]:
    """What is to be known of a run, though it counts. own: the label of the lab whose folders are here."""
    if own and summary and row["path"] is None:
        folder = RESULTS / identity.cell_name(json.loads(row["cell"])) / row["run_id"]
        yield CLOSED if row["lab"] == own and is_closed(folder) else UNVERIFIED
    if summary and not summary.get("raw_held"):
        yield NOT_HELD
    for axis in other_profiles(cell):
        yield other_content(axis, cell.value(axis))


def other_content(axis: str, name: str) -> str:
    """The mark of a run whose profile of a name asks for something else than that file of here."""
    return f"its {axis} is not experiments/{axis}/{name}.yml of here"


def told_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs, with NAME#HASH in place of each profile's name that has several contents in them."""
    found: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for axis, content in run.contents.items():
            found.setdefault((axis, run.shown(axis)), set()).add(content)
    digits = {
        key: next(n for n in range(4, 65) if len({content[:n] for content in several}) == len(several))
        for key, several in found.items()
        if len(several) > 1
    }
    return [
        replace(
            run,
            settings={
                **run.settings,
                **{
                    axis: f"{run.shown(axis)}#{content[: digits[axis, run.shown(axis)]]}"
                    for axis, content in run.contents.items()
                    if (axis, run.shown(axis)) in digits
                },
            },
        )
        for run in runs
    ]


def selected(runs: list[Run], selector: str) -> list[Run]:
    """Those of the runs that a selector names."""
    terms = parse(selector)
    return [
        run
        for run in runs
        if all(any(matches(value, patterns) for value in run.values(name)) for name, patterns in terms)
    ]


def matches(value: str, patterns: list[str]) -> bool:
    """Whether a value is one of the patterns."""
    return any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)


def parse(selector: str) -> list[tuple[str, list[str]]]:
    """(name, patterns) of each term; BadInputError names what is not known."""
    terms = []
    for term in selector.split():
        name, equals, text = term.partition("=")
        name = own_name(name.lower())
        if not equals or not text:
            raise BadInputError(f"{term}: a selector's term is name=value, with | between values")
        if name not in axes() and name not in FACTS:
            known = [*axes(), *FACTS]
            near = did_you_mean(name, known)
            raise BadInputError(f"{term}: unknown name; {near}there are {', '.join(known)}")
        terms.append((name, [spelled(name, value) for value in text.split("|")]))
    return terms


def spelled(name: str, value: str) -> str:
    """A value as cells spell it: aliases, 1e5, newest; BadInputError for what no cell can have."""
    profile, several, content = value.partition("#")
    if several and name in axes() and axes()[name].files():
        return f"{spelled(name, profile)}#{content}*"
    if name in FACTS or "*" in value or "?" in value:
        return value
    if name == "sqlite" and value == "newest":
        return newest()
    return str(axes()[name].parse(value, name.upper()))


def names(runs: Iterable[Run]) -> list[str]:
    """The axes of runs: those of the schema in its order, then those that other labs' runs have."""
    return [*axes(), *sorted({name for run in runs for name in run.settings} - axes().keys())]


def varying(runs: Sequence[Run]) -> list[str]:
    """The axes in which runs differ, in the order of `names`."""
    return [name for name in names(runs) if len({run.shown(name) for run in runs}) > 1]


def label(run: Run, names: list[str]) -> str:
    """`fs=f2fs mode=wal`: a run by the named axes."""
    return " ".join(f"{name}={run.shown(name)}" for name in names)
