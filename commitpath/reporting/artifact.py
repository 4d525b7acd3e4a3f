"""`make artifact GRID=… FILE=…`: write a .tar.gz of a grid's runs, figures, set-up text and README."""

import contextlib
import io
import shlex
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from base import scratch
from base.errors import BadInputError
from base.text import filled_lines
from commitpath.cells import grid, samples
from commitpath.cells.data_files import load as load_data
from commitpath.charts import grid_figure as figures
from commitpath.database import exchange, select, store, sync
from commitpath.database.select import Run
from commitpath.host import places
from commitpath.reporting import setup
from commitpath.results.as_swept import swept_with
from commitpath.results.query import Results, unsampled
from commitpath.sweep.drive import figure_places, settings_varied
from model.cell import Cell

README = """\
Runs of the grid {grid}: {count} of {cells} cells, made by commitpath at {commits}.

runs.tar.gz     the runs: settings, raw records, tables, reports, and results.sqlite
{file:<15} the cells that were asked for
setup.txt       the experimental setup, read back from the board, as text and LaTeX
figures/        the grid's figures of experiments/figures, or else its TPS over its axes, with their numbers;
                empty if it varies no axis, more than a figure shows, or none could be drawn
{missing}
To look at them, in a clone of commitpath at {commit}:

    make import FILE=runs.tar.gz
    make results WHERE='grid={grid}'
    make table GRID={file} LAB={lab}

`make figure GRID={file} LAB={lab}` with X=, METRIC= and FIGURE= draws them. To repeat them:

    {command}

In virtual time counts and bytes are then equal, and times to 1e-6, on any host; `other times` at the end of
a sweep names a run that differs. Runs were made with {qemu}.
"""


def artifact(options: Mapping[str, str]) -> None:
    """Write the archive; print the number of its runs and its size."""
    if not options.get("GRID") or not options.get("FILE"):
        raise BadInputError(
            "make artifact takes GRID=<a grid that was swept> FILE=<new.tar.gz> and LAB=<label>"
        )
    path, _ = grid.load(options["GRID"])
    label = exchange.check_label(options["LAB"]) if "LAB" in options else None
    target = places.new_file("FILE", options["FILE"])
    if not options["FILE"].endswith((".tar.gz", ".tgz")):
        raise BadInputError(f"FILE={options['FILE']}: unsupported suffix; use .tar.gz")
    sync.up_to_date()
    with store.opened(write=False) as connection:
        names = grid.run_names(options["GRID"])
        runs = [run for run in select.load(connection, "status=ok") if run.grids & names]
        this_lab = store.label(connection)
    here = [run for run in runs if run.path is not None and run.facts["lab"] == this_lab]
    if not here:
        others = f"; {len(runs)} runs of it have no files here, or are another lab's" if runs else ""
        raise BadInputError(
            f"GRID={options['GRID']}: no ok run of it is here{others}; make sweep GRID={options['GRID']}"
        )
    with scratch.folder(target.resolve().parent, ".artifact") as work:
        place = work / target.name.partition(".")[0]
        (place / "figures").mkdir(parents=True)
        shutil.copy(path, place / path.name)
        (place / "setup.txt").write_text("\n".join(setup.text(here, runs, path.stem)) + "\n")
        draw(path, this_lab, place / "figures")
        (place / "README.txt").write_text(readme(path, here, label or this_lab))
        # the last that may fail: it keeps a new label
        keys = {(run.facts["cell"], run.facts["run"]) for run in here}
        exchange.export(place / "runs.tar.gz", label, files=True, only=keys)
        part = work / "artifact"
        with tarfile.open(part, "w:gz", compresslevel=6) as made:
            made.add(place, place.name)
        part.replace(target)
    print(f"{target}: {len(here)} runs, {target.stat().st_size / 2**20:.1f} MiB")


def draw(path: Path, lab: str, folder: Path) -> None:
    """Draw the figures of experiments/figures for a grid's file, or else the one that its sweep proposes.

    lab: they show its runs, and not shipped ones.
    """
    specs = [
        {"NAME": name}
        for name in figures.names()
        if load_data(figures.FIGURES / f"{name}.yml", "sweep_figure")["grid"] == path.stem
    ]
    places_of_axes = figure_places(settings_varied(run.cell for run in grid.expand(str(path)).runs))
    if places_of_axes and not specs:
        specs = [{"GRID": str(path), **places_of_axes}]
    for spec in specs:
        figure = folder / f"{spec.get('NAME', path.stem)}.pdf"
        try:
            # it prints a path that goes with the scratch folder
            with contextlib.redirect_stdout(io.StringIO()):
                figures.figure({**spec, "FIGURE": str(figure), "LAB": lab})
        except BadInputError as error:
            # the runs are what the archive is for
            print(filled_lines([f"no figure {figure.name}: {error}"]))


def readme(path: Path, runs: Sequence[Run], lab: str) -> str:
    """Return README.txt. path: the grid's file; lab: the label of its runs."""

    def of_host(key: str) -> list[str]:
        return list(dict.fromkeys(str(run.document("host").get(key)) for run in runs))

    commits, variables = of_host("commitpath_commit"), swept_by(path, runs)
    settings = {name: text for name, text in variables.items() if name not in samples.VARIABLES}
    asked = grid.expand(str(path), settings, samples.read(variables))
    lacking = len({run.key for run in asked.runs} - {key_of(run) for run in runs})
    given = [f"{name}={shlex.quote(text)}" for name, text in {"GRID": path.name, **variables}.items()]
    return README.format(
        grid=path.stem,
        file=path.name,
        lab=lab,
        command=" ".join(["make sweep", *given]),
        count=f"{len(runs)} runs",
        cells=len({run.cell_id for run in runs}),
        commits=", ".join(commits),
        commit=commits[-1],
        missing=f"\n{lacking} runs of the grid are missing: they were not made, or rejected.\n"
        if lacking
        else "",
        qemu=", ".join(of_host("qemu")),
    )


def key_of(run: Run) -> str:
    """Return the key of a run in a sweep's plan."""
    return f"{run.cell_id}-{run.facts['repeat']}"


def swept_by(path: Path, runs: Sequence[Run]) -> dict[str, str]:
    """Return the variables of the `make sweep` that made a grid's runs, but for GRID."""
    own = grid.expand(str(path))
    made = sampling([(run.cell, int(run.facts["repeat"] or 1)) for run in runs])
    asked = sampling([(run.cell, run.repeat) for run in own.runs])
    return {
        **swept_with(own, Results(runs, runs[0].facts["lab"])),
        **{name: str(made[name]) for name in samples.VARIABLES if made[name] > asked[name]},
    }


def sampling(runs: Sequence[tuple[Cell, int]]) -> dict[str, int]:
    """Return the repeats, and the most seeds and boards of a cell. runs: a cell and its repeat."""
    several: dict[str, list[Cell]] = {}
    for cell, _ in runs:
        several.setdefault(unsampled(cell), []).append(cell)
    return {
        "REPEAT": max(repeat for _, repeat in runs),
        "SEEDS": max(len({cell.seed for cell in cells}) for cells in several.values()),
        "BOARDS": max(len({cell.board_number for cell in cells}) for cells in several.values()),
    }
