"""The shipped runs are of this tree's cells; commands use them with a mark, or say that they need files."""

import csv
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from lab import ROOT, Lab, one_line, table_lines

from commitpath.cells.axes import axes
from commitpath.cells.grid import expand
from commitpath.command_line import help, stored_run
from commitpath.command_line import variables as variables_table
from commitpath.command_line.stored_run import SHIPPED
from commitpath.database import results_commands, select, store
from commitpath.sweep import sweep_plan
from commitpath.sweep.drive import next_command

PAGE = ROOT / "docs/how-to/results-db.md"
FILE = "experiments/reference.tar.xz"
(SWEPT,) = re.findall("make sweep GRID='(.*)'", (ROOT / "experiments/grids/reference.yml").read_text())
GRIDS = SWEPT.split()
(SECTION,) = re.findall(r"^## Import the first runs\n(.*?)^## ", PAGE.read_text(), re.M | re.S)
COMMANDS = [tuple(shlex.split(line)) for line in re.findall(r"^    make (.*)$", SECTION, re.M)]


def variables(words: tuple[str, ...]) -> dict[str, str]:
    """Return the variables of a command of the page."""
    return dict(word.split("=", 1) for word in words)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A results folder with the shipped runs alone; not to be changed."""
    lab = Lab(tmp_path_factory.mktemp("newcomer") / "results")
    (target, *words), *_ = COMMANDS
    assert (target, words) == ("import", [f"FILE={FILE}"])
    done = lab.make("import", FILE=str(ROOT / FILE))
    assert done.returncode == 0 and done.stderr == ""
    number = len(sweep_plan.merge([expand(name) for name in GRIDS])[0])
    summary = f"{number} runs imported, all without files (unverified, ¶); {number} rows of grids\n"
    assert done.stdout == summary
    return lab


def test_until_the_import_a_command_names_it(lab: Lab, tmp_path: Path) -> None:
    line = f"no run is here; `make import FILE={FILE}` brings the first ones"
    for target, *words in COMMANDS[1:]:
        assert lab.says(target, **variables(tuple(words))).endswith(line)
    assert one_line(lab.ok("results")).endswith(line)
    figure = {"FIGURE": str(tmp_path / "x.svg")}
    axes = {"X": "journal_mode", "SERIES": "synchronous", "WHERE": WHERE}
    assert tuple(GRIDS) == stored_run.SHIPPED_GRIDS
    for target, grid, more in (
        *(("table", grid, {}) for grid in GRIDS),
        *(("durability", grid, figure) for grid in ("reference", "durability")),
        ("figure", "reference", figure | axes),
    ):
        said = lab.says(target, GRID=grid, **more)
        assert said.endswith(f", or make import FILE={FILE} for the shipped runs")


def test_each_run_is_of_a_cell_that_this_tree_makes(newcomer: Lab) -> None:
    with store.opened(newcomer.results / "results.sqlite", write=False) as connection:
        runs = select.load(connection)
    planned, _ = sweep_plan.merge([expand(name) for name in GRIDS])
    assert {f"{run.cell_id}-{run.facts['repeat']}" for run in runs} == planned.keys()
    # the profiles are those of here, too
    assert [run.marks for run in runs if run.marks] == []
    assert {run.facts["status"] for run in runs} == {"ok"}
    assert not [run.facts["commit"] for run in runs if run.facts["commit"].endswith("-dirty")]


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_the_commands_of_the_page_answer(newcomer: Lab, command: tuple[str, ...]) -> None:
    target, *words = command
    out = newcomer.ok(target, **variables(tuple(words)))
    assert "¶" in out and "unverified: its files are not here" in " ".join(out.split())
    if target == "advise":
        assert "14 of 14 settings of the choice are measured" in out and "Because, for each" in out
    else:
        assert re.search("[1-9][0-9]* matched cells, each with 1 seed, 1 board$", out, re.M)
        # without an interval it has no column of them
        assert " B/A  verdict\n" in out
        assert "¶ A and B: unverified" in out and out.count("unverified") == 1
        assert out.endswith(
            "left out: 24 of 26 cells of B, which the other has not: journal_mode=delete\n"
            "  synchronous=extra, journal_mode=delete synchronous=normal,\n"
            "  journal_mode=truncate and 21 more\n"
        )


@pytest.mark.parametrize(("grid", "tables"), [("ledger", 1), ("reference", 3)])
def test_a_setups_tables_fit_a_page(newcomer: Lab, grid: str, tables: int) -> None:
    """What is too long for them is listed, its values with commas apart."""
    out = newcomer.ok("setup-text", GRID=grid)
    lines = table_lines(out)
    assert len(lines) == tables and max(lines) < 50
    _, _, listed = out.partition("begin{description}")
    assert r"\item[Compile options] ALLOW" in listed and r"\item[Cell id] v2" in listed
    assert re.search(r"data=ordered; rw, |errors=continue; rw, ", listed)


EXAMPLES = {
    tuple(shlex.split(example.split("   ")[0].split(" [")[0])): None
    for example in (
        *(text.partition(": make ")[2] for _, text in help.targets()),
        *re.findall("^  make (.*)$", Path(help.__file__).with_name("help.txt").read_text(), re.M),
    )
    if example.split(" ")[0] in ("advise", "compare", "durability", "figure", "results", "table")
}


@pytest.mark.parametrize("example", EXAMPLES, ids=" ".join)
def test_the_examples_of_the_help_answer(newcomer: Lab, tmp_path: Path, example: tuple[str, ...]) -> None:
    target, *words = example
    given = variables(tuple(words))
    given |= {"FIGURE": str(tmp_path / given["FIGURE"])} if "FIGURE" in given else {}
    assert len(newcomer.ok(target, **given).splitlines()) > 1


def test_a_setup_names_no_setting_that_an_engine_lacks(newcomer: Lab) -> None:
    out = newcomer.ok("setup-text", GRID="reference")
    assert "; device emmc-5.0, fs ext4-ordered, engine lmdb; " in out


@pytest.mark.parametrize("metric", ["tps", "per_transaction", "block"])
def test_a_comparison_fits_a_terminal(newcomer: Lab, metric: str) -> None:
    """Also of cells that differ in nine axes."""
    sides = {"A": "engine=sqlite mode=wal", "B": "engine=sqlite mode=delete"}
    out = newcomer.ok("compare", **sides, METRIC=metric)
    assert "probes=bio,block" in out and max(map(len, out.splitlines())) <= 80


# F2FS with DELETE and WAL.
RUN, OTHER = "20261128T172427Z-1566229", "20261128T173529Z-5188216"
WHERE = "device=emmc-5.0 fs=ext4-ordered engine=sqlite wal_autocheckpoint=1000"


def test_figures_and_tables_have_them_with_their_mark(newcomer: Lab, tmp_path: Path) -> None:
    figure = tmp_path / "rates.svg"
    axes = {"X": "journal_mode", "SERIES": "synchronous", "WHERE": WHERE}
    out = one_line(newcomer.ok("figure", GRID="reference", FIGURE=str(figure), **axes))
    assert "12 of 12 points drawn" in out and f"¶ 12 of 12 runs: {select.UNVERIFIED}" in out
    image = figure.read_text()
    assert image.count("¶") > 12 and "12 of 12 runs: unverified" in image
    # the legend has the order of the bars
    assert re.findall(">(off|normal|full|extra)<", image)[:4] == ["off", "normal", "full", "extra"]
    with figure.with_suffix(".csv").open() as file:
        assert {row["marks"] for row in csv.DictReader(file)} == {select.UNVERIFIED}
    # a run counts once, and each of its points has the mark
    each = {"METRIC": "p99", "FORM": "lines", "X": "journal_mode", "WHERE": f"{WHERE} sync=full"}
    out = one_line(newcomer.ok("figure", GRID="reference", FIGURE=str(figure), **each))
    assert "15 of 15 points drawn" in out and f"¶ 5 of 5 runs: {select.UNVERIFIED}" in out
    assert figure.read_text().count(">¶<") == 15
    printed = newcomer.ok("durability", GRID="reference", FIGURE=str(tmp_path / "lost.svg"))
    assert max(map(len, printed.replace(str(tmp_path), "").splitlines())) <= 80
    lost = one_line(printed)
    number = len(expand("reference").runs)
    assert f"{number} of {number} cells of grid reference are measured" in lost
    assert f"; ¶ {number} of {number} runs: {select.UNVERIFIED}" in lost and printed.count(" ¶\n") == number
    lines = newcomer.ok("results", WHERE=f"lab={stored_run.SHIPPED}").splitlines()
    assert lines[-4] == results_commands.SHIPPED_RUNS
    assert lines[-3] == results_commands.UNUSABLE
    shipped = len(sweep_plan.merge([expand(name) for name in GRIDS])[0])
    assert lines[-2] == f"¶ {shipped} runs are unverified: their files are not here"
    assert sum(line.startswith("20") for line in lines) == shipped
    newest = newcomer.ok("results").splitlines()
    assert sum(line.startswith("20") for line in newest) == results_commands.NEWEST
    assert newest[-2].startswith(f"{shipped - results_commands.NEWEST} older: WIDE=yes lists all")
    # an axis of one engine that has one value is not printed
    assert "engine=lmdb" in "\n".join(lines) and "map_size" not in "\n".join(lines)
    # all points have it: the note says so
    assert ">¶<" not in (image := (tmp_path / "lost.svg").read_text())
    assert f"¶ {number} of {number} runs" in one_line(image)
    with (tmp_path / "lost.csv").open() as file:
        assert {row["marks"] for row in csv.DictReader(file)} == {select.UNVERIFIED}
    numbers = newcomer.make("table", GRID="reference", METRIC="tps checkpoints recovery_seconds")
    assert numbers.stdout.count(",¶,") == number and f"¶ {number} of {number} runs" in one_line(
        numbers.stderr
    )
    varied = "device,fs,engine,journal_mode,synchronous,wal_autocheckpoint,dirty_pages,run,mark,"
    assert numbers.stdout.startswith(varied)
    # that needs files, as does each number of another lab's run
    said = newcomer.says("figure", GRID="reference", FIGURE=str(figure), METRIC="recovery_seconds", **axes)
    assert (
        "none of 12 points has a number: run v" in said
        and "has no recovery_seconds of all, and its files are not here" in said
    )


@pytest.mark.parametrize(
    "target",
    ["analyse", "audit", "inspect", "tree", "trace-export", "setup-text", "crash-replay", "diff", "ledger"],
)
def test_a_command_that_needs_their_files_names_what_does_not(newcomer: Lab, target: str) -> None:
    names = [name for name in variables_table.without_axes(target) if name.startswith("RUN")]
    more = {"crash-replay": {"TRIAL": "1"}, "ledger": {"FIGURE": "x.svg"}}.get(target, {})
    said = newcomer.says(target, **dict(zip(names, (RUN, OTHER), strict=False)), **more)
    assert f"{names[0]}={RUN}: only the numbers of this run of lab reference are here, not its files" in said
    assert "make results, compare, table, figure, durability and advise use them" in said


def test_a_cell_is_named_as_a_run_is_and_another_name_is_of_none(newcomer: Lab) -> None:
    with store.opened(newcomer.results / "results.sqlite", write=False) as connection:
        cell = next(run for run in select.load(connection) if run.facts["run"] == RUN).facts["cell"]
    for name in (cell, f"some-name-{cell}", f"results/some-name-{cell}/{RUN}"):
        assert f"RUN={name}: only the numbers of this run" in newcomer.says("tree", RUN=name)
    for name in (RUN[:-1], "latest"):
        assert f"RUN={name}: no such run; there is no run with its files in" in newcomer.says(
            "tree", RUN=name
        )
    assert f"FILE={RUN}: only the numbers of this run" in newcomer.says("report-card", FILE=RUN)


def test_a_reference_is_one_of_them(newcomer: Lab) -> None:
    sides = {"A": "device=microsd-a2", "B": "device=microsd-class10"}
    done = newcomer.make("compare", **sides, EXPECT="tps>=100", REFERENCE=RUN)
    assert done.returncode == 1
    assert re.search(
        rf"; {RUN} \(lab reference, ¶\) has 155\.\d+; the cause is not known: its files are not here$",
        done.stderr,
        re.M,
    )


def test_a_run_without_files_is_named_with_its_lab(labs: Callable[[str], Lab], tmp_path: Path) -> None:
    here, files = labs("here"), {name: str(tmp_path / f"{name}.sqlite") for name in ("kiel", SHIPPED)}
    for label, path in files.items():
        there = labs(label)
        good, bad = there.run(100), there.run(200, status="rejected")
        there.ok("export", FILE=path, LAB=label)
    cell = good.parent.name
    here.ok("import", FILE=files["kiel"])
    said = here.says("tree", RUN=cell)
    assert "make results and compare use them, table, figure, durability and advise with LAB=kiel, " in said
    # an ok run is taken, if there is one
    assert f"WHERE='run={good.name}'" in said
    assert f"WHERE='run={bad.name}'" in here.says("tree", RUN=bad.name)
    here.ok("import", FILE=files[SHIPPED])
    several = "labs kiel, reference have runs of this name; give a run's id"
    sides = {"A": "lab=kiel", "B": "lab=reference", "EXPECT": "tps>1"}
    assert f"RUN={cell}: {several}" in here.says("tree", RUN=cell)
    assert f"REFERENCE={cell}: {several}" in here.says("compare", **sides, REFERENCE=cell)
    gone = here.run(100, FS="f2fs")
    here.ok("results")
    shutil.rmtree(gone)
    here.ok("results")
    assert "make results, compare and table use them, make setup-text" in here.says(
        "tree", RUN=gone.parent.name
    )


def test_an_export_counts_the_runs_with_files(newcomer: Lab, tmp_path: Path) -> None:
    lab = Lab(tmp_path / "results")
    lab.results.mkdir()
    shutil.copy(newcomer.results / "results.sqlite", lab.results)
    out = lab.ok("export", FILE=str(tmp_path / "x.tar.gz"), LAB="here", FILES="yes")
    assert (
        f": {len(sweep_plan.merge([expand(name) for name in GRIDS])[0])} runs, 0 of them with raw files, "
        in out
    )


def test_what_no_cut_left_usable_has_no_number_lost(newcomer: Lab, tmp_path: Path) -> None:
    cuts = "15 of 40 cuts left no usable database"
    sides = {"A": "grid=reference mode=memory", "B": f"mode=wal sync=full {WHERE}"}
    done = newcomer.make("compare", **sides, EXPECT="lost.max<=0")
    assert done.returncode == 1
    assert done.stderr == f"commitpath: A: expected lost.max<=0; {cuts}\n"
    path = "crash.lost_acknowledged.max"
    why = f"A: no number of what cuts took: {cuts}"
    alone = newcomer.says("compare", **sides, METRIC=path)
    assert alone.startswith(f"commitpath: METRIC={path}: ") and alone.endswith(why)
    crash = newcomer.ok("compare", **sides, METRIC="crash")
    assert why in one_line(crash) and "  corrupt " in crash and "lost" not in crash
    assert " max " in newcomer.ok("compare", A=f"mode=delete sync=full {WHERE}", B=sides["B"], METRIC=path)
    done = newcomer.make("table", GRID="reference", METRIC="lost")
    assert f"1 of 28 runs: no lost: {cuts}" in done.stderr
    lost = {row["journal_mode"]: row["lost"] for row in csv.DictReader(done.stdout.splitlines())}
    assert (lost["memory"], lost["persist"]) == ("", "0.0")
    axes = {"X": "journal_mode", "SERIES": "synchronous", "WHERE": WHERE, "METRIC": "lost"}
    figure = tmp_path / "lost.svg"
    out = one_line(newcomer.ok("figure", GRID="reference", FIGURE=str(figure), **axes))
    why = "has no lost of all: [0-9]+ of 40 cuts left no usable database"
    assert "9 of 12 points drawn" in out and re.search(
        rf" 3 not drawn: run \S+ {why} \(the first of 3\) ¶", out
    )
    with figure.with_suffix(".csv").open() as file:
        states = {row["journal_mode"]: (row["lost"], row["state"]) for row in csv.DictReader(file)}
    assert states["memory"] == ("", "missing")


def test_series_of_engines_that_lack_axes_are_drawn(newcomer: Lab, tmp_path: Path) -> None:
    """The first point is of another series than the first one, so no point is at the base of the panel."""
    points = {"X": "kib", "METRIC": "tps", "SERIES": "engine", "FIGURE": str(tmp_path / "engines.svg")}
    number = len(expand("reference").runs)
    assert f"{number} of {number} points drawn" in newcomer.ok("figure", GRID="reference", **points)


@pytest.mark.parametrize("failure", ["os", "process"])
def test_advice_counts_what_it_is_made_of(newcomer: Lab, failure: str) -> None:
    out = newcomer.ok("advise", DEVICE="microsd-class10", FS="ext4-ordered", SURVIVE=failure)
    before, _, answer = out.partition("\nUse ")
    assert before.startswith("2 of 14 settings of the choice are measured, 0 of them tried by ")
    assert " of 2 measured settings are within the limits" in answer
    lines = before.splitlines()
    assert any(line.startswith("  RUN=yes runs 14 cells: about ") for line in lines[1:3]) and len(lines) <= 9


def test_what_is_left_out_is_named_by_its_difference(newcomer: Lab) -> None:
    """The grid durability has more cells of the same place, but none of the choice's."""
    out = newcomer.ok("advise", DEVICE="emmc-5.0", FS="ext4-ordered", SURVIVE="power")
    assert (
        "  30 runs that differ in engine, probes are left out; name axes to choose them" in out.splitlines()
    )


def test_an_empty_value_has_a_word(newcomer: Lab) -> None:
    out = one_line(newcomer.ok("compare", A="fs=f2fs", B="fs=ext4-ordered"))
    assert "probes=none" in out and "probes= " not in out and "probes=," not in out


@pytest.mark.parametrize("grid", GRIDS)
def test_what_a_sweep_proposes_shows_its_numbers(newcomer: Lab, tmp_path: Path, grid: str) -> None:
    cells = [run.cell for run in expand(grid).runs]
    varied = [name for name in axes() if len({str(cell.value(name)) for cell in cells}) > 1]
    target, *words = next_command(grid, varied).removeprefix("make ").split(" draws ")[0].split()
    given = variables(tuple(word for word in words if "=" in word))
    given |= {"FIGURE": str(tmp_path / given["FIGURE"])} if "FIGURE" in given else {}
    assert len(newcomer.ok(target, **given).splitlines()) > 1


def test_a_sweep_proposes_a_line_over_numbers() -> None:
    proposed = next_command("pages.yml", ["fs", "page_size"])
    assert proposed.startswith("make figure GRID=pages.yml X=page_size SERIES=fs FIGURE=pages.pdf ")
