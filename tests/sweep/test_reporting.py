"""Comparisons, report cards, set-up texts and advice, on synthetic runs."""

import csv
import itertools
import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from lab import Lab, edit, table_lines


def fill(lab: Lab, factor: float = 1.5, seeds: int = 4, boards: int = 1, **more: str) -> None:
    """Runs of two modes and two filesystems; wal is `factor` times delete."""
    for fs in ("ext4", "f2fs"):
        for seed, board in itertools.product(range(1, seeds + 1), range(1, boards + 1)):
            base = (50 if fs == "ext4" else 80) * (1 + 0.01 * seed + 0.001 * board)
            where = {"FS": fs, "SYNC": "extra", "SEED": str(seed), "BOARD_NUMBER": str(board)}
            lab.run(base, MODE="delete", **where, **more)
            lab.run(base * factor, MODE="wal", **where, **more)


def last(out: str) -> str:
    """The line over all cells for the rate of all operations."""
    return next(line for line in unfolded(out) if line.startswith("over ") and ", all: " in line)


def unfolded(out: str) -> list[str]:
    """The lines of an output, each in one."""
    return re.sub(r"\n  +", " ", out).splitlines()


def test_what_differs_has_an_interval_over_seeds_and_boards(lab: Lab, tmp_path: Path) -> None:
    fill(lab, seeds=3, boards=2)
    target = tmp_path / "c.csv"
    out = lab.ok("compare", A="mode=delete", B="mode=wal", FILE=str(target))
    assert "medians of tps, 2 matched cells, each with 3 seeds, 2 boards\n" in out
    (row,) = re.findall("^fs=f2fs\n  insert  (.*)", out, re.M)
    assert re.split("  +", row) == ["81.72", "122.6", "1.5", "1.5 to 1.5 (95%)", "different: B higher"]
    assert max(map(len, out.splitlines())) <= 80
    assert last(out) == "over 2 cells, all: different: B higher, B/A 1.5"
    assert "\nmargin: 1 %\n" in out and "‡" not in out
    (first, *_), (head, *_) = list(csv.DictReader(target.open())), target.read_text().splitlines()
    assert head == "cell,of,a,b,samples,ratio,low,high,confidence,margin,verdict,marks"
    assert len(first["a"].split()) == 6 and float(first["ratio"]) == pytest.approx(1.5)
    assert first["verdict"] == "different: B higher"


def test_equal_and_equal_within_the_margin(lab: Lab) -> None:
    fill(lab, factor=1.0)
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert last(out) == "over 2 cells, all: equal"
    assert "\nmargin: 1 %; BOARDS=1: the boards' spread is unknown\n" in out
    fill(lab, factor=1.001, PROBES="none")
    small = {"A": "mode=delete probes=none", "B": "mode=wal probes=none"}
    assert last(lab.ok("compare", **small)) == "over 2 cells, all: equal within the margin, B/A 1.001"
    assert "over 2 cells, all: different: B higher" in lab.ok("compare", **small, MARGIN="0.05")
    for margin in ("-1", "x", "101"):
        assert "MARGIN is a number from 0 to 100" in lab.says("compare", **small, MARGIN=margin)


def test_the_margin_is_at_least_what_boards_differ_by(lab: Lab) -> None:
    for board, tps in ((1, 100), (2, 104)):
        for seed in (1, 2, 3):
            for mode, factor in (("delete", 1), ("wal", 1.02)):
                lab.run(tps * factor, MODE=mode, SEED=str(seed), BOARD_NUMBER=str(board))
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert out.count("equal within the margin") == 4 and "different" not in out
    assert "margin: 1 %; in 4 of 4 rows the boards' spread, up to 3.922 %" in out


def test_cells_that_disagree_are_not_pooled(lab: Lab) -> None:
    for fs, sync, factor in (
        *(("ext4", sync, 1.2) for sync in ("full", "normal")),
        *(("f2fs", sync, 0.8) for sync in ("full", "normal")),
        *(("xfs", sync, 1.0) for sync in ("full", "normal")),
    ):
        for seed in (1, 2, 3):
            lab.run(50 + seed, FS=fs, SYNC=sync, PAGE_SIZE="4096", SEED=str(seed))
            lab.run((50 + seed) * factor, FS=fs, SYNC=sync, PAGE_SIZE="8192", SEED=str(seed))
    out = lab.ok("compare", A="page_size=4096", B="page_size=8192")
    assert last(out) == (
        "over 6 cells, all: depends on fs: B higher with fs=ext4-ordered (B/A 1.2); B lower with fs=f2fs "
        "(B/A 0.8); equal within the margin with fs=xfs (B/A 1)"
    )


def test_an_answer_may_depend_on_two_settings_together(lab: Lab) -> None:
    for fs, sync in itertools.product(("ext4", "f2fs"), ("full", "normal")):
        factor = 0.8 if (fs, sync) == ("f2fs", "normal") else 1.2
        for seed in (1, 2, 3):
            lab.run(50 + seed, FS=fs, SYNC=sync, PAGE_SIZE="4096", SEED=str(seed))
            lab.run((50 + seed) * factor, FS=fs, SYNC=sync, PAGE_SIZE="8192", SEED=str(seed))
    for size, tps in (("4096", 50), ("8192", 70)):
        lab.run(tps, FS="xfs", PAGE_SIZE=size)
    out = lab.ok("compare", A="page_size=4096", B="page_size=8192")
    assert last(out) == (
        "over 5 cells, all: depends on fs and synchronous: B higher with fs=ext4-ordered synchronous=full, "
        "fs=ext4-ordered synchronous=normal, fs=f2fs synchronous=full (B/A 1.2); B lower with fs=f2fs "
        "synchronous=normal (B/A 0.8); not decided in 1 of 5 cells"
    )
    assert "\nfs=xfs synchronous=full: 1 seed, 1 board\n" in out and ", 5 matched cells\n" in out


def test_of_several_cells_one_may_be_decided(lab: Lab) -> None:
    """The other one is on a device of the same name with another content: `#` stands before its hash."""
    for seed in (1, 2, 3):
        lab.run(50 + seed, PAGE_SIZE="4096", SEED=str(seed))
        lab.run((50 + seed) * 0.8, PAGE_SIZE="8192", SEED=str(seed))
    for size, tps in (("4096", 50), ("8192", 70)):
        lab.run(tps, PAGE_SIZE=size, device={"read_ns": 1})
    out = lab.ok("compare", A="page_size=4096", B="page_size=8192")
    assert last(out) == "over 2 cells, all: in the 1 decided of 2 cells: different: B lower, B/A 0.8 ¶"
    note = r"constant#[0-9a-f]{4}: runs have several contents of the profile constant; # begins a"
    assert sum(bool(re.match(note, line)) for line in unfolded(out)) == 1


def test_repeats_of_one_snapshot_count_once(lab: Lab) -> None:
    for _ in range(5):
        lab.run(50, MODE="delete")
        lab.run(60, MODE="wal")
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert "1 seed, 1 board" in out
    assert out.count(" not decided\n") == 4
    assert "\nnot decided: one seed on one board, in 4 of 4 rows\n" in out
    assert "mode=delete and mode=wal, A: 5 runs, 1 sample" in out
    for repeat in range(5):
        lab.run(50 + repeat, repeat=repeat, MODE="delete", CLOCK="real")
        lab.run(60 + repeat, repeat=repeat, MODE="wal", CLOCK="real")
    real = lab.ok("compare", A="mode=delete clock=real", B="mode=wal clock=real")
    assert "5/5 runs" in real and real.count("different: B higher") == 4 and "1 sample" not in real


def test_seeds_and_boards_can_be_compared_themselves(lab: Lab) -> None:
    fill(lab, seeds=3, boards=2)
    out = lab.ok("compare", A="board_number=1", B="board_number=2")
    assert "4 matched cells" in out and "3 seeds, 1 board" in out
    assert last(out) == "over 4 cells, all: equal within the margin, B/A 1.001"
    assert "2 matched cells" in lab.ok("compare", A="seed=1 mode=wal", B="seed=2 mode=wal")


def test_a_seed_that_only_one_side_has_is_left_out(lab: Lab) -> None:
    for seed in (1, 2, 3):
        lab.run(50 + seed, MODE="delete", SEED=str(seed))
    for seed in (3, 4):
        lab.run(60 + seed, MODE="wal", SEED=str(seed))
    out = lab.ok("compare", A="mode=delete", B="mode=wal")
    assert "1 seed, 1 board" in out
    lab.run(60, MODE="truncate", SEED="9")
    assert "A and B have no seed on the same board" in lab.ok("compare", A="mode=delete", B="mode=truncate")


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
        ({"qemu": "QEMU 7"}, {"qemu": "QEMU 8"}, "QEMU 7, QEMU 8"),
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
    found = [line for line in unfolded(out) if line.startswith("† ")]
    assert found == ([f"† not made by one and the same: {mark}"] if mark else [])
    row = next(line for line in out.splitlines() if line.startswith("mode=delete and mode=wal"))
    assert ("†" in row) == bool(mark)


def test_rejected_runs_do_not_count(lab: Lab) -> None:
    lab.run(50, MODE="delete")
    lab.run(60, MODE="wal", status="rejected")
    assert "B='mode=wal': no ok run is like that" in lab.says("compare", A="mode=delete", B="mode=wal")


def test_one_line_for_a_bad_comparison(lab: Lab) -> None:
    fill(lab, seeds=1)
    for variables, says in (
        ({"A": "mode=wal"}, "B: missing; make compare takes A="),
        ({"A": "mode=wal", "B": "mode=truncate"}, "'mode=truncate': no run has journal_mode=truncate"),
        ({"A": "mode=wal", "B": "kernel=6.1"}, "'kernel=6.1': no run has kernel=6.1 "),
        ({"A": "status=okay", "B": "mode=wal"}, "'status=okay': did you mean ok? no run has status=okay"),
        ({"A": "mode=wal", "B": "fs=*"}, "A and B have 2 runs in common; a run can be on one side only"),
        ({"A": "mode=delete fs=*", "B": "mode=wal fs=*"}, "fs is ext4-ordered, f2fs in one matched cell"),
    ):
        assert says in lab.says("compare", **variables)
    for term, near in (("mode=wall", "wal"), ("device_faults=EIO-WRITE:3", "eio-write")):
        assert f"commitpath: {term}: did you mean {near}? " in lab.says("results", WHERE=term)
    listed = lab.ok("results", WHERE="status=okay")
    assert listed.startswith("WHERE=status=okay: did you mean ok? no run has status=okay\n0 runs; ")


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
    assert re.findall("^(.*)\n  insert ", out, re.M) == ["fs=ext4-ordered", "fs=f2fs"]
    # nothing but a comparison of engines leaves an axis out, and no two modes are one cell's samples
    lab.run(40, FS="f2fs", MODE="delete")
    said = lab.says("compare", A="engine=sqlite", B="engine=leveldb")
    assert "journal_mode is delete, wal in one matched cell; name one of them" in said
    assert "2 matched cells" in lab.ok("compare", A="engine=sqlite mode=wal", B="engine=leveldb")
    assert "2 matched cells" in lab.ok("compare", A="fs=ext4", B="fs=f2fs")


def test_a_run_is_graded(lab: Lab) -> None:
    folder = lab.run(FS="f2fs", MODE="wal", SEED="1")
    card = lab.ok("report-card", FILE=str(folder))
    assert "grade: incomplete" in card
    assert "missing: spread" in card
    lab.run(110.0, FS="f2fs", MODE="wal", SEED="2")
    assert "grade: complete, 33 of 33 reported" in lab.ok("report-card", FILE=str(folder))
    delete = lab.run(FS="f2fs", MODE="delete")
    assert "does not apply" in lab.ok("report-card", FILE=str(delete))


def test_a_run_without_its_host_is_one_line(lab: Lab) -> None:
    folder = lab.recorded()
    (folder / "host.json").unlink()
    for call in (
        {"command": "report-card", "FILE": str(folder)},
        {"command": "setup-text", "RUN": str(folder)},
    ):
        done = lab.make(call.pop("command"), **call)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("commitpath: ") and "host.json: cannot be read (No such file" in last


def test_a_paper_is_graded(lab: Lab, tmp_path: Path) -> None:
    paper = tmp_path / "paper.yml"
    paper.write_text("source: a paper\nreported: {filesystem: ext4, journal_mode: WAL, kernel:}\n")
    card = lab.ok("report-card", FILE=str(paper))
    assert "grade: not comparable, 2 of 33 reported" in card
    assert max(map(len, card.splitlines())) <= 80
    assert "MISSING (essential)" in card


def test_a_run_of_another_folder_is_graded_and_a_missing_file_named(lab: Lab, tmp_path: Path) -> None:
    folder = lab.run(FS="f2fs", MODE="delete")
    own = lab.ok("report-card", FILE=str(folder))
    elsewhere = folder.rename(tmp_path / folder.name)
    card = lab.ok("report-card", FILE=str(elsewhere))
    assert card.replace(str(elsewhere), "") == own.replace(str(folder), "")
    assert "journal_mode was delete" in lab.ok("setup-text", RUN=str(elsewhere))
    said = lab.says("report-card", FILE="paper.yml")
    assert said == "commitpath: FILE=paper.yml: no such file, and no run of that name"


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
    assert "GRID=nothing: no ok run of it is here" in lab.says("setup-text", GRID="nothing")
    assert "not the folder of a run" in lab.says("setup-text", RUN=str(lab.results))
    watched = lab.results / "watched"
    watched.mkdir()
    (watched / "watch.json").write_text("{}")
    for call in (
        {"command": "setup-text", "RUN": str(watched)},
        {"command": "report-card", "FILE": str(watched)},
    ):
        assert "a watched command's run; only" in lab.says(call.pop("command"), **call)
    assert "takes one of RUN=" in lab.says("setup-text")


def test_a_runs_setup_fits_a_page(lab: Lab) -> None:
    out = lab.ok("setup-text", RUN=str(lab.recorded()))
    (lines,) = table_lines(out)
    assert 25 < lines < 50
    assert "\\item[Kernel command line] console=" in out and r"\item[Compile options]" in out


def test_setup_text_of_many_cells_lists_their_ids_once(lab: Lab) -> None:
    for seed, board in (("1", "1"), ("2", "1"), ("1", "2"), ("2", "2"), ("3", "1")):
        lab.run(SEED=seed, BOARD_NUMBER=board)
    text, _, table = lab.ok("setup-text", WHERE="rows=100").partition("begin{table}")
    assert "The ids of 1 cell, with each seed and board, are listed. Runs of each cell: 5 with " in text
    assert "5 with 3 seeds on 2 boards;" in text
    assert len(re.findall("v2[0-9a-f]{16}", table)) == 5 and not re.search("v2[0-9a-f]{16}", text)


def test_setup_text_names_board_device_and_emulator(lab: Lab) -> None:
    folder = lab.run(DEVICE="galaxy-nexus", CPU_NS="4")
    text = lab.ok("setup-text", RUN=str(folder))
    for words in (
        "commitpath abc on the board virtual (processor: 1 × Cortex-A72; memory: 3415 MiB; "
        "emulator: QEMU emulator version 7.2.22) under Linux 6.12.1-arm64, booted with "
        "`console=ttyAMA0 mitigations=off`. The database was on ext4 (made by mkfs.ext4 ",
        f"Cell: {json.loads((folder / 'summary.json').read_text())['cell_id']}. Runs of each cell",
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
    assert "as many ns as the next (2 and 4)" in both


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


# as an edit of experiments/device/constant.yml gives, and as an edit of its prose does
FASTER = {"geometry": {"completion_nsec": 1000}}


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
    why = "unverified: its files are not here, so its numbers could not be computed again"
    advice = lab.ok("advise", FS="f2fs", SURVIVE="process")
    assert f"1 runs left out, 1: {why}" in " ".join(advice.split())
    assert "Use MODE=wal SYNC=full: 105.0 TPS" in advice and "1 of 1 measured settings" in advice
    out = lab.ok("compare", A="mode=wal", B="mode=truncate")
    assert f"¶ B: {why}" in unfolded(out)
    assert "¶" in next(line for line in out.splitlines() if line.startswith("mode=wal and mode=truncate"))
    assert f"¶ 1 of 2 runs: {why}" in lab.ok("setup-text", WHERE="fs=f2fs").splitlines()
    assert "¶" not in lab.ok("report-card", FILE=str(kept))
    # its own profile's content under another's name
    other = lab.run(900, FS="f2fs", MODE="wal", DEVICE="emmc-5.0", device=FASTER)
    mark = "its device is not experiments/device/emmc-5.0.yml of here"
    said = lab.says("advise", FS="f2fs", SURVIVE="process", DEVICE="emmc-5.0")
    assert "no run is like them" in said
    assert f"¶ 1 of 1 runs: {mark}" in lab.ok("report-card", FILE=str(other)).splitlines()
