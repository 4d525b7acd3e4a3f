"""Numbers of the pages: those of the file or of the shipped runs that a page is made from."""

import contextlib
import csv
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from commitpath.database import archive

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/measurements"
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?!\w)")
TABLES = [
    ("durability-grids.md", "Speed and loss over a grid", "durability.csv"),
    ("durability-grids.md", "Small rows: all engines", "loads-durability.csv"),
    ("ssl.md", "WAL, statement log and page log", "ssl-durability.csv"),
]


def section(page: str, title: str) -> str:
    """Return the text below a heading of a page."""
    text = (PAGES / page).read_text()
    (found,) = re.findall(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    return str(found)


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, without its head."""
    lines = re.findall(r"^\| (.*) \|$", text, re.M)
    return [line.split(" | ") for line in lines][1:]


def prints(number: str, value: float) -> bool:
    """Return whether a number of a page is a value, rounded as the page rounds it; .5 to either side."""
    digits = len(number.partition(".")[2])
    return abs(float(number) - value) <= 0.5 * 10**-digits + 1e-9


def foreign(cells: list[str], values: list[float]) -> list[str]:
    """Return the numbers in cells that round none of these values."""
    numbers = [number for cell in cells for number in NUMBER.findall(cell)]
    assert numbers
    return [number for number in numbers if not any(prints(number, value) for value in values)]


@pytest.mark.parametrize(("page", "title", "file"), TABLES)
def test_a_table_has_the_numbers_of_the_csv_next_to_it(page: str, title: str, file: str) -> None:
    with (ROOT / "docs/images" / file).open() as opened:
        lines = [line for row in csv.DictReader(opened) for line in row.values()]
    values = [float(line) for line in lines if NUMBER.fullmatch(line)]
    table = rows(section(page, title))
    assert len(table) > 5
    # a cut that leaves no database is named with the number of cuts
    assert {row[0]: wrong for row in table if (wrong := foreign(row[1:], values))} == {}


def test_another_number_is_found() -> None:
    assert foreign(["464.6; 0", "✗ 13"], [464.61, 0, 13]) == []
    assert foreign(["464.7; 0", "✗ 12"], [464.61, 0, 13]) == ["464.7", "12"]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """The summaries of the shipped runs of the grid ledger, by mode/sync and filesystem."""
    folder = tmp_path_factory.mktemp("shipped")
    archive.unpack(ROOT / "experiments/reference.tar.xz", folder)
    with contextlib.closing(sqlite3.connect(folder / archive.DATABASE)) as connection:
        runs = connection.execute(
            "SELECT journal_mode || '/' || synchronous, fs, summary FROM run JOIN grid_run USING (cell_id) "
            "WHERE grid = 'ledger'"
        ).fetchall()
    return {(mode, fs): json.loads(text) for mode, fs, text in runs}


def test_the_ledgers_table_has_the_numbers_of_the_shipped_runs(ledger: dict[tuple[str, str], Any]) -> None:
    text = section("ledger.md", "24 cells")
    (head,) = re.findall(r"^\| mode/sync \| (.*) \|$", text, re.M)
    names = [cell.partition(":")[0] for cell in head.split(" | ")]
    table = rows(text)
    assert len(table) * len(names) == 18
    for mode, *cells in table:
        for fs, cell in zip(names, cells, strict=True):
            summary = ledger[mode, fs]
            written = summary["block"]["bytes_written"] / 1024 / 300
            share = 100 * summary["ledger"]["no_transaction"]["share"]
            for number, value in zip(cell.split("; "), (summary["tps"]["all"], written, share), strict=True):
                assert prints(number, value), (mode, fs, number, value)


def test_each_page_has_the_same_cost_of_observing(ledger: dict[tuple[str, str], Any]) -> None:
    costs = [100 * summary["watching_cost"]["all"] for summary in ledger.values()]
    for page, title in (("ledger.md", "24 cells"), ("watching.md", "Cost")):
        ((low, high),) = re.findall(r"([0-9.]+) to ([0-9.]+) % of TPS", section(page, title))
        assert prints(low, min(costs)) and prints(high, max(costs)), page
