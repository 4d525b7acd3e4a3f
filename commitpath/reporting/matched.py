"""Match the cells of two selections of runs, equal in every axis that no selector names; list the others."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from base.errors import BadInputError
from base.text import counted
from commitpath.cells.axes import axes
from commitpath.database import select
from commitpath.database.select import Run
from commitpath.reporting.statistics import Sample
from commitpath.results.distinct_runs import samples
from commitpath.results.marks import MARKED, made_otherwise, marks
from model.cell import SAMPLED, sample

# Facts in which two runs must agree to be compared, unless a selector names them.
SIGNATURE_FACTS = ("lab", "uname")
# Most cells without a counterpart that are named.
MOST_NAMED = 3

Groups = dict[tuple[str, ...], list[Run]]


@dataclass(frozen=True)
class Matched:
    """One cell with its samples in A and in B.

    axes: those in which the cells of a comparison differ, with its values. repeats: how many other runs of A
    and of B repeat a sample. compared: the axes of samples that a selector names; such samples are paired
    whatever their values there.
    """

    label: str
    a: list[Run]
    b: list[Run]
    axes: Mapping[str, str] = field(default_factory=dict)
    repeats: tuple[int, int] = (0, 0)
    compared: frozenset[str] = frozenset()

    @property
    def repeatable(self) -> bool:
        """Return whether all runs are in virtual time."""
        return all(run.settings["clock"] == "virtual" for run in (*self.a, *self.b))

    def sample(self, run: Run) -> Sample:
        """Return the (seed, board) by which a run is paired; None for one that a selector names."""
        parts = zip(SAMPLED, sample(run.cell, run.facts["run"]), strict=True)
        seed, board = (None if name in self.compared else value for name, value in parts)
        return seed, board

    def marks(self) -> dict[str, str]:
        """Return mark → an inequality of the two, or a peculiarity of their runs."""
        sides: dict[str, dict[str, None]] = {}
        for side, runs in (("A", self.a), ("B", self.b)):
            for mark in (mark for run in runs for mark in run.marks):
                sides.setdefault(mark, {})[side] = None
        marked = "; ".join(f"{' and '.join(names)}: {mark}" for mark, names in sides.items())
        special = {MARKED: marked} if marked else {}
        return marks(self.a[0], self.b[0]) | made_otherwise([*self.a, *self.b]) | special


def match(options: dict[str, str], a: list[Run], b: list[Run], every: Sequence[Run] = ()) -> list[Matched]:
    """Return the cells that are in both, equal in every axis that no selector names. Only ok runs count.

    every: the runs that the selectors chose from, for a message.
    If a selector names the engine, axes that not both engines have may differ, too.
    """
    named = named_by(options, a, b)
    for side, runs in zip("AB", (a, b), strict=True):
        if not any(run.facts["status"] == "ok" for run in runs):
            near = select.nearest(every, options[side]) or "no ok run is like that"
            raise BadInputError(f"{side}={options[side]!r}: {near} (make results lists them)")
    if both := {run_id(run) for run in a} & {run_id(run) for run in b}:
        number = counted(len(both), "run")
        raise BadInputError(f"A and B have {number} in common; a run can be on one side only")
    groups = [by_signature(runs, named) for runs in (a, b)]
    for side, group in zip("AB", groups, strict=True):
        for runs in group.values():
            check_alike(side, options[side], runs, named)
    common = [signature for signature in groups[0] if signature in groups[1]]
    for signature in common:
        check_contents(options, groups[0][signature][0], groups[1][signature][0])
    if not common:
        differ = [axis_values(name, [*a, *b]) for name in select.varying([*a, *b]) if name not in named]
        raise BadInputError(
            f"no cell is in both A and B: they also differ in {', '.join(differ) or 'lab or kernel'}; "
            "name that in a selector, or sweep the same cells for both"
        )
    every = [run for signature in common for group in groups for run in group[signature]]
    shown = [name for name in select.varying(every) if name not in named | {*SAMPLED}]
    matched = []
    for signature in common:
        sides = [group[signature] for group in groups]
        few = [samples(runs) for runs in sides]
        label = select.label(sides[0][0], shown) or f"{options['A']} and {options['B']}"
        repeats = (len(sides[0]) - len(few[0]), len(sides[1]) - len(few[1]))
        values = {name: sides[0][0].shown(name) for name in shown}
        matched.append(Matched(label, few[0], few[1], values, repeats, frozenset(named & {*SAMPLED})))
    return matched


def check_alike(side: str, selector: str, runs: Sequence[Run], named: set[str]) -> None:
    """Check that the runs of one matched cell have one value of each named axis. Raises BadInputError."""
    for name in sorted(named - {"grid", *SAMPLED}):
        if len(values := {with_release(run, name) for run in runs}) > 1:
            raise BadInputError(
                f"{side}={selector!r}: {name} is {', '.join(sorted(values))} in one matched "
                f"cell; name one of them{' (uname=7.3*)' if name == 'kernel' else ''}"
            )


def with_release(run: Run, name: str) -> str:
    """Return a run's value of an axis; a kernel with its release, as a name may mean another one later."""
    release = ".".join(re.split("[.+-]", run.facts["uname"])[:2])
    return f"{run.shown(name)} ({release})" if name == "kernel" else run.shown(name)


def left_out(options: dict[str, str], *sides: list[Run]) -> list[str]:
    """Return a line for each side with cells that the other lacks, with what matched cells do not have."""
    named = named_by(options, *sides)
    groups = [by_signature(runs, named) for runs in sides]
    lines = []
    for side, cells, others in (("A", groups[0], groups[1]), ("B", groups[1], groups[0])):
        missing = [runs[0] for signature, runs in cells.items() if signature not in others]
        matched = [runs[0] for signature, runs in cells.items() if signature in others]
        names = [name for name in select.varying([*missing, *matched]) if name not in SAMPLED]
        cells_named = [apart(run, matched, [*names, *SIGNATURE_FACTS]) for run in missing[:MOST_NAMED]]
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        if missing:
            lines.append(
                f"left out: {len(missing)} of {len(cells)} cells of {side}, which the other has not: "
                f"{', '.join(cells_named)}{more}"
            )
    return lines


def apart(run: Run, matched: Sequence[Run], names: Sequence[str]) -> str:
    """Return a run's values of these names but those that all matched cells have."""
    common = {name: {other.shown(name) for other in matched} for name in names}
    differ = [name for name in names if run.shown(name) != select.NONE and common[name] != {run.shown(name)}]
    return select.label(run, differ)


def named_by(options: dict[str, str], *sides: list[Run]) -> set[str]:
    """Return the axes and facts in which matched cells may differ."""
    named = {name for side in "AB" for name, _ in select.parse(options[side])}
    if "engine" in named:
        good = [run for runs in sides for run in runs if run.facts["status"] == "ok"]
        named |= {name for run in good for name in axes().keys() - run.settings.keys()}
    return named


def check_contents(options: dict[str, str], a: Run, b: Run) -> None:
    """Reject two contents of one profile's name as equal, unless a selector names them."""
    for side in "AB":
        for name, patterns in select.parse(options[side]):
            same_name = name in a.contents and a.cell.value(name) == b.cell.value(name)
            if same_name and a.contents[name] != b.contents[name] and not any("#" in p for p in patterns):
                raise BadInputError(
                    f"{side}={options[side]!r}: {name} is {a.shown(name)} in A and {b.shown(name)} in B, two "
                    f"contents of one name; say which, such as {name}={a.shown(name)}"
                )


def axis_values(name: str, runs: Sequence[Run]) -> str:
    """Return an axis in which runs differ; with its values if two are contents of one profile."""
    values = sorted({run.shown(name) for run in runs})
    return f"{name} ({', '.join(values)})" if any("#" in value for value in values) else name


def run_id(run: Run) -> tuple[str, ...]:
    """Return (lab, cell id, run id), which identifies a run."""
    return run.facts["lab"], run.facts["cell"], run.facts["run"]


def by_signature(runs: Sequence[Run], named: set[str]) -> Groups:
    """Group ok runs by what they must have in common; seeds and boards are samples of one cell."""
    # a selector of a kernel means its builds, too
    facts = [
        name for name in SIGNATURE_FACTS if name not in named | ({"uname"} if "kernel" in named else set())
    ]
    groups: Groups = {}
    for run in runs:
        if run.facts["status"] == "ok":
            names = [name for name in select.names([run]) if name not in named | {*SAMPLED}]
            key = (
                *(f"{name}={run.settings.get(name)}" for name in names),
                *(run.facts[name] for name in facts),
            )
            groups.setdefault(key, []).append(run)
    return groups
