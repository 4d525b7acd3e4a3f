"""`make ledger`'s figure of several runs: which it draws, which it leaves out and why; its bars' numbers."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure
from some_cell import some_cell

from analysis.figures import bars, bytes_by_label
from analysis.figures.bytes_by_label import main
from analysis.run_files import derived, stored
from analysis.stats.totals import per_transaction
from base.identity import canonical, cell_name

PROFILES = {"fs": {"type": "ext4"}, "device": {"driver": "null_blk"}}
LEDGER = {
    "per_transaction": {"all": {"database page": 4096.0}},
    "flushes_per_transaction": {"all": {"database": 1.0}},
    "unattributed_share": 0.0,
    "no_transaction": {"share": 0.0, "per_transaction": 0.0},
}


def make(results: Path, mode: str, run_id: str, engine: str = "sqlite", n: int = 100, **summary: Any) -> Path:
    """Store a run with a ledger; its folder."""
    cell = {
        "n": n,
        "engine": engine,
        "fs": "ext4-ordered",
        "journal_mode": mode,
        "profiles": PROFILES,
        "at_default": [],
    }
    folder = results / cell_name(cell) / run_id
    folder.mkdir(parents=True)
    (folder / "cell.json").write_text(canonical(cell))
    (folder / "host.json").write_text(json.dumps({"run_id": run_id}))
    counted = {"tps": {"all": 50.0}, "virtual_seconds": 2.0}
    counted["block"] = {"writes": 200, "flushes": 100, "bytes_written": 409600}
    told = {"status": "ok", "reasons": [], "ledger": LEDGER, **counted} | summary
    (folder / "summary.json").write_text(json.dumps(told))
    derived.write(folder)
    return folder


def test_good_runs_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("delete", "wal"):
        make(tmp_path / "results", mode, f"{mode}-1")
    main(tmp_path / "out.svg", [tmp_path / "results"])
    out = capsys.readouterr().out
    assert "delete  ext4-ordered: " in out and "wal  ext4-ordered: " in out
    drawn = (tmp_path / "out.svg").read_text()
    assert ">1<" in drawn and ">1.00<" not in drawn


def test_only_a_whole_number_is_drawn_without_decimals() -> None:
    table = pl.DataFrame({"op": ["a", "b", "c"], "kind": ["data"] * 3, "value": [1.004, 2.0, 2999.997]})
    bars.stacked(axes := Figure().subplots(), table, ["a", "b", "c"], "value", {"data": "#000000"}, 2, 0)
    assert [text.get_text() for text in axes.texts] == ["1.00", "2", "3000.00", "1.00", "2", "3,000.00"]


def test_runs_that_are_not_drawn_are_counted_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    make(results, "delete", "r9")
    make(results, "delete", "r8")
    make(results, "wal", "r7", status="rejected", reasons=["x"])
    make(results, "wal", "r6", ledger=None)
    for number in (4, 5):
        make(results, "wal", f"r{number}", n=300)
    main(tmp_path / "out.svg", [results])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out: ")]
    assert sorted(lines) == sorted(
        [
            "left out: 2 runs: n=300, unlike the newest run (n=100)",
            "left out: 1 run: a newer run of the same cell is drawn",
            "left out: 1 run: a run that is rejected",
            "left out: 1 run: no ledger",
        ]
    )


def test_both_panels_have_everything(tmp_path: Path) -> None:
    """The flushes of a close, too: 100 transactions, 99 flushes of theirs and one of none."""
    made = LEDGER | {"flushes_per_transaction": {"all": {"database": 0.99}}}
    bar = bytes_by_label.bar_of(stored.read_named(make(tmp_path / "results", "wal", "r1", ledger=made)))
    found = bytes_by_label._values(bar, "flushes_per_transaction")
    assert sum(found.values()) == per_transaction(stored.read_named(bar.folder).summary)["flushes"] == 1.0
    assert found["no transaction"] == pytest.approx(0.01)


def test_axes_that_only_one_of_two_runs_has_are_named(tmp_path: Path) -> None:
    one, other = (
        bytes_by_label.Bar(tmp_path, cell, {}) for cell in (some_cell(n=1), some_cell(n=1, pace="1/s"))
    )
    assert bytes_by_label.differing(one, other) == ["pace=-"]
    assert bytes_by_label.differing(other, one) == ["pace=1/s"]
