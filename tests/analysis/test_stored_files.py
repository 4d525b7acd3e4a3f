"""Each file of a stored run: deleted, cut, emptied or overwritten, `make analyse` does not say ok."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic
from edited import edit
from test_fuzz import limit

from analysis import __main__ as command
from analysis import stored_files
from analysis.stored_files import NOT_HELD
from analysis.tree import __main__ as tree
from base.identity import cell_id, cell_name

HERE = Path(__file__).parent


def on_a_lab_board(folder: Path) -> None:
    """Unwatched, and in real time."""
    synthetic.leave_twin(folder)
    synthetic.change_cell(folder, clock="real")
    edit(folder / "raw/run.json", clock="real")
    config = folder / "raw/driver/config.json"
    edit(config, clock=json.loads(config.read_text())["clock"] | {"instruction_ps": 587})


# name: (sample, what is done to it)
RUNS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "watched, blktrace": ("sample-f2fs-wal.tar.xz", lambda folder: None),
    "watched, flash": ("sample-flash-wal.tar.xz", lambda folder: None),
    "unwatched": ("sample-flash-wal.tar.xz", synthetic.leave_twin),
    "like a lab board's": ("sample-f2fs-wal.tar.xz", on_a_lab_board),
}


def stored(tmp_path: Path, name: str) -> Path:
    """A recorded run as commitpath/experiment.py stores one now."""
    sample, make = RUNS[name]
    shutil.unpack_archive(HERE / sample, tmp_path)
    folder = tmp_path / "run"
    make(folder)
    identity = cell_id(json.loads((folder / "cell.json").read_text()))
    edit(folder / "host.json", cell_id=identity, raw_sha256=stored_files.hashes(folder))
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


def test_a_run_stored_without_hashes_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(tmp_path, "unwatched")
    assert command.main([str(folder)]) == 0
    assert NOT_HELD not in capsys.readouterr().out + (folder / "report.html").read_text()
    host = json.loads((folder / "host.json").read_text())
    del host["raw_sha256"]
    (folder / "host.json").write_text(json.dumps(host))
    assert command.main([str(folder)]) == 0
    assert NOT_HELD in capsys.readouterr().out and NOT_HELD in (folder / "report.html").read_text()
    assert json.loads((folder / "summary.json").read_text())["raw_held"] is False


@pytest.mark.parametrize(
    "wrong",
    [{"run_id": 3}, {"wall_seconds": "long"}, {"raw_sha256": {"raw/run.json": "0"}}, {"cell_id": None}],
)
def test_a_host_json_of_another_form(
    wrong: dict[str, Any], run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(run_dir / "host.json", **wrong)
    assert command.main([str(run_dir)]) == 3
    assert f"host.json: {next(iter(wrong))}" in capsys.readouterr().err


def test_what_reads_an_analysed_run_takes_only_what_was_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(tmp_path, "watched, flash")
    assert command.main([str(folder), "--quiet"]) == 0
    assert tree.main([str(folder), "0"]) == 0
    capsys.readouterr()
    costs = folder / "tables/costs.parquet"
    for path, content in (
        (costs, pl.read_parquet(costs).with_columns(pl.col("syncs") * 3)),
        (folder / "summary.json", (folder / "summary.json").read_text().replace('"ok"', '"rejected"')),
        (folder / "host.json", (folder / "host.json").read_text() + "\n"),
        (folder / "derived.json", None),
    ):
        before = path.read_bytes()
        if isinstance(content, pl.DataFrame):
            content.write_parquet(path)
        elif content:
            path.write_text(content)
        else:
            path.unlink()
        assert tree.main([str(folder), "0"]) == 3
        said = capsys.readouterr().err
        assert path.name in said and f"make analyse RUN={folder}" in said and said.count("\n") == 1
        path.write_bytes(before)
    assert tree.main([str(folder), "0"]) == 0


def test_what_its_folder_is_called_says_nothing(tmp_path: Path) -> None:
    folder = stored(tmp_path, "unwatched")
    other = tmp_path / "ext4-ordered-delete-full-apsys17-galaxy-nexus-1234567890" / "20990101T000000Z-1"
    other.parent.mkdir()
    folder.rename(other)
    assert command.main([str(other), "--quiet"]) == 0
    cell, host, summary = (
        json.loads((other / f"{name}.json").read_text()) for name in ("cell", "host", "summary")
    )
    assert (summary["cell_name"], summary["run_id"]) == (cell_name(cell), host["run_id"])


def test_a_watched_run_without_its_twin_is_not_unwatched(tmp_path: Path) -> None:
    folder = stored(tmp_path, "watched, blktrace")
    shutil.rmtree(folder / "twin")
    synthetic.change_cell(folder, probes="")
    edit(folder / "host.json", raw_sha256=stored_files.hashes(folder))
    assert command.main([str(folder), "--quiet"]) == 1
    reasons = json.loads((folder / "summary.json").read_text())["reasons"]
    assert "the cell asks for no probes, and the run has probes.bin" in reasons


def test_the_twin_of_another_cell(tmp_path: Path) -> None:
    """An ext4 run's twin in a run on F2FS, with its hashes: the twin's settings are checked, too."""
    folder, other = stored(tmp_path / "a", "watched, blktrace"), stored(tmp_path / "b", "watched, flash")
    board = folder / "twin/raw/board"
    shutil.rmtree(board)
    shutil.copytree(other / "twin/raw/board", board)
    edit(folder / "host.json", raw_sha256=stored_files.hashes(folder))
    assert command.main([str(folder), "--quiet"]) == 1
    reasons = json.loads((folder / "summary.json").read_text())["reasons"]
    assert "the untraced twin's mount settings differ from the run's" in reasons
    assert "untraced twin: filesystem type: requested 'f2fs', in effect 'ext4'" in reasons


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder"])
@pytest.mark.parametrize(
    "name", ["cell.json", "host.json", "raw/run.json", "raw/device.bin", "twin/raw/driver/phases.csv"]
)
def test_what_is_no_regular_file_is_not_waited_for(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(tmp_path, "watched, flash")
    (path := folder / name).unlink()
    {
        "FIFO": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "folder": path.mkdir,
    }[kind]()
    with limit(30):
        assert command.main([str(folder), "--quiet"]) == 3
    said = capsys.readouterr().err
    if kind == "folder" and name.startswith(("raw", "twin")):
        assert f"{path}: it is gone" in said
    else:
        names = (f"a {kind}", "a FIFO, a socket or a device", "a link")
        assert any(f"{path}: is {name}" in said for name in names), said
    assert said.count("\n") == 1
