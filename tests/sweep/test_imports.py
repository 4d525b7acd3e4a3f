"""What an import may say: nothing of this lab's own runs, and no number that its files do not give."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import Lab

from commitpath.database import files
from commitpath.database.evidence import differences

Labs = Callable[[str], Lab]
# Root may read every folder, but for one without these two.
WITHOUT = "-dac_override,-dac_read_search"
AS_A_USER = ["setpriv", f"--bounding-set={WITHOUT}"] if os.geteuid() == 0 else []


def forged(transactions: int) -> str:
    """A change of a run's rates and times that no document contradicts."""
    rates = ", ".join(f"'$.tps.{op}', 1e6" for op in ("insert", "update", "delete"))
    return (
        f"UPDATE run SET summary = json_set(summary, {rates}, '$.tps.all', 1e5, '$.virtual_seconds', "
        f"{transactions / 1e5})"
    )


def change(path: Path, *statements: str) -> None:
    """Change a database by hand."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def runs(lab: Lab, columns: str = "lab, run_id, path, tps_all") -> list[tuple[object, ...]]:
    """Rows of a lab's database."""
    with sqlite3.connect(lab.results / "results.sqlite") as connection:
        return connection.execute(f"SELECT {columns} FROM run ORDER BY lab, run_id").fetchall()


@pytest.fixture
def home(lab: Lab, tmp_path: Path) -> tuple[Lab, Path]:
    """A lab with the label `here`, and an export of its one run."""
    lab.run(100.0)
    lab.ok("export", FILE=str(tmp_path / "own.sqlite"), LAB="here")
    return lab, tmp_path / "own.sqlite"


# another run of ours than any that is here
# (with what its documents say of it)
FORGED = (
    "UPDATE run SET run_id = '20300101T000000Z-1', summary = json_set(summary, '$.run_id', "
    "'20300101T000000Z-1'), host = json_set(host, '$.run_id', '20300101T000000Z-1'), "
    "manifest = json_set(manifest, '$.host.run_id', '20300101T000000Z-1')"
)


def test_no_import_adds_a_run_of_ours(home: tuple[Lab, Path]) -> None:
    lab, path = home
    change(path, "DELETE FROM file", FORGED)
    before = runs(lab)
    said = lab.says("import", FILE=str(path))
    assert "is one of this lab's, and not here; own runs come from" in said
    assert "and not here" in lab.says("import", FILE=str(path), CONFLICT="theirs")
    done = lab.ok("import", FILE=str(path), CONFLICT="mine")
    assert "0 new, 0 there already, 0 replaced, 0 kept as they were here, 1 left out, of this lab" in done
    assert runs(lab) == before


def test_no_import_changes_a_run_of_ours(home: tuple[Lab, Path]) -> None:
    lab, path = home
    change(path, "UPDATE run SET repeat = 77")
    before = runs(lab, "*")
    for conflict in ("stop", "theirs"):
        assert "is one of this lab's, and another repeat here" in lab.says(
            "import", FILE=str(path), CONFLICT=conflict
        )
    assert "1 kept as they were here" in lab.ok("import", FILE=str(path), CONFLICT="mine")
    assert runs(lab, "*") == before


def test_no_import_says_what_our_grids_are(home: tuple[Lab, Path]) -> None:
    lab, path = home
    own = lab.results / "results.sqlite"
    change(own, """INSERT INTO grid_excluded VALUES ('here', 'quick', '{"mode":"off"}', 'our reason')""")
    for label in ("here", "there"):
        entry = f"""VALUES ('{label}', 'quick', '{{"mode":"off"}}', 'their reason')"""
        change(path, f"INSERT INTO grid_excluded {entry}")
        change(path, f"INSERT INTO grid_run VALUES ('{label}', 'apsys17', '0123456789', 0)")
    assert "2 rows of grids, 2 of this lab's left out" in lab.ok("import", FILE=str(path))
    with sqlite3.connect(own) as connection:
        found = connection.execute("SELECT lab, reason FROM grid_excluded ORDER BY lab").fetchall()
        assert found == [("here", "our reason"), ("there", "their reason")]
        assert connection.execute("SELECT lab FROM grid_run").fetchall() == [("there",)]


def test_whose_file_another_labs_runs_come_from(home: tuple[Lab, Path], labs: Labs) -> None:
    _, path = home
    change(path, "DELETE FROM file", "UPDATE run SET lab = 'mit'")
    assert "1 new" in (done := labs("there").ok("import", FILE=str(path)))
    assert "; those of mit by here's word" in done


def test_no_file_is_exported_that_is_not_as_it_was_stored(lab: Lab, tmp_path: Path) -> None:
    raw = lab.run() / "raw/probes.txt"
    raw.write_text("other")
    path = tmp_path / "x.sqlite"
    said = lab.says("export", FILE=str(path), LAB="here", FILES="yes")
    assert f"{raw}: not as it was stored (raw_sha256); nothing was exported" in said
    assert not path.exists()


@pytest.mark.parametrize("held", [True, False], ids=["stored with hashes", "stored without"])
@pytest.mark.parametrize("name", ["raw/notes", "raw/board", "raw"])
def test_no_link_is_exported(name: str, held: bool, lab: Lab, tmp_path: Path) -> None:
    """What a link in a run's folder leads to is not the run's."""
    secret = tmp_path / "secret"
    (secret / "board").mkdir(parents=True)
    for file in (secret / "notes", secret / "board/mounts"):
        file.write_text("nobody's affair")
    folder = lab.recorded()
    place = folder / name
    if place.is_dir():
        shutil.rmtree(place)
    leads = {"raw/notes": "notes", "raw/board": "board", "raw": ""}[name]
    place.symlink_to(secret / leads)
    host = json.loads((folder / "host.json").read_text())
    host["raw_sha256"] = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*(folder / "raw").rglob("*"), *(folder / "raw/board").rglob("*")]
        if path.is_file()
    }
    if not held:
        del host["raw_sha256"]
    (folder / "host.json").write_text(json.dumps(host))
    done = lab.make("export", FILE=str(tmp_path / "x.sqlite"), LAB="here", FILES="yes")
    assert "is a link; expected a file or folder of its own" in done.stderr
    exported = tmp_path / "x.sqlite"
    assert not exported.exists() or not runs_of(exported)


def test_no_link_is_exported_that_was_put_in_a_files_place(lab: Lab, tmp_path: Path) -> None:
    folder = lab.run()
    lab.ok("results")
    path = folder / "raw/probes.txt"
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    said = lab.says("export", FILE=str(tmp_path / "x.sqlite"), LAB="here", FILES="yes")
    assert "raw/probes.txt: is a link" in said and "nothing was exported" in said
    assert not (tmp_path / "x.sqlite").exists()


def runs_of(path: Path) -> list[tuple[object, ...]]:
    """The runs of an export."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT run_id FROM run").fetchall()


def test_a_label_is_given_once(home: tuple[Lab, Path], labs: Labs, tmp_path: Path) -> None:
    """Under another one a colleague would have each run twice."""
    lab, path = home
    there = labs("there")
    there.ok("import", FILE=str(path))
    said = lab.says("export", FILE=str(tmp_path / "other.sqlite"), LAB="other")
    assert "LAB=other: this lab is called here" in said and "nothing was exported" in said
    assert not (tmp_path / "other.sqlite").exists()
    for number, label in enumerate(({}, {"LAB": "here"})):
        again = tmp_path / f"again{number}.sqlite"
        lab.ok("export", FILE=str(again), **label)
        assert "0 new, 1 there already" in there.ok("import", FILE=str(again))
    assert [row[0] for row in runs(there)] == ["here"]


def test_a_label_that_others_grids_have_is_not_ours(lab: Lab, tmp_path: Path) -> None:
    lab.run()
    lab.ok("results")
    change(lab.results / "results.sqlite", "INSERT INTO grid_run VALUES ('kiel', 'quick', '0123456789', 0)")
    assert "another lab's runs" in lab.says("export", FILE=str(tmp_path / "x"), LAB="kiel")


@pytest.mark.parametrize("above", [False, True])
def test_a_run_of_ours_that_may_not_be_read_is_not_gone(home: tuple[Lab, Path], above: bool) -> None:
    """Closed, or its cell's folder; as a user, who may do less than root."""
    lab, _ = home
    folder = next(lab.results.glob("*/*/host.json")).parent
    lab.ok("results")
    closed = folder.parent if above else folder
    closed.chmod(0)
    try:
        said = {
            target: subprocess.run(
                [*AS_A_USER, sys.executable, "-m", "commitpath", *target.split()],
                cwd=Path(__file__).parents[2],
                env={**os.environ, "COMMITPATH_RESULTS": str(lab.results)},
                capture_output=True,
                text=True,
                check=False,
            )
            for target in ("results", *["results REBUILD=yes"] * (not above), f"inspect RUN={folder}")
        }
    finally:
        closed.chmod(0o755)
    for target, done in said.items():
        every = done.stdout + done.stderr
        assert "not here" not in every and "no such folder" not in every, every
        if target.startswith("results"):
            assert done.returncode == 0 and "its folder may not be read" in done.stdout, every
        else:
            assert done.returncode == 2, every
            assert done.stderr == f"commitpath: RUN={folder}: this user may not read it\n"
    assert above or "may not be read" in said["results REBUILD=yes"].stderr
    # nothing of it was lost
    assert "may not be read" not in lab.ok("results") and lab.ok("results", WHERE=f"run={folder.name}")


def test_a_run_of_ours_without_its_folder_is_named(home: tuple[Lab, Path]) -> None:
    lab, _ = home
    kept = lab.run(MODE="wal")
    lab.ok("results")
    (gone,) = (run for run in lab.results.glob("*/*/host.json") if run.parent != kept)
    shutil.rmtree(gone.parent)
    for again in ({}, {"REBUILD": "yes"}, {"REBUILD": "yes"}):
        done = lab.make("results", **again)
        assert done.returncode == 0
        marked = [line for line in done.stdout.splitlines() if "its folder is not here" in line]
        assert len(marked) == 1 and gone.parent.name in marked[0]
        named = [line for line in done.stderr.splitlines() if "its folder is not here" in line]
        assert len(named) == (1 if again else 0)
        assert all(
            f"run here/{gone.parent.parent.name.rpartition('-')[2]}/{gone.parent.name}" in line
            for line in named
        )


def test_rebuild_takes_own_runs_from_their_folders(lab: Lab) -> None:
    lab.recorded()
    lab.ok("results")
    before = runs(lab)
    statement = "UPDATE run SET summary = json_set(summary, '$.tps.all', 9999.0)"
    change(lab.results / "results.sqlite", statement)
    assert runs(lab) != before
    assert "1 of them new or changed" in lab.ok("results", REBUILD="yes")
    assert runs(lab) == before


def test_rebuild_takes_no_row_of_a_folder_that_cannot_be_analysed(home: tuple[Lab, Path]) -> None:
    """The folder has no raw files, and the old database has a sound row of it."""
    lab, _ = home
    assert len(runs(lab)) == 1
    assert "left out of the database" in lab.make("results", REBUILD="yes").stderr
    assert runs(lab) == []


@pytest.fixture
def with_files(labs: Labs, tmp_path: Path) -> tuple[Lab, Path]:
    """An empty lab, and another lab's recorded run with its files."""
    there = labs("there")
    there.recorded()
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel", FILES="yes")
    return labs("here"), tmp_path / "t.sqlite"


def test_files_come_with_their_run_and_stay(with_files: tuple[Lab, Path]) -> None:
    lab, path = with_files
    done = lab.make("import", FILE=str(path))
    assert "1 new" in done.stdout
    ((_, run_id, place, tps),) = runs(lab)
    folder = lab.results / str(place)
    # each run that was analysed is said, as many take minutes; and its analysis is kept
    (said,) = done.stderr.splitlines()
    assert re.fullmatch(rf"analysed: run kiel/\w+/{run_id} \(1 of 1\), [0-9.]+ s", said)
    assert json.loads((folder / "summary.json").read_text())["tps"]["all"] == tps
    assert lab.ok("trace-export", RUN=str(folder), FORMAT="csv")
    assert folder.parts[-4:-2] == ("imported", "kiel") and folder.name == run_id
    assert (folder / "raw/probes.bin").stat().st_size
    assert f"{tps:.2f}" in lab.ok("results", REBUILD="yes")
    assert [row[2] for row in runs(lab)] == [place]
    assert "grade: incomplete" in lab.ok("report-card", FILE=str(folder))
    # the same numbers, worked out here
    lab.ok("analyse", RUN=str(folder))
    assert json.loads((folder / "summary.json").read_text())["tps"]["all"] == tps


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (forged(300), "tps.all is 100000.0, its files give 133.53"),
        ("UPDATE run SET summary = json_set(summary, '$.block.flushes', 1)", "block.flushes is 1, its files"),
        (
            "UPDATE run SET manifest = json_set(manifest, '$.board.kernel', 'Linux board 7.0-fast')",
            'board.kernel is "Linux board 7.0-fast", its files give "Linux',
        ),
        (
            "UPDATE run SET summary = json_set(summary, '$.latency_us.insert.p999', 1.5)",
            "latency_us.insert.p999 is 1.5, its files give no such number",
        ),
        (
            "UPDATE run SET summary = json_set(summary, '$.syncs.select', 4.0)",
            "syncs.select is 4.0, its files give no such number",
        ),
        (
            "DELETE FROM file WHERE name = 'raw/driver/phases.csv'",
            "its files cannot be analysed: raw/driver/phases.csv",
        ),
    ],
)
def test_numbers_that_their_files_do_not_give(
    with_files: tuple[Lab, Path], statement: str, says: str
) -> None:
    lab, path = with_files
    change(path, statement)
    said = lab.says("import", FILE=str(path))
    assert says in said and "run kiel/" in said and "nothing was imported" in said
    assert runs(lab) == []
    assert [entry.name for entry in lab.results.iterdir()] == ["results.sqlite"]


def test_files_that_are_here_hold_a_later_import_too(with_files: tuple[Lab, Path]) -> None:
    lab, path = with_files
    lab.ok("import", FILE=str(path))
    change(path, forged(300), "UPDATE file SET content = NULL")
    assert "its files give 133.53" in lab.says("import", FILE=str(path), CONFLICT="theirs")


def test_a_run_under_several_names_is_one(labs: Labs, tmp_path: Path) -> None:
    there, path = labs("there"), tmp_path / "t.sqlite"
    there.run(CLOCK="real", PROBES="none")
    there.ok("export", FILE=str(path), LAB="kiel")
    with sqlite3.connect(path) as connection:
        stored = "lab, cell_id, repeat, status, reasons, cell"
        for number in range(2, 6):
            name = f"20300101T00000{number}Z-1"
            summary, host = (f"json_set({column}, '$.run_id', '{name}')" for column in ("summary", "host"))
            manifest = f"json_set(manifest, '$.host.run_id', '{name}')"
            connection.execute(
                f"INSERT INTO run ({stored}, run_id, summary, host, manifest) "
                f"SELECT {stored}, '{name}', {summary}, {host}, {manifest} FROM run LIMIT 1"
            )
    connection.close()
    lab = labs("here")
    done = lab.make("import", FILE=str(path))
    assert "5 runs: 1 new" in done.stdout and "4 left out, copies of another run" in done.stdout
    assert done.stderr.count("it is a copy of the run kiel/") == 4
    assert len(runs(lab)) == 1


def test_nothing_measured_is_told_that_is_not_found() -> None:
    found = {"tps": {"all": 1.0}, "block": {"writes": 1, "flushes": 2}}
    assert list(differences({"tps": {"all": 1.0}, "block": {"writes": 1}, "newer": {"x": 1}}, found)) == []
    told = {"tps": {"all": 1.0, "select": 987654}, "ledger": {"bytes": {}}}
    assert list(differences(told, found)) == [
        'ledger is {"bytes": {}}, its files give no such number',
        "tps.select is 987654, its files give no such number",
    ]


def test_differences_but_for_rounding() -> None:
    told = {"a": {"b": 1.0, "c": [1]}, "status": "ok", "reasons": ["x"], "older": 1, "none": None}
    assert list(differences(told, {"a": {"b": 1.0 + 1e-9, "c": [1]}, "status": "ok", "newer": 2})) == []
    found = {"a": {"b": 1.01, "c": [2]}, "status": "rejected", "none": 0}
    assert list(differences(told, found)) == [
        "a.b is 1.0, its files give 1.01",
        "a.c is [1], its files give [2]",
        "none is null, its files give 0",
        'status is "ok", its files give "rejected"',
    ]


def test_an_import_whose_files_have_no_place_adds_no_run(with_files: tuple[Lab, Path]) -> None:
    lab, path = with_files
    lab.ok("results")
    (lab.results / "imported").write_text("a file in the place of the folder")
    said = lab.says("import", FILE=str(path))
    assert "imported" in said and runs(lab) == []
    (lab.results / "imported").unlink()
    assert "1 new" in lab.ok("import", FILE=str(path))
    ((*_, place, _),) = runs(lab)
    assert (lab.results / str(place) / "raw/probes.bin").stat().st_size


def test_files_are_taken_back_where_their_rows_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "IMPORTED", tmp_path / "imported")
    for place, content in (("part", "new"), ("imported", "old")):
        for run in ("1", "2")[: 2 if place == "part" else 1]:
            (tmp_path / place / "kiel/cell" / run).mkdir(parents=True)
            (tmp_path / place / "kiel/cell" / run / "raw").write_text(content)
    with (
        pytest.raises(OSError, match="no room"),
        files.files_to_place(tmp_path / "part") as put,
    ):
        put()
        assert (tmp_path / "imported/kiel/cell/1/raw").read_text() == "new"
        raise OSError("no room")
    assert [path.name for path in (tmp_path / "imported/kiel/cell").iterdir()] == ["1"]
    assert (tmp_path / "imported/kiel/cell/1/raw").read_text() == "old"
    with files.files_to_place(tmp_path / "part") as put:
        put()
    assert sorted(path.name for path in (tmp_path / "imported/kiel/cell").iterdir()) == ["1", "2"]
    assert (tmp_path / "imported/kiel/cell/1/raw").read_text() == "new"
