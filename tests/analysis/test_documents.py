"""What is written fits analysis/schema.yml; what does not fit is named."""

from __future__ import annotations

import functools
import json
import operator
import shutil
from pathlib import Path

import pytest
import synthetic
from edited import unhold

from analysis import __main__ as command
from analysis import documents, pipeline
from base import strict_json
from base.strict_json import UnfitError

HERE = Path(__file__).parent


def fits(folder: Path, status: str) -> None:
    """Analyse a run and hold all of its documents against the schema."""
    pipeline.analyse(folder)
    found = {}
    for name in ("summary", "manifest", "host"):
        found[name] = strict_json.parse((folder / f"{name}.json").read_text())
        documents.check(name, found[name])
    assert found["summary"]["status"] == status


@pytest.mark.parametrize("sample", ["sample-f2fs-wal.tar.xz", "sample-flash-wal.tar.xz"])
def test_recorded_runs_fit(sample: str, tmp_path: Path) -> None:
    shutil.unpack_archive(HERE / sample, tmp_path)
    fits(unhold(tmp_path / "run"), "ok")
    (tmp_path / "run/raw/run-cell.log").unlink()
    (tmp_path / "run/raw/probes.bin").unlink()
    fits(tmp_path / "run", "rejected")


@pytest.mark.parametrize("workload", ["null", "apsys17"])
@pytest.mark.parametrize("n", [0, 2])
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
        ("[-Infinity]", "-Infinity is no number"),
        ("1e400", "too large"),
        ("9" * 10_000, "more than 64 bits"),
        ("9223372036854775808", "more than 64 bits"),
        ('"\\ud800"', "not UTF-8"),
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


def refused(folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Put a document in place of a run's, whose analysis must refuse it in one line; what that says."""
    (folder / name).write_text(text)
    assert command.main([str(folder)]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"commitpath: {folder / name}: ") and said.count("\n") == 1 and len(said) < 700
    return said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("NaN", "NaN is no number"),
        ("1e400", "too large"),
        ('"\\ud800"', "not UTF-8"),
        ("[" * 900 + "]" * 900, "more than 20 objects and lists"),
    ],
)
@pytest.mark.parametrize("name", ["cell.json", "host.json", "raw/run.json", "raw/driver/config.json"])
def test_what_is_no_json_is_none_in_a_run(
    name: str, text: str, says: str, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (run_dir / name).read_text().lstrip()
    assert says in refused(run_dir, name, f'{{"more": {text}, {whole[1:]}', capsys)


CONFIG, RUN = "raw/driver/config.json", "raw/run.json"


@pytest.mark.parametrize(
    ("name", "place", "value", "says"),
    [
        (CONFIG, "sqlite.version", None, "sqlite must contain ['version']"),
        (CONFIG, "sqlite.compile_options", {}, "sqlite.compile_options must be array"),
        (CONFIG, "clock.monotonic_ns", None, "clock must contain ['monotonic_ns']"),
        (CONFIG, "driver.checkpoint_every", {}, "driver.checkpoint_every must be"),
        (CONFIG, "driver.rows", -1, "driver.rows must be bigger than or equal to 0"),
        (CONFIG, "file_sizes.wal", [], "file_sizes.wal must be integer"),
        (CONFIG, "pragmas.auto_vacuum", [[1]], "pragmas.auto_vacuum must be"),
        (CONFIG, f"driver.{'x' * 10_000}", {}, "driver.xxx"),
        (RUN, "steps.1.end_ns", None, "steps[1] must contain ['end_ns']"),
        (RUN, "steps.0.begin_ns", "", "steps[0].begin_ns must be integer"),
    ],
)
def test_of_what_the_board_wrote_each_value_is_what_it_should_be(
    name: str,
    place: str,
    value: object,
    says: str,
    run_dir: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """value: in place of the one there; None: it is gone."""
    document = json.loads((run_dir / name).read_text())
    *parents, last = (int(part) if part.isdigit() else part for part in place.split("."))
    inner = functools.reduce(operator.getitem, parents, document)
    inner[last] = value
    if value is None:
        del inner[last]
    assert says in refused(run_dir, name, json.dumps(document), capsys)
