"""make import: runs with files keep an analysis by this code, others are analysed again, rows alone are
unverified, bad archives leave nothing."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import commands
import pytest
from lab import ROOT, Lab

from analysis.report import manual
from analysis.run_files import derived
from base.errors import BadInputError
from commitpath.database import archive
from commitpath.database.select import UNVERIFIED

Labs = Callable[[str], Lab]


def change(path: Path, *statements: str) -> None:
    """Change a database by hand."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def runs(lab: Lab, columns: str = "lab, run_id, path, tps_all") -> list[tuple[object, ...]]:
    """Rows of a lab's database."""
    with contextlib.closing(sqlite3.connect(lab.results / "results.sqlite")) as connection:
        return connection.execute(f"SELECT {columns} FROM run ORDER BY lab, run_id").fetchall()


@pytest.fixture
def home(lab: Lab, tmp_path: Path) -> tuple[Lab, Path]:
    """A lab with the label `here`, and an export of its one run."""
    lab.run(100.0)
    lab.ok("export", FILE=str(tmp_path / "own.sqlite"), LAB="here")
    return lab, tmp_path / "own.sqlite"


def test_no_import_changes_a_run_of_ours(home: tuple[Lab, Path]) -> None:
    lab, path = home
    change(path, "UPDATE run SET repeat = 77")
    before = runs(lab, "*")
    assert "1 left out, of this lab" in lab.ok("import", FILE=str(path))
    assert runs(lab, "*") == before


def test_no_import_says_what_our_grids_are(home: tuple[Lab, Path]) -> None:
    lab, path = home
    own = lab.results / "results.sqlite"
    change(own, """INSERT INTO grid_excluded VALUES ('here', 'quick', '{"mode":"off"}', 'our reason')""")
    for label in ("here", "there"):
        entry = f"""VALUES ('{label}', 'quick', '{{"mode":"off"}}', 'their reason')"""
        change(path, f"INSERT INTO grid_excluded {entry}")
        change(path, f"INSERT INTO grid_run VALUES ('{label}', 'apsys17', 'v20123456789abcdef', 0)")
    assert "2 rows of grids, 2 of this lab's left out" in lab.ok("import", FILE=str(path))
    with sqlite3.connect(own) as connection:
        found = connection.execute("SELECT lab, reason FROM grid_excluded ORDER BY lab").fetchall()
        assert found == [("here", "our reason"), ("there", "their reason")]
        assert connection.execute("SELECT lab FROM grid_run").fetchall() == [("there",)]


def test_no_file_is_exported_that_is_not_as_it_was_stored(lab: Lab, tmp_path: Path) -> None:
    raw = lab.run() / "raw/probes.txt"
    raw.write_text("other")
    path = tmp_path / "x.tar.gz"
    said = lab.says("export", FILE=str(path), LAB="here", FILES="yes")
    assert f"{raw}: its content changed" in said and "nothing was exported" in said
    assert not path.exists()


def test_a_run_of_ours_without_its_folder_is_unverified(home: tuple[Lab, Path]) -> None:
    lab, _ = home
    kept = lab.run(MODE="wal")
    lab.ok("results")
    (gone,) = (run for run in lab.results.glob("*/*/host.json") if run.parent != kept)
    shutil.rmtree(gone.parent)
    for again in ({}, {"REBUILD": "yes"}, {"REBUILD": "yes"}):
        done = lab.make("results", WIDE="yes", **again)
        assert done.returncode == 0
        marked = [line for line in done.stdout.splitlines() if UNVERIFIED in line]
        assert len(marked) == 1 and gone.parent.name in marked[0]
        named = [line for line in done.stderr.splitlines() if UNVERIFIED in line]
        assert len(named) == (1 if again else 0)


@pytest.fixture(scope="module")
def kiel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Path]:
    """A lab with a recorded run that has its files, and one that has none, and an export of it; not to be
    changed."""
    folder = tmp_path_factory.mktemp("kiel")
    there = Lab(folder / "there")
    there.recorded()
    gone = there.run(MODE="truncate")
    there.ok("results")
    shutil.rmtree(gone)
    there.ok("export", FILE=str(folder / "t.tar.gz"), LAB="kiel", FILES="yes")
    return there, folder / "t.tar.gz"


@pytest.fixture
def with_files(kiel: tuple[Lab, Path], labs: Labs, tmp_path: Path) -> tuple[Lab, Path]:
    """An empty lab, and a copy of the other's export."""
    return labs("here"), Path(shutil.copy(kiel[1], tmp_path))


def test_runs_with_files_keep_their_analysis_and_the_others_unverified(
    with_files: tuple[Lab, Path], kiel: tuple[Lab, Path], tmp_path: Path
) -> None:
    lab, path = with_files
    kiel[0].ok("export", FILE=str(tmp_path / "rows.sqlite"))
    # first without files: no number of the other lab is verified
    assert "2 runs imported, all without files (unverified, ¶)\n" in lab.ok(
        "import", FILE=str(tmp_path / "rows.sqlite")
    )
    listed = lab.ok("results").splitlines()
    assert listed[-2] == "¶ 2 runs are unverified: their files are not here"
    assert sum(line.endswith("¶") or " ¶ " in line for line in listed[:-2]) == 2
    done = lab.make("import", FILE=str(path))
    assert "1 run imported, 1 there already\n" in done.stdout
    assert done.stderr == ""
    (*_, gone, _), (_, run_id, place, tps) = runs(lab)
    folder = lab.results / str(place)
    assert folder.parts[-4:-2] == ("imported", "kiel") and folder.name == run_id and gone is None
    # its analysis is kept
    assert json.loads((folder / "summary.json").read_text())["tps"]["all"] == tps
    assert lab.ok("trace-export", RUN=str(folder), FORMAT="csv")
    # what its lab says of it later changes nothing
    change(tmp_path / "rows.sqlite", "UPDATE run SET summary = json_set(summary, '$.tps.all', 1e5)")
    assert "1 run imported, all without files (unverified, ¶), 1 there already" in lab.ok(
        "import", FILE=str(tmp_path / "rows.sqlite")
    )
    assert "1 run imported, all without files" in lab.ok("import", FILE=str(path))
    for again in ({}, {"REBUILD": "yes"}):
        (line,) = (line for line in lab.ok("results", WIDE="yes", **again).splitlines() if UNVERIFIED in line)
        assert "truncate" in line
        assert runs(lab)[1][2:] == (place, tps)
    assert UNVERIFIED in lab.ok("setup-text", WHERE="mode=truncate")
    # and an export passes it on
    lab.ok("export", FILE=str(tmp_path / "on.tar.gz"), LAB="here", FILES="yes")
    with tarfile.open(tmp_path / "on.tar.gz") as passed_on:
        assert f"kiel/{folder.parent.name}/{folder.name}/host.json" in passed_on.getnames()


Edit = Callable[[str, bytes], tuple[str, bytes] | None]


def repack(path: Path, edit: Edit) -> None:
    """Change the members of an archive."""
    with tarfile.open(path) as old:
        members = [(one.name, file.read()) for one in old if (file := old.extractfile(one))]
    with tarfile.open(path, "w:gz") as new:
        for name, content in (made for one in members if (made := edit(*one))):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            new.addfile(member, io.BytesIO(content))


def of_file(end: str, by: bytes | None) -> Edit:
    """Another content of the file with that end of its name; None: it is not there."""

    def edit(name: str, content: bytes) -> tuple[str, bytes] | None:
        if not name.endswith(end):
            return name, content
        return None if by is None else (name, by)

    return edit


def test_the_links_of_an_imported_report_lead_to_pages(with_files: tuple[Lab, Path]) -> None:
    """Its analysis is kept, with links to the documentation next to the cells' folders."""
    lab, path = with_files
    page = f"../../{manual.pages()}reference/formats.html"
    repack(path, of_file("report.html", page.encode()))
    done = commands.call("import", f"FILE={path}", COMMITPATH_RESULTS=str(lab.results))
    assert done.returncode == 0, done.stderr
    (report,) = lab.results.glob("imported/*/*/*/report.html")
    assert (report.parent / report.read_text()).is_file()


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (of_file("/raw/driver/phases.csv", b"other\n"), "raw/driver/phases.csv: its content changed"),
        (of_file("/raw/driver/phases.csv", None), "raw/driver/phases.csv: it is gone"),
        (of_file("/cell.json", b"{"), "cell.json: "),
        (
            lambda name, content: (name.replace("/2026", "/2027"), content),
            "the folder of its run is not called",
        ),
        (of_file("results.sqlite", None), "results.sqlite is missing"),
    ],
)
def test_an_archive_that_is_damaged(with_files: tuple[Lab, Path], edit: Edit, says: str) -> None:
    lab, path = with_files
    repack(path, edit)
    done = lab.make("import", FILE=str(path))
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert says in said and str(path) in said and ".import" not in said
    assert runs(lab) == []
    assert [entry.name for entry in lab.results.iterdir()] == ["results.sqlite"]


def of_sources(sources: str | None) -> Edit:
    """An analysis by these sources; None: as version 0.1.0 wrote it."""

    def edit(name: str, content: bytes) -> tuple[str, bytes]:
        if name.endswith("/derived.json"):
            document = json.loads(content) | {"sources": sources}
            content = json.dumps({key: value for key, value in document.items() if value}).encode()
        return name, content

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(of_file("/tables/operations.parquet", None), id="/tables"),
        pytest.param(of_file("/summary.json", None), id="/summary"),
        pytest.param(of_file("/derived.json", None), id="/derived"),
        pytest.param(of_sources("ab" * 32), id="by other sources"),
        pytest.param(of_sources(None), id="of 0.1.0"),
    ],
)
def test_an_analysis_that_is_not_whole_or_by_other_code_is_made_again(
    with_files: tuple[Lab, Path], edit: Edit
) -> None:
    lab, path = with_files
    repack(path, edit)
    done = lab.make("import", FILE=str(path))
    (said,) = done.stderr.splitlines()
    assert re.fullmatch(r"analysed: kiel/f2fs-wal-[\w.-]+/[\w-]+ \(1 of 1\)", said)
    (summary,) = lab.results.glob("imported/kiel/*/*/summary.json")
    assert derived.is_ours(summary.parent)


def packed(path: Path, *members: tarfile.TarInfo) -> Path:
    """An archive of these members, and of a database."""
    with tarfile.open(path, "w") as made:
        for member in (tarfile.TarInfo("results.sqlite"), *members):
            made.addfile(member, io.BytesIO(bytes(member.size if member.isreg() else 0)))
    return path


def member(name: str, size: int = 0, **values: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = size
    for key, value in values.items():
        setattr(made, key, value)
    return made


RUN = "kiel/cell/run"


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ([member(f"{RUN}/raw/a", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "is a link"),
        ([member(f"{RUN}/raw/a", type=tarfile.FIFOTYPE)], "or no file"),
        ([member("../outside")], "would be outside its folder"),
        ([member(f"{RUN}/raw/../../../../../outside")], "would be outside its folder"),
        ([member(f"{RUN}/raw/a\x1b[2J")], "would be outside its folder, or is not a valid file name"),
        ([member(f".{RUN}/raw/a")], "is neither results.sqlite nor a file of a run"),
        ([member(f"{RUN}/raw/a"), member(f"{RUN}/raw/a")], "'kiel/cell/run/raw/a' is in it twice"),
        ([member(f"{RUN}/raw/a", 2001)], "is larger than 2000 bytes"),
        ([member(f"{RUN}/raw/{n}", 1900) for n in range(4)], "or all are than 5000"),
    ],
)
def test_an_archive_that_is_hostile(
    members: list[tarfile.TarInfo], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written but into its folder."""
    monkeypatch.setattr(archive, "FILE_BYTES", 2000)
    monkeypatch.setattr(archive, "ALL_BYTES", 5000)
    (tmp_path / "into").mkdir()
    source = packed(tmp_path / "x.tar", *members)
    with pytest.raises(BadInputError, match=re.escape(says)) as caught:
        archive.unpack(source, tmp_path / "into")
    assert str(caught.value).startswith(f"{source}: ") and "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["into", "x.tar"]
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_import_that_is_ended_leaves_nothing(with_files: tuple[Lab, Path], how: signal.Signals) -> None:
    lab, path = with_files
    lab.ok("results")
    environment = {**os.environ, "COMMITPATH_RESULTS": str(lab.results)}
    command = [sys.executable, "-m", "commitpath", "import", f"FILE={path}"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    while not list(lab.results.glob(".import-*/kiel/*/*/host.json")):
        time.sleep(0.02)
    process.send_signal(how)
    # ends when those have it that it started: nothing goes on
    said = process.communicate(timeout=60)[1]
    if how == signal.SIGINT:
        assert process.returncode == 130 and said == "commitpath: interrupted; nothing is left running\n"
    assert "0 runs" in lab.ok("results")
    assert [entry.name for entry in lab.results.iterdir()] == ["results.sqlite"]
