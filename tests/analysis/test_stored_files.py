"""Each file of a stored run: deleted, cut, emptied or overwritten, `make analyse` does not say ok."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import __main__ as command
from analysis import stored_files
from analysis.run import cell_id

HERE = Path(__file__).parent


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def unwatched(folder: Path, **cell: Any) -> None:
    """Leave of a watched run its twin, which nobody watched."""
    shutil.rmtree(folder / "raw")
    (folder / "twin/raw").rename(folder / "raw")
    (folder / "twin").rmdir()
    change(folder / "cell.json", probes="", **cell)


def on_a_lab_board(folder: Path) -> None:
    """That in real time."""
    unwatched(folder, clock="real")
    change(folder / "raw/run.json", clock="real")


# name: (sample, what is done to it)
RUNS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "watched, blktrace": ("sample-f2fs-wal.tar.xz", lambda folder: None),
    "watched, flash": ("sample-flash-wal.tar.xz", lambda folder: None),
    "unwatched": ("sample-flash-wal.tar.xz", unwatched),
    "like a lab board's": ("sample-f2fs-wal.tar.xz", on_a_lab_board),
}


def stored(tmp_path: Path, name: str) -> Path:
    """A recorded run as commitpath/experiment.py stores one now."""
    sample, make = RUNS[name]
    with tarfile.open(HERE / sample) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "run"
    make(folder)
    identity = cell_id(json.loads((folder / "cell.json").read_text()))
    change(folder / "host.json", cell_id=identity, raw_sha256=stored_files.hashes(folder))
    return folder


def spoiled(data: bytes) -> list[bytes | None]:
    """None: deleted."""
    return [None, *([b"", data[: len(data) // 2]] if data else []), os.urandom(len(data) or 100)]


@pytest.mark.parametrize("name", RUNS)
def test_each_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(tmp_path, name)
    assert command.main([str(folder), "--quiet"]) == 0, capsys.readouterr()
    inputs = [folder / "cell.json", folder / "host.json"]
    inputs += [path for part in ("raw", "twin") for path in (folder / part).rglob("*") if path.is_file()]
    assert len(inputs) > 20
    tried = [(path, number) for path in inputs for number in range(len(spoiled(path.read_bytes())))]
    for path, number in tried:
        data = path.read_bytes()
        if (content := spoiled(data)[number]) is None:
            path.unlink()
        else:
            path.write_bytes(content)
        assert command.main([str(folder), "--quiet"]) in (1, 3), f"{path} spoiled in way {number}"
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") <= 1
        path.write_bytes(data)
    assert command.main([str(folder), "--quiet"]) == 0


def test_a_file_that_was_not_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(tmp_path, "watched, blktrace")
    (folder / "raw/blktrace/target.blktrace.1").write_bytes(b"")
    assert command.main([str(folder)]) == 3
    assert "target.blktrace.1: it was not stored with the run" in capsys.readouterr().err


def test_a_run_stored_without_hashes_still_counts(tmp_path: Path) -> None:
    folder = stored(tmp_path, "unwatched")
    host = json.loads((folder / "host.json").read_text())
    del host["raw_sha256"]
    (folder / "host.json").write_text(json.dumps(host))
    assert command.main([str(folder), "--quiet"]) == 0


@pytest.mark.parametrize(
    "wrong",
    [{"run_id": 3}, {"wall_seconds": "long"}, {"raw_sha256": {"raw/run.json": "0"}}, {"cell_id": None}],
)
def test_a_host_json_of_another_form(
    wrong: dict[str, Any], run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run_dir / "host.json", **wrong)
    assert command.main([str(run_dir)]) == 3
    assert f"host.json: {next(iter(wrong))}" in capsys.readouterr().err
