"""A paper's figures as data: experiments/papers/<name>/figures/*.yml, as the cells that they ask for.

A figure names cells by settings over those of paper.yml. A word of paper.yml in the place of a
value stands for each of its readings; each cell is asked for in each SQLite release.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.data import load_yaml
from base.errors import BadInputError
from base.schema import schema
from commitpath.cells.axes import newest
from commitpath.cells.from_variables import make_cell
from commitpath.charts.model import Bar, Panel
from commitpath.papers.paper import PAPERS, artifact_of, names, validated
from commitpath.results.metrics import WHOLE, check_op
from commitpath.sweep.grid import at_most, checked

WAL_HEADER, FRAME_HEADER = 32, 24  # bytes; SQLite's file format, section 4.1


@dataclass(frozen=True)
class Study:
    """What the figures of a paper have in common. words: a word, and what it may mean."""

    name: str
    constants: Mapping[str, Any]
    builds: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    figures: tuple[Path, ...]
    artifact: Mapping[str, tuple[tuple[float, int], ...]]  # cell: TPS and transactions of each run
    overrides: Mapping[str, str]  # make variables in place of constants
    most: Mapping[str, int]  # as of commitpath.sweep.grid.at_most
    said: Mapping[str, str]  # other make variables that ask for it


def load(
    name: str,
    overrides: Mapping[str, str] | None = None,
    most: Mapping[str, int] | None = None,
    figures: Collection[str] = (),
    said: Mapping[str, str] | None = None,
) -> Study:
    """A paper by name. overrides: make variables in place of its constants. Raises BadInputError.

    figures: those that are taken, by name; none: all. said: the make variables for that, and for most.
    """
    folder = PAPERS / name
    if name not in names():
        raise BadInputError(f"PAPER={name}: PAPER is {', '.join(names())}")
    head = load_yaml(folder / "paper.yml")
    given = {key.lower(): text for key, text in (overrides or {}).items()}
    return Study(
        name,
        {**head["constants"], **given},
        tuple(head["builds"]),
        {word: tuple(meant) for word, meant in head["words"].items()},
        tuple(
            path for path in sorted((folder / "figures").glob("*.yml")) if not figures or path.stem in figures
        ),
        {cell: tuple(runs) for cell, runs in artifact_of(folder).items()},
        dict(overrides or {}),
        dict(most or {}),
        dict(said or {}),
    )


def read(path: Path) -> dict[str, Any]:
    """A figure's data, checked against experiments/schema.yml ($defs.figure). Raises BadInputError."""
    return validated(path, "figure")


def panels(study: Study, path: Path, figure: Mapping[str, Any]) -> list[Panel]:
    """A figure's panels. Raises BadInputError naming the file for a cell that cannot be."""
    try:
        return [panel(study, figure, content) for content in figure["panels"]]
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from error


def panel(study: Study, figure: Mapping[str, Any], content: Mapping[str, Any]) -> Panel:
    """One panel."""
    groups = content["groups"]
    series = content.get("series", [{"label": ""}])
    for entry in [*content.get("stated", []), {"series": content.get("base", series[0]["label"])}]:
        for key, places in (("at", groups), ("over", groups), ("series", series), ("over_series", series)):
            if key in entry and entry[key] not in [place["label"] for place in places]:
                raise BadInputError(f"{entry[key]!r} ({key} of stated, or base) is no label of this panel")
    bars = [
        bar
        for group, line in itertools.product(groups, series)
        if group["label"] in line.get("only", [group["label"]])
        for bar in of_place(study, [figure, content, group, line], group, line)
    ]
    return Panel(
        content.get("title", ""),
        content.get("x", ""),
        tuple(group["label"] for group in groups),
        tuple(line["label"] for line in series),
        tuple(bars),
        (groups[0]["label"], content.get("base", series[0]["label"])),
        tuple(content.get("stated", [])),
        {group["label"]: study.artifact[group["authors"]] for group in groups if "authors" in group},
    )


def of_place(
    study: Study, parts: list[Mapping[str, Any]], group: Mapping[str, Any], line: Mapping[str, Any]
) -> Iterator[Bar]:
    """Bars of one group and series: each reading, in each build. The later of `parts` decides."""
    given = dict(study.constants)
    for part in parts:
        given |= {**part.get("constants", {}), **part.get("set", {})}
        if "wal_bytes" in part:
            given["wal_bytes"] = part["wal_bytes"]
    builds = next((part["builds"] for part in reversed(parts) if "builds" in part), study.builds)
    op = check_op(next((part["op"] for part in reversed(parts) if "op" in part), WHOLE))
    color = line.get("color") or group.get("color") or "plain"
    used = [word for word in study.words if word in given.values()]
    for meant in itertools.product(*(study.words[word] for word in used)):
        words = dict(zip(used, meant, strict=True))
        hatched = any(study.words[word].index(value) for word, value in words.items())
        for build in builds if "sqlite" not in given else [given["sqlite"]]:
            settings = {**given, "sqlite": build}
            settings = checked(sized({name: words.get(value, value) for name, value in settings.items()}))
            settings = at_most(settings, study.most)
            cell = make_cell({name.upper(): text for name, text in settings.items()})
            light = str(build) != str(study.builds[0])
            reading = ", ".join(f"{word} read as {value.upper()}" for word, value in words.items())
            release = newest() if build == "newest" else build
            yield Bar(group["label"], line["label"], release, reading, op, cell, color, light, hatched)


def sized(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with wal_bytes as wal_autocheckpoint: the frames that a log of that size holds."""
    found = dict(settings)
    if size := found.pop("wal_bytes", None):
        page = int(found.get("page_size", schema()["properties"]["page_size"]["default"]))
        found["wal_autocheckpoint"] = (size - WAL_HEADER) // (page + FRAME_HEADER)
    return found
