"""Answers of docs/how-to/questions.md on the default board: the command makes the table again.

test_crash.py tries the settings of those from docs/measurements/durability.md.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commitpath.results import expectations, references

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/questions.md"
# The start of a title → the numbers in the columns of its table, as EXPECT names them, or "" for another
# number; and what each row sets instead of the command.
TABLES: dict[str, tuple[list[str], list[dict[str, str]]]] = {
    "Why does my WAL grow": (["wal_kib", "tps"], [{"HELD_READER": "no"}, {}]),
    "What do two writers cost": (
        ["busy", "longest_wait", ""],
        [
            {"MODE": "wal", "BUSY_TIMEOUT": "0"},
            {"MODE": "wal"},
            {"BUSY_TIMEOUT": "0"},
            {},
            {"MODE": "wal", "PACE": "none"},
        ],
    ),
}
# A board that is made again is another one (docs/measurements/repeatability.md).
SPREAD = 0.02


def rows() -> Iterator[tuple[dict[str, str], dict[str, float]]]:
    """Yield the variables of each row of the tables, and its numbers by name."""
    for title, (names, changes) in TABLES.items():
        _, section = re.split(rf"^## {re.escape(title)}.*$", PAGE.read_text(), flags=re.M)
        section = section.partition("\n## ")[0]
        command = re.findall(r"^    make experiment (.+)$", section, re.M)[0]
        given = dict(word.split("=", 1) for word in shlex.split(command))
        given.pop("EXPECT", None)
        table = re.findall(r"^\|(.*)\|$", section, re.M)[2:]
        for line, change in zip(table, changes, strict=True):
            cells = line.split("|")[1:]
            numbers = {name: float(cell) for name, cell in zip(names, cells, strict=True) if name}
            yield given | change, numbers


@pytest.mark.parametrize(("variables", "numbers"), [*rows()])
def test_the_command_makes_the_table(
    run_cell: Callable[..., Path], variables: dict[str, str], numbers: dict[str, float]
) -> None:
    expected = expectations.parse(" ".join(f"{name}=={number}" for name, number in numbers.items()))
    run = references.read(str(run_cell(**variables)), expected)
    measured = {str(each.name).removesuffix(".all"): run.value(each.name) for each in expected}
    assert measured == pytest.approx(numbers, rel=SPREAD)
