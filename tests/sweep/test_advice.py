"""Advice on what survives a failure of the power: by trials alone, and from enough of them."""

import re
from pathlib import Path

import pytest
from lab import Lab

from commitpath.cells.axes import axes
from commitpath.reporting.choice import CHOSEN, chosen, needs
from commitpath.sweep.grid import expand
from model import engines
from model.cell import Cell

WHERE = {"FS": "f2fs", "DEVICE": "emmc-5.0"}
SIZES = {name.upper(): str(value) for name, value in needs()["trials"].items()}
SETTINGS = [run.cell for run in expand(needs()["grid"]).runs]
POWER = {**WHERE, "SURVIVE": "power"}


def tried(lab: Lab, cell: Cell, tps: float, failure: str = "power", **took: float) -> None:
    """A run with trials of a setting of the choice."""
    given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
    lab.run(tps, took=took, CRASH=failure, **WHERE, **SIZES, **given)


def loses(cell: Cell) -> dict[str, int]:
    """What the power takes of a setting, as of a device that keeps its word."""
    if cell.journal_mode in ("memory", "off") or cell.synchronous == "off":
        return {"corrupt": 4}
    if cell.synchronous == "normal":
        return {"worst": 9}
    return {"worst": int((cell.journal_mode, cell.synchronous) == ("delete", "full"))}


def test_of_two_of_the_settings_no_advice_is_given(lab: Lab) -> None:
    for cell in SETTINGS[:2]:
        tried(lab, cell, 100)
    done = lab.make("advise", **POWER)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"2 of {len(SETTINGS)} settings of the choice have trials, and advice is of 75% at least" in line
    missing = [line for line in done.stdout.splitlines() if line.startswith("  left out: ")]
    assert len(missing) == len(SETTINGS) - 2
    assert all(line.endswith(": it was not run") for line in missing)
    sweep = f"make sweep GRID=advise CRASH=power CUTS={SIZES['CUTS']} ROWS=1000 N=20 PROBES=none FS=f2fs "
    assert f"  {sweep}DEVICE=emmc-5.0 tries them: 12 cells, about 6 min on two CPUs" in done.stdout


def test_a_setting_without_trials_is_not_advised_whatever_it_promises(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        if (cell.journal_mode, cell.synchronous) == ("persist", "full"):
            # quick, and as durable as any, by its promise
            lab.run(9000, MODE="persist", SYNC="full", ROWS="1000", N="20", PROBES="none", **WHERE)
            continue
        tried(lab, cell, 100 + place, **loses(cell))
    out = lab.ok("advise", **POWER)
    assert f"{len(SETTINGS) - 1} of {len(SETTINGS)} settings of the choice have trials" in out
    assert "left out: journal_mode=persist synchronous=full wal_autocheckpoint=1000: it was not run" in out
    assert "\njournal_mode=persist synchronous=full" not in out
    assert "measured: 40 cuts took 0 at most, 0.00 on average" in out
    # what is only promised to be less than all, and what was measured of it, stand beside each other
    last = lab.ok("advise", **POWER, LOSS="Last")
    line = next(line for line in last.splitlines() if line.startswith("journal_mode=wal synchronous=full"))
    assert "SURVIVE=power, measured: 40 cuts took 0" in line
    recent = lab.ok("advise", **POWER, LOSS="recent")
    line = next(
        line for line in recent.splitlines() if line.startswith("journal_mode=wal synchronous=normal")
    )
    assert "measured: 40 cuts took 9 at most, 4.50 on average" in line
    assert "after a power failure: promised is only: consistent, but the transactions since" in line
    # no loss that is allowed makes up for a database that is none
    for out in (last, recent):
        assert not re.search("^journal_mode=(off|memory)", out, re.M)


def test_a_loss_is_allowed_by_its_time(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        tried(lab, cell, 100 + place, **loses(cell))
    out = lab.ok("advise", **POWER, LOSS="1s")  # 9 transactions of 4.5 ms each
    assert "measured: 40 cuts took 9 at most, 4.50 on average (40.5 ms at most, 20.2 ms on average)" in out
    assert re.search("^journal_mode=wal synchronous=normal", out, re.M)
    assert "LOSS=1s is time of the run, in which transactions follow one another at once; PACE gives" in out
    tight = lab.ok("advise", **POWER, LOSS="40ms")
    assert not re.search("^journal_mode=wal synchronous=normal", tight, re.M)
    for wrong in ("1", "10", "some", "1sec", "-1s", "nan", "1e400s", "1x"):
        said = f"LOSS={wrong}: it is none, last, recent, or a time such as 1s, 500ms or 2min"
        assert said in lab.says("advise", **POWER, LOSS=wrong)


def test_the_speed_is_that_of_the_larger_runs_and_what_is_lost_that_of_the_trials(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        tried(lab, cell, 100 + place, **loses(cell))
        given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
        lab.run(1000 + place, **WHERE, ROWS="5000", N="50", **given)
    out = lab.ok("advise", **POWER, ROWS="5000")
    assert re.search(r"^journal_mode=wal synchronous=full wal_autocheckpoint=100 +1060.5", out, re.M)
    assert "40 cuts took 0 at most" in out


def test_another_failure_is_by_trials_where_there_are_any(lab: Lab) -> None:
    keeps = next(cell for cell in SETTINGS if cell.journal_mode == "wal")
    fails = next(cell for cell in SETTINGS if cell.journal_mode == "truncate")
    tried(lab, keeps, 100, failure="os")
    tried(lab, fails, 200, failure="os", worst=3)
    out = lab.ok("advise", **WHERE, SURVIVE="os")
    assert "2 settings measured, 1 keep the promise (SURVIVE=os, by trials)" in out
    assert "AGAINST ITS PROMISE (every committed transaction survives): journal_mode=truncate" in out
    # trials of another failure are none of the process's
    assert "(SURVIVE=process, 0 by trials, the others by what they promise)" in lab.ok(
        "advise", **WHERE, SURVIVE="process"
    )


STATEMENTS = """CREATE TABLE t(x);
-- commitpath: transactions
INSERT INTO t VALUES(1);
INSERT INTO t VALUES(2);
"""


def test_a_load_of_the_users_is_advised(lab: Lab, tmp_path: Path) -> None:
    """Its size is the file's, and its runs are those of the file's content, wherever it lies."""
    path = tmp_path / "mine with a blank.sql"
    path.write_text(STATEMENTS)
    mine = {"WORKLOAD": "sql", "FILE": str(path)}
    said = lab.says("advise", **POWER, **mine)
    sweep = f"make sweep GRID=advise CRASH=power CUTS={SIZES['CUTS']} PROBES=none FS=f2fs"
    assert sweep in said
    assert f"FILE='{path}'" in said
    for place, cell in enumerate(SETTINGS):
        given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
        sizes = {"CUTS": SIZES["CUTS"], "PROBES": "none"}
        lab.run(
            100 + place, took=loses(cell), ROWS="0", N="2", CRASH="power", **WHERE, **mine, **sizes, **given
        )
    moved = tmp_path / "moved.sql"
    path.rename(moved)
    mine["FILE"] = str(moved)
    out = lab.ok("advise", **POWER, **mine)
    assert f"{len(SETTINGS)} of {len(SETTINGS)} settings of the choice have trials" in out
    assert "measured: 40 cuts took 0 at most" in out
    # without the file these runs are not taken for the default workload's
    assert "no ok run of lab local" in lab.says("advise", **POWER)
    moved.write_text(STATEMENTS + "INSERT INTO t VALUES(3);\n")
    assert "no ok run of lab local" in lab.says("advise", **POWER, **mine)
    assert "no such file" in lab.says("advise", **POWER, WORKLOAD="sql", FILE=str(path))
    assert "WORKLOAD=apsys17 has transactions of its own" in lab.says("advise", **POWER, FILE=str(moved))


def default(axis: str) -> str:
    """An axis's value in a cell that does not set it."""
    return str(axes()[axis].spec["default"])


def test_all_engines_are_compared(lab: Lab) -> None:
    """An engine is named, without the settings that it lacks; one engine's advice is as before."""
    cells = [run.cell for run in expand(needs()["any_engine"]).runs]
    varied = [name for name in chosen(True) if name != "sqlite"]
    for place, cell in enumerate(cells):
        mine = {
            name.upper(): str(cell.value(name)) for name in varied if str(cell.value(name)) != default(name)
        }
        tps = 1000 if (cell.engine, cell.synchronous) == ("ssl", "full") else 100 + place
        lab.run(
            tps, took={"worst": 9 * (cell.synchronous == "normal")}, CRASH="power", **WHERE, **SIZES, **mine
        )
    out = lab.ok("advise", **POWER, ENGINE="Any")
    assert f"{len(cells)} of {len(cells)} settings of the choice have trials" in out
    (best,) = [line for line in out.splitlines() if line.startswith("engine=")]
    assert best.startswith("engine=ssl synchronous=full") and "journal_mode" not in best
    assert {cell.engine for cell in cells} == set(engines.names())
    said = lab.says("advise", **POWER | {"DEVICE": "ufs-2.0"}, ENGINE="any")
    assert (
        "with FS=f2fs DEVICE=ufs-2.0 ENGINE=any; RUN=yes makes them (make sweep GRID=advise-engines CRASH"
        in said
    )


@pytest.mark.parametrize("given", [{"SURVIVE": "power"}, {"SURVIVE": "os"}, {"SURVIVE": "os", "RUN": "yes"}])
def test_an_engine_without_a_grid_has_the_next_command(lab: Lab, given: dict[str, str]) -> None:
    said = lab.says("advise", **WHERE, **given, ENGINE="rocksdb")
    assert said.startswith("commitpath: ENGINE=rocksdb: `make advise` measures ENGINE=sqlite alone, or all ")
    assert "use ENGINE=any, with RUN=yes for what is missing (make sweep GRID=advise-engines " in said
    assert said.rstrip(")\n").endswith("FS=f2fs DEVICE=emmc-5.0")
