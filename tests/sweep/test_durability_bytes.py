"""Latency over bytes beside what cuts took: of cells that were tried, and watched without cuts."""

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from lab import OPS, Lab, edit
from matplotlib.text import Text

from analysis.figures import style
from commitpath.reporting.durability_bytes import Cost, name_of, place_of
from commitpath.reporting.durability_bytes_figure import Box, around, name, panel, scale
from commitpath.reporting.durability_rows import Row
from commitpath.reporting.trials import Trials
from commitpath.sweep.grid import expand

GRID = """description: two engines
constants: {rows: 100, n: 10, device: emmc-5.0}
axes: {fs: [ext4-ordered]}
variants:
  - &normal {engine: sqlite, journal_mode: wal, synchronous: normal}
  - &full {engine: sqlite, journal_mode: persist, synchronous: full}
  - &log {engine: ssl, dirty_pages: 20}
  - {<<: *normal, crash: power, cuts: 20, probes: none}
  - {<<: *full, crash: power, cuts: 20, probes: none}
  - {<<: *log, crash: power, cuts: 20, probes: none}
  - {engine: leveldb, synchronous: full, crash: power, cuts: 20, probes: none}
exclude:
  - where: {engine: [leveldb]}
    reason: nobody looks at what comes up
"""
NORMAL, FULL = {"MODE": "wal", "SYNC": "normal"}, {"MODE": "persist", "SYNC": "full"}
LOG = {"ENGINE": "ssl", "DIRTY_PAGES": "20"}
CUTS = {"CRASH": "power", "CUTS": "20", "PROBES": "none"}


@pytest.fixture
def grid(tmp_path: Path) -> str:
    path = tmp_path / "two.yml"
    path.write_text(GRID)
    return str(path)


def tried(lab: Lab, settings: dict[str, str], **took: Any) -> Path:
    """A run of a cell with cuts."""
    axes = {"DEVICE": "emmc-5.0", **CUTS, **settings}
    return lab.run(900, took=took, **axes)  # type: ignore[arg-type]


def watched(
    lab: Lab, settings: dict[str, str], tps: float = 500, kib: int = 600, size_mib: int = 0, **more: str
) -> Path:
    """A run of the same that nothing cut; 30 transactions of N=10, and tps * 1.05 in all. size_mib: of the
    device, if another one."""
    axes = {"DEVICE": "emmc-5.0", **settings, **more}
    device = {"size_mib": size_mib} if size_mib else {}
    folder = lab.run(tps, bytes_written=1024 * kib, device=device, **axes)  # type: ignore[arg-type]
    shares = dict.fromkeys((*OPS, "all"), 0.05)
    per_transaction = {key: {"log": 1024.0 * kib / 30} for key in shares}
    ledger = {"bytes": {"log": 1024 * kib}, "unattributed_share": 0.0, "per_transaction": per_transaction}
    edit(folder / "summary.json", cpu_share=shares, ledger=ledger)
    return folder


def drawn(lab: Lab, grid: str, figure: Path) -> str:
    return lab.ok("durability", GRID=grid, FIGURE=str(figure), OVER="bytes")


def test_what_is_known_is_in_the_table_and_what_is_not_is_named(lab: Lab, grid: str, tmp_path: Path) -> None:
    tried(lab, NORMAL, worst=9)
    tried(lab, LOG)
    watched(lab, NORMAL, tps=1000)
    watched(lab, LOG, tps=500, kib=300)
    # of a cell that nobody cut
    watched(lab, FULL)
    figure = tmp_path / "figure.svg"
    out = drawn(lab, grid, figure)
    # 600 KiB of 30 transactions, and 1000 / 1050 ms of each
    assert out.splitlines()[:4] == [
        "| engine and settings | KiB a transaction | ms a transaction | what a cut took |",
        "| --- | --- | --- | --- |",
        "| SQLite WAL/NORMAL | 20.0 | 0.95 | up to 9 transactions (40.5 ms) |",
        "| SQLite/SSL | 10.0 | 1.90 | nothing |",
    ]
    caption = "2 of 4 cells of grid two, each by 20 cuts (power) and a watched run without; "
    caption += "left out, as it was not run: SQLite PERSIST/FULL; left out, as nobody looks at what comes "
    caption += "up: LevelDB"
    assert caption in out
    rows = list(csv.DictReader((tmp_path / "figure.csv").open()))
    told = [(row["engine"], row["journal_mode"], row["KiB"], row["ms"], row["lost worst"]) for row in rows]
    assert told == [("sqlite", "wal", "20.00", "0.952", "9"), ("ssl", "", "10.00", "1.905", "0")]
    image = figure.read_text()
    assert ">SQLite WAL/NORMAL (9)<" in image and ">SQLite/SSL<" in image
    # the legend has the outcomes that are there
    assert ">nothing is lost<" in image and ">commits are lost" in image and ">no usable" not in image


def test_what_breaks_a_promise_is_marked(lab: Lab, grid: str, tmp_path: Path) -> None:
    tried(lab, FULL, corrupt=3)
    watched(lab, FULL)
    out = drawn(lab, grid, tmp_path / "figure.svg")
    assert (
        "| SQLite PERSIST/FULL | 20.0 | 1.90 | **3 of 20 left no usable database**, against the promise |"
        in out
    )
    image = (tmp_path / "figure.svg").read_text()
    assert ">SQLite PERSIST/FULL (3)<" in image and "Red edge" in image


def test_a_watched_run_of_another_cell_is_none(lab: Lab, grid: str, tmp_path: Path) -> None:
    for settings in (NORMAL, FULL, LOG):
        tried(lab, settings)
    watched(lab, NORMAL)
    # other transactions, another filesystem, and a device of that name that is not the one of here
    watched(lab, FULL, N="20")
    watched(lab, LOG, FS="f2fs")
    watched(lab, LOG, size_mib=1024)
    out = drawn(lab, grid, tmp_path / "figure.svg")
    assert (
        "left out, as its watched run has N=20, and the cuts are of N=10: SQLite PERSIST/FULL; left out, "
        in out
    )
    assert "as there is no watched run of it with CRASH=none that counts: SQLite/SSL" in out
    assert len(list(csv.DictReader((tmp_path / "figure.csv").open()))) == 1


def test_one_line_where_no_cell_has_both(lab: Lab, grid: str, tmp_path: Path) -> None:
    asked = {"GRID": grid, "FIGURE": str(tmp_path / "x.svg"), "OVER": "bytes"}
    watched(lab, NORMAL)
    # watched and not cut
    assert "none of its 3 cells is measured" in lab.says("durability", **asked)
    tried(lab, FULL)
    # cut and not watched
    says = lab.says("durability", **asked)
    assert "GRID=two: none of its cells with cuts is there, watched without cuts, too; the first, " in says
    folder = watched(lab, FULL)
    edit(folder / "summary.json", status="rejected", reasons=["2 events lost"])
    assert "none of its cells with cuts is there" in lab.says("durability", **asked)
    assert not (tmp_path / "x.svg").exists() and not (tmp_path / "x.csv").exists()
    says = lab.says("durability", **asked | {"OVER": "speed"})
    assert "OVER=speed" in says and "lost, bytes" in says


def test_runs_of_two_kernels_are_not_in_one_panel(lab: Lab, grid: str, tmp_path: Path) -> None:
    tried(lab, FULL)
    folder = watched(lab, FULL)
    board = {"kernel": "Linux board 6.12.9-arm64 #1 SMP aarch64"}
    told = json.loads((folder / "manifest.json").read_text())["board"]
    edit(folder / "manifest.json", board=told | board)
    says = lab.says("durability", GRID=grid, FIGURE=str(tmp_path / "x.svg"), OVER="bytes")
    assert "GRID=two: its cells: runs of the kernels 6.12.1-arm64, 6.12.9-arm64, which are not " in says


def test_speed_over_lost_commits_has_no_cells_without_cuts(lab: Lab, grid: str, tmp_path: Path) -> None:
    tried(lab, FULL)
    watched(lab, FULL)
    out = lab.ok("durability", GRID=grid, FIGURE=str(tmp_path / "figure.svg"))
    assert "1 of 3 cells of grid two are measured" in out


def test_a_name_has_what_cells_of_its_engine_differ_in() -> None:
    """And a place what is of no engine."""
    every = [
        {"engine": "sqlite", "fs": "f2fs", "journal_mode": "wal", "synchronous": "full", "dirty_pages": ""},
        {
            "engine": "sqlite",
            "fs": "f2fs",
            "journal_mode": "delete",
            "synchronous": "full",
            "dirty_pages": "",
        },
        {"engine": "ssl", "fs": "f2fs", "journal_mode": "", "synchronous": "", "dirty_pages": "20"},
        {"engine": "ppl", "fs": "f2fs", "journal_mode": "", "synchronous": "", "dirty_pages": "20"},
        {"engine": "ppl", "fs": "f2fs", "journal_mode": "", "synchronous": "", "dirty_pages": "8"},
    ]
    assert [name_of(settings, every) for settings in every] == [
        *(
            "SQLite WAL",
            "SQLite DELETE",
            "SQLite/SSL",
            "SQLite/PPL dirty_pages=20",
            "SQLite/PPL dirty_pages=8",
        )
    ]
    assert {place_of(settings) for settings in every} == {"f2fs"}
    both = [{"journal_mode": "wal", "synchronous": sync, "device": "emmc-5.0"} for sync in ("full", "off")]
    assert name_of(both[1], both) == "OFF" and place_of(both[1]) == "emmc-5.0"


def cost(name: str, kib: float, ms: float) -> Cost:
    return Cost("", name, kib, ms, Row({}, 1, Trials(20, 0, 0.0, 0, 0, None, None, None, None, None), ""))


def test_names_hide_neither_marks_nor_each_other() -> None:
    costs = [cost(f"SQLite NUMBER/{at}", 10 + at / 5, 2 + at % 3 / 40) for at in range(9)]
    # of the outermost mark inwards
    costs.append(cost("SQLite/SSL dirty_pages=20 log_medium=fdatasync", 13, 2.2))
    made = style.figure(4, 7)
    under = made.subplots()
    panel(under, costs, "")
    scale(under, costs)
    made.draw_without_rendering()
    name(made, under, costs)
    made.draw_without_rendering()
    frame = under.get_window_extent()
    # with no line to the mark, which the extent of an annotation has
    boxes = [Text.get_window_extent(text) for text in under.texts]
    assert len(boxes) == len(costs)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(frame.containsx(box.x0) and frame.containsx(box.x1) for box in boxes)
    for each in costs:
        spot = under.transData.transform((each.kib, each.ms))
        assert not any(box.contains(*spot) for box in boxes)


def test_a_name_stands_beside_its_mark_first() -> None:
    first = next(around(100, 50, 40, 10))
    assert first == Box(108, 45, 148, 55)
    assert first.over(Box(140, 50, 160, 60)) == 8 * 5 and first.over(Box(0, 0, 100, 100)) == 0
    assert first.area() == 400


def test_the_grid_has_each_cell_cut_and_watched() -> None:
    grid = expand("engines-durability")
    cells = [run.cell for run in grid.runs]
    apart = ("probes", "crash", "cuts")
    same = [{axis: value for axis, value in cell.items() if axis not in apart} for cell in cells]
    cut = [one for one, cell in zip(same, cells, strict=True) if cell["crash"] == "power"]
    seen = [one for one, cell in zip(same, cells, strict=True) if cell["crash"] == "none" and cell["probes"]]
    assert len(cut) == len(seen) and len(cut) * 2 == len(cells)
    assert all(one in seen for one in cut)
