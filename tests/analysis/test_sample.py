"""A run recorded on the virtual board (record-sample.sh), against golden files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import stages
from analysis.checks import counts
from base.paths import ROOT

HERE = Path(__file__).parent
GOLDEN = sorted((HERE / "golden").iterdir())


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "f2fs-wal"
    shutil.unpack_archive(HERE / "sample-f2fs-wal.tar.xz", folder)
    # with as many threads as Polars takes; the tests' own process has one
    environment = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"}
    command = [sys.executable, "-m", "analysis", str(folder / "run"), "--quiet"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return folder / "run"


@pytest.mark.parametrize("golden", GOLDEN, ids=[path.name for path in GOLDEN])
def test_equals_golden(sample: Path, golden: Path) -> None:
    made = sample / golden.name if golden.suffix == ".json" else sample / "tables" / golden.name
    assert made.read_text() == golden.read_text()


def test_what_limits_the_rates_stands_above_them(sample: Path) -> None:
    page = (sample / "report.html").read_text()
    assert 0 < page.index("No transaction ran a checkpoint") < page.index('<div class="key">')


def test_three_sources_agree(sample: Path) -> None:
    told = counts.by_source(stages.build(sample))
    assert set(told) == {"probe", "blktrace", "stat"}
    assert len({tuple(row[name] for name in counts.FIELDS) for row in told.values()}) == 1
    assert told["stat"]["writes"] > 300


def test_wal_full_syncs_once_a_transaction(sample: Path) -> None:
    """The oracle: WAL/FULL syncs the log at each commit; what changes nothing syncs nothing."""
    syncs = json.loads((sample / "summary.json").read_text())["syncs"]
    assert all(0.95 <= value <= 1.03 for value in syncs.values())
