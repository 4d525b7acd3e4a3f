"""Read a paper's figures (experiments/papers/<name>/figures/*.yml), and make their panels of cells.

A figure names cells by settings that override those of paper.yml. A word of paper.yml stands for each of
its meanings. Each cell is used in each SQLite release.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from base.errors import BadInputError
from base.schema import schema
from commitpath.cells import data_files
from commitpath.cells.axes import newest
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import at_most, checked
from commitpath.charts.model import Bar, Panel
from commitpath.papers.paper import Paper
from commitpath.papers.readings import of_engine
from commitpath.results.metrics import WHOLE, check, check_op

WAL_HEADER, FRAME_HEADER = 32, 24  # bytes; SQLite's file format, section 4.1


def read(path: Path) -> dict[str, Any]:
    """Return a figure's data, checked by $defs.figure of experiments/schema.yml. Raises BadInputError."""
    return data_files.load(path, "figure")


def panels(paper: Paper, path: Path, figure: Mapping[str, Any]) -> list[Panel]:
    """Return a figure's panels. Raises BadInputError, with the file, for an invalid cell."""
    try:
        return [panel(paper, figure, content) for content in figure["panels"]]
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from error


def panel(paper: Paper, figure: Mapping[str, Any], content: Mapping[str, Any]) -> Panel:
    """Return one panel; its bars are the cells of each group and series."""
    groups = content["groups"]
    series = content.get("series", [{"label": ""}])
    for entry in [*content.get("stated", []), {"series": content.get("base", series[0]["label"])}]:
        for key, places in (("at", groups), ("over", groups), ("series", series), ("over_series", series)):
            if key in entry and entry[key] not in [place["label"] for place in places]:
                raise BadInputError(f"{entry[key]!r} ({key} of stated, or base) is not a label of this panel")
    bars = [
        bar
        for group, line in itertools.product(groups, series)
        if group["label"] in line.get("only", [group["label"]])
        for bar in of_place(paper, [figure, content, group, line], group, line)
    ]
    return Panel(
        content.get("title", ""),
        content.get("x", ""),
        tuple(group["label"] for group in groups),
        tuple(line["label"] for line in series),
        tuple(bars),
        (groups[0]["label"], content.get("base", series[0]["label"])),
        tuple(content.get("stated", [])),
        {group["label"]: tuple(paper.artifact[group["authors"]]) for group in groups if "authors" in group},
        check(figure.get("metric", "tps")),
    )


def of_place(
    paper: Paper, parts: list[Mapping[str, Any]], group: Mapping[str, Any], line: Mapping[str, Any]
) -> Iterator[Bar]:
    """Yield the bars of a group and series: each reading in each build. Later `parts` override earlier."""
    given = dict(paper.constants)
    for part in parts:
        given |= {**part.get("constants", {}), **part.get("set", {})}
        if "wal_bytes" in part:
            given["wal_bytes"] = part["wal_bytes"]
    builds = next((part["builds"] for part in reversed(parts) if "builds" in part), paper.builds)
    op = check_op(next((part["op"] for part in reversed(parts) if "op" in part), WHOLE))
    color = line.get("color") or group.get("color") or "plain"
    used = [word for word in paper.words if word in given.values()]
    for meanings in itertools.product(*(paper.words[word] for word in used)):
        words = dict(zip(used, meanings, strict=True))
        hatched = any(paper.words[word].index(value) for word, value in words.items())
        for build in builds_of(given, builds):
            settings = of_engine({**given, "sqlite": build})
            settings = checked(sized({name: words.get(value, value) for name, value in settings.items()}))
            settings = at_most(settings, paper.most)
            cell = make_cell({name.upper(): text for name, text in settings.items()})
            light = str(build) != str(paper.builds[0])
            reading = ", ".join(f"{word} read as {value.upper()}" for word, value in words.items())
            release = newest() if build == "newest" else build
            yield Bar(group["label"], line["label"], release, reading, op, cell, color, light, hatched)


def builds_of(given: Mapping[str, Any], builds: Sequence[str]) -> Sequence[str]:
    """Return the SQLite releases of a bar: one for an engine that has none."""
    if "sqlite" in given:
        return [given["sqlite"]]
    return builds if "sqlite" in of_engine({**given, "sqlite": ""}) else builds[:1]


def sized(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with wal_bytes as wal_autocheckpoint: the frames that fit in that many bytes."""
    values = dict(settings)
    if size := values.pop("wal_bytes", None):
        page = int(values.get("page_size", schema()["properties"]["page_size"]["default"]))
        values["wal_autocheckpoint"] = (size - WAL_HEADER) // (page + FRAME_HEADER)
    return values
