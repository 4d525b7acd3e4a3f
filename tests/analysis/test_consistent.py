"""Contradictions between a run's documents are reported; recorded runs have none."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis import pipeline
from analysis.report.manifest import contradictions

HERE = Path(__file__).parent
# an accepted run is consistent: the other recorded runs are analysed and accepted in tests of their own
SAMPLES = [HERE / f"sample-{name}.tar.xz" for name in ("checkpoints", "nojournal")]
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
    assert contradictions(**documents(sample, tmp_path)) == []


# (where, its new value, the expected reason)
CONTRADICTIONS: list[tuple[str, Any, str]] = [
    ("cell.profiles.device.geometry", {}, "the geometry of the device is empty"),
    ("cell.profiles.device", {"driver": "null_blk"}, "the geometry of the device is empty"),
    ("cell.n", 50, "transactions in a phase, n is 50"),
    ("manifest.transactions.insert", 99, "99 transactions in a phase, n is 100"),
    ("manifest.filesystem.mount.options", ["rw", "fsync_mode=nobarrier"], "fsync_mode=nobarrier: in effect"),
    ("manifest.sqlite.pragmas.fullfsync", "1", "SQLite's fullfsync: in effect '1'"),
    ("manifest.sqlite.pragmas", {}, "SQLite's fullfsync was not read back"),
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
    assert any(said in reason for reason in contradictions(**told)), contradictions(**told)
