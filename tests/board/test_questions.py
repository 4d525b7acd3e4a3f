"""Tables of docs/how-to/questions.md, made again by runs on the default board as questions.yml says."""

import itertools
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.stats.totals import years
from commitpath.results import expectations, metrics, run_folders

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/questions.md"
WORKED_EXAMPLE = ROOT / "docs/how-to/reporting.md"
TABLES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("questions.yml").read_text())
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# A board that is made again is another one (docs/measurements/repeatability.md).
SPREAD = 0.02
# Numbers of what cuts took, whose places another board draws anew.
OF_CUTS = {"lost", "cuts_that_lost", "unusable"}


@cache
def file(name: str) -> str:
    """Return the text of a file of SQL that an answer's command names."""
    if name == "equal.sql":
        return "\n".join(
            [
                "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT);",
                *(f"INSERT INTO note VALUES({i}, 'note {i}');" for i in range(1, 101)),
                "-- commitpath: transactions",
                *(f"UPDATE note SET text = 'note {i}' WHERE id = {i};" for i in range(1, 11)),
            ]
        )
    script = re.findall(
        rf"^    (\{{ echo .*?)^    done; \}} > {name}$", WORKED_EXAMPLE.read_text(), re.M | re.S
    )
    return subprocess.run(
        ["sh", "-c", f"{script[0]} done; }}"], capture_output=True, text=True, check=True
    ).stdout


def each(variables: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the variables of each run of a row."""
    values = [value if isinstance(value, list) else [value] for value in variables.values()]
    for chosen in itertools.product(*values):
        yield {name: str(value) for name, value in zip(variables, chosen, strict=True)}


def cells() -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield, for each cell of the tables, the variables of its runs and the numbers that each must have."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    for title, table in TABLES.items():
        (section,) = (section for section in sections if section.startswith(title))
        lines = re.findall(r"^\|(.*)\|$", section, re.M)[2:]
        for line, row in zip(lines, table["rows"], strict=True):
            for text, column in zip(line.split("|")[1:], table["columns"], strict=True):
                names = column["reads"]
                if "✗" in text:
                    names = [*(name for name in names if name != "lost"), "unusable", "cuts"]
                numbers = dict(zip(names, NUMBER.findall(text), strict=False))
                assert numbers, f"{title}: {text}"
                if numbers.pop("-", None) is None:
                    for variables in each(table["given"] | column.get("given", {}) | row):
                        yield variables, numbers


def runs() -> list[Any]:
    """Return each run once, with all numbers of the page that it must have."""
    made: dict[str, list[tuple[str, str]]] = {}
    for variables, numbers in cells():
        made.setdefault(" ".join(f"{name}={value}" for name, value in sorted(variables.items())), []).extend(
            numbers.items()
        )
    return [
        pytest.param(dict(word.split("=", 1) for word in text.split()), numbers, id=text)
        for text, numbers in made.items()
    ]


def measured(folder: Path, name: str) -> float | None:
    """Return a number of a run."""
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "ok", summary["reasons"]
    crash = summary.get("crash") or {}
    if name in ("cuts", "opened", "corrupt"):
        return float(crash[name])
    if name == "unusable":
        return float(crash["cuts"] - crash["opened"] + crash["corrupt"] + crash["not_a_prefix"])
    if name == "cuts_that_lost":
        return float(crash["lost_acknowledged"]["cuts"])
    if name == "years":
        return years(summary["flash"]["lifetime"]["transactions"], 1)
    (expected,) = expectations.parse(f"{name}==0")
    return metrics.value(run_folders.read(folder), expected.name.metric, expected.name.op)


@pytest.mark.parametrize(("variables", "numbers"), runs())
def test_the_runs_make_the_table(
    run_cell: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
    variables: dict[str, str],
    numbers: list[tuple[str, str]],
) -> None:
    if "FILE" in variables:
        path = tmp_path_factory.getbasetemp().parent / variables["FILE"]
        path.write_text(file(variables["FILE"]))
        variables = variables | {"FILE": str(path)}
    folder = run_cell(**variables)
    found = [(name, measured(folder, name)) for name, _ in numbers]
    for (name, number), (_, value) in zip(numbers, found, strict=True):
        # the page rounds to the last digit
        rounded = 0.51 * 10 ** -len(number.partition(".")[2])
        spread = 0.25 if name in OF_CUTS else SPREAD
        assert value == pytest.approx(float(number), rel=spread, abs=rounded), found
