"""make durability: speed over what cuts took, as a figure and a table; cells without a number are counted."""

import csv
from itertools import combinations, product
from pathlib import Path

import pytest
from lab import Lab, of_grid, one_line
from matplotlib.lines import Line2D

from commitpath.charts import look, scatter
from commitpath.charts.lines import MARKERS
from commitpath.charts.scatter import Mark, front
from commitpath.reporting.durability import within
from commitpath.reporting.durability_figure import lost_commits
from commitpath.reporting.durability_rows import KEY, Found, Row, lines
from commitpath.reporting.trials import Trials
from model import engines

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
    out = one_line(lab.ok("durability", GRID=grid, FIGURE=figure, LOSE_AT_MOST="50ms"))
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
    assert out.splitlines()[:3] == [
        "  TPS    most lost  mean lost  settings",
        "945.0  9 (40.5 ms)       2.50  WAL/NORMAL",
        "525.0            0       0.00  WAL/FULL",
    ]
    assert (
        "2 of 4 cells of grid four are measured, each by 20 cuts (power); not drawn: 1, as it was not run; "
        "not drawn: 1, as rejected: 2 events lost. "
    ) in one_line(out)
    rows = list(csv.DictReader((tmp_path / "figure.csv").open()))
    assert [(one["journal_mode"], one["synchronous"], one["lost worst"]) for one in rows] == [
        ("wal", "normal", "9"),
        ("wal", "full", "0"),
    ]
    drawn = figure.read_text()
    assert "2 of 4 cells of grid four are measured" in drawn and "not drawn: 1, as it was not run" in drawn
    # the legend has what is drawn and nothing else
    assert ">wal<" in drawn and ">delete<" not in drawn


def test_a_table_fits_a_terminal() -> None:
    """Each place with its cells, wherever they are in the grid."""
    varied = ["device", "fs", "engine", "journal_mode", "synchronous", "wal_autocheckpoint"]
    whole, broken = (Trials(20, 3, 1.0, bad, 2 * bad, None, 4.25, 1.0, None, None) for bad in (0, 1))
    rows = [
        Row(dict(zip(varied, (device, fs, "sqlite", mode, sync, "1000000"), strict=True)), 100.0, trials, "")
        for mode, (sync, trials), device, fs in product(
            ("wal", "delete"), (("full", whole), ("extra", broken)), ("emmc", "card" * 9), ("ext4", "f2fs")
        )
    ]
    rows += [Row(dict.fromkeys(varied, "") | {"engine": "lmdb", "device": "emmc"}, 5.0, whole, "")]
    rows += [Row(rows[0].settings | {"wal_autocheckpoint": "100" * 20}, 5.0, whole, "")]
    told = lines(Found("many", "power", varied, rows, {}, []))
    assert told[:9] == [
        "  TPS   most lost  mean lost  settings",
        "emmc ext4",
        "100.0  3 (4.2 ms)       1.00  SQLite WAL/FULL wal_autocheckpoint=1000000",
        "100.0       ✗ 1 !       1.00  SQLite WAL/EXTRA wal_autocheckpoint=1000000",
        "100.0  3 (4.2 ms)       1.00  SQLite DELETE/FULL wal_autocheckpoint=1000000",
        "100.0       ✗ 1 !       1.00  SQLite DELETE/EXTRA wal_autocheckpoint=1000000",
        "  5.0  3 (4.2 ms)       1.00  SQLite WAL/FULL",
        f"                                wal_autocheckpoint={'100' * 20}",
        "emmc f2fs",
    ]
    assert " ".join(told[-3:]).split() == KEY.split()
    assert max(len(line) for line in told if "100100" not in line) <= 80


def test_a_number_among_the_settings_of_a_place_has_its_name() -> None:
    varied = ["workload", "n", "journal_mode"]
    rows = [
        Row(dict(zip(varied, ("kv", n, "wal"), strict=True)), 1.0, Trials(20, 0, 0.0, 0, 0, *[None] * 5), "")
        for n in ("110", "1000")
    ]
    found = Found("sizes", "power", varied, rows, {}, [])
    assert [line for line in lines(found) if line.startswith("kv")] == ["kv n=110", "kv n=1000"]
    titles = [axes.get_title("left") for axes in lost_commits(found).axes]
    assert titles == ["kv n=110", "kv n=1000"]


def test_each_series_has_its_own_hue_and_marker() -> None:
    """Also of engines, and where there are more of them than markers."""
    modes = ["delete", "truncate", "persist", "memory", "off", "wal"]
    hues = look.hues([*modes, *engines.names()])
    assert len({*hues.values()}) == len(hues) and hues["wal"] == look.color("WAL")
    marks = [Mark(at, at, f"engine {at}") for at in range(1, 2 + len(MARKERS))]
    figure = {"title": "", "width": 7, "across": 1, "colors": look.hues([mark.series for mark in marks])}
    made = scatter.render(
        figure | {"x_label": "", "y_label": "", "x_scale": "log", "y_scale": "log"}, [("", marks)]
    )
    drawn = [
        (line.get_marker(), line.get_fillstyle())
        for line in made.findobj(Line2D)
        if line.get_marker() in MARKERS
    ]
    assert len({*drawn}) == len(marks)


def test_texts_of_near_marks_cover_neither_each_other_nor_a_mark() -> None:
    near = [(0.1, 1.0), (0.12, 1.0), (0.1, 1.05), (0.15, 1.03), (0.08, 0.97), (2.0, 1.9), (1.9, 0.0)]
    boxes = scatter.text_boxes([(x, y, "100") for x, y in near], 2, 2)
    assert all(left >= 0 and right <= 2 and low >= 0 and high <= 2 for left, right, low, high in boxes)
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
    for (x, y), (left, right, low, high) in product(near, boxes):
        assert not (left < x < right and low < y < high)


def test_a_footnote_that_all_points_have_is_not_at_each() -> None:
    assert scatter.unlike(["¶", "¶"]) == ["", ""] and scatter.unlike(["¶", ""]) == ["¶", ""]


def test_the_front_is_what_no_cell_beats() -> None:
    slow, fast, beaten, lost, broken = (
        Mark(worst, tps, "") for worst, tps in ((0, 100), (3, 400), (0, 90), (7, 400), (None, 9000))
    )
    assert front([lost, fast, broken, beaten, slow]) == [(0, 100), (3, 400)]
    assert front([broken]) == []


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "GRID: missing; make durability takes GRID=<a grid with CRASH that was swept, "),
        ({"GRID": "quick", "FIGURE": "x.svg"}, "GRID=quick: its cells have CRASH=none, and need one"),
        ({"GRID": "durability-short", "FIGURE": "x.svg"}, "none of its 12 cells is measured"),
    ],
)
def test_one_line_for_what_cannot_be_drawn(lab: Lab, variables: dict[str, str], says: str) -> None:
    assert says in lab.says("durability", **variables)


def test_the_seeds_boards_and_settings_of_a_sweep_are_taken(lab: Lab, grid: str, tmp_path: Path) -> None:
    """Seeds and boards are one row; a sweep with another N is drawn as it was made."""
    call = {"GRID": grid, "FIGURE": str(tmp_path / "figure.svg")}
    run(lab, 900, "wal", "full", N="20")
    of_grid(lab, "four")
    assert "four.yml was swept with N=20" in one_line(lab.ok("durability", **call))
    for tps, seed, board in ((800, "1", "1"), (600, "2", "1"), (400, "1", "2")):
        run(lab, tps, "wal", "full", SEED=seed, BOARD_NUMBER=board)
    of_grid(lab, "four")
    out = one_line(lab.ok("durability", **call))
    assert "1 of 4 cells of grid four are measured, each by 60 cuts" in out and "swept with" not in out
    (row,) = csv.DictReader((tmp_path / "figure.csv").open())
    assert (row["TPS"], row["cuts"]) == ("630.0", "60")
