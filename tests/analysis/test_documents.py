"""All documents that an analysis writes fit analysis/schema.yml; what does not fit is named by its key."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import synthetic

from analysis import pipeline
from analysis.schemas import documents
from base import strict_json
from base.strict_json import UnfitError


def fits(folder: Path, status: str) -> None:
    """Analyse a run and hold all of its documents against the schema."""
    pipeline.analyse(folder)
    found = {}
    for name in ("summary", "manifest", "host"):
        found[name] = strict_json.parse((folder / f"{name}.json").read_text())
        documents.check(name, found[name])
    assert found["summary"]["status"] == status


def test_recorded_runs_fit(copy_run: Callable[[str], Path]) -> None:
    folder = copy_run("sample-flash-wal")
    fits(folder, "ok")
    (folder / "raw/run-cell.log").unlink()
    (folder / "raw/probes.bin").unlink()
    fits(folder, "rejected")


@pytest.mark.parametrize(("workload", "n"), [("null", 2), ("apsys17", 0)])
def test_made_up_runs_fit(workload: str, n: int, tmp_path: Path) -> None:
    fits(synthetic.make(tmp_path / "cell/run", n=n, workload=workload), "ok")


def test_a_run_of_which_little_is_there_fits(run_dir: Path) -> None:
    for path in (run_dir / "raw").rglob("*"):
        if path.is_file() and path.parent.name != "driver":
            path.unlink()
    (run_dir / "host.json").unlink()
    pipeline.analyse(run_dir)
    for name in ("summary", "manifest"):
        documents.check(name, json.loads((run_dir / f"{name}.json").read_text()))


def test_what_does_not_fit_is_named(run_dir: Path) -> None:
    """A wrong value, a key that lacks, and one too many."""
    pipeline.analyse(run_dir)
    summary = json.loads((run_dir / "summary.json").read_text())
    without = {name: value for name, value in summary.items() if name != "tps"}
    for wrong, says in (
        ({**summary, "status": "perhaps"}, "status must be one of"),
        ({**summary, "tps": {**summary["tps"], "all": "fast"}}, "tps.* must be"),
        (without, "must contain .*'tps'"),
        ({**summary, "pace": {"asked": "1", "late": 0, "busy_tps": {}, "x": 1}}, "pace must not contain"),
    ):
        with pytest.raises(UnfitError, match=says):
            documents.check("summary", wrong)
