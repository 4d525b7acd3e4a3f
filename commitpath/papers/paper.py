"""Load a paper's data (experiments/papers/<name>/): settings, claims with readings, the authors' runs."""

import csv
import functools
import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.paths import EXPERIMENTS
from commitpath.cells import data_files
from commitpath.papers.readings import UNCHANGED, Change, Reading, entries, reading, wordings

PAPERS = EXPERIMENTS / "papers"
# The texts of a claim in claims.yml (experiments/schema.yml, $defs.claims).
TEXTS = ("explanation", "paper_says", "circular", "by_equality", "gap")
# The columns of claims.csv.
COLUMNS = ("id", "source", "statement", "left", "right", "metric", "expected", "kind")
# Why a claim is not measured if its number needs probes.
UNWATCHED = "its number needs probes, and PROBES=none"


@dataclass(frozen=True)
class Claim:
    """A claim: the paper's words and value (claims.csv), and its readings, the headline first."""

    id: str
    source: str
    statement: str
    left: str
    right: str
    metric: str
    expected: str
    # ratio (one for all pairs, or one each), direction, limit (of the left side's value) or count
    kind: str
    readings: tuple[Reading, ...]
    artifact: tuple[str, str] | None
    not_testable: str | None
    texts: Mapping[str, str]  # those of TEXTS that it has, as Jinja templates


@dataclass(frozen=True)
class Paper:
    """A paper's data in experiments/papers/<name>/, for one board and one choice of figures and sizes."""

    name: str
    title: str
    reference: str
    grid: str
    watched: str | None  # the grid of the watched cells
    constants: Mapping[str, Any]
    builds: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]  # an ambiguous word: its meanings
    artifact: Mapping[str, list[tuple[float, int]]]  # cell: TPS and transactions of the authors' runs
    robust: Mapping[str, Any]  # what ROBUST=yes varies (variations.py); may be empty
    says: Mapping[str, str]  # notes on its readings, profile and sources
    overrides: Mapping[str, str]  # make variables that replace constants
    most: Mapping[str, int]  # as of commitpath.cells.grid.at_most
    variables: Mapping[str, str]  # the other make variables of the request
    figures: tuple[Path, ...]  # the data files of the requested figures
    change: Change = UNCHANGED  # of the cells of its claims, which then have only their headline

    @functools.cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims, read when first used. Raises BadInputError.

        A reading with a cell that `most` lowers is not measured.
        """
        folder = PAPERS / self.name
        ours = data_files.load(folder / "claims.yml", "claims")
        rows = read_csv(folder / "claims.csv")
        if lacking := [name for name in COLUMNS if rows and name not in rows[0]]:
            raise BadInputError(f"{folder}/claims.csv: no column {', '.join(lacking)}")
        if different := {row["id"] for row in rows} ^ set(ours):
            raise BadInputError(
                f"{folder}: claims.csv and claims.yml do not have the same claims: "
                f"{', '.join(sorted(different))}"
            )
        claims = []
        for row in rows:
            try:
                claims.append(claim(row, ours[row["id"]], self))
            except BadInputError as error:
                if not self.change.settings:
                    raise BadInputError(f"{folder}/claims.yml: {row['id']}: {error}") from error
                # its cells cannot have these settings
                claims.append(claim(row, {"not_testable": str(error)}, self))
        return tuple(claims)


def names() -> list[str]:
    """Return the names of all papers."""
    return [path.parent.name for path in sorted(PAPERS.glob("*/paper.yml"))]


def load(
    name: str,
    overrides: Mapping[str, str] | None = None,
    most: Mapping[str, int] | None = None,
    figures: Collection[str] = (),
    variables: Mapping[str, str] | None = None,
    change: Change = UNCHANGED,
) -> Paper:
    """Return a paper. Raises BadInputError.

    overrides: make variables that replace constants; figures: names, empty for all; change: of the cells
    of its claims.
    """
    if name not in names():
        raise BadInputError(f"PAPER={name}: PAPER is {', '.join(names())}")
    folder = PAPERS / name
    head = data_files.load(folder / "paper.yml", "paper")
    given = {key.lower(): text for key, text in (overrides or {}).items()}
    paths = sorted((folder / "figures").glob("*.yml"))
    return Paper(
        name,
        head["title"],
        head["reference"],
        head["grid"],
        head.get("watched"),
        {**head["constants"], **given},
        tuple(head["builds"]),
        {word: tuple(meanings) for word, meanings in head["words"].items()},
        artifact_of(folder),
        head.get("robust", {}),
        head.get("says", {}),
        dict(overrides or {}),
        dict(most or {}),
        dict(variables or {}),
        tuple(path for path in paths if not figures or path.stem in figures),
        change,
    )


def artifact_of(folder: Path) -> dict[str, list[tuple[float, int]]]:
    """Return TPS and transactions of the authors' runs by cell; empty without artifact.csv."""
    runs: dict[str, list[tuple[float, int]]] = {}
    table = folder / "artifact.csv"
    for row in read_csv(table) if table.is_file() else []:
        runs.setdefault(row["cell"], []).append((float(row["tps"]), int(row["transactions"])))
    return runs


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file. Raises BadInputError for a line without one value for each column."""
    rows = []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        try:
            for row in reader:
                if None in row or None in row.values():
                    columns = len(reader.fieldnames or ())
                    raise BadInputError(f"{path}: line {reader.line_num}: needs {columns} values")
                rows.append(row)
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInputError(f"{path}: after line {reader.line_num}: {error}") from None
    return rows


def claim(row: Mapping[str, str], ours: Mapping[str, Any], paper: Paper) -> Claim:
    """Return a claim. row: of claims.csv; ours: of claims.yml."""
    every = (
        measured(entry, words, build, paper)
        for entry in entries(ours)
        for words in wordings(entry, paper.words)
        for build in entry.get("builds", paper.builds)
    )
    # a change is judged by the headline; another reading may have cells that cannot have its settings
    readings = list(itertools.islice(every, 1 if paper.change.settings else None))
    ratios = row["expected"].split("|")
    for made in readings:
        if len(made.pairs) % len(ratios) or (len(ratios) > 1 and made.holds != "all"):
            raise BadInputError(
                f"{made.name}: {len(made.pairs)} pairs, and claims.csv has {len(ratios)} ratios"
            )
    for cell in ours.get("artifact", ()):
        if cell not in paper.artifact:
            raise BadInputError(f"artifact: no cell {cell} in artifact.csv")
    columns: dict[str, Any] = {name: row[name] for name in COLUMNS}
    return Claim(
        **columns,
        readings=tuple(readings),
        artifact=tuple(ours["artifact"]) if "artifact" in ours else None,
        not_testable=ours.get("not_testable"),
        texts={name: ours[name] for name in TEXTS if name in ours},
    )


def measured(entry: Mapping[str, Any], words: Mapping[str, str], build: str, paper: Paper) -> Reading:
    """Return a reading in one build, with the reason if the requested runs cannot judge it."""
    watched, unwatched = bool(entry.get("watched")), paper.overrides.get("PROBES") == "none"
    given = {
        name: value for name, value in paper.constants.items() if name != "probes" or unwatched or not watched
    }
    made = reading(entry, words, build, given, paper.most, paper.change)
    if watched and unwatched:
        return replace(made, unmeasured=UNWATCHED)
    if paper.most and reading(entry, words, build, given, {}, paper.change).pairs != made.pairs:
        lower = ", ".join(f"{name.upper()}={number}" for name, number in paper.most.items())
        return replace(made, unmeasured=f"{lower}: fewer than the paper's")
    return made
