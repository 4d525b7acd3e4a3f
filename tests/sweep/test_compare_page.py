"""PAGE= of make compare: what a comparison's page and figure say of each cell."""

import errno
import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import markup
import pytest
from lab import Lab

from commitpath.reporting import run_counts, side_by_side
from commitpath.reporting.matched import Matched


def text(page: Path) -> str:
    """What a reader sees of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", page.read_text(), flags=re.DOTALL))


def test_the_page_has_each_cell_and_its_figure_is_beside_it(lab: Lab, tmp_path: Path) -> None:
    for fs in ("ext4", "f2fs"):
        lab.run(50, FS=fs, MODE="delete", PROBES="none")
        lab.run(60, FS=fs, MODE="wal", PROBES="none")
    page = tmp_path / "c.html"
    lab.ok("compare", A="mode=delete probes=*", B="mode=wal probes=*", PAGE=str(page))
    assert sorted(path.name for path in tmp_path.glob("c.*")) == ["c.html", "c.png", "c.svg"]
    said = text(page)
    assert "2 matched cells" in said and markup.lacks(page.read_text()) == []
    for fs in ("ext4-ordered", "f2fs"):
        assert f"fs={fs} A B 52.50 63.00 1.2 - 1 seed, 1 board not decided: one seed on one board" in said
        assert f"fs={fs} nothing not watched: bytes are not known by what" in said
    links = re.findall('href="([^"]+)/report.html"', page.read_text())
    assert len(links) == 4 and all((tmp_path / link / "summary.json").is_file() for link in links)
    assert "Transactions per second over 2 cells: not decided in any of 2 cells." in said
    drawn = page.with_suffix(".svg").read_text()
    assert "63.0 (×1.200)" in drawn and drawn.count(side_by_side.UNKNOWN) == 4


def test_the_figures_ratio_is_that_of_the_pairs(lab: Lab, tmp_path: Path) -> None:
    """Not that of the medians, 1.067."""
    for seed, (a, b) in {"1": (50, 60), "2": (100, 100)}.items():
        lab.run(a, FS="ext4", MODE="delete", PROBES="none", SEED=seed)
        lab.run(b, FS="ext4", MODE="wal", PROBES="none", SEED=seed)
    lab.ok("compare", A="mode=delete probes=*", B="mode=wal probes=*", PAGE=str(tmp_path / "c.html"))
    assert "84.0 (×1.095)" in (tmp_path / "c.svg").read_text()


def test_the_page_has_each_cells_verdict_and_that_over_all(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "figure", lambda *given: given[-1].write_text("<svg></svg>"))
    for fs, seed in itertools.product(("ext4", "f2fs"), "12"):
        lab.run(50, FS=fs, MODE="delete", PROBES="none", SEED=seed)
        lab.run(60 if fs == "f2fs" else 40, FS=fs, MODE="wal", PROBES="none", SEED=seed)
    page = tmp_path / "c.html"
    lab.ok("compare", A="mode=delete probes=*", B="mode=wal probes=*", PAGE=str(page), MARGIN="2.5")
    said = text(page)
    assert "0.8 0.8 to 0.8 (95%) 2 seeds, 1 board different: B lower" in said
    assert "over 2 cells: depends on fs: B lower with fs=ext4-ordered (B/A 0.8) B higher with fs=f2fs" in said
    assert "Within a margin of 2.5 %, or of the boards' spread" in said


@pytest.mark.parametrize(("there", "says"), [("c.html", "exists already"), ("c.png", "its figure")])
def test_a_page_that_cannot_be_made_is_refused_first(there: str, says: str, lab: Lab, tmp_path: Path) -> None:
    (tmp_path / there).write_text("mine")
    # said before anything is read: there are no runs
    assert says in lab.says("compare", A="mode=delete", B="mode=wal", PAGE=str(tmp_path / "c.html"))
    assert {path.name for path in tmp_path.glob("c.*")} == {there}


def test_a_page_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(side_by_side, "figure", lambda *given: given[-1].write_text("<svg></svg>"))
    monkeypatch.setattr(side_by_side, "cells", full)
    with pytest.raises(OSError, match="No space left"):
        side_by_side.write(
            {"A": "a", "B": "b"}, [], 0.01, tmp_path / "c.html", tmp_path / "c.svg", tmp_path / "c.png"
        )
    assert not list(tmp_path.iterdir())


def recorded(lab: Lab) -> Any:
    """A run that was recorded, as the database has it."""
    return SimpleNamespace(summary=json.loads((lab.recorded() / "summary.json").read_text()))


def test_what_a_run_did_for_a_transaction(lab: Lab) -> None:
    run = recorded(lab)
    found, number = run_counts.per_transaction(run), run_counts.transactions(run)
    block, ledger = run.summary["block"], run.summary["ledger"]
    each = found[run_counts.COMMANDS]
    assert each["write"] + each["write FUA"] == pytest.approx(block["writes"] / number)
    assert sum(found[run_counts.BYTES].values()) * 1024 * number == pytest.approx(
        sum(ledger["bytes"].values())
    )
    assert found[run_counts.FLUSHES] == ledger["flushes_per_transaction"]["all"]


def test_what_differs_is_told_and_what_does_not_is_not() -> None:
    a = {"commands": {"write": 3.0, "write FUA": 1.0}, "KiB": {"WAL": 20.0, "directory": 0.1}}
    b = {
        "commands": {"write": 3.02, "write FUA": 0.0},
        "KiB": {"WAL": 20.1, "directory": 0.0},
        "CPU": {"x": 1},
    }
    (change,) = run_counts.changes(a, b)
    assert (run_counts.name(change), change.a, change.b) == ("write FUA", 1, 0)
    b["KiB"] = {"WAL": 24.0, "filesystem journal": 8.0}
    names = [run_counts.name(change) for change in run_counts.changes(a, b)]
    assert names == ["write FUA", "filesystem journal, KiB", "WAL, KiB"]
    assert run_counts.changes(a, a) == []


def matched(label: str, a: float, b: float) -> Any:
    """One cell with a run on each side."""
    sides = [[SimpleNamespace(summary={"tps": {"all": rate}})] for rate in (a, b)]
    return Matched(label, *sides)  # type: ignore[arg-type]


def ratios(cells: list[Matched]) -> list[float | None]:
    """B/A of each cell."""
    return [side_by_side.tps(cell.b) / side_by_side.tps(cell.a) for cell in cells]


def test_many_cells_have_a_dot_each(tmp_path: Path) -> None:
    """In rows of the first axes that they differ in; a bar for each would be a figure of metres."""
    cells = [
        matched(f"fs={fs} sync={sync} rows={rows}", 100, 125 if sync == "off" else 100)
        for fs in ("ext4", "f2fs")
        for sync in ("off", "full")
        for rows in range(30)
    ]
    assert len(cells) > side_by_side.MOST_ROWS
    groups = side_by_side.groups(cells)
    assert list(groups) == [f"fs={fs} sync={sync}" for fs in ("ext4", "f2fs") for sync in ("off", "full")]
    assert [len(group) for group in groups.values()] == [30] * 4
    # where the first axis has more values than there is room for, all are in one row
    assert list(side_by_side.groups(cells, most=1)) == ["all"]
    path = tmp_path / "changes.svg"
    side_by_side.changes({"A": "kernel=6.1", "B": "kernel=7.x"}, cells, ratios(cells), path)
    drawn = path.read_text()
    assert "30: 100.0 → 125.0" in drawn and "f2fs full" in drawn and "B: kernel=7.x" in drawn


def test_changes_between_two_powers_of_ten_have_numbers_on_their_axis(tmp_path: Path) -> None:
    """No power of ten is between -90 and -50 %, the changes of these cells."""
    path = tmp_path / "changes.svg"
    cells = [matched(f"fs=ext4 rows={rows}", 100, 10 + rows) for rows in range(41)]
    side_by_side.changes({"A": "mode=wal", "B": "mode=delete"}, cells, ratios(cells), path)
    assert len(re.findall(r">[−-]\d+<", path.read_text())) > 2
