"""make advise: settings that survive a failure within limits, by enough trials, and why; what is missing."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab import Lab, edit

from base.errors import EXIT_BAD_INPUT, EXIT_FAILED, BadInputError, LabError
from commitpath.cells.axes import axes
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import expand
from commitpath.command_line.stored_run import SHIPPED
from commitpath.reporting import advise, limits
from commitpath.reporting.choice import CHOSEN, LISTED, choice, chosen, key, needs, planned
from commitpath.results.query import Results
from commitpath.sweep import drive
from commitpath.sweep.sweep_plan import Planned
from model import engines
from model.cell import Cell

WHERE = {"FS": "f2fs", "DEVICE": "emmc-5.0"}
SIZES = {name.upper(): str(value) for name, value in needs()["trials"].items()}
SETTINGS = [run.cell for run in expand(needs()["grid"]).runs]
POWER = {**WHERE, "SURVIVE": "power"}
RUN_ALL = {"DEVICE": "emmc-5.0", "SURVIVE": "power"}


def tried(
    lab: Lab,
    cell: Cell,
    tps: float,
    took: dict[str, int] | None = None,
    failure: str = "power",
    where: dict[str, str] = WHERE,
) -> Path:
    """Store a run with trials of a setting of the choice; its folder."""
    given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
    return lab.run(tps, took=took, **{"CRASH": failure, **SIZES, **where, **given})


def loses(cell: Cell) -> dict[str, int]:
    """What the power takes of a setting, as of a device that keeps its word."""
    if cell.journal_mode in ("memory", "off") or cell.synchronous == "off":
        return {"corrupt": 4}
    if cell.synchronous == "normal":
        return {"worst": 9}
    return {"worst": int((cell.journal_mode, cell.synchronous) == ("delete", "full"))}


def rows(out: str) -> list[list[str]]:
    """The cells of the table, without the time of a loss."""
    lines = out.splitlines()
    head = next(place for place, line in enumerate(lines) if line.endswith("  settings"))
    body = "\n".join(lines[head + 1 : lines.index("", head)])
    # a long row goes on in the next line
    joined = re.sub("\n {40,}", " ", body)
    return [re.sub(", [0-9.]+ m?s", "", line).split() for line in joined.splitlines()]


def unfolded(out: str) -> str:
    """A text without its line ends."""
    return " ".join(out.split())


def command(out: str) -> dict[str, str]:
    """The variables of the command that an answer ends with."""
    made, _, words = out.partition("Check it:\n")[2].replace("\\\n", "").strip().partition("experiment ")
    assert made == "make "
    pairs = [word.partition("=") for word in shlex.split(words)]
    return {name: value for name, _, value in pairs}


def test_of_two_of_the_settings_no_advice_is_given(lab: Lab) -> None:
    for cell in SETTINGS[:2]:
        tried(lab, cell, 100)
    done = lab.make("advise", **POWER)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "advice needs 75 % of the choice (experiments/advice.yml); RUN=yes runs the others" in line
    assert f"2 of {len(SETTINGS)} settings of the choice are measured" in done.stdout
    out = unfolded(done.stdout)
    # the time comes first, then some of them
    missing = out.partition("not run yet: ")[2]
    assert missing.endswith(f"; and {len(SETTINGS) - 2 - LISTED} more") and missing.count("; ") == LISTED
    seconds = 12 * needs()["seconds"] + 2 * needs()["board_seconds"]
    assert (
        f"RUN=yes runs 12 cells: about {round(seconds / 60)} min on two CPUs, 4 of them for 2 boards" in out
    )
    assert not [line for line in done.stdout.splitlines() if len(line) > 80]


def test_a_setting_without_trials_is_not_advised_whatever_it_promises(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        if (cell.journal_mode, cell.synchronous) == ("persist", "full"):
            # quick, and as durable as any, by its promise
            lab.run(9000, MODE="persist", SYNC="full", ROWS="1000", N="20", **WHERE)
            continue
        tried(lab, cell, 100 + place, loses(cell))
    out = lab.ok("advise", **POWER)
    number = len(SETTINGS)
    tried_ones = (
        f"{number} of {number} settings of the choice are measured, {number - 1} of them tried by power"
    )
    assert tried_ones in unfolded(out)
    assert "missing, not tried by power cuts: MODE=persist SYNC=full" in out
    best = next(place for place, cell in enumerate(SETTINGS) if cell.wal_autocheckpoint == 100)
    tps = (100 + best) * 1.05
    text = f"Use MODE=wal SYNC=full AUTOCHECKPOINT=100: {tps:.1f} TPS; 40 power cuts took 0 transactions"
    assert text in unfolded(out)
    # any loss is allowed, but not that of the database
    some = lab.ok("advise", **POWER, LOSE_AT_MOST="Any")
    assert "Its promise is only: consistent, but the transactions since the last" in unfolded(some)
    assert [row[5:] for row in rows(some)] == [
        ["MODE=wal", "SYNC=normal", "AUTOCHECKPOINT=100"],
        ["MODE=wal", "SYNC=full", "AUTOCHECKPOINT=100"],
    ]
    for text in (out, some):
        assert not re.search("Use MODE=(off|memory)", text)
        assert not [line for line in text.splitlines() if len(line) > 80]


def test_a_setting_measured_otherwise_than_the_rest_is_missing(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        sizes = {} if place < 2 else {"ROWS": "5000", "N": "50"}
        tried(lab, cell, 100 + place, loses(cell), where=WHERE | sizes)
    out = unfolded(lab.ok("advise", **POWER))
    assert f"{len(SETTINGS) - 2} of {len(SETTINGS)} settings of the choice are measured" in out
    assert "missing, measured with other rows, n: MODE=" in out


def test_a_loss_is_allowed_by_its_number_or_its_time(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        tried(lab, cell, 100 + place, loses(cell))
    out = lab.ok("advise", **POWER, LOSE_AT_MOST="1s")  # 9 transactions of 4.5 ms each
    assert "Use MODE=wal SYNC=normal AUTOCHECKPOINT=100" in out and "9, 40.5 ms" in out
    assert "LOSE_AT_MOST=1s is time of the run, in which transactions follow one" in unfolded(out)
    for less in ("40ms", "8", "0"):
        assert "Use MODE=wal SYNC=full" in lab.ok("advise", **POWER, LOSE_AT_MOST=less)
    assert "Use MODE=wal SYNC=normal" in lab.ok("advise", **POWER, LOSE_AT_MOST="9")
    refused = lab.says("advise", **POWER, LOSE_AT_MOST="9", P99_BELOW="20ms")
    assert "SURVIVE=power LOSE_AT_MOST=9 P99_BELOW=20ms: none of the 14 measured settings is" in refused
    assert "0 with any loss and 11 with any p99; 0 have no trials" in refused


def test_a_cut_that_took_all_of_a_run_shows_no_most(lab: Lab) -> None:
    """A limit above the number of its transactions would hold of any setting."""
    for place, cell in enumerate(SETTINGS):
        # insert, update and delete, each 20 times
        took = {"worst": 60} if cell.synchronous == "normal" else loses(cell)
        tried(lab, cell, 100 + place, took)
    for loss in ("60", "1000", "1s"):
        out = unfolded(lab.ok("advise", **POWER, LOSE_AT_MOST=loss))
        assert "Use MODE=wal SYNC=full AUTOCHECKPOINT=100" in out
        assert "Left out, as a cut took all of the run, and might take more of a longer one: MODE=" in out
    assert "Left out" not in lab.ok("advise", **POWER)
    out = unfolded(lab.ok("advise", **POWER, LOSE_AT_MOST="any"))
    assert "took 60 transactions at most, all of the run. Its promise is only" in out
    # a longer run had more to lose
    for place, cell in enumerate(SETTINGS):
        if cell.synchronous == "normal":
            given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
            sizes = SIZES | {"N": "50"}
            lab.run(100 + place, took={"worst": 60}, **{"CRASH": "power", **WHERE, **sizes, **given})
    assert "Use MODE=wal SYNC=normal" in lab.ok("advise", **POWER, LOSE_AT_MOST="60", N="20")


def test_a_unit_may_be_in_any_case() -> None:
    read = limits.read({"SURVIVE": "power", "P99_BELOW": "20MS", "RATE": "300/H", "LOSE_AT_MOST": "2Min"})
    assert (read.p99_ms, read.per_second, read.ms) == (20, 300 / 3600, 120_000)


LOSSES = ("some", "1sec", "-1s", "-1", "1.5", "nan", "1e400s", "none", "")
BAD = {
    "LOSE_AT_MOST": (LOSSES, "a number of transactions, any, or a time such as 1s"),
    "P99_BELOW": (("20", "0ms", "fast", "1h"), "a time with its unit, such as 20ms"),
    "RATE": (("20", "10/w", "0/s"), "a number of transactions, such as 20/s"),
}


@pytest.mark.parametrize(
    ("name", "wrong", "why"), [(name, wrong, why) for name, (texts, why) in BAD.items() for wrong in texts]
)
def test_a_bad_limit_is_refused(name: str, wrong: str, why: str) -> None:
    with pytest.raises(BadInputError, match=f"{name}={re.escape(wrong)}: .*{re.escape(why)}"):
        limits.read({"SURVIVE": "power", name: wrong})


def test_the_speed_is_that_of_the_larger_runs_and_what_is_lost_that_of_the_trials(lab: Lab) -> None:
    for place, cell in enumerate(SETTINGS):
        tried(lab, cell, 100 + place, loses(cell))
        given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
        lab.run(1000 + place, **WHERE, ROWS="5000", N="50", **given)
    out = lab.ok("advise", **POWER, ROWS="5000")
    assert "Use MODE=wal SYNC=full AUTOCHECKPOINT=100: 1060.5 TPS; 40 power cuts took 0" in unfolded(out)
    # the command makes both at this size
    assert command(out) == {
        **{"DEVICE": "emmc-5.0", "FS": "f2fs", "MODE": "wal", "SYNC": "full", "AUTOCHECKPOINT": "100"},
        **{"ROWS": "5000", "N": "50", "CRASH": "power", "CUTS": "40", "EXPECT": "tps>=1060 lost.max<=0"},
    }


def test_another_failure_is_by_trials_where_there_are_any(lab: Lab) -> None:
    keeps = next(cell for cell in SETTINGS if cell.journal_mode == "wal")
    fails = next(cell for cell in SETTINGS if cell.journal_mode == "truncate")
    tried(lab, keeps, 100, failure="os")
    tried(lab, fails, 200, {"worst": 3}, "os")
    out = unfolded(lab.ok("advise", **WHERE, SURVIVE="os"))
    assert "1 of 2 measured settings are within the limits" in out
    assert "AGAINST ITS PROMISE (every committed transaction survives): MODE=truncate SYNC=full: " in out
    # a failure of another kind shows nothing of the process's
    process = unfolded(lab.ok("advise", **WHERE, SURVIVE="process"))
    assert "Use MODE=truncate SYNC=full: 210.0 TPS; not tried, its promise is: every committed" in process
    assert "power cut -: not tried; SURVIVE=power RUN=yes tries it." in process


def told(folder: Path, p99_ms: float, **more: Any) -> None:
    """Add to a run what an analysis of a watched one has."""
    latency = {op: {"p99": 1000 * p99_ms * share} for op, share in (("insert", 1), ("update", 0.5))}
    edit(folder / "summary.json", latency_us=latency, **more)


def ledger(wal: int, flushes: float) -> dict[str, Any]:
    """Return the ledger of a summary: bytes by label, flushes of a transaction by file."""
    return {
        "bytes": {"wal": wal, "filesystem journal": 60_000},
        "flushes_per_transaction": {"all": {"wal": flushes}},
        "per_transaction": {},
        "unattributed_share": 0.0,
    }


def test_the_answer_names_the_front_the_causes_and_what_buys_nothing(lab: Lab) -> None:
    for cell in SETTINGS:
        wal, normal = cell.journal_mode == "wal", cell.synchronous == "normal"
        few = wal and cell.wal_autocheckpoint == 100
        tps = {(True, False): 400, (True, True): 1600, (False, False): 100, (False, True): 150}[wal, normal]
        took = loses(cell) | ({"worst": 0} if cell.journal_mode == "truncate" else {})
        folder = tried(lab, cell, tps + few, took)
        count = {"block": {"writes": 600, "bytes_written": 600_000 - 100_000 * wal, "flushes": 60, "fua": 0}}
        told(folder, 20 if few else 10, **count, ledger=ledger(60_000 * (1 + wal), 2 - wal))
    out = lab.ok("advise", **POWER)
    # slower by 1 in 400, but with half the p99
    assert [row[:2] + row[4:] for row in rows(out)] == [
        ["421.1", "20.00", "0", "MODE=wal", "SYNC=full", "AUTOCHECKPOINT=100"],
        ["420.0", "10.00", "0", "MODE=wal", "SYNC=full"],
    ]
    text = unfolded(out)
    assert "front in TPS, p99, KiB per transaction, lost in a power cut." in text
    assert "p99: of the slowest operation, over 20 transactions. years -: RATE=20/s gives" in text
    assert "Buys most: MODE=wal is 4.00 times as fast as MODE=delete (SYNC=full)." in text
    assert "Because, for each transaction: wal 0.98 → 1.95 KiB, flushes for wal 2.00 → 1.00." in text
    equal = "Bought no speed: AUTOCHECKPOINT=100 and AUTOCHECKPOINT=1000: TPS equal to 1%"
    assert f"{equal} (MODE=wal SYNC=full)." in text
    best = command(lab.ok("advise", **POWER, P99_BELOW="15ms"))
    assert best["EXPECT"] == "tps>=420 p99.insert<=15 p99.update<=15 lost.max<=0"
    assert "AUTOCHECKPOINT" not in best


def test_a_stronger_promise_that_kept_no_more_bought_nothing(lab: Lab) -> None:
    for cell in SETTINGS:
        tried(lab, cell, 400 if cell.synchronous == "normal" else 100, failure="process")
    text = unfolded(lab.ok("advise", **WHERE, SURVIVE="process"))
    assert "Bought no durability: SYNC=full lost as much as SYNC=normal in " in text
    assert " kills: at most 0 (MODE=" in text
    assert "Because: - (MODE=" in text and "was not watched" in text


def test_lifetimes_at_a_rate(lab: Lab) -> None:
    folder = lab.run(100, FS="f2fs", MODE="truncate", bytes_written=300_000)
    without = unfolded(lab.ok("advise", FS="f2fs", SURVIVE="os", RATE="10/s"))
    assert "years -: DEVICE=constant has no endurance in its profile" in without
    counts = ("erases", "gc_bytes", "host_bytes", "merge_bytes", "merge_programs", "merges", "programs")
    worn = dict.fromkeys((*counts, "programmed_bytes", "write_amplification"), 1)
    lasts = {"gb": 16, "cycles": 3000, "host_bytes_per_transaction": 1.0, "transactions": 2e9}
    edit(folder / "summary.json", flash={**worn, "lifetime": lasts})
    (row,) = rows(lab.ok("advise", FS="f2fs", SURVIVE="os", RATE="10/s"))
    kib, gb, years = map(float, row[2:5])
    assert gb == pytest.approx(kib * 1024 * 10 * 86400 / 1e9, rel=0.02)
    assert years == pytest.approx(2e9 / 10 / 86400 / 365.25, rel=0.01)
    (row,) = rows(lab.ok("advise", FS="f2fs", SURVIVE="os", RATE="1/d"))
    # not 0.000
    assert float(row[3]) == pytest.approx(gb / 10 / 86400, rel=0.02)
    out = lab.ok("advise", FS="f2fs", SURVIVE="os", RATE="999999/s")
    assert "Slower than RATE, 999999 TPS: MODE=truncate SYNC=full." in unfolded(out)
    head, line = (line for line in out.splitlines() if "settings" in line[40:] or " MODE=" in line[40:])
    assert head.index("settings") == line.index("MODE=")


@pytest.mark.parametrize(
    ("device", "state", "gc_bytes", "noted"),
    [
        ("emmc-5.0", "fresh", 0, True),
        ("emmc-5.0", "fresh", 1, False),
        ("emmc-5.0", "used", 0, False),
        ("galaxy-nexus", "fresh", 0, False),
    ],
)
def test_years_without_garbage_collection_are_noted(
    device: str, state: str, gc_bytes: int, noted: bool, lab: Lab
) -> None:
    """A short run on a fresh device writes once what a used one writes several times."""
    folder = lab.run(
        100, FS="f2fs", MODE="truncate", DEVICE=device, DEVICE_STATE=state, bytes_written=300_000
    )
    counts = ("erases", "host_bytes", "merge_bytes", "merge_programs", "merges", "programs")
    worn = {**dict.fromkeys((*counts, "programmed_bytes", "write_amplification"), 1), "gc_bytes": gc_bytes}
    lasts = {"gb": 16, "cycles": 3000, "host_bytes_per_transaction": 1.0, "transactions": 2e9}
    edit(folder / "summary.json", flash={**worn, "lifetime": lasts})
    where = {"FS": "f2fs", "DEVICE": device, "DEVICE_STATE": state, "SURVIVE": "os", "RATE": "10/s"}
    note = "years: of a fresh device without garbage collection; DEVICE_STATE=used adds its copies."
    assert (note in unfolded(lab.ok("advise", **where))) is noted


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
    assert "no run is here; `make import FILE=experiments/reference.tar.xz`" in lab.says(
        "advise", **POWER, **mine
    )
    for place, cell in enumerate(SETTINGS):
        given = {name.upper(): str(cell.value(name)) for name in CHOSEN}
        lab.run(
            *(100 + place,), took=loses(cell), ROWS="0", N="2", CRASH="power", CUTS=SIZES["CUTS"],
            **WHERE, **mine, **given,
        )  # fmt: skip
    moved = tmp_path / "moved.sql"
    path.rename(moved)
    mine["FILE"] = str(moved)
    out = lab.ok("advise", **POWER, **mine)
    assert f"{len(SETTINGS)} of {len(SETTINGS)} settings of the choice are measured" in out
    # the command's cell is that of the run
    made = command(out)
    assert made.pop("EXPECT") == "tps>=115 lost.max<=0"
    assert make_cell(made).profiles["file"] == {"sql": STATEMENTS} and made["FILE"] == str(moved)
    # without the file these runs are not taken for the default workload's
    assert "no run is like them" in lab.says("advise", **POWER)
    moved.write_text(STATEMENTS + "INSERT INTO t VALUES(3);\n")
    assert "no run is like them" in lab.says("advise", **POWER, **mine)
    assert "no such file" in lab.says("advise", **POWER, WORKLOAD="sql", FILE=str(path))
    assert "WORKLOAD=apsys17 has transactions of its own" in lab.says("advise", **POWER, FILE=str(moved))


def default(axis: str) -> str:
    """An axis's value in a cell that does not set it."""
    return str(axes()[axis].spec["default"])


def test_all_engines_are_compared(lab: Lab) -> None:
    """An engine is named, without the settings that it lacks; one engine's advice is as before."""
    cells = [run.cell for run in expand(needs()["any_engine"]).runs]
    varied = [name for name in chosen({"ENGINE": "any"}) if name != "sqlite"]
    for place, cell in enumerate(cells):
        mine = {
            name.upper(): str(cell.value(name)) for name in varied if str(cell.value(name)) != default(name)
        }
        tps = 1000 if (cell.engine, cell.synchronous) == ("ssl", "full") else 100 + place
        lab.run(
            tps, took={"worst": 9 * (cell.synchronous == "normal")}, CRASH="power", **WHERE, **SIZES, **mine
        )
    out = lab.ok("advise", **POWER, ENGINE="Any")
    assert f"{len(cells)} of {len(cells)} settings of the choice are measured" in out
    (best,) = rows(out)
    assert best[5:7] == ["ENGINE=ssl", "SYNC=full"]
    assert {cell.engine for cell in cells} == set(engines.names())
    done = lab.make("advise", **POWER | {"DEVICE": "ufs-2.0"}, ENGINE="any")
    assert done.stdout.startswith("0 of 17 settings") and "no run is like them" in done.stderr


def test_all_filesystems_are_compared(lab: Lab) -> None:
    for fs, tps in {"ext4-ordered": 100, "f2fs": 300}.items():
        for cell in SETTINGS:
            tried(lab, cell, tps, loses(cell), where={"FS": fs, "DEVICE": "emmc-5.0"})
    out = lab.ok("advise", **RUN_ALL, FS="any")
    assert f"{2 * len(SETTINGS)} of {2 * len(SETTINGS)} settings of the choice are measured" in out
    assert {row[5] for row in rows(out)} == {"FS=f2fs"}
    assert "Buys most: FS=f2fs is 3.00 times as fast as FS=ext4-ordered (" in unfolded(out)
    assert command(out)["FS"] == "f2fs"


def test_only_the_missing_cells_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, excluded = planned(WHERE, "power")
    names = chosen(WHERE)
    keys = {key(dict(run.cell.axes()), names) for run in list(cells.values())[2:]}
    results = Results([], "local")
    of_choice = choice(cells, excluded, results, [], keys, keys, names, "power")
    ran = []

    def carry_out(runs: dict[str, Planned], *_: object, whole: bool) -> int:
        ran.append((list(runs), whole))
        return 1

    monkeypatch.setattr(advise, "measured", lambda *_: advise.Measured([], [], of_choice, results, []))
    monkeypatch.setattr(drive, "carry_out", carry_out)
    with pytest.raises(LabError, match="none of the cells has an accepted run"):
        advise.advise({**POWER, "RUN": "yes"})
    # a part of the grid does not replace the grid's rows in the database
    assert ran == [(list(cells)[:2], False)]
    # with enough others there is an answer, and the exit code is that of a sweep
    some: Any = ["a setting"]
    monkeypatch.setattr(advise, "measured", lambda *_: advise.Measured([], some, of_choice, results, []))
    monkeypatch.setattr(advise, "print_answer", lambda *_: None)
    assert advise.advise({**POWER, "RUN": "yes"}) == 1
    assert advise.advise(POWER) == 0

    def too_few(*_: object) -> None:
        raise BadInputError("too few")

    monkeypatch.setattr(advise, "print_answer", too_few)
    for given, code in ((POWER, EXIT_BAD_INPUT), ({**POWER, "RUN": "yes"}, EXIT_FAILED)):
        with pytest.raises(LabError, match="too few") as raised:
            advise.advise(given)
        assert raised.value.exit_code == code


@pytest.mark.parametrize("given", [{"SURVIVE": "power"}, {"SURVIVE": "os"}, {"SURVIVE": "os", "RUN": "yes"}])
def test_an_engine_without_a_grid_has_the_next_command(lab: Lab, given: dict[str, str]) -> None:
    said = lab.says("advise", **WHERE, **given, ENGINE="rocksdb")
    assert said.startswith("commitpath: ENGINE=rocksdb: `make advise` measures ENGINE=sqlite alone, or all ")
    assert "use ENGINE=any, with RUN=yes for missing runs" in said


def test_what_is_missing_is_named(lab: Lab) -> None:
    assert "FS and SURVIVE: missing; make advise takes FS=<filesystem>|any, " in lab.says("advise")
    assert "SURVIVE is process, os, power" in lab.says("advise", FS="f2fs", SURVIVE="luck")
    assert "JOBS=x: JOBS is a whole number" in lab.says("advise", FS="f2fs", SURVIVE="power", JOBS="x")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"MOUNT_OPTIONS": "foo"}, "MOUNT_OPTIONS=foo: f2fs may not be mounted with foo; "),
        ({"FS": "ext4-nojournal"}, "SURVIVE=power: FS=ext4-nojournal has no journal, "),
        ({"KERNEL": "tree:"}, "KERNEL=tree:: a path must follow the colon"),
        ({"LAB": "locale"}, "LAB=locale: did you mean local? it has no runs; there are local"),
    ],
)
def test_a_value_of_the_user_is_refused_by_the_name_of_its_variable(
    lab: Lab, given: dict[str, str], says: str
) -> None:
    assert lab.says("advise", **{**POWER, **given}).startswith(f"commitpath: {says}")


def test_shipped_runs_answer_where_this_lab_has_none(labs: Callable[[str], Lab], tmp_path: Path) -> None:
    """They are marked. A run of this lab is taken in place of the shipped one of its cell."""
    there, lab = labs("there"), labs("here")
    for place, cell in enumerate(SETTINGS):
        tried(there, cell, 100 + place, loses(cell))
    there.ok("results")
    path = tmp_path / "shipped.sqlite"
    there.ok("export", FILE=str(path), LAB=SHIPPED)
    lab.ok("import", FILE=str(path))
    why = "its files are not here, so its numbers could not be computed again"
    number = len(SETTINGS)
    out = lab.ok("advise", **POWER)
    assert f"¶ {number} of {number} runs: unverified: {why}" in unfolded(out)
    assert all(row[-1] == "¶" for row in rows(out))
    cell = next(cell for cell in SETTINGS if (cell.journal_mode, cell.synchronous) == ("wal", "full"))
    gone = tried(lab, cell, 5000, loses(cell))
    mixed = lab.ok("advise", **POWER)
    assert f"¶ {number - 1} of {number} runs: unverified" in mixed
    assert "Use MODE=wal SYNC=full: 5250.0 TPS" in mixed and rows(mixed)[0][-1] != "¶"
    assert "1 of 1 measured settings" in lab.ok("advise", **{**POWER, "SURVIVE": "os"}, LAB="local")
    any_device = {name: value for name, value in POWER.items() if name != "DEVICE"}
    assert f"no DEVICE was named: this is for {POWER['DEVICE']}\n" in lab.ok("advise", **any_device)
    # without its files it counts no more than any other of this lab
    shutil.rmtree(gone)
    again = lab.ok("advise", **POWER)
    note = f"  1 runs left out, 1: unverified: {why}"
    assert unfolded(note) in unfolded(again)
    assert unfolded(again).replace(f" {unfolded(note)}", "") == unfolded(out)
