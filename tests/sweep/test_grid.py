"""Grids: what they mean, and one clear line for each way to be wrong."""

import json
from pathlib import Path

import pytest
from lab import Lab, one_line

from base.errors import BadInputError
from commitpath.cells import grid
from commitpath.cells.samples import Sampling
from commitpath.sweep import drive, sweep_plan

SMALL = "constants: {rows: 100, n: 5}\n"


def expand(folder: Path, text: str, sampling: Sampling = grid.GRIDS_OWN) -> grid.Expanded:
    """A grid of this text."""
    path = folder / "g.yml"
    path.write_text("description: a grid of a test\n" + text)
    return grid.expand(str(path), sampling=sampling)


def test_every_grid_expands() -> None:
    for name in grid.names():
        assert grid.expand(name).runs


def test_product_variants_seeds_and_repeats(tmp_path: Path) -> None:
    found = expand(
        tmp_path,
        SMALL + "axes: {fs: [ext4, f2fs]}\nvariants: [{mode: wal, sync: normal}, {mode: delete}]\n"
        "seeds: [1, 2, 3]\nrepeats: 2\n",
    )
    assert len(found.runs) == 2 * 2 * 3 * 2
    assert len({run.key for run in found.runs}) == len(found.runs)
    assert {(run.cell.journal_mode, run.cell.synchronous) for run in found.runs} == {
        ("wal", "normal"),
        ("delete", "full"),
    }
    assert {run.cell.rows for run in found.runs} == {100}


def test_seeds_and_boards_of_each_cell(tmp_path: Path) -> None:
    text = SMALL + "axes: {fs: [ext4, f2fs]}\nseeds: [5, 9]\n"
    runs = expand(tmp_path, text, Sampling(repeats=2, seeds=3, boards=2)).runs
    assert len(runs) == 2 * 2 * 3 * 2
    # counted from the grid's first seed on
    assert {(run.cell.seed, run.cell.board_number) for run in runs} == {
        *((seed, board) for seed in (5, 6, 7) for board in (1, 2))
    }
    assert {(run.first.seed, run.first.board_number, run.first.fs == run.cell.fs) for run in runs} == {
        (5, 1, True)
    }
    planned, _ = sweep_plan.merge([expand(tmp_path, text, Sampling(boards=2))])
    assert len(planned) == 8
    # a board's seeds start from one snapshot
    assert len({run.group for run in planned.values()}) == 4
    assert {run.cell.seed for run in expand(tmp_path, text).runs} == {5, 9}


def test_shuffled_is_the_same_set_in_one_other_order(tmp_path: Path) -> None:
    text = SMALL + "axes: {mode: [wal, delete, truncate, persist], sync: [normal, full]}\n"
    listed = [run.key for run in expand(tmp_path, text).runs]
    shuffled = [run.key for run in expand(tmp_path, text + "order: shuffled\n").runs]
    assert sorted(listed) == sorted(shuffled)
    assert listed != shuffled
    assert shuffled == [run.key for run in expand(tmp_path, text + "order: shuffled\n").runs]


def test_a_run_that_two_grids_ask_for_stands_once(tmp_path: Path) -> None:
    one = expand(tmp_path, SMALL + "axes: {mode: [wal, delete]}\n")
    (tmp_path / "h.yml").write_text("description: another\n" + SMALL + "axes: {mode: [wal, truncate]}\n")
    runs, _ = sweep_plan.merge([one, grid.expand(str(tmp_path / "h.yml"))])
    assert len(runs) == 3
    assert sorted(run.grids for run in runs.values()) == [("g",), ("g", "h"), ("h",)]


def test_a_grid_of_grids(tmp_path: Path) -> None:
    runs, _ = sweep_plan.merge([expand(tmp_path, "grids: [quick]\n")])
    assert {run.grids for run in runs.values()} == {("quick",)}


def test_excluded_with_its_reason(tmp_path: Path) -> None:
    found = expand(
        tmp_path,
        SMALL + "axes: {sqlite: [3.46.1, 3.8.11.1], sync: [full, extra]}\n"
        "exclude: [{where: {sqlite: [3.8.11.1], sync: extra}, reason: EXTRA came with 3.12}]\n",
    )
    assert len(found.runs) == 3
    assert [entry.reason for entry in found.excluded] == ["EXTRA came with 3.12"]
    assert found.excluded[0].settings["sqlite"] == "3.8.11.1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("axes: {fs: [ext5]}", "FS=ext5: did you mean ext4? FS is btrfs-nocow, btrfs, ext4-journal"),
        ("axes: {mode: [wal, wal]}", "has non-unique elements"),
        ("{}", "not a grid"),
        ("axes: {sync: [off, full]}", "False is neither text nor a whole number"),
        ("axes: {seed: [1, 2]}", "seed: unknown axis; set seeds instead"),
        ("axes: {mode: [wal]}\nvariants: [{mode: delete}]", "mode: it is among the axes already"),
        ("axes: {sqlite: [3.8.11.1], sync: [extra]}", "SQLite 3.8.11.1 has no synchronous=EXTRA"),
        (
            "axes: {mode: [wal]}\nexclude: [{where: {mode: wal}, reason: not wanted today}]",
            "no cell is left: all 1 are excluded",
        ),
        (
            "axes: {mode: [wal]}\nexclude: [{where: {mode: delete}, reason: not wanted today}]",
            "no cell of this grid is like that",
        ),
        ("grids: [nonsense]", "GRID=nonsense: no such grid; it is one of"),
        ("axes: {mode: [wal", "expected ',' or ']'"),
    ],
)
def test_one_line_for_a_bad_grid(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInputError) as caught:
        if text == "{}":
            (tmp_path / "g.yml").write_text("[]")
            grid.expand(str(tmp_path / "g.yml"))
        else:
            expand(tmp_path, text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_made_before_the_grid_holds(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("description: a bad grid\naxes: {fs: [ext4, ext5]}\n")
    assert "bad.yml: FS=ext5" in lab.says("sweep", GRID=str(tmp_path / "bad.yml"))
    assert not lab.results.exists()


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "GRID: missing; it is one of"),
        ({"GRID": "quick", "JOBS": "0"}, "JOBS is a whole number from 1"),
        ({"GRID": "quick", "SEEDS": "0"}, "SEEDS=0: SEEDS is a whole number from 1 to 1000"),
        ({"GRID": "quick", "BOARDS": "x"}, "BOARDS=x: BOARDS is a whole number from 1 to 1000"),
        ({"GRID": "quick", "BOARDS": "2", "CLOCK": "real"}, "BOARDS=2: with CLOCK=real each run prepares"),
        ({"GRID": "quick", "EXECUTOR": "cloud"}, "EXECUTOR is local, slurm"),
        ({"GRID": "quick", "MODE": "wal"}, "commitpath: MODE: grid quick varies it"),
        ({"GRID": "quick", "SYNC": "ful"}, "commitpath: SYNC=ful: did you mean full? "),
        ({"GRID": "quick", "MOUNT_OPTIONS": "atgc"}, "commitpath: MOUNT_OPTIONS=atgc: ext4 may not be "),
        ({"GRID": "quick", "BOARD": "nowhere"}, "BOARD=nowhere: not in playbooks/inventory"),
    ],
)
def test_one_line_for_bad_variables(lab: Lab, variables: dict[str, str], says: str) -> None:
    assert says in lab.says("sweep", **variables)
    assert not lab.results.exists()


def test_what_a_board_depends_on_is_what_groups_runs(tmp_path: Path) -> None:
    runs, _ = sweep_plan.merge(
        [expand(tmp_path, SMALL + "axes: {fs: [ext4, f2fs], mode: [wal, delete]}\nseeds: [1, 2]\n")]
    )
    assert len({run.group for run in runs.values()}) == 2
    more, _ = sweep_plan.merge([expand(tmp_path, SMALL + "axes: {fs: [ext4], rows: [100, 200]}\n")])
    assert len({run.group for run in more.values()}) == 2
    watched, _ = sweep_plan.merge(
        [expand(tmp_path, SMALL + "axes: {fs: [ext4], probes: [none, all, bio]}\n")]
    )
    groups = {run.group for run in watched.values()}
    # one board, saved as it is, and with either set of probes attached
    assert len(groups) == 3
    assert len({group.partition("+")[0] for group in groups}) == 1
    assert sweep_plan.with_bases(groups) == groups


def test_engines_that_cannot_run_a_given_workload_are_excluded(tmp_path: Path) -> None:
    path = tmp_path / "mine.sql"
    path.write_text("CREATE TABLE t(x);\n-- commitpath: transactions\nINSERT INTO t VALUES(1);\n")
    given = {"WORKLOAD": "sql", "FILE": str(path)}
    expanded = grid.expand("advise-engines", given)
    assert {run.cell.engine for run in expanded.runs} == {"sqlite", "ssl", "ppl", "sqlitekv"}
    (reason,) = {entry.reason for entry in expanded.excluded}
    assert reason == "WORKLOAD=sql is for ppl, sqlite, sqlitekv, ssl only"
    # an engine that was named is refused
    with pytest.raises(BadInputError, match="ENGINE=lmdb: WORKLOAD=sql is for "):
        grid.expand("advise", {**given, "ENGINE": "lmdb"})


@pytest.mark.parametrize("name", ["two words.yml", "a+b.yml", "ü.yml", "-x.yml"])
def test_a_name_that_no_row_of_the_database_may_have_is_refused(name: str, tmp_path: Path) -> None:
    """Its runs would be left out of every later command."""
    path = tmp_path / name
    path.write_text("description: a grid of a test\naxes: {fs: [f2fs]}\n")
    with pytest.raises(BadInputError, match="a grid is named by its file: letters, digits"):
        drive.planned({"GRID": str(path)}, {})


def test_a_file_is_named_with_its_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yml").touch()
    with pytest.raises(BadInputError, match=r"^GRID=mine: no such grid; did you mean mine\.yml\? "):
        grid.load("mine")


def test_a_large_sweep_ends_with_its_newest_runs_and_the_next_commands(lab: Lab, tmp_path: Path) -> None:
    pages, modes = tmp_path / "pages.yml", tmp_path / "modes.yml"
    text = "description: a grid of a test\nconstants: {rows: 100, n: 10}\n"
    pages.write_text(f"{text}axes: {{page_size: [1024, 4096], fs: [ext4, f2fs]}}\nseeds: [1, 2, 3]\n")
    modes.write_text(f"{text}axes: {{mode: [wal, truncate]}}\n")
    done = lab.results / ".sweep/done"
    done.mkdir(parents=True)
    folders = []
    for path in (pages, modes):
        for run in grid.expand(str(path)).runs:
            cell = run.cell
            axes = {"PAGE_SIZE": cell.page_size, "FS": cell.fs, "MODE": cell.journal_mode, "SEED": cell.seed}
            folders.append(lab.run(**{name: str(value) for name, value in axes.items()}))
            (done / run.key).write_text(json.dumps({"run": str(folders[-1].relative_to(lab.results))}))
    out = one_line(lab.ok("sweep", GRID=f"{pages} {modes}"))
    assert [folder for folder in folders if folder.name in out] == folders[-12:]
    assert "14 runs: 14 ok (14 of them from before), 0 failed; 0 cells excluded 2 more: make results" in out
    assert "make results WHERE='grid=pages|modes' make figure" in out
    assert f"make figure GRID={pages} X=page_size SERIES=fs FIGURE=pages.pdf" in out
    assert f"make figure GRID={modes} X=journal_mode FIGURE=modes.pdf" in out
