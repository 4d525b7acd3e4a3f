"""A run's outputs are put in place one analysis after the other, and half of it is not taken for a whole."""

import fcntl
import threading
from pathlib import Path

import pytest

from analysis import pipeline
from analysis.run_files import derived


def made(folder: Path, content: str) -> Path:
    """Make what an analysis writes."""
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True)
        (folder / name / "one.csv").write_text(content)
    for name in ("manifest.json", "summary.json", "report.html"):
        (folder / name).write_text(content)
    derived.write(folder)
    return folder


def found(folder: Path) -> set[str]:
    """What is in the outputs that are there."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != derived.NAME]
    return {path.read_text() for path in paths}


class KilledError(BaseException):
    """In place of a kill -9."""


# tables and figures are moved twice each, the other four once
@pytest.mark.parametrize("steps", range(9))
def test_half_a_swap_is_no_analysed_run(steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, fresh = made(tmp_path / "run", "old"), made(tmp_path / "fresh", "new")
    documents = ("manifest.json", "summary.json")
    assert derived.fault(run, *documents) is None
    replace, left = Path.replace, [steps]

    def until(path: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", until)
    if steps < 8:
        with pytest.raises(KilledError):
            pipeline.put(fresh, run)
        assert derived.fault(run, *documents) == "derived.json is missing"
        monkeypatch.setattr(Path, "replace", replace)
        pipeline.put(made(tmp_path / "again", "new"), run)
    else:
        pipeline.put(fresh, run)
    assert derived.fault(run, *documents, "tables/one.csv") is None and found(run) == {"new"}
    assert sorted(path.name for path in run.iterdir()) == sorted(derived.OUTPUTS)


def test_two_take_turns(tmp_path: Path) -> None:
    run, fresh = made(tmp_path / "run", "old"), made(tmp_path / "fresh", "new")
    lock = run / pipeline._LOCK
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other = threading.Thread(target=pipeline.put, args=(fresh, run))
        other.start()
        other.join(0.3)
        assert other.is_alive() and found(run) == {"old", ""}
        lock.unlink()  # as the first does at its end
    other.join(60)
    assert found(run) == {"new"} and not lock.exists()
