"""The results database: what is in it, what is shared, and one line for each way to be unusable."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import ROOT, Lab, edit, write

from analysis.run_files import derived
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import cell_id
from commitpath.database import store
from commitpath.database.results_commands import lost_most, measured
from model import engines

Labs = Callable[[str], Lab]


def rows(path: Path, columns: str = "*") -> list[tuple[object, ...]]:
    """Rows of a database's runs."""
    with sqlite3.connect(path) as connection:
        return connection.execute(f"SELECT {columns} FROM run ORDER BY lab, cell_id, run_id").fetchall()


def test_what_came_out_of_a_run() -> None:
    summary = {
        "tps": {"insert": 90.0, "all": 80.0},
        "watching_cost": {"insert": 0.5, "all": 0.0125},
        "ledger": {"unattributed_share": 0.00071, "no_transaction": {"share": 0.18319}},
        "content": {"confirmed_share": 0.99996},
        "block": {"bytes_written": 819200},
        "virtual_seconds": 0.25,
    }
    assert [*measured(summary).values()] == ["80.00", "79.00", "1.25", "0.071", "18.319", "99.99", "40.0"]
    without = summary | {"watching_cost": None, "ledger": None, "content": None}
    assert [*measured(without).values()][1:6] == ["-"] * 5
    assert [*measured({}).values()] == ["-"] * 7


def test_a_row_per_run_with_its_settings_and_files(lab: Lab) -> None:
    folder = lab.run(123.0, FS="f2fs", MODE="wal")
    lab.run(status="rejected", FS="f2fs", MODE="delete")
    out = lab.ok("results")
    assert "123" in out or "129.15" in out
    assert "2 events lost" in out
    database = lab.results / "results.sqlite"
    found = rows(database, "fs, journal_mode, row_count, tps_insert, status, path, write_cache")
    assert ("f2fs", "wal", 100, 123.0, "ok", str(folder.relative_to(lab.results)), "write back") in found
    with sqlite3.connect(database) as connection:
        effective = connection.execute(
            "SELECT effective ->> '$.journal_mode' FROM run WHERE journal_mode='wal'"
        ).fetchone()
        assert effective == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (store.VERSION,)


def test_what_cuts_took_is_told_of_runs_that_have_trials_and_of_no_other(lab: Lab) -> None:
    lab.run(MODE="wal", DEVICE="emmc-5.0")
    columns = "cuts_tried, lost_worst, lost_mean, corrupt, not_a_prefix, unopened, against_promise"
    listed = lab.ok("results", WIDE="yes")
    assert "lost worst" not in listed
    cut = {"DEVICE": "emmc-5.0", "CRASH": "power", "CUTS": "40"}
    lab.run(MODE="wal", SYNC="normal", took={"worst": 7, "mean": 2.5}, **cut)
    lab.run(MODE="truncate", took={"corrupt": 2, "unopened": 1}, **cut)
    listed = lab.ok("results", WIDE="yes")
    head, *lines = (re.split("  +", line.strip()) for line in listed.splitlines()[1:-1])
    told = {
        line[head.index("journal_mode")]: line[head.index("cuts tried") :][:7]
        for line in lines
        if line[head.index("crash")] == "power"
    }
    assert told["wal"] == ["40", "7", "2.50", "0", "0", "0", "0"]
    assert told["truncate"] == ["40", "0", "0.00", "2", "0", "1", "3"]
    assert "✗" not in lab.ok("results", WHERE="crash=none")
    (none,) = (line for line in lines if line[head.index("crash")] == "none")
    assert none[head.index("cuts tried") :][:7] == ["-"] * 7
    assert sorted(rows(lab.results / "results.sqlite", columns), key=str) == [
        (40, 0, 0.0, 2, 0, 1, 3),
        (40, 7, 2.5, 0, 0, 0, 0),
        (None,) * 7,
    ]


def test_a_run_fits_a_terminal(lab: Lab) -> None:
    cut = {"DEVICE": "emmc-5.0", "CRASH": "power", "CUTS": "40"}
    lab.run(MODE="wal", SYNC="normal", took={"worst": 7, "mean": 2.5}, **cut)
    lab.run(status="rejected", FS="f2fs", MODE="delete", PAGE_SIZE="8192", WAL_AUTOCHECKPOINT="500")
    lines = lab.ok("results").splitlines()[:-1]
    assert max(map(len, lines)) <= 80
    assert lines[0] == "all: rows=100 n=10"
    assert lines[1].split() == ["run", "status", "TPS", "KiB/tx", "lost", "most"]
    text = " ".join(" ".join(lines).split())
    assert "journal_mode=wal" in text and "fs=f2fs" in text and "2 events lost" in text
    assert re.search(r"^\S+ +ok .* 7$", "\n".join(lines), re.M)


def test_settings_that_most_runs_have_stand_above_them(lab: Lab) -> None:
    for seed in range(1, 5):
        lab.run(MODE="wal", DEVICE="emmc-5.0" if seed < 4 else "emmc-5.1", SEED=str(seed))
    first, second, _, *lines = lab.ok("results").splitlines()
    assert first.startswith("all: journal_mode=wal ") and "fs=" not in first
    assert second == "unless a run names another: device=emmc-5.0"
    assert [line.split() for line in lines if line.startswith("  ")] == [
        ["seed=1"],
        ["seed=2"],
        ["seed=3"],
        ["device=emmc-5.1", "seed=4"],
    ]


def test_columns_can_be_chosen(lab: Lab) -> None:
    lab.run(MODE="wal", DEVICE="emmc-5.0", CRASH="power", CUTS="40", took={"worst": 7})
    run = lab.run(FS="f2fs").name
    columns = "Run,mode,FS,tps,lost most,grid,page_size,unattributed %,device,cuts tried"
    printed = lab.ok("results", COLUMNS=columns).splitlines()
    assert max(map(len, printed[:-1])) <= 80
    head = ["run", "journal_mode", "fs", "TPS", "lost most", "grid"]
    assert re.split("  +", printed[0])[:6] == head
    assert re.split("  +", printed[3])[:5] == [run, "delete", "f2fs", "105.00", "-"]
    assert printed[2].split()[-3:] == ["device=emmc-5.0", "cuts", "tried=40"]
    wide = lab.ok("results", COLUMNS=columns, WIDE="yes").splitlines()
    assert len(wide) == 4 and wide[1].endswith("  40")
    said = lab.says("results", COLUMNS="run,mod")
    assert said.startswith("commitpath: COLUMNS=mod: did you mean mode? a column is an axis of a cell (")
    assert " cost %, " in said


def test_a_run_that_is_being_analysed_is_running(lab: Lab) -> None:
    run = lab.run()
    for name in ("summary.json", "manifest.json", "derived.json"):
        (run / name).unlink()
    with derived.marked(run):
        printed = lab.ok("results")
    assert printed.splitlines()[0] == f"running  {run.relative_to(lab.results)}: it is being analysed"
    assert "failed" not in printed and "0 runs" in printed
    # the analysis ended without a result
    assert "stored, but not analysed" in lab.ok("results")


def test_the_page_has_the_schemas_version() -> None:
    page = (ROOT / "docs/reference/results-db.md").read_text()
    assert f"## Schema, version {store.VERSION}\n" in page
    assert f"`PRAGMA user_version` is {store.VERSION} " in page


FIRST = """
import sys
from commitpath.database import store
print(flush=True)
sys.stdin.readline()
for _ in range(20):
    try:
        with store.opened() as connection:
            query = "INSERT INTO grid_run VALUES ('local', 'quick', 'v20123456789', ?)"
            connection.execute(query, sys.argv[1:])
        break
    except store.DatabaseError as error:
        if "another process" not in str(error):
            raise
"""


def test_the_first_calls_in_an_empty_folder(tmp_path: Path) -> None:
    """All at once: one of them makes the database, and each one's row is in it."""
    environment = {**os.environ, "COMMITPATH_RESULTS": str(tmp_path / "results")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    line = [sys.executable, "-c", FIRST]
    calls = [subprocess.Popen([*line, f"{n}"], cwd=ROOT, env=environment, **pipes) for n in range(5)]
    for one in calls:
        one.stdout.readline()
    for one in calls:
        one.stdin.write("\n")
        one.stdin.flush()
    assert [(one.communicate(), one.returncode)[1] for one in calls] == [0] * 5
    with contextlib.closing(sqlite3.connect(tmp_path / "results/results.sqlite")) as connection:
        found = connection.execute("SELECT repeat FROM grid_run ORDER BY repeat").fetchall()
    assert found == [(n,) for n in range(5)]
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["results.sqlite"]


@pytest.mark.parametrize("engine", ['a"b', "a\\", "a[", ""])
def test_another_labs_engine_makes_no_column_fail(engine: str) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(store.SCHEMA.read_text())
        connection.execute(
            """INSERT INTO run (lab, cell_id, run_id, status, reasons, cell, manifest)
                VALUES ('', '', '', 'ok', '', ?, '{}')""",
            (json.dumps({"engine": engine}),),
        )
        assert connection.execute("SELECT effective, compile_options FROM run").fetchone() == (None, None)


@pytest.mark.parametrize("engine", sorted(axes()["engine"].choices()))
def test_a_column_has_a_value_where_the_cells_engine_has_the_axis(engine: str) -> None:
    """An axis, and what was read back."""
    cell = make_cell({"ENGINE": engine})
    had = {"effective": '{"size":"1"}', "compile_options": '["THREADSAFE=1"]'}
    manifest = {engine: {name: json.loads(text) for name, text in had.items()}}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(store.SCHEMA.read_text())
        connection.execute(
            """INSERT INTO run (lab, cell_id, run_id, status, reasons, cell, manifest)
                VALUES ('', '', '', 'ok', '', ?, ?)""",
            (json.dumps(cell.document()), json.dumps(manifest)),
        )
        row = connection.execute("SELECT * FROM run").fetchone()
    assert {name: row[name] for name in had} == had
    # two are what the board read back, which this run has not
    columns = axes().keys() & set(row.keys()) - {"kernel", "mount_options"}
    assert {"engine", "journal_mode", "synchronous", "sqlite"} <= columns
    assert {name for name in columns if row[name] is None} == engines.unused_axes(engine) & columns


def test_what_no_cut_left_usable_is_counted_with_what_was_lost() -> None:
    lost = {"lost_acknowledged": {"max": 0, "mean": 0.0}, "broken": 0}
    crash = {"cuts": 30, "opened": 24, "corrupt": 0, "not_a_prefix": 2, **lost}
    assert lost_most({"crash": crash}) == "0 ✗8"
    assert lost_most({"crash": {**crash, "opened": 30, "not_a_prefix": 0}}) == "0"
    assert lost_most({}) == "-"


def test_where_selects_and_says_what_it_does_not_know(lab: Lab) -> None:
    lab.run(FS="f2fs", MODE="wal")
    lab.run(FS="ext4", MODE="delete")
    assert "1 run;" in lab.ok("results", WHERE="fs=ext4 mode=wal|delete")
    assert "2 runs" in lab.ok("results", WHERE="fs=ext4-*|f2fs kernel=6.12*")
    assert "flavour=1: unknown name; a name is an axis" in lab.says("results", WHERE="flavour=1")
    assert "modee=wal: unknown name; did you mean mode? " in lab.says("results", WHERE="modee=wal")
    assert "fs is btrfs-nocow, btrfs, ext4-journal" in lab.says("results", WHERE="fs=ext5")
    assert "term is name=value" in lab.says("results", WHERE="fs")


def test_analysed_again_is_written_again_and_a_vanished_folder_keeps_its_row(lab: Lab) -> None:
    folder = lab.run(100.0)
    assert "1 run; 1 new" in lab.ok("results")
    assert "1 run; 0 new" in lab.ok("results")
    tps = json.loads((folder / "summary.json").read_text())["tps"]
    edit(folder / "summary.json", tps=tps | {"all": 55.5}, virtual_seconds=30 / 55.5)
    assert "55.50" in lab.ok("results")
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    lab.ok("results")
    assert rows(lab.results / "results.sqlite", "path, tps_all") == [(None, 55.5)]


def test_a_folder_that_cannot_be_read_is_named(lab: Lab) -> None:
    lab.run(MODE="wal")
    (lab.run(MODE="delete") / "cell.json").write_text("{")
    done = lab.make("results")
    assert done.returncode == 0
    assert "left out of the database" in done.stderr
    assert "1 run;" in done.stdout


def test_a_run_that_could_not_be_made_is_a_row_with_its_reason(lab: Lab) -> None:
    cell = make_cell({"MODE": "wal"})
    record = lab.results / ".sweep/failed" / f"{cell_id(cell)}-1"
    record.parent.mkdir(parents=True)
    write(
        record, {"cell": cell.document(), "repeat": 1, "reason": "the board died", "attempts": 2, "log": "x"}
    )
    out = lab.ok("results", WHERE="status=failed mode=wal")
    assert "the board died" in out
    assert "1 run; 1 new" in out
    assert "; 0 new" in lab.ok("results")
    record.unlink()
    assert "0 runs" in lab.ok("results")


def test_export_and_import_lose_nothing(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    here.run(FS="f2fs", MODE="wal")
    here.run(status="rejected")
    target = tmp_path / "here.sqlite"
    assert "name this lab" in here.says("export", FILE=str(target))
    here.ok("export", FILE=str(target), LAB="berlin")
    assert "2 runs imported, all without files (unverified, ¶)\n" in there.ok("import", FILE=str(target))
    content = "lab, cell_id, run_id, repeat, status, reasons, cell, summary, manifest, host"
    assert rows(target, content) == rows(there.results / "results.sqlite", content)
    # and once more: nothing new; back home: all of it is there already
    assert "no run imported, 2 there already\n" in there.ok("import", FILE=str(target))
    assert "2 left out, of this lab" in here.ok("import", FILE=str(target))
    second = tmp_path / "second.sqlite"
    there.run(MODE="truncate")
    there.ok("export", FILE=str(second), LAB="kiel")
    assert {row[0] for row in rows(second, "lab")} == {"berlin", "kiel"}
    done = here.ok("import", FILE=str(second))
    assert "1 run imported, all without files" in done and "2 left out, of this lab" in done


@pytest.mark.parametrize("version", [6, store.VERSION])
@pytest.mark.parametrize("target", ["results", "import"])
def test_an_older_schema(lab: Lab, labs: Labs, tmp_path: Path, target: str, version: int) -> None:
    """With fewer columns, also of the present number: its rows stay, and have the columns of now."""
    lab.run()
    database = spoilable(lab, labs, tmp_path, target)
    before = rows(database)
    gone = r"^  (kernel|commitpath|lost_worst) .*\n"
    fewer = re.sub(gone, "", store.tables()["run"], flags=re.MULTILINE)
    columns = "lab, cell_id, run_id, repeat, status, reasons, path, stamp, cell, summary, manifest, host"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.executescript(
            f"""ALTER TABLE run RENAME TO newer; {fewer};
            INSERT INTO run ({columns}) SELECT {columns} FROM newer; DROP TABLE newer;
            CREATE VIEW mine AS SELECT count(*) FROM run; CREATE INDEX fast ON run(status);
            PRAGMA user_version={version}"""
        )
    if target == "import":
        assert "1 run imported" in lab.ok("import", FILE=str(database))
        return
    done = lab.make("results")
    assert "1 run; 0 new" in done.stdout
    of_version = f"commitpath: {database}: schema version 6 is now {store.VERSION}\n"
    assert done.stderr == (of_version if version == 6 else "")
    assert rows(database) == before
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT * FROM mine").fetchone() == (1,)
        assert connection.execute("SELECT tbl_name FROM sqlite_schema WHERE name = 'fast'").fetchone() == (
            "run",
        )
    assert lab.make("results").stderr == ""


@pytest.mark.parametrize("target", ["results", "import"])
def test_a_later_schema_version(lab: Lab, labs: Labs, tmp_path: Path, target: str) -> None:
    lab.run()
    database = spoilable(lab, labs, tmp_path, target)
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version={store.VERSION + 1}")
    before = database.read_bytes()
    said = f"schema version {store.VERSION + 1}; this commitpath reads up to {store.VERSION}"
    assert said in call(lab, target, database)
    assert database.read_bytes() == before


@pytest.mark.parametrize("target", ["results", "import"])
def test_a_corrupt_database(lab: Lab, labs: Labs, tmp_path: Path, target: str) -> None:
    lab.run()
    database = spoilable(lab, labs, tmp_path, target)
    content = bytearray(database.read_bytes())
    content[4096 : 4096 * 3] = b"\xa5" * 8192
    database.write_bytes(content)
    said = call(lab, target, database)
    assert "corrupt" in said or "not a database that can be read" in said
    assert "nothing was changed" in said
    assert database.read_bytes() == content
    database.write_bytes(b"not a database at all " * 500)
    said = {"results": "not a database that can be read", "import": "not an export, or a damaged one"}
    assert said[target] in call(lab, target, database)


def test_an_empty_file_in_its_place(lab: Lab) -> None:
    """As after a full disk: it is named with its remedy."""
    lab.run()
    (lab.results / "results.sqlite").write_bytes(b"")
    said = lab.says("results")
    assert "results.sqlite: not a results database of commitpath; nothing was changed; `make results" in said
    lab.ok("results", REBUILD="yes")


def test_a_database_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE")
    monkeypatch.setattr(store, "SCHEMA", schema)
    with pytest.raises(store.DatabaseError, match=f"^{tmp_path}/new.sqlite: "):
        store.create(tmp_path / "new.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["schema.sql"]


@pytest.mark.parametrize("target", ["results", "import"])
def test_a_database_that_another_process_writes(lab: Lab, labs: Labs, tmp_path: Path, target: str) -> None:
    lab.run()
    lab.ok("results")
    database = spoilable(lab, labs, tmp_path, target)
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert "another process is writing to it" in call(lab, target, database)
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    if target == "results":
        assert "1 run;" in lab.ok("results")


def test_rebuild_keeps_other_labs_runs_and_sets_the_old_one_aside(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    there.run(MODE="wal")
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel")
    here.recorded()
    here.ok("import", FILE=str(tmp_path / "t.sqlite"))
    assert "2 runs" in here.ok("results", REBUILD="yes")
    database = here.results / "results.sqlite"
    database.write_bytes(b"rubbish" * 1000)
    done = here.make("results", REBUILD="yes")
    assert done.returncode == 0
    assert "1 run;" in done.stdout
    assert len(list(here.results.glob("results-*.old"))) >= 1


# a rebuild that is killed when all but the last step is done
KILLED = """
import os, signal
from commitpath.database import rebuild
rebuild.put = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
rebuild.rebuild()
"""


def test_a_killed_rebuild_loses_nothing(labs: Labs, tmp_path: Path) -> None:
    here, there = labs("here"), labs("there")
    there.run(MODE="wal")
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="kiel")
    here.ok("import", FILE=str(tmp_path / "t.sqlite"))
    environment = {**os.environ, "COMMITPATH_RESULTS": str(here.results)}
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert "kiel" in here.ok("results")
    assert [path.name for path in here.results.iterdir()] == ["results.sqlite"]


def spoilable(lab: Lab, labs: Labs, tmp_path: Path, target: str) -> Path:
    """The database that a target reads: the lab's own, or an export to import."""
    if target == "results":
        lab.ok("results")
        return lab.results / "results.sqlite"
    other = labs("other")
    other.run(MODE="wal")
    other.ok("export", FILE=str(tmp_path / "e.sqlite"), LAB="other")
    return tmp_path / "e.sqlite"


def call(lab: Lab, target: str, database: Path) -> str:
    """What the target says of it."""
    return lab.says(target) if target == "results" else lab.says(target, FILE=str(database))
