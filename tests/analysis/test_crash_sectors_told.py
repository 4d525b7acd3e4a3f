"""What boards said of the sectors of files that came up: counted and told."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from edited import edit_trial
from test_tried import ALIKE

from analysis import checks, pipeline, stages, terminal
from analysis.crash import fits, sectors
from base.errors import BadInput

HERE = Path(__file__).parent


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run whose boards looked for a millisecond and found nothing, without the hashes of its files."""
    shutil.unpack_archive(HERE / "sample-crash.tar.xz", tmp_path)
    host = tmp_path / "run/host.json"
    told = json.loads(host.read_text())
    del told["raw_sha256"]
    host.write_text(json.dumps(told))
    for trial in range(40):
        edit_trial(tmp_path / "run", trial, zero=0, stale=0, looked_ns=1_000_000)
    return tmp_path / "run"


def judged(folder: Path) -> pl.DataFrame:
    found = stages.build(folder).judged
    assert found is not None
    return found


def test_what_was_found_is_counted_and_told(run_dir: Path) -> None:
    edit_trial(run_dir, 7, zero=8, stale=3, hash="0123456789abcdef")
    edit_trial(run_dir, 9, zero=16)
    edit_trial(run_dir, 11, zero="", stale="", looked_ns="")  # a file could not be read
    result = pipeline.analyse(run_dir)
    assert result["status"] == "ok", result["reasons"]
    crash = result["crash"]
    assert crash["zero"] == {"cuts": 2, "max": 16} and crash["stale"] == {"cuts": 1, "max": 3}
    assert "(8 zero and 3 stale sectors)" in crash["first_broken"]
    said = " ".join(terminal.table(result, run_dir / "report.html").split())
    assert "zero sectors in files after 2, 16 at most, stale ones after 1, 3 at most" in said
    report = (run_dir / "report.html").read_text()
    assert 'left zero sectors in files; most of them</th><td class="n">2; 16' in report


def test_looking_is_no_part_of_the_recovery(run_dir: Path) -> None:
    with_it = judged(run_dir)
    edit_trial(run_dir, 7, looked_ns=0)
    without = judged(run_dir)
    took = (without["recovery_ns"] - with_it["recovery_ns"]).to_list()
    assert [number for number, ns in enumerate(took) if ns] == [7] and took[7] == 1_000_000


@pytest.mark.parametrize("trial", [0, 39])
@pytest.mark.parametrize("name", sectors.NAMES)
def test_a_known_end_holds_what_was_written(run_dir: Path, trial: int, name: str) -> None:
    edit_trial(run_dir, trial, **{name: 1})
    end = {0: "begin", 39: "end"}[trial]
    said = f"as the run's {end} it was to hold what was written, and trial {trial} found (1 {name} sectors)"
    assert said in checks.reasons(stages.build(run_dir))


def test_one_state_has_one_count(run_dir: Path) -> None:
    assert not checks.reasons(stages.build(run_dir))
    edit_trial(run_dir, ALIKE[0], stale=2)
    reasons = checks.reasons(stages.build(run_dir))
    assert any("were of one state, and came to different ends" in reason for reason in reasons), reasons


def test_a_board_says_all_of_it_or_nothing(run_dir: Path) -> None:
    path = next(run_dir.glob("crash/1/raw/trials.csv"))
    lines = [line.split(",") for line in path.read_text().splitlines()]
    place = lines[0].index("zero")
    path.write_text("".join(",".join(fields[:place] + fields[place + 1 :]) + "\n" for fields in lines))
    with pytest.raises(BadInput, match="the header is"):
        stages.build(run_dir)


@pytest.mark.parametrize(
    ("said", "fits_it"),
    [
        ({"cuts": 0, "max": 0}, True),
        ({"cuts": 40, "max": 8}, True),
        (None, True),
        ({"cuts": 0, "max": 8}, False),
        ({"cuts": 3, "max": 0}, False),
        ({"cuts": 41, "max": 8}, False),
    ],
)
def test_what_a_summary_says_fits(run_dir: Path, said: Any, fits_it: bool) -> None:
    cell = stages.build(run_dir).cell
    summary = pipeline.analyse(run_dir)
    summary["crash"]["stale"] = said
    assert (not fits.contradictions(cell, summary)) == fits_it


def test_of_a_cut_it_is_told() -> None:
    assert sectors.shown({"zero": 0, "stale": None}) == ""
    assert sectors.shown({"zero": 2, "stale": 0}) == " (2 zero sectors)"
    assert sectors.summary(pl.Series([None, None], dtype=pl.Int64)) is None
