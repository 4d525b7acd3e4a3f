"""Each file of a stored run: deleted, cut, emptied or overwritten, `make analyse` does not say ok."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from edited import edit, unhold

from analysis import __main__ as command
from analysis.run_files import derived
from analysis.run_files.stored_files import NOT_HELD
from analysis.tree import printed_tree
from base import raw_files
from base.errors import FileError
from base.identity import cell_id


def stored(copy_run: Callable[[str], Path]) -> Path:
    """A recorded run as commitpath/run/experiment.py stores one now."""
    folder = copy_run("sample-f2fs-wal")
    identity = cell_id(json.loads((folder / "cell.json").read_text()))
    edit(folder / "host.json", cell_id=identity, raw_sha256=raw_files.hashes(folder))
    return folder


def spoiled(data: bytes) -> list[bytes | None]:
    """None: deleted."""
    return [None, *([b"", data[: len(data) // 2]] if data else []), os.urandom(len(data) or 100)]


def test_each_file(copy_run: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored(copy_run)
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


def test_a_run_stored_without_hashes_is_marked(
    copy_run: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(copy_run)
    assert command.main([str(folder)]) == 0
    assert NOT_HELD not in capsys.readouterr().out + (folder / "report.html").read_text()
    unhold(folder)
    assert command.main([str(folder)]) == 0
    assert NOT_HELD in capsys.readouterr().out and NOT_HELD in (folder / "report.html").read_text()
    assert json.loads((folder / "summary.json").read_text())["raw_held"] is False


def test_what_reads_an_analysed_run_takes_only_what_was_written(copy_run: Callable[[str], Path]) -> None:
    folder = stored(copy_run)
    assert command.main([str(folder), "--quiet"]) == 0
    printed_tree.show(str(folder), "0")
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
        with pytest.raises(FileError) as error:
            printed_tree.show(str(folder), "0")
        said = str(error.value)
        assert path.name in said and f"make analyse RUN={folder}" in said and "\n" not in said
        path.write_bytes(before)
    printed_tree.show(str(folder), "0")


def test_what_editors_leave_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock of Emacs is a link to nothing."""
    for name in ("analysis", "base", "model", "workloads"):
        (tmp_path / name).mkdir()
    for name in ("CITATION.cff", "workloads/operations.yml", "analysis/a.py"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(derived, "ROOT", tmp_path)
    monkeypatch.setattr(derived, "EXPERIMENTS", tmp_path)
    (tmp_path / "schema.yml").write_text("")
    before = derived.sources.__wrapped__()
    (tmp_path / "analysis/.#a.py").symlink_to("me@here.1")
    (tmp_path / "analysis/.a.py.swp").write_text("x")
    assert derived.sources.__wrapped__() == before
    (tmp_path / "analysis/a.py").write_text("other")
    assert derived.sources.__wrapped__() != before
