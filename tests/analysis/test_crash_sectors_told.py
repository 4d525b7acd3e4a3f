"""Zero and stale sectors that trials found in files: counted, reported; none at the run's begin and end."""

from collections.abc import Callable
from pathlib import Path

import pytest
from edited import edit_trial

from analysis import checks, pipeline, stages
from analysis.report import terminal
from base.errors import FileError


@pytest.fixture
def run_dir(copy_run: Callable[[str], Path]) -> Path:
    """A run whose boards looked for a millisecond and found nothing."""
    folder = copy_run("sample-crash")
    for trial in range(40):
        edit_trial(folder, trial, zero=0, stale=0, looked_ns=1_000_000)
    return folder


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


@pytest.mark.parametrize(("trial", "end", "name"), [(0, "begin", "zero"), (39, "end", "stale")])
def test_a_known_end_holds_what_was_written(run_dir: Path, trial: int, end: str, name: str) -> None:
    edit_trial(run_dir, trial, **{name: 1})
    said = f"trial {trial}, at the run's {end}, must hold only written data, but has (1 {name} sectors)"
    assert said in checks.reasons(stages.build(run_dir))


def test_a_board_says_all_of_it_or_nothing(run_dir: Path) -> None:
    path = next(run_dir.glob("crash/1/raw/trials.csv"))
    lines = [line.split(",") for line in path.read_text().splitlines()]
    place = lines[0].index("zero")
    path.write_text("".join(",".join(fields[:place] + fields[place + 1 :]) + "\n" for fields in lines))
    with pytest.raises(FileError, match="the header is"):
        stages.build(run_dir)
