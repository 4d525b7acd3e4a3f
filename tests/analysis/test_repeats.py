"""Repeats of a cell: median, interval, samples, outliers, equal sequences; the interval of watching cost."""

import html
import json
import re
from pathlib import Path
from typing import Any

import markup
import pytest

from analysis.run_files import derived
from analysis.stats import repeats
from analysis.stats.spread import interval
from base.errors import FileError
from base.identity import cell_id, cell_name

CELL = {"clock": "virtual", "engine": "sqlite", "fs": "<b>", "profiles": {}, "at_default": []}


def runs(
    tmp_path: Path,
    *tps: float,
    clock: str = "virtual",
    seed: int = 1,
    board_number: int = 1,
    name: str = "r",
    **differ: list[Any],
) -> list[Path]:
    """Synthetic runs of one cell; `differ` sets a key to another value per run."""
    folders = []
    cell = CELL | {"clock": clock, "seed": seed, "board_number": board_number}
    for number, value in enumerate(tps):
        summary = {
            "cell_id": cell_id(cell),
            "cell_name": cell_name(cell),
            "run_id": f"{name}{number}",
            "clock": clock,
            "status": "ok",
            "reasons": [],
            "tps": {"insert": value, "all": None},
            "block_sequence_sha256": "s",
        }
        summary |= {key: values[number] for key, values in differ.items()}
        folder = tmp_path / cell_name(cell) / f"{name}{number}"
        folder.mkdir(parents=True)
        documents = {"cell": cell, "host": {"run_id": f"{name}{number}"}, "summary": summary}
        for kind, content in documents.items():
            (folder / f"{kind}.json").write_text(json.dumps(content))
        derived.write(folder)
        folders.append(folder)
    return folders


def test_numbers(tmp_path: Path) -> None:
    result = repeats.compare(runs(tmp_path, 90.0, 100.0, 110.0, clock="real"))
    insert = result["tps"]["insert"]
    assert (insert["median"], insert["spread"]) == (100.0, 0.2)
    # t(0.975, 2) = 4.30265; standard error 10/sqrt(3)
    assert insert["interval"] == pytest.approx((75.159, 124.841), abs=1e-3)
    assert "all" not in result["tps"]
    assert result["same_sequence"]


def test_repeats_of_one_snapshot_are_one_sample(tmp_path: Path) -> None:
    result = repeats.compare(runs(tmp_path / "a", 100.0, 100.0, 101.0))
    assert result["tps"]["insert"]["interval"] is None
    assert "3 runs, 0 rejected, 1 sample;" in repeats.table(result)
    real = repeats.compare(runs(tmp_path / "b", 100.0, 100.0, 101.0, clock="real"))
    assert real["samples"] == 3
    assert real["tps"]["insert"]["interval"] == interval([100.0, 100.0, 101.0])


def test_seeds_and_boards_are_samples(tmp_path: Path) -> None:
    samples = [(seed, board) for board in (1, 2) for seed in (1, 2, 3)]
    tps = [100.0 + seed + board / 10 for seed, board in samples]
    folders = [
        runs(tmp_path, rate, name=f"r{seed}{board}", seed=seed, board_number=board)[0]
        for (seed, board), rate in zip(samples, tps, strict=True)
    ]
    result = repeats.compare([*folders, folders[-1]])
    assert result["samples"] == 6 and result["same_sequence"]
    assert result["tps"]["insert"]["interval"] == interval(tps, samples)
    assert "7 runs, 0 rejected, 6 samples; block commands: the same sequence" in repeats.table(result)
    # a seed has other commands than another, and no two runs repeat each other
    assert repeats.compare(folders)["same_sequence"] is None
    assert "no good run was repeated" in repeats.table(repeats.compare(folders))
    page = repeats.write(folders)
    for link in re.findall(r'href="(.*?)/report.html"', page.read_text()):
        assert (page.parent / html.unescape(link)).is_dir()
    assert '<td class="n">3</td><td class="n">2</td>' in page.read_text()
    assert markup.lacks(page.read_text()) == []


def test_rejected_run_is_listed_and_left_out(tmp_path: Path) -> None:
    result = repeats.compare(runs(tmp_path, 100.0, 50.0, status=["ok", "rejected"]))
    assert result["tps"]["insert"]["median"] == 100.0
    assert len(result["runs"]) == 2
    assert "1 rejected" in repeats.table(result)


def test_another_sequence_is_said(tmp_path: Path) -> None:
    result = repeats.compare(runs(tmp_path, 1.0, 1.0, block_sequence_sha256=["a", "b"]))
    assert not result["same_sequence"]
    assert "NOT the same" in repeats.table(result)


def timed(folders: list[Path], *transactions: str) -> list[Path]:
    """As many runs with these hashes of their twins' transactions."""
    for number, (folder, one) in enumerate(zip(folders, transactions, strict=True)):
        hashes = {"raw/run.json": f"{number}" * 64, "twin/raw/driver/transactions.csv": one * 64}
        (folder / "host.json").write_text(json.dumps({"run_id": folder.name, "raw_sha256": hashes}))
        derived.write(folder)
    return folders


@pytest.mark.parametrize(
    ("transactions", "odd", "says"),
    [
        ("aaa", [], "times: the same to the nanosecond"),
        ("aba", ["r1"], "times: NOT the same to the nanosecond: r1 (docs/measurements/performance.md)"),
    ],
)
def test_a_late_clock_is_said(transactions: str, odd: list[str], says: str, tmp_path: Path) -> None:
    folders = timed(runs(tmp_path, 1.0, 1.0, 1.0), *transactions)
    result = repeats.compare(folders)
    assert result["odd_clocks"] == odd and says in repeats.table(result)
    assert says.removeprefix("times: ") in repeats.write(folders).read_text()


def test_no_summary_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"it has no cell\.json"):
        repeats.compare([tmp_path])


def test_what_is_far_from_the_others_is_shown_and_counted(tmp_path: Path) -> None:
    tps = (100.0, 101.0, 99.0, 100.5, 60.0)
    result = repeats.compare(runs(tmp_path / "real", *tps, clock="real"))
    assert result["outliers"] == {"r4": ["insert"]}
    assert result["tps"]["insert"]["spread"] == pytest.approx(0.41)
    assert "far from the others, and in all numbers: r4 (insert)" in repeats.table(result)
    assert "far from the others" in repeats.write([*(tmp_path / "real").glob("*/r*")]).read_text()
    # of four nobody can tell, and in virtual time all are alike
    assert repeats.compare(runs(tmp_path / "few", *tps[1:], clock="real"))["outliers"] is None
    assert repeats.compare(runs(tmp_path / "virtual", *tps))["outliers"] is None


def test_what_watching_cost_by_pairs(tmp_path: Path) -> None:
    costs = [{"insert": cost, "all": None} for cost in (0.05, 0.03, 0.07)]
    result = repeats.compare(runs(tmp_path, 100.0, 99.0, 101.0, clock="real", watching_cost=costs))
    found = result["watching_cost"]["insert"]
    assert found["mean"] == pytest.approx(0.05014, abs=1e-4)
    assert found["interval"] == pytest.approx((-0.0004, 0.0982), abs=1e-3)
    assert "all" not in result["watching_cost"]
    assert "watching cost, % of TPS of insert: 5.01" in repeats.table(result)
