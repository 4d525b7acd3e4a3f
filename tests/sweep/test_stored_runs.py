"""Stored runs that were changed by hand, copied or renamed: the database has what their files give."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from lab import Lab, edit

from analysis import derived
from analysis.stored_files import NOT_HELD
from base.identity import canonical, cell_id, cell_name

TPS = "134.25"


@pytest.fixture
def stored(lab: Lab) -> Path:
    """A recorded run, in the database."""
    folder = lab.recorded()
    assert TPS in lab.ok("results")
    return folder


def lines(lab: Lab, **variables: str) -> tuple[str, list[str]]:
    """What make results prints, and says on stderr of runs."""
    done = lab.make("results", **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if line.startswith("commitpath: ")]


@pytest.mark.parametrize("name", ["summary", "manifest", "derived"])
def test_a_document_edited_by_hand_is_made_again(lab: Lab, stored: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in stored.glob("*.json")}
    values = {"tps": {"all": 9999.0}} if name == "summary" else {"board": {"kernel": "7.0.0-fast"}}
    edit(stored / f"{name}.json", analysed=False, **values)
    if name == "derived":
        (stored / "derived.json").unlink()
    out, said = lines(lab)
    assert TPS in out and "1 of them new" in out
    assert len(said) == 1 and "analysed again" in said[0] and f"{name}.json" in said[0]
    assert {path: path.read_bytes() for path in stored.glob("*.json")} == before
    assert lines(lab)[1] == []


def test_rebuild_analyses_every_run_again(lab: Lab, stored: Path) -> None:
    """Numbers that agree with each other and with derived.json are not those of the raw files."""
    summary = json.loads((stored / "summary.json").read_text())
    seconds, tps = summary["virtual_seconds"], summary["tps"]
    edit(stored / "summary.json", tps=tps | {"all": tps["all"] * 0.5}, virtual_seconds=seconds * 2)
    assert TPS not in lines(lab)[0]
    out, said = lines(lab, REBUILD="yes")
    assert TPS in out and "1 runs" in out
    assert any("analysed again: REBUILD=yes" in line for line in said)


def test_raw_files_that_changed_do_not_survive_a_rebuild(lab: Lab, stored: Path) -> None:
    with (stored / "raw/driver/transactions.csv").open("a") as file:
        file.write("x")
    out, said = lines(lab, REBUILD="yes")
    assert "0 runs" in out
    assert any("transactions.csv: its content changed" in line for line in said)
    # nor come back by what an older analysis left
    assert "0 runs" in lines(lab)[0]


@pytest.mark.parametrize("analysed", [True, False])
@pytest.mark.parametrize("name", ["cell.json", "host.json"])
def test_a_document_that_is_no_regular_file_is_named(
    lab: Lab, stored: Path, name: str, analysed: bool
) -> None:
    """To open a FIFO would wait for ever."""
    if not analysed:
        (stored / "summary.json").unlink()
    (stored / name).unlink()
    os.mkfifo(stored / name)
    out, said = lines(lab)
    assert "0 runs" in out
    assert f"{name}: is a FIFO, a socket or a device; expected a regular file" in said[-1]


def test_a_row_edited_by_hand_is_written_again(lab: Lab, stored: Path) -> None:
    with sqlite3.connect(lab.results / "results.sqlite") as connection:
        connection.execute("UPDATE run SET summary = json_set(summary, '$.tps.all', 4242.0)")
    connection.close()
    out, _ = lines(lab)
    assert TPS in out and "1 of them new" in out


def test_a_folder_is_called_what_its_run_is(lab: Lab, stored: Path) -> None:
    other = stored.with_name("20990101T000000Z-1")
    stored.rename(other)
    out, said = lines(lab)
    assert other.name not in out
    assert len(said) == 1 and f"the folder of its run is not called {stored.name}" in said[0]
    cell = lab.results / "ext4-ordered-delete-full-apsys17-galaxy-nexus-1234567890"
    cell.mkdir()
    other.rename(cell / stored.name)
    assert "the folder of its cell is not called f2fs-wal-full-" in lines(lab)[1][0]


def test_a_copy_is_no_second_run(lab: Lab, stored: Path) -> None:
    copy = stored.with_name(f"{stored.name}-9999")
    shutil.copytree(stored, copy)
    for _ in range(2):
        out, said = lines(lab)
        assert "1 runs" in out and len(said) == 1 and copy.name in said[0]
    edit(copy / "host.json", analysed=False, run_id=copy.name)
    out, said = lines(lab)
    assert "1 runs" in out
    assert f"left out of the database: it is a copy of the run {stored.name}" in said[-1]


def test_a_run_without_hashes_is_marked(lab: Lab, stored: Path) -> None:
    assert NOT_HELD not in lab.ok("results")
    host = json.loads((stored / "host.json").read_text())
    del host["raw_sha256"]
    (stored / "host.json").write_text(json.dumps(host))
    out, said = lines(lab)
    assert TPS in out and f"{stored.name}: {NOT_HELD}" in out
    assert len(said) == 1 and "host.json is not as `make analyse` left it" in said[0]
    assert derived.fault(stored, *derived.DOCUMENTS) is None


def test_another_profile_of_a_name_is_marked(lab: Lab) -> None:
    """What ran is what its profile says."""
    lab.run()
    lab.run(DEVICE="galaxy-nexus", device={"size_mib": 4096})
    out, _ = lines(lab)
    assert "its device is not experiments/device/galaxy-nexus.yml of here" in out
    assert out.count("its device is not") == 1


def call(folder: Path, cell: dict[str, object]) -> None:
    """Make a stored run one of that cell, in all of its documents."""
    (folder / "cell.json").write_text(canonical(cell))
    for name in ("host", "summary"):
        edit(folder / f"{name}.json", cell_id=cell_id(cell))
    host = json.loads((folder / "host.json").read_text())
    told = {key: value for key, value in host.items() if key != "raw_sha256"}
    edit(folder / "manifest.json", cell_id=cell_id(cell), host=told)


def test_a_run_that_was_moved_is_one(lab: Lab) -> None:
    first = lab.run(MODE="wal", CLOCK="real", PROBES="none")
    lab.ok("results")
    cell = json.loads((first / "cell.json").read_text())
    cell["at_default"] = cell["at_default"][1:]
    folder = lab.results / cell_name(cell) / first.name
    folder.parent.mkdir()
    first.rename(folder)
    call(folder, cell)
    out, said = lines(lab)
    assert "1 runs" in out and said == []
    assert "unverified" not in out
