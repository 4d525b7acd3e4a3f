"""make durability OVER=bytes: latency over bytes and what cuts took, of cells both cut and watched."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab import OPS, Lab, edit, one_line

from commitpath.charts import look
from commitpath.command_line.stored_run import SHIPPED
from commitpath.database.select import UNVERIFIED

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
    assert out.splitlines()[:3] == [
        "KiB/tx  ms/tx    most lost  settings",
        "  20.0   0.95  9 (40.5 ms)  SQLite WAL/NORMAL",
        "  10.0   1.90            0  SQLite/SSL",
    ]
    caption = "2 of 4 cells of grid two, each by 20 cuts (power) and a watched run without; "
    caption += "left out, as it was not run: SQLite PERSIST/FULL; left out, as nobody looks at what comes "
    caption += "up: LevelDB"
    assert caption in one_line(out)
    rows = list(csv.DictReader((tmp_path / "figure.csv").open()))
    told = [(row["engine"], row["journal_mode"], row["KiB"], row["ms"], row["lost worst"]) for row in rows]
    assert told == [("sqlite", "wal", "20.00", "0.952", "9"), ("ssl", "", "10.00", "1.905", "0")]
    image = figure.read_text()
    # the legend has the cells; at each mark is what a cut took of it
    assert ">SQLite WAL/NORMAL<" in image and ">SQLite/SSL<" in image and ">SQLite PERSIST/FULL<" not in image
    assert ">9<" in image


def test_what_breaks_a_promise_is_marked(lab: Lab, grid: str, tmp_path: Path) -> None:
    tried(lab, FULL, corrupt=3)
    watched(lab, FULL)
    out = drawn(lab, grid, tmp_path / "figure.svg")
    assert "20.0   1.90      ✗ 3 !  SQLite PERSIST/FULL\n" in out
    image = (tmp_path / "figure.svg").read_text()
    assert ">✗ 3<" in image and look.FAILED.lower() in image


def test_shipped_runs_are_marked_and_their_kernel_is_not_mixed(
    labs: Callable[[str], Lab], grid: str, tmp_path: Path
) -> None:
    there, here = labs("there"), labs("here")
    for folder in (tried(there, NORMAL), watched(there, NORMAL)):
        board = json.loads((folder / "manifest.json").read_text())["board"]
        edit(folder / "manifest.json", board=board | {"kernel": "Linux board 6.9 #1 SMP aarch64"})
    there.ok("export", FILE=str(tmp_path / "shipped.sqlite"), LAB=SHIPPED)
    here.ok("import", FILE=str(tmp_path / "shipped.sqlite"))
    drawn(here, grid, tmp_path / "x.svg")
    assert [row["marks"] for row in csv.DictReader((tmp_path / "x.csv").open())] == [UNVERIFIED]
    tried(here, FULL)
    watched(here, FULL)
    asked = {"GRID": grid, "FIGURE": str(tmp_path / "x.svg"), "OVER": "bytes"}
    said = here.says("durability", **asked)
    assert "runs of the kernels 6.12.1-arm64, 6.9, which are not compared; " in said
    assert said.endswith("make sweep again, or LAB=local for this lab's alone")
    here.ok("durability", **asked, LAB="local")
    assert [row["marks"] for row in csv.DictReader((tmp_path / "x.csv").open())] == [""]


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
