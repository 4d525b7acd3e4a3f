"""make artifact archives a grid's runs so that another lab imports them; make table prints their samples."""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

from lab import Lab, of_grid, one_line

GRID = "description: two pages\nconstants: {rows: 100, n: 10}\naxes: {page_size: [4096, 1024]}\n"


def test_an_archive_has_the_grids_runs_and_says_how_to_use_them(
    labs: Callable[[str], Lab], tmp_path: Path
) -> None:
    here, path = labs("here"), tmp_path / "pages.yml"
    path.write_text(GRID)
    said = here.says("artifact", GRID=str(path), FILE=str(tmp_path / "a.tar.gz"))
    assert f"GRID={path}: no ok run of it is here; make sweep GRID={path}" in said
    said = here.says("artifact", GRID=str(path), FILE=str(tmp_path / "a.zip"))
    assert "a.zip: unsupported suffix; use .tar.gz" in said
    run = here.run(PAGE_SIZE="1024")
    of_grid(here, "pages")
    other = here.run(PAGE_SIZE="8192")
    out = here.ok("artifact", GRID=str(path), FILE=str(tmp_path / "a.tar.gz"), LAB="kiel")
    assert out.startswith(f"{tmp_path / 'a.tar.gz'}: 1 runs, ")
    shutil.unpack_archive(tmp_path / "a.tar.gz", tmp_path / "unpacked")
    place = tmp_path / "unpacked/a"
    assert sorted(file.name for file in place.iterdir()) == [
        *("README.txt", "figures", "pages.yml", "runs.tar.gz", "setup.txt")
    ]
    assert (place / "pages.yml").read_text() == GRID
    text = (place / "README.txt").read_text()
    assert "1 runs of 1 cells" in text and "at abc." in text
    assert "1 runs of the grid are missing" in text
    assert "begin{table}" in (place / "setup.txt").read_text()
    # it has no figure of experiments/figures
    assert sorted(file.name for file in (place / "figures").iterdir()) == ["pages.csv", "pages.pdf"]
    there = labs("there")
    assert "1 run imported" in there.ok("import", FILE=str(place / "runs.tar.gz"))
    listed = there.ok("results", WHERE="grid=pages")
    assert run.name in listed and other.name not in listed


def test_an_archive_without_a_figure_says_why(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "wide.yml"
    systems = "btrfs, btrfs-nocow, ext4-journal, ext4-nojournal, ext4-ordered, ext4-writeback, f2fs, xfs"
    path.write_text(GRID.replace("]}", f"], fs: [{systems}]}}"))
    lab.run(PAGE_SIZE="1024")
    of_grid(lab, "wide")
    out = one_line(lab.ok("artifact", GRID=str(path), FILE=str(tmp_path / "a.tar.gz"), LAB="kiel"))
    assert out.startswith("no figure wide.pdf: SERIES has 8 values, and 7 can be told apart")
    assert "a.tar.gz: 1 runs" in out


def test_an_archives_readme_repeats_the_sweep(labs: Callable[[str], Lab], tmp_path: Path) -> None:
    """With its seeds, boards and settings; by the same name of the grid its runs are found."""
    here, path = labs("here"), tmp_path / "pages.yml"
    path.write_text(GRID)
    for seed, board in (("1", "1"), ("2", "1"), ("1", "2")):
        here.run(PAGE_SIZE="1024", N="20", SEED=seed, BOARD_NUMBER=board)
    of_grid(here, "pages")
    here.ok("artifact", GRID=str(path), FILE=str(tmp_path / "a.tar.gz"), LAB="kiel")
    shutil.unpack_archive(tmp_path / "a.tar.gz", tmp_path)
    text = (tmp_path / "a/README.txt").read_text()
    assert "\n    make sweep GRID=pages.yml N=20 SEEDS=2 BOARDS=2\n" in text
    assert "5 runs of the grid are missing" in text
    assert "make table GRID=pages.yml LAB=kiel\n" in text


def test_a_grids_samples_are_a_tidy_table(labs: Callable[[str], Lab], tmp_path: Path) -> None:
    """A row for each seed, the newest of its repeats; other runs and rejected ones are not in it."""
    here, path = labs("here"), tmp_path / "pages.yml"
    path.write_text(GRID)
    call = {"GRID": str(path), "METRIC": "tps kib"}
    assert f"GRID={path}: no ok run of it is here; make sweep GRID={path}" in here.says("table", **call)
    here.run(50, PAGE_SIZE="1024")
    again = here.run(50, PAGE_SIZE="1024", repeat=2)
    seed = here.run(60, PAGE_SIZE="1024", SEED="2")
    here.run(70, status="rejected", SEED="3")
    of_grid(here, "pages")
    here.run(80, PAGE_SIZE="8192")
    head, *rows = csv.reader(here.ok("table", OP="insert", **call).splitlines())
    assert head == ["seed", "run", "tps", "kib"]
    assert [row[:3] for row in rows] == [["1", again.name, "50.0"], ["2", seed.name, "60.0"]]
    shown = here.ok("table", FORMAT="markdown", **call).splitlines()
    assert shown == ["| tps | kib |", "| ---: | ---: |", "| 57.75 ± 67 | 9.766 |"]
    latex = here.ok("table", FORMAT="latex", **call)
    assert latex.startswith(r"\begin{tabular}{rr}") and r"57.75 $\pm$ 67 & 9.766 \\" in latex
    assert here.ok("table", OP="INSERT", **{**call, "METRIC": "TPS"}).startswith("seed,run,tps\n")
    assert "METRIC=p99: no run has it of OP=all" in here.says("table", GRID=str(path), METRIC="p99")
    assert "OP=scan: the runs' operations are insert, " in here.says("table", OP="scan", **call)
    assert "METRIC=tsp: did you mean tps" in here.says("table", GRID=str(path), METRIC="tsp")
    assert "The grid is pages, of 1 cell." in here.ok("setup-text", GRID="pages")


def test_a_table_has_a_run_of_this_lab_in_place_of_a_shipped_one(
    labs: Callable[[str], Lab], tmp_path: Path
) -> None:
    """Also if no sweep made it, and if the grid is one of a grid's grids."""
    here, there, path, both = labs("here"), labs("there"), tmp_path / "pages.yml", tmp_path / "the two.yml"
    path.write_text(GRID)
    both.write_text(f"description: both\ngrids: [{path}]\n")
    there.run(50, PAGE_SIZE="1024")
    there.run(60, PAGE_SIZE="4096")
    of_grid(there, "pages")
    there.ok("export", FILE=str(tmp_path / "there.sqlite"), LAB="reference")
    here.ok("import", FILE=str(tmp_path / "there.sqlite"))
    own = here.run(70, PAGE_SIZE="4096").name
    for grid in (path, both):
        _, *rows = csv.reader(here.ok("table", GRID=str(grid), METRIC="tps", OP="insert").splitlines())
        assert sorted((row[0], row[-1]) for row in rows) == [("1024", "50.0"), ("4096", "70.0")]
        assert own in [row[1] for row in rows]
        assert "of 2 runs: unverified" in here.ok("setup-text", GRID=str(grid))
