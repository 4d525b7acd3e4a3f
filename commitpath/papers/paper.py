"""A paper's claims as data: experiments/papers/<name>/, checked against experiments/schema.yml."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema

from base.data import load_yaml
from base.errors import BadInputError
from base.paths import EXPERIMENTS
from base.schema import schema
from commitpath.papers.readings import Reading, reading, wordings

PAPERS = EXPERIMENTS / "papers"
# What claims.yml says of a claim in words (experiments/schema.yml, $defs.claims).
TEXTS = ("explanation", "paper_says", "circular", "by_equality")
# What each row of claims.csv has of a claim.
COLUMNS = ("id", "source", "statement", "left", "right", "metric", "expected", "kind")
# Of a claim whose number is counted by watching, where nothing is watched.
UNWATCHED = "it is counted by watching, and PROBES=none"


@dataclass(frozen=True)
class Claim:
    """A claim: the paper's words and value (claims.csv), and its readings, the headline first."""

    id: str
    source: str
    statement: str
    selectors: tuple[str, str]
    metric: str
    expected: str
    # ratio (of each of a reading's pairs in turn, where there are several), direction, limit (of the left
    # side's value) or count
    kind: str
    readings: tuple[Reading, ...]
    artifact: tuple[str, str] | None
    not_testable: str | None
    texts: Mapping[str, str]  # those of TEXTS that it has, as Jinja templates


@dataclass(frozen=True)
class Paper:
    """All of experiments/papers/<name>/. artifact: TPS and transactions of the authors' runs, by cell."""

    name: str
    title: str
    reference: str
    grid: str
    constants: Mapping[str, Any]
    builds: tuple[str, ...]
    claims: tuple[Claim, ...]
    artifact: Mapping[str, list[tuple[float, int]]]
    most: Mapping[str, int]  # as of commitpath.sweep.grid.at_most
    says: Mapping[str, str]  # what is to be known of its readings, profile and sources


def names() -> list[str]:
    """Every paper there is."""
    return [path.parent.name for path in sorted(PAPERS.glob("*/paper.yml"))]


def load(
    name: str, overrides: Mapping[str, str] | None = None, most: Mapping[str, int] | None = None
) -> Paper:
    """A paper by name. overrides: make variables in place of its constants. Raises BadInputError.

    most: as of commitpath.sweep.grid.at_most; a reading with a cell that is over it is not measured.
    """
    folder = PAPERS / name
    if name not in names():
        raise BadInputError(f"PAPER={name}: PAPER is {', '.join(names())}")
    head = validated(folder / "paper.yml", "paper")
    given = {key.lower(): text for key, text in (overrides or {}).items()}
    constants = {**head["constants"], **given}
    unwatched = given.get("probes") == "none"
    ours = validated(folder / "claims.yml", "claims")
    rows = read_csv(folder / "claims.csv")
    if lacking := [name for name in COLUMNS if rows and name not in rows[0]]:
        raise BadInputError(f"{folder}/claims.csv: no column {', '.join(lacking)}")
    if different := {row["id"] for row in rows} ^ set(ours):
        raise BadInputError(
            f"{folder}: claims.csv and claims.yml have not the same claims: {', '.join(sorted(different))}"
        )
    artifact = artifact_of(folder)
    claims = []
    for row in rows:
        try:
            claims.append(claim(row, ours[row["id"]], head, constants, most or {}, unwatched))
        except BadInputError as error:
            raise BadInputError(f"{folder}/claims.yml: {row['id']}: {error}") from error
    for entry in claims:
        for cell in entry.artifact or ():
            if cell not in artifact:
                raise BadInputError(
                    f"{folder}/claims.yml: {entry.id}: artifact: no cell {cell} in artifact.csv"
                )
    builds = tuple(head["builds"])
    return Paper(
        name,
        head["title"],
        head["reference"],
        head["grid"],
        constants,
        builds,
        tuple(claims),
        artifact,
        dict(most or {}),
        head.get("says", {}),
    )


def validated(path: Path, what: str) -> dict[str, Any]:
    """A data file that is what experiments/schema.yml says ($defs); BadInputError names the place."""
    content = load_yaml(path)
    checks = {**schema()["$defs"][what], "$defs": schema()["$defs"]}
    validator = jsonschema.Draft202012Validator(checks)
    for error in validator.iter_errors(content):
        place = ".".join(str(step) for step in error.absolute_path)
        raise BadInputError(f"{path}: {place + ': ' if place else ''}{error.message}")
    found: dict[str, Any] = content
    return found


def artifact_of(folder: Path) -> dict[str, list[tuple[float, int]]]:
    """TPS and transactions of the authors' runs by cell, of a paper that has them."""
    found: dict[str, list[tuple[float, int]]] = {}
    table = folder / "artifact.csv"
    for row in read_csv(table) if table.is_file() else []:
        found.setdefault(row["cell"], []).append((float(row["tps"]), int(row["transactions"])))
    return found


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file. BadInputError names the line of one that has not a value for each column."""
    rows = []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        try:
            for row in reader:
                if None in row or None in row.values():
                    columns = len(reader.fieldnames or ())
                    raise BadInputError(f"{path}: line {reader.line_num}: not {columns} values, one a column")
                rows.append(row)
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInputError(f"{path}: behind line {reader.line_num}: {error}") from None
    return rows


def claim(
    row: Mapping[str, str],
    ours: Mapping[str, Any],
    head: Mapping[str, Any],
    constants: Mapping[str, Any],
    most: Mapping[str, int],
    unwatched: bool,
) -> Claim:
    """A claim of both files."""
    readings = [
        measured(entry, words, build, constants, most, unwatched)
        for entry in ours.get("readings", [])
        for words in wordings(entry, head["words"])
        for build in entry.get("builds", head["builds"])
    ]
    numbers = row["expected"].split("|")
    for one in readings:
        if len(one.pairs) % len(numbers) or (len(numbers) > 1 and one.holds != "all"):
            raise BadInputError(
                f"{one.name}: {len(one.pairs)} pairs, and claims.csv has {len(numbers)} ratios"
            )
    return Claim(
        row["id"],
        row["source"],
        row["statement"],
        (row["left"], row["right"]),
        row["metric"],
        row["expected"],
        row["kind"],
        tuple(readings),
        tuple(ours["artifact"]) if "artifact" in ours else None,
        ours.get("not_testable"),
        {name: ours[name] for name in TEXTS if name in ours},
    )


def measured(
    entry: Mapping[str, Any],
    words: Mapping[str, str],
    build: str,
    constants: Mapping[str, Any],
    most: Mapping[str, int],
    unwatched: bool,
) -> Reading:
    """A reading of claims.yml in one build; with the reason where what is run here cannot judge it."""
    watched = bool(entry.get("watched"))
    given = {name: value for name, value in constants.items() if name != "probes" or unwatched or not watched}
    made = reading(entry, words, build, given, most)
    if watched and unwatched:
        return replace(made, unmeasured=UNWATCHED)
    if most and reading(entry, words, build, given, {}).pairs != made.pairs:
        lower = ", ".join(f"{name.upper()}={number}" for name, number in most.items())
        return replace(made, unmeasured=f"{lower}: fewer than the paper's")
    return made
