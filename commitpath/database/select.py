"""Load runs (class Run) from the results database by a selector such as `fs=ext4-* mode=wal|delete`.

A selector has terms separated by blanks, all of which must hold; a term is a name, `=`, and values separated
by `|`, in which `*` matches anything. An empty selector matches every run.

Profiles of one name may differ: the file was edited between two runs, or another lab has another one. They
are shown with the first digits of their hash, `device=constant#b1c1`.

An axis that a run's engine lacks has no value: `-` is shown, and no term matches.

If a lab's runs have several values of an axis that is unknown here, each at its default there, the id of
their folder stands for several cells, and selects all of them (unknown_axes.py).
"""

import fnmatch
import functools
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.run_files.stored_files import NOT_HELD
from base import identity
from base.errors import BadInputError
from base.paths import RESULTS, is_closed
from base.text import did_you_mean
from commitpath.cells.axes import axes, newest, own_name
from commitpath.cells.identities import at_default, complete, current_id, other_profiles
from commitpath.database import row_checks, store, unknown_axes
from model import cell as cells
from model import engines
from model.cell import Cell

# Shown for an axis that a run lacks.
NONE = "-"
# Names of a selector other than axes.
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

    settings: the axes that its engine has, with NAME#HASH for a profile that differs in other runs;
    facts: FACTS without grid, as text.
    """

    settings: Mapping[str, Any]
    facts: Mapping[str, str]
    grids: frozenset[str]
    path: str | None
    reasons: tuple[str, ...]
    cell: Cell
    cell_id: str  # by the present rule; that of its folder is facts["cell"]
    summary: Mapping[str, Any] = field(repr=False)
    _documents: Mapping[str, str | None] = field(repr=False)
    marks: tuple[str, ...] = ()  # caveats

    @functools.cached_property
    def contents(self) -> dict[str, str]:
        """As base.identity.contents."""
        return identity.contents(self.cell.profiles)

    def document(self, name: str) -> dict[str, Any]:
        """Return manifest or host; empty without one."""
        text = self._documents[name]
        return json.loads(text) if text else {}

    def values(self, name: str) -> list[str]:
        """Return the values that a selector's term may match."""
        if name == "grid":
            return sorted(self.grids)
        if name == "cell":
            return [self.facts["cell"], self.cell_id]
        if name in self.contents:
            profile = str(self.cell.value(name)) if self.cell.has(name) else ""
            return [profile, f"{profile}#{self.contents[name]}"]
        return [self.shown(name)] if name in FACTS or name in self.settings else []

    def shown(self, name: str) -> str:
        """Return a run's value of an axis, or of FACTS but grid, for the user."""
        return self.facts[name] if name in FACTS else str(self.settings.get(name, NONE))


def load(connection: sqlite3.Connection, selector: str = "") -> list[Run]:
    """Return the runs of a selector, oldest first. Damaged rows are left out, and named on stderr."""
    grids: dict[tuple[str, str, int], set[str]] = {}
    for row in row_checks.sound(connection, "grid_run"):
        grids.setdefault((row["lab"], row["cell_id"], row["repeat"]), set()).add(row["grid"])
    # an export has no paths of folders
    is_here = Path(store.path_of(connection)).resolve() == store.DATABASE.resolve()
    this_lab = store.label(connection) if is_here else None
    rows = [
        (row, json.loads(row["cell"])) for row in row_checks.sound(connection, "run", "run_id, lab, cell_id")
    ]
    several = unknown_axes.several_defaults((row["lab"], stored) for row, stored in rows)
    # SQLite takes a tenth of the time of json.loads
    query = """SELECT lab, cell_id, run_id, iif(json_valid(manifest), kernel, ''),
        iif(json_valid(host), commitpath, '') FROM run"""
    of_board = {tuple(row[:3]): (row[3], row[4]) for row in connection.execute(query)}
    runs = []
    for row, stored in rows:
        apart = unknown_axes.defaults(stored) & several.get(row["lab"], set())
        cell = cells.from_document(stored)
        # the row's id is of the document (row_checks), and without a change of axes and defaults still is
        as_now = not cell.absent and at_default(cell) == stored["at_default"]
        now = row["cell_id"] if as_now else current_id(stored, apart)
        cell = complete(cell)
        without = {*engines.unused_axes(cell.engine)}
        summary = json.loads(row["summary"] or "{}")
        kernel, commit = of_board[row["lab"], row["cell_id"], row["run_id"]]
        release = str(kernel or "").split()[2:3]
        runs.append(
            Run(
                settings={name: value for name, value in cell.axes() if name not in without},
                facts={
                    "lab": row["lab"],
                    "uname": "".join(release),
                    "commit": commit or "",
                    "status": row["status"],
                    "cell": row["cell_id"],
                    "run": row["run_id"],
                    "repeat": str(row["repeat"] or ""),
                },
                grids=frozenset(
                    grid
                    # the id of its folder may stand for several cells
                    for name in ({now} if apart else {now, row["cell_id"]})
                    for grid in grids.get((row["lab"], name, row["repeat"]), ())
                ),
                path=row["path"],
                reasons=tuple(json.loads(row["reasons"])),
                cell=cell,
                cell_id=now,
                summary=summary,
                _documents={"manifest": row["manifest"], "host": row["host"]},
                marks=tuple(marks(row, cell, stored, summary, this_lab)),
            )
        )
    return selected(with_hashes(runs), selector)


def marks(
    row: row_checks.Row,
    cell: Cell,
    stored: Mapping[str, Any],
    summary: Mapping[str, Any],
    this_lab: str | None,
) -> Iterator[str]:
    """Yield the caveats of a run. stored: cell.json. this_lab: None if the database is an export."""
    if this_lab and summary and row["path"] is None:
        here = row["lab"] == this_lab
        closed = here and is_closed(RESULTS / identity.cell_name(stored) / row["run_id"])
        yield CLOSED if closed else UNVERIFIED
    if summary and not summary.get("raw_held"):
        yield NOT_HELD
    for axis in other_profiles(cell):
        yield other_content(axis, cell.value(axis))


def other_content(axis: str, name: str) -> str:
    """Return the mark of a run with a profile that differs from the present file of its name."""
    return f"its {axis} is not experiments/{axis}/{name}.yml of here"


def with_hashes(runs: Sequence[Run]) -> list[Run]:
    """Return the runs, with NAME#HASH for each profile of a name that has several contents in them."""
    contents: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        for axis, content in run.contents.items():
            contents.setdefault((axis, run.shown(axis)), set()).add(content)
    digits = {
        key: next(n for n in range(4, 65) if len({content[:n] for content in several}) == len(several))
        for key, several in contents.items()
        if len(several) > 1
    }

    def with_hash(run: Run) -> Run:
        names = {axis: (run.shown(axis), content) for axis, content in run.contents.items()}
        hashed = {
            axis: f"{name}#{content[: digits[axis, name]]}"
            for axis, (name, content) in names.items()
            if (axis, name) in digits
        }
        return replace(run, settings={**run.settings, **hashed})

    return [with_hash(run) for run in runs]


def tags(lines: Iterable[str]) -> list[str]:
    """Return a note on the first NAME#HASH in lines; empty without one."""
    for name, tag in re.findall(r"([^\s=#]+)(#[0-9a-f]{4,64})\b", " ".join(lines)):
        return [f"{name}{tag}: runs have several contents of the profile {name}; # begins a content's hash"]
    return []


def selected(runs: list[Run], selector: str) -> list[Run]:
    """Return the runs that a selector matches."""
    terms = parse(selector)
    return [
        run
        for run in runs
        if all(any(matches(value, patterns) for value in run.values(name)) for name, patterns in terms)
    ]


def nearest(runs: Sequence[Run], selector: str) -> str:
    """Return the first term of a selector that none of some runs matches, with the nearest value of theirs.

    Empty if each term has a run.
    """
    for name, patterns in parse(selector):
        values = {value for run in runs for value in run.values(name)}
        if not any(matches(value, patterns) for value in values):
            # the value of an axis is an allowed one
            near = did_you_mean(patterns[0], values) if name in FACTS else ""
            return f"{near}no run has {name}={'|'.join(patterns)}"
    return ""


def matches(value: str, patterns: list[str]) -> bool:
    """Return whether a value matches one of the patterns."""
    return any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)


def parse(selector: str) -> list[tuple[str, list[str]]]:
    """Return (name, patterns) of each term of a selector. Raises BadInputError."""
    terms = []
    for term in selector.split():
        typed, equals, text = term.partition("=")
        name = own_name(typed.lower())
        if not name or not equals or not text:
            raise BadInputError(
                f"{term}: a selector's term is name=value, with | between values, such as mode=wal|delete "
                "(docs/reference/results-db.md)"
            )
        if name not in (*axes(), *FACTS):
            also = [axis.also.lower() for axis in axes().values() if axis.also]
            near = did_you_mean(name, [*axes(), *also, *FACTS])
            raise BadInputError(
                f"{term}: unknown name; {near}a name is an axis of a cell (docs/reference/axes.md) or "
                f"{', '.join(FACTS)}"
            )
        terms.append((name, [spelled(name, value, typed) for value in text.split("|")]))
    return terms


def spelled(name: str, value: str, typed: str | None = None) -> str:
    """Return a value as in a cell, from aliases, 1e5 or newest. Raises BadInputError.

    typed: the name as the user gave it, for the error.
    """
    profile, several, content = value.partition("#")
    if several and name in axes() and axes()[name].files():
        return f"{spelled(name, profile, typed)}#{content}*"
    if name in FACTS or "*" in value or "?" in value:
        return value
    if name == "sqlite" and value == "newest":
        return newest()
    return str(axes()[name].parse(value, typed or name.upper()))


def unusable(crash: Mapping[str, Any]) -> int:
    """Return the number of cuts that left no usable database: it did not open, or is no first k transactions.

    crash: of summary.json.
    """
    return int(crash["cuts"] - crash["opened"] + crash["corrupt"] + crash["not_a_prefix"])


def names(runs: Iterable[Run]) -> list[str]:
    """Return the axes of runs: the schema's in its order, then those of other labs' runs."""
    return [*axes(), *sorted({name for run in runs for name in run.settings} - axes().keys())]


def varying(runs: Sequence[Run]) -> list[str]:
    """Return the axes in which runs differ, in the order of `names`.

    A run whose engine lacks an axis does not differ in it. One without an axis that is unknown here does.
    """
    known = axes()
    return [
        name
        for name in names(runs)
        if len({run.shown(name) for run in runs if name in run.settings or name not in known}) > 1
    ]


def label(run: Run, names: list[str]) -> str:
    """Return a run's values of these axes, as `fs=f2fs mode=wal`; an empty one as `none`."""
    return " ".join(f"{name}={run.shown(name) or 'none'}" for name in names)
