"""What the schema allows the driver takes: a cell is refused before a board is prepared, or not at all."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from commitpath.boards.payload import cell_env
from commitpath.cells import axes
from commitpath.cells.from_variables import make_cell

ROOT = Path(__file__).resolve().parents[2]
FILES = ("option_table.c", "engines/sqlite/settings.c", "engines/sqlite/page_settings.h")
SOURCE = "".join((ROOT / "workloads" / name).read_text().replace("\\\n", "\n") for name in FILES)
CONSTANTS = {"INT32_MIN": -(2**31), "INT32_MAX": 2**31 - 1, "INT64_MAX": 2**63 - 1} | {
    name: int(value, 0)
    for name, value in re.findall(r"(?:#define |enum \{.*)\b(\w+) (?:= )?(0x[0-9a-f]+|[0-9]+)", SOURCE)
}


def options() -> dict[str, dict[str, str]]:
    """The driver's options by name: the fields of each as they stand in its table."""
    fields = re.sub(r"INTEGER\([^,]+, ([^,]+), ([^)]+)\)", r".minimum = \1, .maximum = \2", SOURCE)
    fields = re.sub(r'WORD\("\w+", (\w+)\)', r".words = \1", fields)
    entries = re.findall(r'\{(?:OPTION|RECORDED|SETTING)\("([^"]+)",(.*?)\.help', fields, re.DOTALL)
    return {name: dict(re.findall(r"\.(\w+) = ([^,\n]+),", text)) for name, text in entries}


def number(text: str) -> int:
    """A bound as C has it."""
    return sum(CONSTANTS.get(word, 0) or int(word) for word in text.split(" + "))


def words(array: str) -> list[str]:
    """The words of an option."""
    found = re.search(rf"{array}\[\] = \{{(.*?)\}};", SOURCE, re.DOTALL)
    assert found
    return re.findall(r'"(\w+)"', found[1])


def axes_by_option() -> dict[str, str]:
    """The driver's options that an axis sets → the axis, from the command line that a run has."""
    marks = {name: f"<{name}>" for name in axes.axes() if name not in ("clock", "engine", "pace", "probes")}
    marked = replace(make_cell({}), **marks)
    line = re.search(r"^DRIVER_OPTIONS=(.*)$", cell_env(marked, "db"), re.MULTILINE)
    assert line
    (text,) = shlex.split(line[1])
    return dict(re.findall(r"--(\S+) <(\w+)>", text))


def test_every_shared_axis_is_compared() -> None:
    shared = axes_by_option()
    assert len(shared) >= 11
    assert {"rows", "n", "value_size", "seed", "checkpoint_every", "journal_mode", "synchronous"} <= set(
        shared.values()
    )


@pytest.mark.parametrize(("option", "axis"), axes_by_option().items())
def test_the_driver_takes_all_that_the_schema_allows(option: str, axis: str) -> None:
    entry, spec = options()[option], axes.axes()[axis].spec
    if "words" in entry:
        assert spec["enum"] == words(entry["words"])
        return
    values = spec.get("enum") or [spec["minimum"], spec["maximum"]]
    assert number(entry["minimum"]) <= min(values) <= max(values) <= number(entry["maximum"])
    if "power_of_two" in entry:
        assert [value & (value - 1) for value in values] == [0] * len(values)
