"""make figure: each form of a metric over an axis, its CSV, intervals, colours and ticks; refusals."""

import csv
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from copied import copy_tree, python
from lab import Lab, edit, of_grid, one_line
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from base import scratch
from base.errors import BadInputError
from commitpath.cells.from_variables import make_cell
from commitpath.cells.grid import expand
from commitpath.charts import files, frame, grid_figure, lines, look, render, scatter
from commitpath.charts.files import figure_path
from commitpath.charts.model import Drawn, Value
from commitpath.charts.scatter import Mark
from commitpath.charts.spec import FORMS, OP, Spec, colors_of, ops_of, panels
from commitpath.command_line import variables
from commitpath.papers import texts
from commitpath.reporting.durability_rows import MEASURED
from commitpath.results.metrics import METRICS, rate
from commitpath.results.query import Found, Number

GRID = """description: page sizes
constants: {rows: 100, n: 10}
axes: {page_size: [1024, 4096, 16384], fs: [ext4-ordered, f2fs]}
seeds: [1, 2]
"""
P99 = {"METRIC": "p99", "X": "page_size", "SERIES": "fs"}


@pytest.fixture
def grid(tmp_path: Path) -> str:
    path = tmp_path / "pages.yml"
    path.write_text(GRID)
    return str(path)


@pytest.fixture
def swept(lab: Lab) -> Lab:
    """All cells of the grid but one, with two seeds that differ."""
    for number, fs in enumerate(("ext4-ordered", "f2fs")):
        for size in (1024, 4096, 16384)[: 3 - number]:
            for seed in (1, 2):
                folder = lab.run(200 + size / 100 + 10 * seed, FS=fs, PAGE_SIZE=str(size), SEED=str(seed))
                p99 = {"p50": 900.0, "p95": 2000.0, "p99": size + 100.0 * seed, "max": 9000.0}
                more = {"sync_us": {"wal": p99}} if size == 1024 else {}
                latency = dict.fromkeys(("insert", "update", "delete"), p99)
                edit(folder / "summary.json", latency_us=latency, **more)
    return lab


def drawn(lab: Lab, figure: Path, **options: Any) -> tuple[str, list[dict[str, str]]]:
    """(what is printed, the rows of the CSV)."""
    out = one_line(lab.ok("figure", FIGURE=str(figure), **options))
    with figure.with_suffix(".csv").open() as file:
        return out, list(csv.DictReader(file))


def test_the_latency_of_a_files_syncs_is_drawn(swept: Lab, grid: str, tmp_path: Path) -> None:
    out, rows = drawn(swept, tmp_path / "x.svg", GRID=grid, OP="wal", **P99 | {"METRIC": "sync_p99"})
    assert "2 of 6 points drawn" in out and "has no sync_p99 of wal" in out
    # ms, of two seeds
    assert any(value.startswith("1.174") for value in rows[0].values())


def test_a_percentile_over_an_axis_has_intervals_and_names_what_is_missing(
    swept: Lab, grid: str, tmp_path: Path
) -> None:
    figure = tmp_path / "p99.svg"
    out, rows = drawn(swept, figure, GRID=grid, OP="Insert", **P99)
    assert "5 of 6 points drawn" in out and "1 not drawn: it was not run" in out
    assert [(row["page_size"], row["fs"]) for row in rows][:3] == [
        ("1024", "ext4-ordered"),
        ("1024", "f2fs"),
        ("4096", "ext4-ordered"),
    ]
    first = rows[0]
    assert (float(first["p99"]), first["runs"], first["state"]) == (1.174, "2", "ok")
    assert float(first["interval_low"]) < 1.124
    assert float(first["interval_high"]) > 1.224
    assert (rows[-1]["p99"], rows[-1]["state"], rows[-1]["reason"]) == ("", "missing", "it was not run")
    image = figure.read_text()
    names = ("p99 latency (ms)", "page_size (bytes)", "16384", "ext4-ordered", "f2fs", "missing")
    for text in (*names, ">insert<", ">fs<"):
        assert text in image
    width = re.search(r'width="([\d.]+)pt"', image)
    assert width and float(width[1]) == pytest.approx(3.3 * 72)
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", image)) >= 6.5


def test_the_seeds_and_boards_of_a_sweep_are_a_points_samples(lab: Lab, tmp_path: Path) -> None:
    """Those of SEEDS and BOARDS, too, which the grid's file does not have; not those of other runs."""
    path, axes = tmp_path / "pages.yml", {"PAGE_SIZE": "1024"}
    path.write_text(re.sub("seeds: .*", "", GRID))
    for seed, board in ("11", "12", "21", "22"):
        lab.run(100 + 10 * int(seed) + int(board), SEED=seed, BOARD_NUMBER=board, **axes)
    of_grid(lab, "pages")
    lab.run(999, SEED="3", **axes)
    _, rows = drawn(lab, tmp_path / "x.svg", GRID=str(path), X="page_size", SERIES="fs", OP="insert")
    assert [rows[0][name] for name in ("runs", "low", "tps", "high")] == ["4", "111.0", "116.5", "122.0"]
    assert rows[0]["interval_low"]


def test_a_sweep_with_other_settings_is_drawn(lab: Lab, tmp_path: Path) -> None:
    """As `make sweep GRID=… N=20` has it, with a note."""
    path = tmp_path / "pages.yml"
    path.write_text(re.sub("seeds: .*", "", GRID))
    lab.run(100, N="20", PAGE_SIZE="1024")
    of_grid(lab, "pages")
    out, rows = drawn(lab, tmp_path / "x.svg", GRID=str(path), X="page_size", SERIES="fs", OP="insert")
    assert "pages.yml was swept with N=20" in out and "1 of 6 points drawn" in out
    assert rows[0]["tps"] == "100.0"


def test_runs_on_several_kernels_are_named(swept: Lab, grid: str, tmp_path: Path) -> None:
    asked = {"GRID": grid, "OP": "insert", **P99}
    assert "same kernel" not in drawn(swept, tmp_path / "x.svg", **asked)[0]
    manifest = next(swept.results.glob("f2fs*/*/manifest.json"))
    board = json.loads(manifest.read_text())["board"]
    edit(manifest, board=board | {"kernel": "Linux board 6.9 #1 SMP aarch64"})
    note = "not on one and the same kernel: 6.12.1-arm64, 6.9"
    assert note in drawn(swept, tmp_path / "x.svg", **asked)[0]
    assert note in (tmp_path / "x.svg").read_text()


def test_a_figure_names_its_axes(swept: Lab, grid: str, tmp_path: Path) -> None:
    """A number has its axis already."""
    call = {"GRID": grid, "X": "op"}
    drawn(swept, tmp_path / "x.svg", SERIES="page_size", FACET="fs", **call)
    image = (tmp_path / "x.svg").read_text()
    for text in (">fs=f2fs<", ">page_size=1024<"):
        assert text in image
    assert ">page_size<" not in image


def test_a_percentile_without_an_operation_has_a_panel_for_each(
    swept: Lab, grid: str, tmp_path: Path
) -> None:
    _, rows = drawn(swept, tmp_path / "all.svg", GRID=grid, **P99, FORM="table")
    names = re.findall(r">(insert|update|delete|\d{4,5})<", (tmp_path / "all.svg").read_text())
    sizes = ["1024", "4096", "16384"]
    assert names == ["insert", *sizes, "update", *sizes, "delete", *sizes]
    assert list(dict.fromkeys(row["op"] for row in rows)) == ["insert", "update", "delete"]
    assert len(rows) == 18


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_drawn(swept: Lab, grid: str, tmp_path: Path, form: str) -> None:
    x = "tx_latency" if form == "scatter" else "page_size"
    _, rows = drawn(swept, tmp_path / "x.svg", GRID=grid, X=x, METRIC="tps", SERIES="fs", FORM=form)
    assert len(rows) == 6
    assert "ext4-ordered" in (tmp_path / "x.svg").read_text()


def test_panels_of_lines_have_one_x_axis(swept: Lab, tmp_path: Path) -> None:
    """Each has the values of all, also those that only another panel has."""
    cells = [f"{{fs: {fs}, page_size: {size}}}" for fs in ("ext4-ordered", "f2fs") for size in (4096, 1024)]
    cells[1] = cells[1].replace("1024", "16384")
    (path := tmp_path / "uneven.yml").write_text(
        "description: uneven\nconstants: {rows: 100, n: 10}\nseeds: [1, 2]\n"
        f"variants: [{', '.join(cells)}]\n"
    )
    _, rows = drawn(swept, tmp_path / "x.svg", GRID=str(path), X="page_size", FACET="fs", FORM="lines")
    assert len(rows) == 4
    ticks = re.findall(r">(1024|4096|16384)<", (tmp_path / "x.svg").read_text())
    assert ticks == ["1024", "4096", "16384"]


def ones(spec: Spec, form: str = "") -> Figure:
    """A figure of a grid in which each number is 1."""
    spec, made = panels(replace(spec, form=form), expand(spec.grid))
    found = Found("ok", None)
    every = [
        Drawn(
            panel, tuple(Value(bar, found, Number(1.0, 1.0, 1.0), None, None, ()) for bar in panel.bars), ()
        )
        for panel in made
    ]
    return render.draw(spec, every, every if spec.x in METRICS else [], [])


SYNC = "device=emmc-5.0 fs=ext4-ordered engine=sqlite wal_autocheckpoint=1000"


def test_a_line_joins_neighbours_of_the_axis_only() -> None:
    """OFF is measured with WAL and OFF, and not with MEMORY between them."""
    spec = Spec("reference", "journal_mode", series="synchronous", where=SYNC)
    (axes,) = ones(spec, "lines").axes
    breaks = [gaps(line.get_ydata()) for line in axes.lines if len(line.get_xdata())]
    assert breaks == [[1], [], [], []]


def test_a_whisker_of_lines_is_the_whole_interval() -> None:
    """On a linear axis also where it reaches 0, and of a median of 0."""
    spec, (panel,) = panels(Spec("quick", "fs", form="lines", where="mode=wal"), expand("quick"))
    for value, ends in ((10.0, (-5.0, 25.0)), (0.0, (-1.0, 3.0)), (10.0, (0.5, 25.0))):
        number = Number(value, value, value, ends)
        one = Drawn(panel, tuple(Value(b, Found("ok", None), number, None, None, ()) for b in panel.bars), ())
        axes = render.draw(spec, [one], [], []).axes[0]
        drawn = {tuple(line.get_segments()[0][:, 1]) for line in axes.collections}
        assert drawn == {ends}


def test_a_line_breaks_at_a_missing_number() -> None:
    x, y = lines.with_gaps([(0.1, 5.0), (1.1, None), (2.1, 6.0), (4.1, 7.0)])
    assert x == pytest.approx([0.1, 1.1, 2.1, 3.1, 4.1])
    assert gaps(y) == [1, 3]


def gaps(numbers: Iterable[Any]) -> list[int]:
    """The places of a line at which it has no number."""
    return [at for at, number in enumerate(numbers) if math.isnan(number)]


@pytest.mark.parametrize("form", ["bars", "lines", "scatter"])
def test_each_panel_without_one_below_has_the_names_of_its_axis(form: str) -> None:
    """Of four, three in a row, two are above an empty place; the fourth is as wide as they."""
    x = "kib" if form == "scatter" else "journal_mode"
    spec = Spec("ledger", x, series="synchronous", facet="fs", width=7.0)
    made = ones(spec, form)
    made.canvas.draw()
    names = [axes.xaxis.get_tick_params()["labelbottom"] for axes in shown(made)]
    assert names == [form == "bars", True, True, True]
    assert [bool(axes.get_xlabel()) for axes in shown(made)] == names
    assert len({round(axes.get_position().width, 2) for axes in shown(made)}) == 1


def shown(made: Figure) -> list[Axes]:
    """The panels of a figure, without the empty places."""
    return [axes for axes in made.axes if axes.get_visible()]


def scattered(marks: list[Mark]) -> Axes:
    """A panel of marks in two columns of a page, with logarithmic axes."""
    look_of = {
        "title": "",
        "width": 7.0,
        "across": 3,
        "x_label": "x",
        "y_label": "y",
        "colors": {"": "#000000"},
    }
    (axes,) = shown(scatter.render({**look_of, "x_scale": "log", "y_scale": "linear"}, [("", marks)]))
    return axes


def test_numbers_of_a_logarithmic_axis_do_not_overlap() -> None:
    for most, least in ((40, 2), (5000, 3)):
        axes = scattered([Mark(10, 1, ""), Mark(most, 2, "")])
        low, high = axes.get_xlim()
        texts = [look.tick(at) for at in axes.get_xticks() if low <= at <= high]
        assert (
            len(texts) >= least and sum(look.extent(text, look.POINTS) + 0.06 for text in texts) < 7 / 3 - 0.6
        )


@pytest.mark.parametrize(
    ("marks", "corner"),
    [
        ([(10, 90), (5000, 100)], ("left", "bottom")),
        ([(10, 1), (5000, 100)], ("right", "bottom")),
        ([(10, 1), (5000, None)], ("left", "top")),
        ([(10, 1), (None, 1), (10, 100)], ("right", "top")),
    ],
)
def test_the_words_for_missing_numbers_cover_no_mark(
    marks: list[tuple[float | None, float | None]], corner: tuple[str, str]
) -> None:
    (words,) = scattered([Mark(x, y, "", "missing") for x, y in marks] + [Mark(300, 50, "")]).texts
    assert (words.get_ha(), words.get_va()) == corner and words.get_text().startswith("missing: ")


def test_series_as_dark_as_another_have_a_hatch() -> None:
    """In grey NORMAL is as dark as OFF and FULL, which differ enough."""
    colors = {name: look.COLORS[name] for name in ("OFF", "NORMAL", "FULL", "EXTRA")}
    assert look.hatches(colors) == {"OFF": "", "NORMAL": look.HATCH, "FULL": "", "EXTRA": ""}
    assert (round(look.lightness("#000000")), round(look.lightness("#FFFFFF"))) == (0, 100)


def test_a_png_is_not_transparent(tmp_path: Path) -> None:
    (made := look.page(1, 1)).subplots()
    style.save(made, tmp_path / "x.png")
    assert {tuple(corner) for corner in image.imread(tmp_path / "x.png")[:, 0]} == {(1, 1, 1, 1)}


def test_a_point_without_a_number_is_shown_as_missing(swept: Lab, grid: str, tmp_path: Path) -> None:
    """Hollow at the edge where one of its numbers is missing, and counted with its state and reason."""
    edit(next(swept.results.glob("f2fs*/*/summary.json")), write_amplification=None)
    figure = tmp_path / "x.svg"
    wear = {"X": "write_amplification", "METRIC": "tps", "SERIES": "fs", "FORM": "scatter"}
    out, rows = drawn(swept, figure, GRID=grid, **wear)
    assert "4 of 6 points drawn" in out and "1 not drawn: it was not run" in out
    assert "has no write_amplification of all" in out
    assert ">missing: 2 of 6<" in figure.read_text()
    assert [bool(row["write_amplification"] and row["tps"]) for row in rows].count(False) == 2


def test_one_line_for_what_cannot_be_drawn(swept: Lab, grid: str, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({}, "X: missing; grid pages varies fs, page_size, op"),
        ({"X": "cache_size"}, "X=cache_size: did you mean page_size? grid pages varies fs, page_size, op"),
        ({"X": "fs", "METRIC": "tsp"}, "METRIC=tsp: did you mean tps? METRIC is one of "),
        (
            {"X": "page_size"},
            "at one place; name fs in SERIES or FACET, or add WHERE='fs=ext4-ordered' (one value of each)",
        ),
        ({**P99, "WHERE": "fs=xfs"}, "WHERE=fs=xfs: no cell of grid "),
        ({"X": "page_size", "FORM": "scatter"}, "with FORM=scatter X is a metric too: one of "),
        ({"X": "lost", "SERIES": "fs"}, "X=lost: none of 6 points has a number: "),
        (
            {"X": "page_size", "WHERE": "fs=f2fs", "SERIES": "kib"},
            "SERIES=kib: grid pages varies page_size, op",
        ),
    ]
    for options, says in cases:
        assert says in swept.says("figure", GRID=grid, FIGURE=str(tmp_path / "x.svg"), **options)
        assert not list(tmp_path.glob("x.*"))


def test_a_figure_that_is_drawn_slowly_has_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another call, and the saving itself, remove files that look abandoned."""

    def save(_: object, path: Path) -> None:
        for file in tmp_path.rglob("*.csv*"):
            os.utime(file, (0, 0))
        scratch.sweep(tmp_path, 2)
        path.touch()

    monkeypatch.setattr(style, "save", save)
    files.save(Figure(), tmp_path / "x.svg", [["a"], ["1"]])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.svg"]
    assert (tmp_path / "x.csv").read_text() == "a\n1\n"


def test_the_axes_to_choose_are_those_that_an_engine_has() -> None:
    spec = Spec("reference", "journal_mode", series="synchronous")
    where = "device=emmc-5.0 fs=ext4-ordered engine=sqlite wal_autocheckpoint=1000"
    with pytest.raises(BadInputError, match=f"; add WHERE='{where}' ".replace(".", r"\.")):
        panels(spec, expand("reference"))


def test_a_figure_needs_a_file() -> None:
    with pytest.raises(BadInputError, match=r"^FIGURE: missing; a \.pdf, \.svg, \.png or \.pgf$"):
        figure_path("")


def test_a_csv_of_a_figure_is_replaced_and_another_is_not(tmp_path: Path) -> None:
    """Whether or not a figure is there, as for one that was interrupted or deleted."""
    name, table = str(tmp_path / "x.svg"), tmp_path / "x.csv"
    says = r"its numbers go to x\.csv, which no figure wrote; name another figure$"
    for text in (
        "",
        "a,b\n1,2\n",
        "student,marks\n",
        "a,cell_ids,run_ids,marks,b\n",
        "a\nb,cell_ids,run_ids,marks\n",
    ):
        table.write_text(text)
        (tmp_path / "x.pdf").touch()
        with pytest.raises(BadInputError, match=says):
            figure_path(name)
        assert figure_path(name, numbers=False)
    table.unlink()
    table.symlink_to("nowhere")
    with pytest.raises(BadInputError, match=says):
        figure_path(name)
    for first in (["fs", *grid_figure.COLUMNS], ["fs", *MEASURED, "marks"]):
        files.write_csv(table, [first, ["f2fs"]])
        assert figure_path(name) == tmp_path / "x.svg"


def test_pgf_needs_latex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match=r"^FIGURE=a\.pgf: needs pdflatex"):
        figure_path("a.pgf")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex is installed")
def test_pgf_has_the_texts_as_latex(swept: Lab, grid: str, tmp_path: Path) -> None:
    drawn(swept, tmp_path / "x.pgf", GRID=grid, OP="insert", **P99)
    assert r"page\_size (bytes)" in (tmp_path / "x.pgf").read_text()
    (made := Figure()).text(0.5, 0.5, look.tick(2000))
    style.save(made, tmp_path / "y.pgf")
    assert r"2\,000" in (tmp_path / "y.pgf").read_text()


def test_without_a_run_the_sweep_is_named(lab: Lab, grid: str, tmp_path: Path) -> None:
    said = lab.says("figure", GRID=grid, X="page_size", SERIES="fs", FIGURE=str(tmp_path / "x.pdf"))
    assert f"GRID={grid} was not run: make sweep GRID={grid}" in said
    assert not list(tmp_path.glob("x.*"))


def test_another_labs_runs_are_drawn_by_its_name(
    swept: Lab, labs: Callable[[str], Lab], grid: str, tmp_path: Path
) -> None:
    swept.ok("export", FILE=str(tmp_path / "kiel.sqlite"), LAB="kiel")
    here = labs("here")
    here.ok("import", FILE=str(tmp_path / "kiel.sqlite"))
    axes = {"GRID": grid, "X": "page_size", "SERIES": "fs", "FIGURE": str(tmp_path / "x.svg")}
    said = here.says("figure", **axes)
    assert (
        f"it was not run here, but by lab kiel; make sweep GRID={grid}, or LAB= for that lab's runs" in said
    )
    assert "5 of 6 points drawn" in here.ok("figure", **axes, LAB="kiel")
    assert "LAB=kile: did you mean kiel? it has no runs; there are kiel, local" in here.says(
        "figure", **axes, LAB="kile"
    )


def test_help_and_checks_have_the_table_of_metrics() -> None:
    entry = variables.without_axes("figure")["METRIC"]
    assert entry and entry["values"] == list(METRICS)
    forms = variables.without_axes("figure")["FORM"]
    assert forms and forms["values"] == list(FORMS)


@pytest.mark.parametrize("name", grid_figure.names())
def test_each_data_file_is_a_figure_of_its_grid(name: str) -> None:
    spec = grid_figure.spec_of({"NAME": name})
    _, made = panels(spec, expand(spec.grid))
    assert made and all(panel.bars for panel in made)


def test_each_panel_has_every_series_in_the_order_of_the_axis() -> None:
    where = "device=emmc-5.0 fs=ext4-ordered engine=sqlite wal_autocheckpoint=1000"
    spec = Spec("reference", OP, series="synchronous", facet="journal_mode", where=where)
    _, made = panels(spec, expand("reference"))
    assert {panel.series for panel in made} == {("off", "normal", "full", "extra")}


def test_a_mode_and_an_operation_of_one_name_have_their_own_colours() -> None:
    assert look.color(colors_of(["delete"], "op")["delete"]) != look.color(colors_of(["delete"])["delete"])


def test_a_metric_with_all_operations_is_of_all() -> None:
    spec, made = panels(Spec("quick", "fs", series="journal_mode"), expand("quick"))
    assert not spec.facet and {bar.op for panel in made for bar in panel.bars} == {"all"}


def test_a_data_file_with_an_unknown_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yml").write_text("description: d\ngrid: quick\nx: fs\nmetrik: tps\n")
    monkeypatch.setattr(grid_figure, "FIGURES", tmp_path)
    with pytest.raises(BadInputError, match=r"x.yml: file: .*'metrik' was unexpected"):
        grid_figure.spec_of({"NAME": "x"})


def test_more_series_than_colours_are_refused_but_not_of_numbers() -> None:
    assert len(set(colors_of([str(2**at) for at in range(9)]).values())) == 9
    with pytest.raises(BadInputError, match="SERIES has 9 values, and 7 can be told apart"):
        colors_of([f"x{at}" for at in range(9)])


def test_ticks_are_the_numbers_that_they_stand_at() -> None:
    assert [look.tick(value) for value in (0, 0.5, 7.5, 12.5, 2000)] == [
        "0",
        "0.5",
        "7.5",
        "12.5",
        "2\u202f000",
    ]


def test_whole_numbers_are_drawn_as_such() -> None:
    drawn = [look.digits(value) for value in (0, 5.0, 5.02, 64.0, 64.5, 2000)]
    assert drawn == ["0", "5", "5.02", "64", "64.5", "2\u202f000"]


def test_a_small_number_is_not_written_as_0() -> None:
    drawn = [look.digits(value) for value in (0.581, 0.0316, 0.004, 0.9996, 9.996, 99.96)]
    assert drawn == ["0.58", "0.032", "0.0040", "1.00", "10.0", "100"]
    # three syncs of a checkpoint in 800 transactions
    counts = [look.few(value) for value in (0.00375, 0.0002, 0.0096, 0.02)]
    assert counts == ["0.004", "0.0002", "0.01", "0.02"]
    pages = [texts.number(value) for value in (0, 0.0123, 0.0004, 0.935, 0.9996, 1.234, 9.996, 99.96, 1230)]
    assert pages == ["0", "0.0123", "0.000400", "0.935", "1.00", "1.23", "10.0", "100", "1230"]


def test_operations_are_those_of_the_workload() -> None:
    for name, expected in {
        "kv": ("insert", "update", "read", "batch", "delete"),
        "random-b": ("batch",),
        "rlbench": ("insert", "update", "delete"),
        "ycsb-d": ("insert", "read"),
        "ycsb-f": ("read", "read-modify-write"),
        "synthetic-gmail": (),
    }.items():
        assert ops_of(make_cell({"WORKLOAD": name, "N": "100"})) == expected


def test_weights_are_of_the_operations_of_the_run() -> None:
    run: Any = SimpleNamespace(summary={"tps": {"read": 400.0, "all": 1.0, "update": 100.0, "insert": 200.0}})
    assert rate(run, "2:1:4") == 7 / (2 / 200 + 1 / 100 + 4 / 400)
    assert rate(run, "2:1") is None


def test_a_new_figure_is_drawn(lab: Lab, tmp_path: Path) -> None:
    """What `make new KIND=figure` writes draws stored runs of its grid, in a copy of the tree."""
    for run in expand("quick").runs:
        lab.run(FS=run.cell.fs, MODE=run.cell.journal_mode, N="5")
    copy_tree(tree := tmp_path / "tree")
    assert python(tree, "-m", "commitpath", "new", "KIND=figure", "NAME=bars").returncode == 0
    figure = tmp_path / "bars.svg"
    words = ["figure", "NAME=bars", f"FIGURE={figure}"]
    done = python(tree, "-m", "commitpath", *words, COMMITPATH_RESULTS=str(lab.results))
    assert done.returncode == 0 and "4 of 4 points drawn" in done.stdout, done.stderr
    assert figure.read_text().count("ext4") and figure.with_suffix(".csv").is_file()


def test_the_highest_mark_is_whole() -> None:
    """Also where all marks are far from 0."""
    axes = Figure().add_subplot()
    axes.plot([1, 2], [17.0, 18.0])
    frame.metric_axis(axes.yaxis, "linear")
    assert axes.get_ylim() == pytest.approx((0, 18 * 1.05))
