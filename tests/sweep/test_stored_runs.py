"""Stored runs that were changed by hand, copied or renamed: the database has what their files give."""

import shutil
from pathlib import Path

import pytest
from lab import Lab, edit

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


def test_a_document_edited_by_hand_is_made_again(lab: Lab, stored: Path) -> None:
    before = {path: path.read_bytes() for path in stored.glob("*.json")}
    edit(stored / "summary.json", analysed=False, tps={"all": 9999.0})
    out, said = lines(lab)
    assert TPS in out and "; 1 new" in out
    assert len(said) == 1 and "analysed again" in said[0] and "summary.json" in said[0]
    assert {path: path.read_bytes() for path in stored.glob("*.json")} == before
    assert lines(lab)[1] == []


def test_raw_files_that_changed_do_not_survive_a_rebuild(lab: Lab, stored: Path) -> None:
    with (stored / "raw/driver/transactions.csv").open("a") as file:
        file.write("x")
    out, said = lines(lab, REBUILD="yes")
    assert "0 runs" in out
    assert any("transactions.csv: its content changed" in line for line in said)
    # nor come back by what an older analysis left
    assert "0 runs" in lines(lab)[0]


def test_a_copy_is_no_second_run(lab: Lab, stored: Path) -> None:
    copy = stored.with_name(f"{stored.name}-9999")
    shutil.copytree(stored, copy)
    for _ in range(2):
        out, said = lines(lab)
        assert "1 run;" in out and len(said) == 1 and copy.name in said[0]


def test_a_run_and_a_transaction_may_be_named_in_any_case(lab: Lab, stored: Path) -> None:
    (lab.results / "latest").symlink_to(stored)
    assert lab.ok("tree", RUN="LATEST", TRANSACTION="SLOWEST") == lab.ok("tree", RUN="latest")


def test_a_run_that_is_named_twice_is_drawn_once(lab: Lab, stored: Path, tmp_path: Path) -> None:
    out = lab.ok("ledger", RUNS=f"{stored} {stored}", FIGURE=str(tmp_path / "x.svg"))
    assert out.count(stored.name) == 1
