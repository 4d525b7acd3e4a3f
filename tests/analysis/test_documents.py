"""All documents that an analysis writes fit analysis/schema.yml; base.strict_json refuses invalid JSON."""

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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[" * 22 + "]" * 22, "more than 20 objects and lists"),
        ("NaN", "NaN is no number"),
        ("1e400", "too large"),
        ("9223372036854775808", "more than 64 bits"),
        ('{"\\udfff": 1}', "not UTF-8"),
        ('[{"a": {"b": 1, "c": 2, "b": 1}}]', "the name 'b' is in an object twice"),
    ],
)
def test_what_is_no_json_here(text: str, says: str) -> None:
    with pytest.raises(UnfitError, match=says):
        strict_json.parse(text)


@pytest.mark.parametrize(
    "text", ['"\\ud83d\\ude00 \\u00e9"', "-9223372036854775808", "[[[1.5e300]]]", "null", '"\\u0000"']
)
def test_what_is(text: str) -> None:
    assert strict_json.parse(text) == json.loads(text)
