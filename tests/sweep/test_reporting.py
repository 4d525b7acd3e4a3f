"""Comparisons, report cards, set-up texts and advice, on synthetic runs."""

import csv
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
from lab import Lab, edit

from base.identity import contents
from commitpath.axes import axes
from commitpath.cell import make_cell
from commitpath.database.select import Run
from commitpath.identities import complete
from commitpath.reporting import facts
from commitpath.reporting.card import graded
from commitpath.reporting.compare import flat
from commitpath.reporting.items import items, values
from commitpath.reporting.marks import UNDURABLE, marks
from commitpath.reporting.setup import latex, merged, paragraph
from commitpath.results.query import unwatched

FACTS = {"status": "ok", "lab": "local", "uname": "6.12"}


def fill(lab: Lab, factor: float = 1.5, seeds: int = 4, **more: str) -> None:
    """Runs of two modes and two filesystems; wal is `factor` times delete."""
    for fs in ("ext4", "f2fs"):
        for seed in range(1, seeds + 1):
            base = (50 if fs == "ext4" else 80) * (1 + 0.01 * seed)
            lab.run(base, FS=fs, MODE="delete", SYNC="extra", SEED=str(seed), **more)
            lab.run(base * factor, FS=fs, MODE="wal", SYNC="extra", SEED=str(seed), **more)


def test_a_difference_is_found_in_each_matched_cell(lab: Lab) -> None:
    fill(lab)
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert "2 matched cells" in out
    line = next(line for line in out.splitlines() if line.startswith("fs=f2fs") and "insert" in line)
    assert "B higher" in line
    assert "1.5" in line
    assert "4/4" in line
    assert "over all 2 cells, all: median B/A 1.5" in out
    assert "B differs from A" in out
    assert "‡" not in out


def test_no_difference_is_said_where_there_is_none(lab: Lab) -> None:
    fill(lab, factor=1.001)
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    # in each of two cells and over both, for three operations and all
    assert out.count("no difference") == (2 + 1) * 4
    assert "B higher" not in out


def test_cells_without_a_counterpart_are_counted(lab: Lab) -> None:
    fill(lab)
    assert "left out" not in lab.ok("compare", A="mode=delete", B="mode=wal")
    lab.run(MODE="delete", N="77")
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    (line,) = [line for line in out.splitlines() if "left out" in line]
    assert line.startswith("left out: 1 of 3 cells of A, which the other has not: ") and "n=77" in line


def test_few_runs_are_too_few(lab: Lab) -> None:
    fill(lab, seeds=2)
    assert "too few runs to tell" in lab.ok("compare", A="mode=delete fs=f2fs", B="mode=wal fs=f2fs")


def test_one_seed_twice_in_virtual_time_is_one_measurement(lab: Lab) -> None:
    for _ in range(5):
        lab.run(50, MODE="delete")
        lab.run(60, MODE="wal")
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert "1/1" in out
    assert "too few runs" in out
    for repeat in range(5):
        lab.run(50 + repeat, repeat=repeat, MODE="delete", CLOCK="real")
        lab.run(60 + repeat, repeat=repeat, MODE="wal", CLOCK="real")
    assert "5/5" in lab.ok("compare", A="mode=delete clock=real", B="mode=wal clock=real")


def test_seeds_that_change_nothing_are_one_measurement(lab: Lab) -> None:
    for seed in range(1, 5):
        lab.run(50, MODE="delete", SEED=str(seed))
        lab.run(45, MODE="wal", SEED=str(seed))
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert "mode=delete and mode=wal, all, A: 4 runs, 1 distinct measurement" in out
    assert "mode=delete and mode=wal, all, B: 4 runs, 1 distinct measurement" in out
    assert "B lower" not in out
    assert "0.029" not in out
    rows = [line for line in out.splitlines() if line.startswith("mode=delete and mode=wal  ")]
    assert all("1/1" in line and "too few runs to tell" in line for line in rows)


def test_seeds_that_change_other_numbers_alone_are_one_measurement_of_a_metric(
    lab: Lab, tmp_path: Path
) -> None:
    fill(lab)
    target = tmp_path / "syncs.csv"
    out = lab.ok("compare", A="mode=delete", B="mode=wal", METRIC="syncs", FILE=str(target))
    assert "fs=f2fs, insert, A: 4 runs, 1 distinct measurement" in out
    rows = list(csv.DictReader(target.open()))
    assert {(row["n_a"], row["n_b"], row["p"]) for row in rows} == {("1", "1", "")}
    # half of the seeds change something
    for seed, tps in ((1, 70), (2, 70), (3, 71), (4, 71)):
        for mode in ("delete", "wal"):
            lab.run(tps * (1 + (mode == "wal")), MODE=mode, FS="xfs", SEED=str(seed))
    out = lab.ok("compare", A="mode=delete fs=xfs", B="mode=wal fs=xfs")
    assert "mode=delete fs=xfs and mode=wal fs=xfs, all, A: 4 runs, 2 distinct measurements" in out
    assert "B higher" not in out


def test_on_a_real_clock_equal_numbers_are_measurements(lab: Lab) -> None:
    for repeat in range(4):
        lab.run(50 + repeat, repeat=repeat, MODE="delete", CLOCK="real")
        lab.run(60 + repeat, repeat=repeat, MODE="wal", CLOCK="real")
    out = lab.ok("compare", A="mode=delete", B="mode=wal", METRIC="syncs")
    assert "4/4" in out
    assert "distinct" not in out


def test_unequal_durability_and_counts_are_marked(lab: Lab) -> None:
    lab.run(50, MODE="delete", SYNC="extra")
    lab.run(500, MODE="wal", SYNC="normal", N="100")
    out = lab.ok("compare", A="mode=delete sync=extra n=10", B="mode=wal sync=normal n=100")
    assert "‡ unequal durability: after a crash of the system" in out
    assert "§ unequal transaction counts: A 30, B 300" in out
    row = next(line for line in out.splitlines() if line.startswith("mode=delete sync=extra n=10 and "))
    assert "‡" in row and "§" in row


@pytest.mark.parametrize(
    ("one", "other", "mark"),
    [
        ({}, {}, None),
        ({"commitpath_commit": "a"}, {"commitpath_commit": "b"}, "commitpath a, commitpath b"),
        ({"commitpath_commit": "a-dirty"}, {"commitpath_commit": "a-dirty"}, "commitpath a-dirty"),
        ({"qemu": "QEMU 7"}, {"qemu": "QEMU 8"}, "QEMU 7, QEMU 8"),
        ({"qemu": "QEMU 7"}, {}, None),
    ],
)
def test_runs_that_others_made_are_marked(
    lab: Lab, one: dict[str, str], other: dict[str, str], mark: str | None
) -> None:
    for mode, changes in (("delete", one), ("wal", other)):
        folder = lab.run(50, MODE=mode)
        host = json.loads((folder / "host.json").read_text())
        host = {name: of for name, of in host.items() if name != "qemu"} | changes
        (folder / "host.json").write_text(json.dumps(host))
        told = {name: of for name, of in host.items() if name != "raw_sha256"}
        edit(folder / "manifest.json", host=told)
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    found = [line for line in out.splitlines() if line.startswith("† ")]
    assert found == ([f"† not made by one and the same: {mark}"] if mark else [])
    row = next(line for line in out.splitlines() if line.startswith("mode=delete and mode=wal"))
    assert ("†" in row) == bool(mark)


def test_rejected_runs_do_not_count(lab: Lab) -> None:
    lab.run(50, MODE="delete")
    lab.run(60, MODE="wal", status="rejected")
    assert "B='mode=wal': no ok run is like that" in lab.says("compare", A="mode=delete", B="mode=wal")


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"A": "mode=wal"}, "make compare takes A="),
        ({"A": "mode=wall", "B": "mode=wal"}, "MODE is delete"),
        ({"A": "flavour=1", "B": "mode=wal"}, "unknown name"),
        ({"A": "mode=wal", "B": "mode=truncate"}, "no ok run is like that"),
        ({"A": "mode=wal", "B": "mode=wal"}, "name the same runs"),
        ({"A": "mode=*", "B": "fs=f2fs"}, "name the same runs"),
        ({"A": "mode=delete fs=*", "B": "mode=wal fs=*"}, "fs is ext4-ordered, f2fs in one matched cell"),
        ({"A": "mode=delete fs=ext4", "B": "sync=extra fs=f2fs mode=wal n=10", "METRIC": "x"}, "METRIC=x"),
    ],
)
def test_one_line_for_a_bad_comparison(lab: Lab, variables: dict[str, str], says: str) -> None:
    fill(lab, seeds=1)
    assert says in lab.says("compare", **variables)


def test_one_name_of_a_kernel_is_not_two_releases(lab: Lab) -> None:
    lab.run(50)
    for seed, release in (("1", "7.3.4+deb13-arm64"), ("2", "7.4.1+deb13-arm64")):
        path = lab.run(60, KERNEL="7.x", PROBES="none", SEED=seed) / "manifest.json"
        board = json.loads(path.read_text())["board"]
        edit(path, board=board | {"kernel": f"Linux board {release} #1 SMP aarch64"})
    says = lab.says("compare", A="kernel=6.12 probes=*", B="kernel=7.x probes=*")
    assert "kernel is 7.x (7.3), 7.x (7.4) in one matched cell; name one of them (uname=7.3*)" in says
    assert "1 matched cell" in lab.ok("compare", A="kernel=6.12 probes=*", B="kernel=7.x uname=7.3* probes=*")


def test_cells_that_match_nowhere_say_what_differs(lab: Lab) -> None:
    lab.run(50, MODE="delete", ROWS="100")
    lab.run(60, MODE="wal", ROWS="200")
    assert "they also differ in rows" in lab.says("compare", A="mode=delete", B="mode=wal")


def test_two_engines_are_compared_over_the_axes_that_both_have(lab: Lab) -> None:
    for fs in ("ext4", "f2fs"):
        lab.run(50, FS=fs, MODE="wal")
        lab.run(80, FS=fs, ENGINE="leveldb")
    out = lab.ok("compare", A="engine=sqlite", B="engine=leveldb")
    assert "2 matched cells" in out
    assert {line.split("  ")[0] for line in out.splitlines() if " insert " in line} == {
        "fs=ext4-ordered",
        "fs=f2fs",
    }
    # nothing but a comparison of engines leaves an axis out, and no two modes are one cell's samples
    lab.run(40, FS="f2fs", MODE="delete")
    said = lab.says("compare", A="engine=sqlite", B="engine=leveldb")
    assert "journal_mode is delete, wal in one matched cell; name one of them" in said
    assert "2 matched cells" in lab.ok("compare", A="engine=sqlite mode=wal", B="engine=leveldb")
    assert "2 matched cells" in lab.ok("compare", A="fs=ext4", B="fs=f2fs")


def test_a_comparison_as_csv(lab: Lab, tmp_path: Path) -> None:
    fill(lab)
    target = tmp_path / "c.csv"
    lab.ok("compare", A="mode=delete", B="mode=wal", METRIC="tps", FILE=str(target))
    lines = target.read_text().splitlines()
    assert lines[0].startswith("cell,of,a,b,n_a,n_b,ratio")
    assert len(lines) == 1 + 2 * 4


def test_a_value_of_zero_is_shown_without_a_ratio(lab: Lab, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        lab.run(SYNC="off", SEED=seed, bytes_written=0)
        lab.run(SYNC="full", SEED=seed, bytes_written=7)
        for sync in ("off", "full"):
            lab.run(SYNC=sync, SEED=seed, FS="f2fs", bytes_written=7)
    target = tmp_path / "c.csv"
    out = lab.ok("compare", A="sync=off", B="sync=full", METRIC="block.bytes_written", FILE=str(target))
    line = next(line for line in out.splitlines() if line.startswith("fs=ext4"))
    assert line.split()[1:] == ["bytes_written", "0", "7", "1/1", "-", "-", "-", "no", "ratio", "‡"]
    assert "1 of 2 rows without a ratio: a value of A or B is 0 or less" in out
    assert ",0.0,7.0,1,1,,,,,,no ratio," in target.read_text()


def test_any_operation_is_found() -> None:
    summary = {
        "tps": {"select_scan": 2.0, "all": 1.0},
        "per_transaction": {"select_scan": {"flushes": 0.5, "fua": 0.0}},
    }
    assert flat(summary, "per_transaction.flushes") == {"select_scan": 0.5}
    assert flat(summary, "tps") == summary["tps"]


def test_a_run_is_graded(lab: Lab) -> None:
    folder = lab.run(FS="f2fs", MODE="wal", SEED="1")
    card = lab.ok("report-card", FILE=str(folder))
    assert "grade: incomplete" in card
    assert "missing: spread" in card
    lab.run(110.0, FS="f2fs", MODE="wal", SEED="2")
    assert "grade: complete, 33 of 33 reported" in lab.ok("report-card", FILE=str(folder))
    delete = lab.run(FS="f2fs", MODE="delete")
    assert "does not apply" in lab.ok("report-card", FILE=str(delete))


def test_a_paper_is_graded(lab: Lab, tmp_path: Path) -> None:
    paper = tmp_path / "paper.yml"
    paper.write_text("source: a paper\nreported: {filesystem: ext4, journal_mode: WAL, kernel:}\n")
    card = lab.ok("report-card", FILE=str(paper))
    assert "grade: not comparable, 2 of 33 reported" in card
    assert "MISSING (essential)" in card


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("reported: {}", "needs source and reported"),
        ("source: x\nreported: {flavour: sweet}", "reported.flavour: unknown item; there are journal_mode"),
        ("source: x\nreported: {journal_mode: wall}", "journal_mode: wall: it is delete"),
        ("source: x\nreported: {synchronous: off}", "quote it"),
        ("source: x\nreported: [a]", "one `item: value` a line"),
    ],
)
def test_one_line_for_a_bad_paper(lab: Lab, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "paper.yml").write_text(text)
    assert says in lab.says("report-card", FILE=str(tmp_path / "paper.yml"))


def test_setup_text_of_a_run_and_of_many(lab: Lab) -> None:
    folder = lab.run(FS="f2fs", MODE="delete")
    one = lab.ok("setup-text", RUN=str(folder))
    assert "journal_mode was delete" in one
    assert "wal_autocheckpoint" not in one
    assert r"journal\_mode & delete \\" in one
    lab.run(FS="ext4", MODE="wal", SYNC="normal")
    many = lab.ok("setup-text", WHERE="rows=100")
    assert "journal_mode was delete and wal" in many
    assert "wal_autocheckpoint 1000 frames" in many
    assert "combinations" not in one
    told = "Of the 8 combinations of these values 2 were run: "
    assert told in many
    assert "fs f2fs, journal_mode delete, synchronous full" in many
    for mode, sync in (("wal", "full"), ("delete", "normal")):
        lab.run(FS="ext4", MODE=mode, SYNC=sync)
    part = lab.ok("setup-text", WHERE="fs=ext4*")
    assert "Of the 4 combinations of these values 3 were run: " in part
    lab.run(FS="ext4", MODE="delete", SYNC="full")
    assert "combinations" not in lab.ok("setup-text", WHERE="fs=ext4*")
    assert "no ok run is like that" in lab.says("setup-text", GRID="nothing")
    assert "not the folder of a run" in lab.says("setup-text", RUN=str(lab.results))
    assert "takes one of RUN=" in lab.says("setup-text")


def test_of_a_file_of_sql_no_table_is_told_that_it_does_not_have() -> None:
    """rows and value_size are at their default where a file makes its own."""
    known = {"population": "0", "value_size": "1"}
    for workload, told in (("sql", set()), ("apsys17", set(known))):
        found = merged([("sqlite", {"workload": workload, **known})])
        assert {item.name for item, _ in found} & known.keys() == told


def test_setup_text_names_board_device_and_emulator(lab: Lab) -> None:
    folder = lab.run(DEVICE="galaxy-nexus", CPU_NS="4")
    text = lab.ok("setup-text", RUN=str(folder))
    for words in (
        "commitpath abc on the board virtual (processor: 1 × Cortex-A72; memory: 3415 MiB; "
        "emulator: QEMU emulator version 7.2.22) under Linux 6.12.1-arm64, booted with "
        "`console=ttyAMA0 mitigations=off`. The database was on ext4 (made by mkfs.ext4 ",
        "(e2fsprogs 1.47.2-3); I/O scheduler: none), mounted with ",
        "before the workload apsys17 (seed 1), which ran 10 transactions",
        f"Cell: {json.loads((folder / 'summary.json').read_text())['cell_id']}. Runs of each cell",
        "on the device galaxy-nexus (flashsim: eMMC 4.41 of a Galaxy Nexus, no cache control, block-mapped, "
        "slow in random writes; its parameters are in the table)",
        "every instruction counts as many ns as the next (4), on one emulated core; caches, branch "
        "prediction, DVFS and further cores are left out. The emulated CPU's share of a transaction's time "
        "is not known, as none of the runs was watched for it.",
        r"fua\_ns=8700000, merge\_ns=5000000",
    ):
        assert words in text, words
    watched = lab.run(DEVICE="galaxy-nexus", MODE="wal")
    shares = {"insert": 0.05, "update": 0.07, "delete": 0.06, "all": 0.0612}
    per_transaction = {key: {"WAL": 10000.0} for key in shares}
    ledger = {"bytes": {"WAL": 300_000}, "unattributed_share": 0.0, "per_transaction": per_transaction}
    edit(watched / "summary.json", cpu_share=shares, ledger=ledger)
    assert "time is 6.1 %. All settings" in lab.ok("setup-text", RUN=str(watched))
    both = lab.ok("setup-text", WHERE="device=galaxy-nexus")
    assert "time is 6.1 % (1 of 2 runs were not watched for it)" in both
    assert "as many ns as the next (4 and 2)" in both


@pytest.mark.parametrize(
    ("where", "item", "words"),
    [
        ("board.cpuinfo", "processor", "processor: missing"),
        ("board.meminfo", "memory", "memory: missing"),
        ("clock.instruction_ps", "cpu_ns", "as many ns as the next (missing)"),
        ("device.parameters", "device_parameters", r"Device parameters & missing \\"),
        ("sqlite.version", "sqlite_version", "We ran SQLite missing"),
    ],
)
def test_what_a_run_does_not_say_is_said_to_be_missing(where: str, item: str, words: str, lab: Lab) -> None:
    """And never filled in. A run that the database refuses for it is none of these."""
    folder = lab.run()
    told = json.loads((folder / "manifest.json").read_text())
    part, name = where.split(".")
    del told[part][name]
    cell = json.loads((folder / "cell.json").read_text())
    run = Run({**cell, "seed": 1}, FACTS, frozenset(), None, (), complete(cell), cell,
              json.loads((folder / "summary.json").read_text()), {"manifest": json.dumps(told)})  # fmt: skip
    said = values(run, [])
    assert item not in said
    found = merged([("sqlite", said)])
    assert words in paragraph(found, [run]) + "\n".join(latex(found))
    assert any(re.match(rf"  {item} +MISSING", line) for line in graded(said, items("sqlite")))


def test_the_setup_of_a_run_from_before_cpu_ns(lab: Lab) -> None:
    text = lab.ok("setup-text", RUN=str(lab.recorded()))
    assert "as many ns as the next (missing)" in text
    assert "time is 7.1 %" in text
    assert "QEMU emulator version 7.2.22 (Debian" in text
    assert "completion\\_nsec=2000000" in text


def test_a_lab_board_is_not_emulated(lab: Lab) -> None:
    folder = lab.run(CLOCK="real", BOARD="bench", DEVICE="own", PROBES="none")
    card = lab.ok("report-card", FILE=str(folder))
    for item in ("emulator", "clock", "cpu_ns"):
        assert re.search(rf"^  {item} +does not apply$", card, re.M), item
    assert re.search("^  device_model +MISSING", card, re.M)
    text = lab.ok("setup-text", RUN=str(folder))
    assert "emulator" not in text and "virtual" not in text
    told = json.loads((folder / "manifest.json").read_text())
    edit(folder / "manifest.json", device=told["device"] | {"parameters": {"model": "MMC 16G", "size": "7"}})
    assert "on the device own (MMC 16G; its" in lab.ok("setup-text", RUN=str(folder))


def test_processors_and_memory_are_read() -> None:
    assert (
        facts.processor("processor: 0\nmodel name : A CPU\n\nprocessor: 1\nmodel name : A CPU") == "2 × A CPU"
    )
    assert facts.processor("processor: 0\nCPU implementer: 0x51\nCPU part: 0x804") == (
        "1 × implementer 0x51, part 0x804"
    )
    assert facts.processor("Hardware: none") is None
    assert facts.memory("MemFree: 7 kB") is None


def test_a_run_reports_what_its_engine_has(lab: Lab) -> None:
    folder = lab.run(ENGINE="leveldb", SYNC="off", SEED="1")
    lab.run(110.0, ENGINE="leveldb", SYNC="off", SEED="2")
    card = lab.ok("report-card", FILE=str(folder))
    assert "grade: complete" in card
    assert re.search("leveldb_version +1.23\n", card) and re.search("sync +off\n", card)
    assert "journal_mode" not in card
    text = lab.ok("setup-text", RUN=str(folder))
    assert "We ran LevelDB 1.23, with compression none. The sync of each write was off." in text
    assert "SQLite" not in text
    lab.run(ENGINE="sqlite", MODE="delete")
    both = lab.ok("setup-text", WHERE="rows=100")
    assert "We ran LevelDB 1.23" in both and "We ran SQLite 3." in both
    assert "wal_autocheckpoint" not in both


@pytest.mark.parametrize("engine", sorted(axes()["engine"].choices()))
def test_each_item_of_a_run_has_a_name_of_its_own(engine: str) -> None:
    names = [item.name for item in items(engine)]
    assert len(names) == len(set(names))


def test_advice_is_the_pareto_set_of_what_keeps_the_promise(lab: Lab) -> None:
    for tps, written, mode, sync in (
        (40, 900_000, "delete", "extra"),
        (50, 800_000, "delete", "full"),
        (100, 300_000, "wal", "full"),
        (90, 200_000, "truncate", "full"),
        (70, 400_000, "persist", "full"),
        (900, 100_000, "wal", "normal"),
    ):
        lab.run(tps, FS="f2fs", MODE=mode, SYNC=sync, bytes_written=written)
    system = lab.ok("advise", FS="f2fs", SURVIVE="os")
    listed = [line.split("  ")[0] for line in system.splitlines()[1:-1]]
    assert listed == ["journal_mode=wal synchronous=full", "journal_mode=truncate synchronous=full"]
    assert "50% more flash wear" in system
    assert "10% of the fastest's speed" in system
    assert (
        "6 settings measured, 4 keep the promise (SURVIVE=os, 0 by trials, the others by what they promise), "
        "2 of these are beaten"
    ) in system
    process = lab.ok("advise", FS="f2fs", SURVIVE="process")
    assert "journal_mode=wal synchronous=normal" in process
    assert "after a power failure: consistent, but" in process
    assert "wal synchronous=normal" in lab.ok("advise", FS="f2fs", SURVIVE="os", LOSS="recent")
    none = lab.says("advise", FS="ext4", SURVIVE="process")
    assert "no ok run of lab local with FS=ext4; RUN=yes makes them (make sweep GRID=advise FS=ext4)" in none
    assert "SURVIVE is process, os, power" in lab.says("advise", FS="f2fs", SURVIVE="luck")


def test_advice_is_of_one_lab(lab: Lab, labs: Callable[[str], Lab], tmp_path: Path) -> None:
    lab.run(100, FS="f2fs", MODE="wal")
    there = labs("there")
    there.run(9999, FS="f2fs", MODE="wal")
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="there")
    lab.ok("import", FILE=str(tmp_path / "t.sqlite"))
    assert "journal_mode=wal synchronous=full       105.0" in lab.ok("advise", FS="f2fs", SURVIVE="process")
    assert "journal_mode=wal synchronous=full     10499.0" in lab.ok(
        "advise", FS="f2fs", SURVIVE="process", LAB="there"
    )
    mars = lab.says("advise", FS="f2fs", SURVIVE="process", LAB="mars")
    assert "no ok run of lab mars" in mars and "RUN=yes" not in mars  # which makes runs of this lab


def test_one_run_that_has_no_bytes_hides_no_setting(lab: Lab) -> None:
    lab.run(100, FS="f2fs", MODE="wal", SEED="1")
    lab.run(100, FS="f2fs", MODE="wal", SEED="2", bytes_written=0)
    assert "1 settings measured" in lab.ok("advise", FS="f2fs", SURVIVE="process")


# as an edit of experiments/device/constant.yml gives, and as an edit of its prose does
FASTER = {"geometry": {"completion_nsec": 1000}}
REWORDED = {"description": "the same device in other words", "sources": []}


def test_two_contents_of_a_profile_are_two_settings(lab: Lab) -> None:
    for seed, tps in (("1", 100), ("2", 110)):
        lab.run(tps, FS="f2fs", MODE="wal", SEED=seed)
        lab.run(tps, FS="f2fs", MODE="delete", SYNC="extra", SEED=seed)
    one = lab.run(105, FS="f2fs", MODE="wal", SEED="3", device=REWORDED)
    assert "device=constant " in lab.ok("results")
    assert re.search("repeats +3 with 3 seeds", lab.ok("report-card", FILE=str(one)))
    other = lab.run(700, FS="f2fs", MODE="wal", SEED="4", device=FASTER)
    listed = lab.ok("results")
    assert "device=" not in listed.splitlines()[0]
    names = sorted(set(re.findall("constant#[0-9a-f]{4}(?= )", listed)))
    assert len(names) == 2 and listed.count(names[0]) + listed.count(names[1]) == 6
    # a selector takes the name, or one of its contents
    assert "6 runs" in lab.ok("results", WHERE="device=constant")
    faster = next(name for name in names if "1 runs" in lab.ok("results", WHERE=f"device={name}"))
    (slower,) = set(names) - {faster}
    # what would pool or pair them
    assert re.search("repeats +3 with 3 seeds", lab.ok("report-card", FILE=str(one)))
    assert re.search("repeats +1 with 1 seed", lab.ok("report-card", FILE=str(other)))
    out = lab.ok("compare", A="mode=delete sync=extra", B="mode=wal sync=full")
    assert "1 matched cell\n" in out and "2/3" in out
    assert f"device is {', '.join(names)} in one matched cell" in lab.says(
        "compare", A="mode=delete sync=extra", B="device=constant mode=wal sync=full"
    )
    assert f"they also differ in device ({', '.join(names)})" in lab.says("compare", A="seed=3", B="seed=4")
    assert "two contents of one name; say which, such as device=constant#" in lab.says(
        "compare", A="seed=3 device=constant", B="seed=4 device=constant"
    )
    assert "B/A" in lab.ok("compare", A=f"seed=3 device={slower}", B=f"seed=4 device={faster}")
    advice = lab.ok("advise", FS="f2fs", SURVIVE="process", DEVICE="constant")
    assert "(1 runs left out, 1: its device is not experiments/device/constant.yml of here)" in advice
    assert "735.0" not in advice
    assert "735.0" in lab.ok("advise", FS="f2fs", SURVIVE="process", DEVICE=faster)
    assert "database was on f2fs" in (text := lab.ok("setup-text", WHERE="fs=f2fs"))
    assert all(name in text for name in names)


def test_another_labs_content_is_another_cell(lab: Lab, labs: Callable[[str], Lab], tmp_path: Path) -> None:
    lab.run(100, MODE="wal")
    there = labs("there")
    there.run(700, MODE="wal", device=FASTER)
    there.ok("export", FILE=str(tmp_path / "t.sqlite"), LAB="there")
    lab.ok("import", FILE=str(tmp_path / "t.sqlite"))
    assert "they also differ in device (constant#" in lab.says("compare", A="lab=local", B="lab=there")


def test_an_axis_that_is_not_known_is_another_cell(lab: Lab) -> None:
    lab.run(100, MODE="wal")
    lab.run(100, MODE="delete", turbo="on")
    assert "they also differ in turbo" in lab.says("compare", A="mode=wal", B="mode=delete")


def test_the_watched_run_of_a_cell_has_its_contents() -> None:
    cell = make_cell({"N": "10"})
    device = cell["profiles"]["device"]
    for change, same in ((REWORDED, True), (FASTER, False)):
        other = {**cell, "n": 20, "profiles": {**cell["profiles"], "device": {**device, **change}}}
        assert (contents(other) == contents(cell)) is same
        assert (unwatched(other) == unwatched(cell)) is same


def test_durability_is_that_in_effect() -> None:
    def run(*options: str) -> Run:
        manifest = {
            "sqlite": {"effective": {"journal_mode": "wal", "synchronous": "full"}},
            "filesystem": {"mount": {"fs": "f2fs", "options": ["rw", *options]}},
        }
        documents = {"manifest": json.dumps(manifest)}
        summary = {"tps": {"all": 10.0}, "virtual_seconds": 3.0}
        cell = make_cell({"MODE": "wal"})
        return Run({}, {}, frozenset(), None, (), cell, cell, summary, documents)

    assert marks(run(), run("relatime")) == {}
    assert marks(run(), run("nobarrier")) == {
        UNDURABLE: "unequal durability: after a power failure: A every committed transaction survives, "
        "B the database may be corrupt"
    }


def test_a_rejected_run_is_told_as_such(lab: Lab) -> None:
    folder = str(lab.run(100, status="rejected"))
    assert f"{folder}  REJECTED, its numbers do not count: 2 events lost" in lab.ok(
        "report-card", FILE=folder
    )
    assert f"RUN={folder}: rejected: 2 events lost; a set-up is told" in lab.says("setup-text", RUN=folder)


def test_marked_runs_are_left_out_or_told(lab: Lab) -> None:
    """One whose folder is gone, with another rate than it had; one on another device than it is called."""
    kept = lab.run(100, FS="f2fs", MODE="wal")
    gone = lab.run(100, FS="f2fs", MODE="truncate")
    lab.ok("results")
    shutil.rmtree(gone)
    with sqlite3.connect(lab.results / "results.sqlite") as connection:
        statement = (
            "UPDATE run SET summary = json_set(summary, '$.tps.insert', 10000.0, '$.tps.update', 11000.0, "
            "'$.tps.delete', 12000.0, '$.tps.all', 10500.0, '$.virtual_seconds', 30 / 10500.0) "
            "WHERE journal_mode = 'truncate'"
        )
        connection.execute(statement)
    connection.close()
    why = "its folder is not here, so nothing holds its numbers"
    advice = lab.ok("advise", FS="f2fs", SURVIVE="process")
    assert f"(1 runs left out, 1: {why})" in advice
    assert "truncate" not in advice and "105.0" in advice
    out = lab.ok("compare", A="mode=wal", B="mode=truncate")
    assert f"¶ B: {why}" in out.splitlines()
    assert "¶" in next(line for line in out.splitlines() if line.startswith("mode=wal and mode=truncate"))
    assert f"¶ 1 of 2 runs: {why}" in lab.ok("setup-text", WHERE="fs=f2fs").splitlines()
    assert "¶" not in lab.ok("report-card", FILE=str(kept))
    # its own profile's content under another's name
    other = lab.run(900, FS="f2fs", MODE="wal", DEVICE="emmc-5.0", device=FASTER)
    mark = "its device is not experiments/device/emmc-5.0.yml of here"
    said = lab.says("advise", FS="f2fs", SURVIVE="process", DEVICE="emmc-5.0")
    assert "no ok run of lab local" in said and f"1 runs left out, 1: {mark}" in said
    assert f"¶ 1 of 1 runs: {mark}" in lab.ok("report-card", FILE=str(other)).splitlines()


def test_a_marked_run_does_not_count_for_a_cell(lab: Lab) -> None:
    lab.run(MODE="wal", PROBES="none")
    lab.run(MODE="delete", PROBES="none")
    lab.ok("results")
    shutil.rmtree(next(lab.results.glob("*-delete-*")))
    lab.ok("results")
    command = (
        "from commitpath.database import store; from commitpath.results import query\n"
        "results = query.read(store.DATABASE)\n"
        "for run in results.every:\n"
        "    print(run.settings['journal_mode'], results.find(run.cell).reason)\n"
        "print(len(results.left_out))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "COMMITPATH_RESULTS": str(lab.results)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    why = "left out: its folder is not here, so nothing holds its numbers"
    assert sorted(done.stdout.splitlines()) == ["1", f"delete {why}", "wal None"]
