"""A run recorded on the virtual board (record-sample.sh), against golden files."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from analysis import stages
from analysis.__main__ import main as analyse
from analysis.checks import counts
from analysis.inspect import write
from analysis.run_files import stored
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


def test_the_report_links_to_the_page_of_inspect_once_it_is_there(sample: Path) -> None:
    report = sample / "report.html"
    transaction = json.loads((sample / "summary.json").read_text())["slowest"]["transaction"]
    links = {"inspect.html", f"inspect.html#transactions={transaction}"}

    def linked() -> set[str]:
        return {url for url in re.findall('href="([^"]+)"', report.read_text()) if "inspect" in url}

    assert not linked() and "make inspect RUN=" in report.read_text()
    for write_it in (lambda: write.of_run(str(sample)), lambda: analyse([str(sample), "--quiet"])):
        write_it()
        assert linked() == links
    assert "<!--" not in report.read_text()


def test_the_latencies_of_syncs_are_those_of_the_ledgers_table(sample: Path) -> None:
    took = pl.col("end_ns") - pl.col("begin_ns")
    rows = stored.read(sample).syncs().select(pl.col("file").cast(pl.String), took.alias("took") / 1000)
    times = json.loads((sample / "summary.json").read_text())["sync_us"]
    assert list(times) == ["all", "database", "wal", "directory"]
    for name, each in times.items():
        ledger = (rows if name == "all" else rows.filter(pl.col("file") == name))["took"]
        quantiles = (ledger.quantile(share, "linear") for share in (0.5, 0.99))
        assert list(each.values()) == pytest.approx([len(ledger), *quantiles, ledger.max()])


def test_three_sources_agree(sample: Path) -> None:
    told = counts.by_source(stages.build(sample))
    assert set(told) == {"probe", "blktrace", "stat"}
    assert len({tuple(row[name] for name in counts.FIELDS) for row in told.values()}) == 1
    assert told["stat"]["writes"] > 300


def test_wal_full_syncs_once_a_transaction(sample: Path) -> None:
    """The oracle: WAL/FULL syncs the log at each commit; what changes nothing syncs nothing."""
    syncs = json.loads((sample / "summary.json").read_text())["syncs"]
    assert all(0.95 <= value <= 1.03 for value in syncs.values())
