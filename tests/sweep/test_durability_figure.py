"""Speed over what cuts took: a mark and a row for each measured cell, and the others counted."""

import csv
from itertools import product
from pathlib import Path

import pytest
from lab import Lab

from commitpath.charts.scatter import Mark, front
from commitpath.reporting.durability import within
from commitpath.reporting.durability_rows import Found, Row
from commitpath.reporting.durability_table import KEY, lines
from commitpath.reporting.trials import Trials

GRID = """description: four cells
constants: {crash: power, cuts: 20, rows: 100, n: 10, probes: none, device: emmc-5.0}
axes: {journal_mode: [wal, delete], synchronous: [normal, full]}
"""


@pytest.fixture
def grid(tmp_path: Path) -> str:
    path = tmp_path / "four.yml"
    path.write_text(GRID)
    return str(path)


def run(lab: Lab, tps: float, mode: str, sync: str, **more: object) -> Path:
    """A run of one of the four cells."""
    settings = {"MODE": mode, "SYNC": sync, "CRASH": "power", "CUTS": "20", "PROBES": "none"}
    return lab.run(tps, DEVICE="emmc-5.0", **settings, **more)  # type: ignore[arg-type]


def test_cells_that_lose_more_time_than_allowed_are_not_drawn(lab: Lab, grid: str, tmp_path: Path) -> None:
    run(lab, 900, "wal", "normal", took={"worst": 19})  # 85.5 ms
    run(lab, 500, "wal", "full", took={"worst": 1})
    figure = str(tmp_path / "figure.svg")
    out = lab.ok("durability", GRID=grid, FIGURE=figure, LOSE_AT_MOST="50ms")
    assert "2 of 4 cells of grid four are measured" in out
    assert "not drawn: 1, as a cut took more than 50ms" in out
    assert [one["synchronous"] for one in csv.DictReader((tmp_path / "figure.csv").open())] == ["full"]
    said = lab.says("durability", GRID=grid, FIGURE=figure, LOSE_AT_MOST="1ms")
    assert "LOSE_AT_MOST=1ms: none of the 2 cells measured is within it: 2: a cut took more than 1ms" in said
    for wrong in ("1", "s", "last", "-1s"):
        assert "LOSE_AT_MOST is a time such as 1s" in lab.says(
            "durability", GRID=grid, FIGURE=figure, LOSE_AT_MOST=wrong
        )


def test_each_reason_why_a_cell_is_beyond_a_time_is_its_own() -> None:
    times = (100.0, None, 1.0)
    rows = [
        Row({"n": str(unusable + 2 * place)}, 1.0, Trials(20, 1, 0.0, unusable, 0, None, ms, ms, 0, 0), "")
        for place, ms in enumerate(times)
        for unusable in (0, 1)
    ]
    found = within(Found("grid", "power", ["n"], rows, {}, []), "10ms")
    assert found.rows == [rows[4]] and found.beyond == 5
    assert {why: len(of) for why, of in found.unmeasured.items()} == {
        "a cut took more than 10ms": 1,
        "a cut left no usable database": 3,
        "its runs do not say how much time a cut took": 1,
    }


def test_what_is_not_measured_is_not_drawn_and_is_counted(lab: Lab, grid: str, tmp_path: Path) -> None:
    run(lab, 900, "wal", "normal", took={"worst": 9, "mean": 2.5})
    run(lab, 500, "wal", "full")
    run(lab, 100, "delete", "full", status="rejected")
    figure = tmp_path / "figure.svg"
    out = lab.ok("durability", GRID=grid, FIGURE=str(figure))
    assert (
        "2 of 4 cells of grid four are measured, each by 20 cuts (power); not drawn: 1, as it was not " in out
    )
    assert "run; not drawn: 1, as rejected: 2 events lost. " in out
    # of an analysis that looked at no sectors
    told = "| wal | normal | 945.0 | 20 | 9 | 2.50 | 40.5 | 11.25 | - | - | 0 | 0 | consistent, but the "
    assert told in out
    rows = list(csv.DictReader((tmp_path / "figure.csv").open()))
    assert [(one["journal_mode"], one["synchronous"], one["lost worst"]) for one in rows] == [
        ("wal", "normal", "9"),
        ("wal", "full", "0"),
    ]
    drawn = figure.read_text()
    assert "2 of 4 cells of grid four are measured" in drawn and "not drawn: 1, as it was not run" in drawn
    # the legend has what is drawn and nothing else
    assert ">wal<" in drawn and ">delete<" not in drawn


def test_many_cells_are_tables_of_settings_by_filesystems() -> None:
    varied = ["device", "fs", "mount_options", "journal_mode", "synchronous"]
    filesystems = [("ext4", ""), ("f2fs", "fsync_mode=posix"), ("f2fs", "fsync_mode=strict")]
    rows = [
        Row(dict(zip(varied, (device, *of, mode, sync), strict=True)), 100.0, trials, "all")
        for device, of, mode, (sync, trials) in product(
            ("honest", "lying"),
            filesystems,
            ("wal", "delete", "off"),
            [
                ("full", Trials(20, 0, 0.0, 0, 0, None, 0.0, 0.0, None, None)),
                ("normal", Trials(20, 3, 1.0, 0, 2, "one", 4.25, 1.0, None, None)),
                ("off", Trials(20, 3, 1.0, 5, 0, None, 4.0, 1.0, None, None)),
            ],
        )
    ]
    told = lines(Found("many", "power", varied, rows[1:], {}, []))
    assert told[:5] == [
        *(KEY, "", "`device=honest`", ""),
        "| journal_mode/synchronous | ext4 | f2fs fsync_mode=posix | f2fs fsync_mode=strict |",
    ]
    first = told.index("`device=lying`")
    assert told[6:9] == [
        "| delete/off | 100.0; ✗ 5 | 100.0; ✗ 5 | 100.0; ✗ 5 |",
        "| delete/normal | **100.0; 3 (4.2 ms)** | **100.0; 3 (4.2 ms)** | **100.0; 3 (4.2 ms)** |",
        "| delete/full | 100.0; 0 | 100.0; 0 | 100.0; 0 |",
    ]
    # in the order of the axes, whichever is not measured
    assert told[11] == "| wal/full | - | 100.0; 0 | 100.0; 0 |"
    assert told[first + 9] == "| wal/full | 100.0; 0 | 100.0; 0 | 100.0; 0 |"
    # an engine without these settings has no line of such a table
    other = Row({**rows[0].settings, "journal_mode": "", "synchronous": ""}, 50.0, rows[0].trials, "all")
    assert len(lines(Found("many", "power", varied, [*rows, other], {}, []))) == len(rows) + 3


def test_the_front_is_what_no_cell_beats() -> None:
    slow, fast, beaten, lost, broken = (
        Mark(worst, tps, "") for worst, tps in ((0, 100), (3, 400), (0, 90), (7, 400), (None, 9000))
    )
    assert front([lost, fast, broken, beaten, slow]) == [(0, 100), (3, 400)]
    assert front([broken]) == []


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "make durability takes GRID=<a grid with CRASH that was swept; there are "),
        ({"GRID": "quick", "FIGURE": "x.svg"}, "GRID=quick: its cells have CRASH=none, and need one"),
        (
            {"GRID": "durability-short", "FIGURE": "x.svg"},
            "none of its 12 cells is measured",
        ),
    ],
)
def test_one_line_for_what_cannot_be_drawn(lab: Lab, variables: dict[str, str], says: str) -> None:
    assert says in lab.says("durability", **variables)
