"""A run's documents that contradict each other are noticed, and those of recorded runs do not."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis import pipeline
from analysis.report.consistency import reasons

HERE = Path(__file__).parent
SAMPLES = sorted(HERE.glob("sample-*.tar.xz"))
NAMES = ("cell", "summary", "manifest", "host")
Documents = dict[str, dict[str, Any]]


def documents(sample: Path, folder: Path) -> Documents:
    shutil.unpack_archive(sample, folder)
    pipeline.analyse(folder / "run")
    return {name: json.loads((folder / f"run/{name}.json").read_text()) for name in NAMES}


@pytest.fixture(scope="module")
def of_f2fs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    return documents(HERE / "sample-f2fs-wal.tar.xz", tmp_path_factory.mktemp("sample"))


@pytest.mark.parametrize("sample", SAMPLES, ids=[path.name for path in SAMPLES])
def test_a_recorded_run_is_consistent(sample: Path, tmp_path: Path) -> None:
    assert reasons(**documents(sample, tmp_path)) == []


# (where, its new value, what is said)
CONTRADICTIONS: list[tuple[str, Any, str]] = [
    ("summary.run_id", "other", "run_id: summary says 'other', host says"),
    ("manifest.cell_id", "0123456789", "cell_id"),
    ("host.raw_sha256", {"raw/run.json": "0" * 64}, "raw_sha256: host and manifest"),
    ("host.commitpath_commit", "v9.9", "its copy of host.json"),
    ("cell.journal_mode", "delete", "journal_mode: cell says 'delete', read back says 'wal'"),
    ("cell.fs", "ext4-ordered", "filesystem: axis says 'ext4', profile says 'f2fs'"),
    ("cell.workload", "apsys17-insert", "phases: axis says ['insert'], profile says None"),
    ("cell.profiles.device", {"driver": "null_blk"}, "the profile of device has no timing"),
    ("cell.n", 50, "transactions in a phase, n is 50"),
    ("cell.probes", "", "timing_source is 'twin', of such a cell run"),
    ("manifest.settings.0.equal", False, "requested"),
    ("manifest.sqlite.effective.journal_mode", "delete", "journal_mode"),
    ("manifest.filesystem.mount.options", ["rw", "fsync_mode=nobarrier"], "fsync_mode=nobarrier: in effect"),
    ("manifest.sqlite.pragmas.locking_mode", "exclusive", "SQLite's locking_mode: in effect 'exclusive'"),
    ("manifest.clock.kind", "real", "clock"),
    ("summary.tps.all", 9999.0, "not the run's 300 transactions"),
    ("summary.tps.insert", 1.0, "tps of the operations"),
    ("summary.tps.select", 987654.0, "operations: tps says ['delete', 'insert', 'select', 'update']"),
    ("summary.virtual_seconds", 1.0, "not the run's 300 transactions"),
    ("summary.timing_source", "traced", "timing_source is 'traced', of such a cell twin"),
    ("summary.watching_cost", None, "watching_cost"),
    ("summary.lost_events", 500, "500 events were lost"),
    ("summary.block.bytes_written", 1024, "bytes written"),
    ("summary.ledger.no_transaction.bytes", 0, "bytes of transactions and 0 of none are not the window's"),
    ("summary.ledger.no_transaction.by.close", 1, "no_transaction: the bytes by reason are not 1490944"),
    ("summary.write_amplification", 1.0, "write_amplification"),
    ("summary.timed_wall_seconds", 0.1, "timed_wall_seconds"),
    ("host.timed_seconds", 1e6, "timed_seconds, 1000000.0 s, are more than wall_seconds"),
    ("host.run_seconds", 0, "s, are more than run_seconds, 0 s"),
]


@pytest.mark.parametrize(
    ("where", "value", "said"),
    CONTRADICTIONS,
    ids=lambda value: value if isinstance(value, str) else repr(value)[:30],
)
def test_a_contradiction_is_named(of_f2fs: Documents, where: str, value: Any, said: str) -> None:
    told = copy.deepcopy(of_f2fs)
    *path, last = where.split(".")
    at: Any = told
    for name in path:
        at = at[int(name)] if isinstance(at, list) else at[name]
    at[int(last) if isinstance(at, list) else last] = value
    assert any(said in reason for reason in reasons(**told)), reasons(**told)
